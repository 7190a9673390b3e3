package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// trouble demands an error of a kind whose text has every word.
func trouble(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v, want the kind %q", err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

// crash copies a ledger that is open, as a killed process would leave it.
func crash(t *testing.T, l *ledger.Ledger) (directory string) {
	t.Helper()
	directory = t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(l.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, filepath.Base(l.Path())+suffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// edit changes the bytes of a file.
func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTornTail_isRepairedAndLosesNothing covers OUP-LEDGER-007: a commit that was being written when the
// power went is gone, and everything before it is there.
func TestTornTail_isRepairedAndLosesNothing(t *testing.T) {
	l := open(t, t.TempDir())
	for n := range 20 {
		add(t, l, event("s", n))
	}
	whole, err := os.Stat(l.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, ledger.Event{Stream: "s", Method: "m", Body: []byte(`{"x":"` + strings.Repeat("x", 20_000) + `"}`)})
	for name, change := range map[string]func([]byte) []byte{
		"half a commit":  func(d []byte) []byte { return d[:(int64(len(d))+whole.Size())/2] },
		"half a frame":   func(d []byte) []byte { return d[:whole.Size()+100] },
		"zeros":          func(d []byte) []byte { clear(d[whole.Size():]); return d },
		"something else": func(d []byte) []byte { return append(d[:whole.Size()], bytes.Repeat([]byte("torn"), 5000)...) },
	} {
		directory := crash(t, l)
		edit(t, filepath.Join(directory, "ledger.db-wal"), change)
		torn := open(t, directory)
		list, _ := replay(t, torn, "s", 0)
		if len(list) != 20 {
			t.Errorf("%s: %d events are left, want 20", name, len(list))
		}
		if err := torn.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want(t, name, numbers(add(t, torn, event("s", 21))), []int64{21})
	}
}

// TestDamage_isToldAndTheOtherEventsAreRead overwrites the file in the middle.
func TestDamage_isToldAndTheOtherEventsAreRead(t *testing.T) {
	directory := t.TempDir()
	l := open(t, directory)
	const all = 300
	for n := range all / 100 {
		var batch []ledger.Event
		for i := range 100 {
			batch = append(batch, ledger.Event{Stream: "s", Method: "m", Body: fmt.Appendf(nil, `{"mark-%d":%q}`, 100*n+i+1, strings.Repeat("y", 300))})
		}
		add(t, l, batch...)
	}
	_ = l.Close()
	for name, change := range map[string]func(data []byte, at int){
		"a bit":  func(data []byte, at int) { data[at+20] ^= 1 },
		"a page": func(data []byte, at int) { copy(data[at/4096*4096:], bytes.Repeat([]byte{0xa5}, 4096)) },
	} {
		copied := t.TempDir()
		data, err := os.ReadFile(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(data, []byte(`"mark-200"`))
		if at < 0 {
			t.Fatal("the event is not in the file")
		}
		change(data, at)
		if err := os.WriteFile(filepath.Join(copied, "ledger.db"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		hurt := open(t, copied)
		var got []ledger.Stored
		_, err = hurt.Replay(t.Context(), "s", nil, func(e ledger.Stored) error { got = append(got, e); return nil })
		var damage *ledger.DamageError
		if !errors.As(err, &damage) || damage.Stream != "s" || damage.Seq > 200 || damage.Seq < 150 {
			t.Fatalf("%s: got %v", name, err)
		}
		before := 0
		for ; before < len(got) && got[before].Seq == int64(before)+1; before++ {
		}
		want(t, "all before it", int64(before), damage.Seq-1)
		if name == "a bit" {
			want(t, "all but one", len(got), all-1)
		}
		trouble(t, err, ledger.ErrDamaged, hurt.Path(), fmt.Sprint("event ", damage.Seq), "keep a copy")
		trouble(t, hurt.Check(t.Context()), ledger.ErrDamaged, hurt.Path(), "keep a copy")
		// A reader is told where the damage is and how far it goes, and goes on.
		reader, err := hurt.Follow(t.Context(), "s", &ledger.Cursor{Stream: "s", Seq: 100})
		if err != nil {
			t.Fatal(err)
		}
		add(t, hurt, event("s", all+1))
		read, missed := int64(100), int64(0)
		for reader.Position().Seq <= all {
			page, err := reader.Next(t.Context())
			var lost *ledger.LostError
			switch {
			case errors.As(err, &lost):
				want(t, "what is lost", lost.After, read)
				want(t, "the damage", lost.Damage.Seq, damage.Seq)
				read, missed = lost.Oldest-1, missed+lost.Count()
			case err != nil:
				t.Fatal(err)
			default:
				want(t, "what comes next", page[0].Seq, read+1)
				read = page[len(page)-1].Seq
			}
		}
		reader.Close()
		want(t, "everything is told or lost", missed > 0 && missed <= all+2-damage.Seq, true)
	}
}

func TestOpen_refusesWhatIsNoLedger(t *testing.T) {
	at := func(data []byte) string {
		directory := t.TempDir()
		if err := os.WriteFile(filepath.Join(directory, "ledger.db"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return directory
	}
	good := t.TempDir()
	l := open(t, good)
	for n := range 200 {
		add(t, l, event(fmt.Sprint("s", n), n))
	}
	_ = l.Close()
	data, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	refused := func(directory string, kind error, words ...string) {
		t.Helper()
		_, err := ledger.Open(t.Context(), directory)
		trouble(t, err, kind, append(words, filepath.Join(directory, "ledger.db"))...)
		// The lock was given back.
		_, err = ledger.Open(t.Context(), directory)
		trouble(t, err, kind)
	}
	refused(at([]byte(strings.Repeat("no database ", 500))), ledger.ErrNotLedger, "move it away")
	refused(at(data[:len(data)/2]), ledger.ErrDamaged, "keep a copy")
	refused(at(data[:len(data)-100]), ledger.ErrDamaged, "cut short")
	other, newer := at(nil), at(data)
	execute(t, filepath.Join(other, "ledger.db"), "CREATE TABLE t (x)")
	refused(other, ledger.ErrNotLedger, "another program")
	execute(t, filepath.Join(newer, "ledger.db"), "PRAGMA user_version = 99")
	refused(newer, ledger.ErrNewer, "99")
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, "ledger.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	refused(directory, ledger.ErrNotLedger, "no regular file")
	open(t, at(data)) // the same bytes, whole
}

// execute changes a file without us.
func execute(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(query)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAppend_failsWholeAndGoesOn makes one commit fail in the database: nothing of it is there, nothing of it
// is shown, and the next one works.
func TestAppend_failsWholeAndGoesOn(t *testing.T) {
	directory := t.TempDir()
	_ = open(t, directory).Close()
	path := filepath.Join(directory, "ledger.db")
	execute(t, path, `CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.method = 'poison' BEGIN SELECT RAISE(ABORT, 'poison'); END`)
	l := open(t, directory)
	reader, err := l.Follow(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	poison := event("s", 2)
	poison.Method = "poison"
	_, err = l.Append(t.Context(), event("s", 1), poison)
	trouble(t, err, ledger.ErrDisk, path, "poison")
	want(t, "next", numbers(add(t, l, event("s", 3))), []int64{1})
	page, err := reader.Next(t.Context())
	want(t, "shown", fmt.Sprint(numbers(page), err, string(page[0].Body)), `[1] <nil>{"n":3}`)
}
