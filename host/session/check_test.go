package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// cutBy takes bytes from the end of a file.
func cutBy(t *testing.T, path string, count int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-count)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func reader(t *testing.T, path string) *session.Store {
	t.Helper()
	store, err := session.Options{}.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestCut_isSeenAndTheRestIsRead(t *testing.T) {
	for _, count := range []int64{1, 1000, 4096, 3 * 4096} {
		var path string
		store, id := damaged(t, func(p, _ string) { path = p; cutBy(t, p, count) }, func(p string) *session.Store { return reader(t, p) })
		before, _ := os.ReadFile(path)
		trouble(t, store.Trouble(), session.ErrDamaged, path, "octet sessions export")
		_, file := store.Check(t.Context(), 5)
		trouble(t, file, session.ErrDamaged, path)
		var out bytes.Buffer
		if err := store.Export(t.Context(), id, &out, session.JSONL); err != nil && !errors.Is(err, session.ErrDamaged) {
			t.Errorf("cut by %d: export: %v", count, err)
		}
		if !strings.Contains(out.String(), `"text":"a`) {
			t.Errorf("cut by %d: the export has not even the first entry: %s", count, out.String())
		}
		_, err := session.Open(t.Context(), path)
		trouble(t, err, session.ErrDamaged, path, "octet sessions export")
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("cut by %d: the file was changed", count)
		}
	}
}

// TestCut_behindALog cuts a file whose newest pages stand in its log, as a killed writer leaves them.
func TestCut_behindALog(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	for range 20 {
		appendTexts(t, s, strings.Repeat("a", 3000))
	}
	if _, err := database(t, store.Path()).ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s, "the newest")
	copied := filepath.Join(t.TempDir(), "sessions.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(store.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cutBy(t, copied, 10*4096)
	if err := reader(t, copied).Trouble(); !errors.Is(err, session.ErrDamaged) {
		t.Errorf("reading: got %v, want ErrDamaged", err)
	}
	_, err := session.Open(t.Context(), copied)
	trouble(t, err, session.ErrDamaged, copied)
}

func TestCheck_ofAWholeStore(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	appendTexts(t, s, "a", "b")
	// Others read while its log holds more than the file.
	other := reader(t, store.Path())
	if err := other.Trouble(); err != nil {
		t.Error(err)
	}
	if lost, file := other.Check(t.Context(), 5); file != nil || len(lost) > 0 {
		t.Errorf("got %v, %v", file, lost)
	}
}

func TestCheck_findsDamagedSessions(t *testing.T) {
	store, id := damaged(t, func(path, _ string) {
		change(t, path, "UPDATE records SET payload = replace(payload, 'ccc', 'ccx') WHERE seq = 3")
	})
	lost, file := store.Check(t.Context(), 5)
	if file != nil || len(lost) != 1 || lost[0].Session != id || lost[0].Last != "e-2" {
		t.Errorf("got %v, %v", file, lost)
	}
	if lost, _ := store.Check(t.Context(), 0); len(lost) > 0 {
		t.Errorf("more than were asked for: %v", lost)
	}
}

// TestDamage_besideTheConversation damages a record that is no entry.
func TestDamage_besideTheConversation(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	appendTexts(t, s, "a", "b")
	if _, err := s.Append(t.Context(), said(conversation.User, "c")); err != nil {
		t.Fatal(err)
	}
	if err := s.SetHead(t.Context(), "e-3"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetHead(t.Context(), "e-2"); err != nil {
		t.Fatal(err)
	}
	change(t, store.Path(), "UPDATE records SET payload = 'x' WHERE seq = (SELECT max(seq) FROM records)")
	var out bytes.Buffer
	err := store.Export(t.Context(), s.ID(), &out, session.Markdown)
	var lost *session.DamageError
	if !errors.As(err, &lost) || lost.Last != "e-2" {
		t.Fatalf("got %v, want a DamageError up to e-2", err)
	}
	for _, text := range []string{err.Error(), out.String()} {
		if !strings.Contains(strings.ReplaceAll(text, "`", ""), "of the conversation all is whole up to e-2") &&
			!strings.Contains(text, "Of the conversation all is whole up to `e-2`") {
			t.Errorf("%q does not say how far the conversation is whole", text)
		}
	}
}

func TestDamage_ofTheFirstEntry(t *testing.T) {
	store, id := damaged(t, func(path, _ string) {
		change(t, path, "UPDATE records SET payload = 'x' WHERE seq = 1")
	})
	_, err := store.Branch(t.Context(), id)
	if !errors.Is(err, session.ErrDamaged) || !strings.Contains(err.Error(), "no entry is whole with all before it") {
		t.Errorf("got %v", err)
	}
	_, err = store.Fork(t.Context(), id, "e-1")
	if !errors.Is(err, session.ErrDamaged) {
		t.Errorf("fork at a lost entry: got %v", err)
	}
}

// TestSetHead_atALostEntry tells how far the way to it is whole.
func TestSetHead_atALostEntry(t *testing.T) {
	store, id := damaged(t, func(path, _ string) {
		change(t, path, "UPDATE records SET payload = 'x' WHERE seq = 4")
	})
	err := take(t, store, id).SetHead(t.Context(), "e-4")
	if !errors.Is(err, session.ErrDamaged) || !strings.Contains(err.Error(), "whole up to e-3") {
		t.Errorf("got %v", err)
	}
}

func TestOpenReader_takesAnEmptyFileForNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := session.Options{}.OpenReader(t.Context(), path)
	trouble(t, err, session.ErrMissing, path, "empty")
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("reading has changed the file: %v, %v", info, err)
	}
}

func TestOpen_refusesADirectoryBeside(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		path := filepath.Join(t.TempDir(), "sessions.db")
		_ = openAt(t, path).Close()
		if err := os.Mkdir(path+suffix, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := session.Open(t.Context(), path)
		trouble(t, err, session.ErrNotStore, path+suffix, "is a directory", "move that away")
		_, err = session.Options{}.OpenReader(t.Context(), path)
		trouble(t, err, session.ErrNotStore, path+suffix, "is a directory")
	}
}
