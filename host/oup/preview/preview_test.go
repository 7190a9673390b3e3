package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/tool"
)

func open(t *testing.T, directory string) *Store {
	t.Helper()
	s, err := Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var change = Made(tool.Change{Path: "x", Kind: tool.Changed, Diff: "@@ -1,1 +1,1 @@\n-a\n+b\n"})

// TestStore covers OUP-PREVIEW-001 and OUP-PREVIEW-003.
func TestStore_outlivesTheProcessAndKeepsSessionsApart(t *testing.T) {
	directory := t.TempDir()
	id, err := open(t, directory).Put("_main:local:a", "edit x", change)
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, directory)
	for _, spelled := range []string{id, strings.ToUpper(id)} {
		got, err := again.Get("_main:local:a", spelled)
		if err != nil || string(got.PreviewID) != id || got.Title.Or("") != "edit x" || len(got.Files.Or(nil)) != 1 ||
			string(got.Files.Or(nil)[0].AppendJSON(nil)) != string(change.AppendJSON(nil)) {
			t.Errorf("read %s, %v", got.AppendJSON(nil), err)
		}
	}
	for _, c := range [][2]string{{"_main:local:b", id}, {"_main:local:a", "018f0000-0000-7000-8000-000000000000"}} {
		if _, err := again.Get(c[0], c[1]); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", c, err)
		}
	}
	if err := again.Forget("_main:local:a"); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Get("_main:local:a", id); !errors.Is(err, ErrUnknown) {
		t.Errorf("forgotten: %v", err)
	}
}

func TestStore_dropsTheOldest(t *testing.T) {
	directory := t.TempDir()
	s := open(t, directory)
	var ids []string
	put := func(s *Store) {
		t.Helper()
		s.most = 3
		id, err := s.Put("s", "", change)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for range 4 {
		put(s)
	}
	put(open(t, directory)) // knows what was there before
	for i, id := range ids {
		if _, err := s.Get("s", id); errors.Is(err, ErrUnknown) != (i < 2) {
			t.Errorf("preview %d: %v", i, err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(directory, "*", "*.json")); len(files) != 3 {
		t.Errorf("%d files are kept", len(files))
	}
}

func TestStore_tellsDamage(t *testing.T) {
	directory := t.TempDir()
	s := open(t, directory)
	id, err := s.Put("s", "", change)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(directory, "*", id+".json"))
	if len(files) != 1 || os.WriteFile(files[0], []byte(`{"session_id":`), 0o600) != nil {
		t.Fatal(files)
	}
	if _, err := s.Get("s", id); err == nil || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), id) {
		t.Errorf("a damaged preview: %v", err)
	}
}

// TestStore_fitsIntoAFrame keeps the largest change there is and reads it.
func TestStore_fitsIntoAFrame(t *testing.T) {
	s := open(t, t.TempDir())
	large := Made(tool.Change{Path: "x", Kind: tool.Changed, Diff: strings.Repeat("+"+strings.Repeat("\x02", 50)+"\n", 9000)})
	id, err := s.Put("s", strings.Repeat("t", 100), large, large)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Get("s", id)
	if err != nil || len(got.AppendJSON(nil)) > maxEncodedBytes {
		t.Errorf("%d bytes, %v", len(got.AppendJSON(nil)), err)
	}
	added := 0
	for _, f := range got.Files.Or(nil) {
		n, _ := count(f)
		added += n
	}
	if added == 0 || added*50 > oupwire.MaxDiffTextBytes {
		t.Errorf("%d lines are kept", added)
	}
}
