package session_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// trouble demands an error of one kind that names the file, the problem and a remedy.
func trouble(t *testing.T, err error, kind error, path string, words ...string) {
	t.Helper()
	var told *session.Error
	if !errors.Is(err, kind) || !errors.As(err, &told) {
		t.Fatalf("got %v, want a %T of kind %q", err, told, kind)
	}
	for _, word := range append(words, path, told.Problem, told.Remedy) {
		if word == "" || !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestFull_refusesAndKeepsWhatWasThere(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	appendTexts(t, s, "kept")
	if err := store.LimitPages(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	big := said(conversation.User, strings.Repeat("b", 64<<10))
	_, err := s.Append(t.Context(), big)
	trouble(t, err, session.ErrFull, store.Path(), "full", "intact")
	want(t, "texts", strings.Join(texts(t, s), " "), "kept")
	if err := store.LimitPages(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), big); err != nil {
		t.Errorf("with space again: %v", err)
	}
	want(t, "head", s.Head(), session.EntryID("e-2"))
}

func TestLocked_byAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	store, err := session.Options{LockWait: 30 * time.Millisecond}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	s := begin(t, store)
	appendTexts(t, s, "kept")
	release := lock(t, path)
	_, err = s.Append(t.Context(), said(conversation.User, "late"))
	trouble(t, err, session.ErrLocked, path, "another program")
	// Reading goes on.
	want(t, "texts", strings.Join(texts(t, s), " "), "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, said(conversation.User, "late")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while locked: got %v", err)
	}
	release()
	appendTexts(t, s, "later")
	want(t, "texts", strings.Join(texts(t, s), " "), "kept later")
}

// lock takes the right to write away from everybody else.
func lock(t *testing.T, path string) (release func()) {
	t.Helper()
	db := database(t, path)
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

// database opens a store as any program could.
func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func change(t *testing.T, path, query string, args ...any) {
	t.Helper()
	if _, err := database(t, path).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_refusesWhatIsNoStore(t *testing.T) {
	directory := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(directory, "foreign.db")
	change(t, foreign, "CREATE TABLE t (x); PRAGMA user_version = 1")
	newer := filepath.Join(directory, "newer.db")
	_ = openAt(t, newer).Close()
	change(t, newer, fmt.Sprintf("PRAGMA user_version = %d", session.SchemaVersion+1))
	blocked := filepath.Join(write("file", "x"), "sessions.db")
	for _, c := range []struct {
		path string
		kind error
		word string
	}{
		{write("text.db", "these are notes, and quite a lot of them"), session.ErrNotStore, "no SQLite database"},
		{write("short.db", "SQL"[:2]+"x"), session.ErrNotStore, "no SQLite database"},
		{write("broken.db", "SQLite format 3\x00"+strings.Repeat("\xff", 4096)), session.ErrNotStore, "no SQLite database"},
		{directory, session.ErrNotStore, "is a directory"},
		{foreign, session.ErrNotStore, "another program"},
		{newer, session.ErrNewer, fmt.Sprintf("schema version %d", session.SchemaVersion+1)},
		{blocked, session.ErrReadOnly, "cannot be written"},
	} {
		before, _ := os.ReadFile(c.path)
		_, err := session.Open(t.Context(), c.path)
		trouble(t, err, c.kind, c.path, c.word)
		if after, _ := os.ReadFile(c.path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", c.path)
		}
	}
	for _, path := range []string{filepath.Join(directory, "missing.db"), filepath.Join(directory, "gone", "missing.db")} {
		_, err := session.Options{}.OpenReader(t.Context(), path)
		trouble(t, err, session.ErrMissing, path)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("reading has made %s", path)
		}
	}
	_, err := session.Options{}.OpenReader(t.Context(), newer)
	trouble(t, err, session.ErrNewer, newer)
}

func TestOpen_acceptsAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, openAt(t, path), session.New{})
}

func TestMigration_bringsAStoreForwardOrLeavesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	store := openAt(t, path)
	s := begin(t, store)
	appendTexts(t, s, "kept")
	_ = s.Close()
	_ = store.Close()
	steps := append(session.Migrations(), "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
	err := session.OpenWith(t.Context(), path, append(steps, "CREATE TABLE another (x); broken"))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema version %d", session.SchemaVersion+2)) {
		t.Errorf("a broken migration: got %v", err)
	}
	want(t, "texts behind a broken migration", strings.Join(texts(t, take(t, openAt(t, path), s.ID())), " "), "kept")
	if err := session.OpenWith(t.Context(), path, steps); err != nil {
		t.Fatal(err)
	}
	var count int
	if err := database(t, path).QueryRowContext(t.Context(), "SELECT count(*) FROM later").Scan(&count); err != nil || count != 1 {
		t.Errorf("rows of the new table: %d, %v", count, err)
	}
	_, err = session.Open(t.Context(), path)
	trouble(t, err, session.ErrNewer, path)
	if err := session.OpenWith(t.Context(), path, steps); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// damaged makes a session of five entries, closes the store so that all of it stands in the file, and
