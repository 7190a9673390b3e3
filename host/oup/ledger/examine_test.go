package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestExamine_readsBesideAServerAndBehindOne(t *testing.T) {
	directory := t.TempDir()
	if _, err := Examine(t.Context(), directory); !errors.Is(err, ErrMissing) {
		t.Errorf("without a ledger: %v", err)
	}
	l, err := Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if _, err := l.Append(t.Context(), Event{Stream: "s" + id, Method: "m", Subject: Subject{"turn", id}, Step: Begins, Body: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(t.Context(), Event{Stream: "sa", Method: "m", Subject: Subject{"turn", "a"}, Step: Ends, Body: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	want := Contents{Path: filepath.Join(directory, fileName), Streams: 2, Events: 3, Running: 1}
	if got, err := Examine(t.Context(), directory); err != nil || got != want {
		t.Errorf("beside a server: %+v, %v, want %+v", got, err, want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Examine(t.Context(), directory); err != nil || got != want {
		t.Errorf("behind it: %+v, %v, want %+v", got, err, want)
	}
	if after, err := os.ReadDir(directory); err != nil || len(after) != len(before) {
		t.Errorf("it left %v, %v", after, err)
	}
}

func TestExamine_findsDamage(t *testing.T) {
	directory := t.TempDir()
	l, err := Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), Event{Stream: "s", Method: "m", Body: []byte(`{"text":"remember me"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, fileName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for ; string(text[at:at+8]) != "remember"; at++ {
	}
	text[at] = 'R'
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Examine(t.Context(), directory); !errors.Is(err, ErrDamaged) {
		t.Errorf("a changed letter gives %v", err)
	}
	if err := os.WriteFile(path, []byte("no database at all, whatever else it is"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Examine(t.Context(), directory); !errors.Is(err, ErrNotLedger) {
		t.Errorf("another file gives %v", err)
	}
}