// returns path and ids.
func damaged(t *testing.T, damage func(path, id string), reopen ...func(path string) *session.Store) (*session.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	store := openAt(t, path)
	s := begin(t, store)
	for _, letter := range "abcde" {
		appendTexts(t, s, strings.Repeat(string(letter), 3000))
	}
	if err := errors.Join(s.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	damage(path, s.ID())
	if len(reopen) > 0 {
		return reopen[0](path), s.ID()
	}
	return openAt(t, path), s.ID()
}

func first(branch []session.Stored) string {
	var letters strings.Builder
	for _, text := range plain(branch) {
		letters.WriteString(text[:1])
	}
	return letters.String()
}

func TestDamage_ofTheLastRecord(t *testing.T) {
	store, id := damaged(t, func(path, id string) {
		change(t, path, "UPDATE records SET payload = replace(payload, 'eee', 'eex') WHERE seq = 5")
	})
	branch, err := store.Branch(t.Context(), id)
	var lost *session.DamageError
	if !errors.As(err, &lost) || !errors.Is(err, session.ErrDamaged) {
		t.Fatalf("got %v, want a DamageError", err)
	}
	want(t, "readable", first(branch), "abcd")
	want(t, "last", lost.Last, session.EntryID("e-4"))
	want(t, "lost", fmt.Sprint(lost.Lost, lost.Count), "[5] 1")
	for _, word := range []string{store.Path(), id, "record 5", "whole up to e-4", "octet sessions export " + id} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	// The session goes on from what is whole.
	s := take(t, store, id)
	if err := s.SetHead(t.Context(), "e-5"); !errors.Is(err, session.ErrDamaged) {
		t.Errorf("head at a lost entry: got %v", err)
	}
	if err := s.SetHead(t.Context(), lost.Last); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s, "f")
	whole, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "whole", first(whole), "abcdf")
	fork, err := store.Fork(t.Context(), id, "e-3")
	if err != nil || fork.Entries != 3 {
		t.Errorf("fork before the damage: got %+v, %v", fork, err)
	}
	checkExport(t, store, id, "abcdf", 1)
}

func TestDamage_inTheMiddle(t *testing.T) {
	store, id := damaged(t, func(path, id string) {
		change(t, path, "UPDATE records SET parent = 1 WHERE seq = 3")
	})
	branch, err := store.Branch(t.Context(), id)
	if !errors.Is(err, session.ErrDamaged) {
		t.Fatalf("got %v, want ErrDamaged", err)
	}
	want(t, "readable", first(branch), "ab")
	checkExport(t, store, id, "abde", 1)
}

func TestDamage_ofAPage(t *testing.T) {
	store, id := damaged(t, func(path, id string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const page = 4096
		at := bytes.Index(data, []byte("ccccc")) / page * page
		copy(data[at:], bytes.Repeat([]byte{0xff}, page))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	branch, err := store.Branch(t.Context(), id)
	if !errors.Is(err, session.ErrDamaged) {
		t.Fatalf("got %v, want ErrDamaged", err)
	}
	want(t, "readable", first(branch), "ab")
	checkExport(t, store, id, "abde", 1)
}

func TestDamage_ofTheIndex(t *testing.T) {
	store, id := damaged(t, func(path, id string) {
		var root int64
		row := database(t, path).QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_records_1'")
		if err := row.Scan(&root); err != nil {
			t.Fatal(err)
		}
		overwritePage(t, path, root)
	})
	branch, err := store.Branch(t.Context(), id)
	if err != nil {
		t.Fatalf("got %v; every record is whole", err)
	}
	want(t, "readable", first(branch), "abcde")
	s := take(t, store, id)
	_, err = s.Append(t.Context(), said(conversation.User, "f"))
	trouble(t, err, session.ErrDamaged, store.Path(), "octet sessions export")
	checkExport(t, store, id, "abcde", 0)
}

// checkExport demands that an export has every readable entry and says what is lost.
func checkExport(t *testing.T, store *session.Store, id, letters string, lost int) {
	t.Helper()
	var out bytes.Buffer
	err := store.Export(t.Context(), id, &out, session.JSONL)
	if lost > 0 != errors.Is(err, session.ErrDamaged) {
		t.Errorf("export of a session with %d lost records: got %v", lost, err)
	}
	if lost == 0 && err != nil {
		t.Errorf("export: %v", err)
	}
	for _, letter := range letters {
		if !strings.Contains(out.String(), `"text":"`+string(letter)) {
			t.Errorf("the export has no entry %q", letter)
		}
	}
	if damage := fmt.Sprintf(`"count":%d`, lost); lost > 0 != strings.Contains(out.String(), damage) {
		t.Errorf("the export does not say %s: %s", damage, out.String())
	}
	var text bytes.Buffer
	if err := store.Export(t.Context(), id, &text, session.Markdown); lost > 0 != errors.Is(err, session.ErrDamaged) {
		t.Errorf("export as markdown: got %v", err)
	}
	if lost > 0 && !strings.Contains(text.String(), "**Damaged:**") {
		t.Errorf("the markdown does not say that it is damaged: %s", text.String())
	}
}
