package shelf_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/shelf"
)

func open(t *testing.T, directory string) *shelf.Shelf {
	t.Helper()
	s, err := shelf.Open(directory)
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

func TestDocuments_belongToTheirOwners(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new", "deep")
	s := open(t, directory)
	owners := []string{"_main:local:a", "../../etc", "a\x00b", "/", strings.Repeat("x", 5000)}
	for i, owner := range owners {
		if err := s.Put(owner, "b.json", []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(owner, "a.json", []byte("old")); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(owner, "a.json", []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, directory)
	for i, owner := range owners {
		if data, err := again.Get(owner, "b.json", 1); err != nil || !bytes.Equal(data, []byte{byte(i)}) {
			t.Errorf("owner %d: %q, %v", i, data, err)
		}
		if data, err := again.Get(owner, "a.json", 3); err != nil || string(data) != "new" {
			t.Errorf("owner %d: %q, %v", i, data, err)
		}
		if names, err := again.Names(owner); err != nil || !slices.Equal(names, []string{"a.json", "b.json"}) {
			t.Errorf("owner %d has %q, %v", i, names, err)
		}
	}
	slices.Sort(owners)
	if list, err := again.Owners(); err != nil || !slices.Equal(list, owners) {
		t.Errorf("owners %.100q, %v", list, err)
	}
	if _, err := again.Get("nobody", "a.json", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a document of nobody: %v", err)
	}
	if err := again.Forget("/"); err != nil {
		t.Fatal(err)
	}
	if names, _ := s.Names("/"); len(names) > 0 {
		t.Errorf("forgotten, and there are %q", names)
	}
	if names, _ := s.Names("../../etc"); len(names) != 2 {
		t.Errorf("somebody else has %q left", names)
	}
}

func TestDocuments_refuseNamesAndSizes(t *testing.T) {
	s := open(t, t.TempDir())
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".part-x", "owner", "a b", "ä", strings.Repeat("n", 129)} {
		if err := s.Put("o", name, nil); err == nil {
			t.Errorf("%q was written", name)
		}
		if _, err := s.Get("o", name, 1); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q was looked for: %v", name, err)
		}
		if s.Remove("o", name) == nil {
			t.Errorf("%q was removed", name)
		}
		if _, err := s.Folder("o", name); err == nil || s.RemoveFolder("o", name) == nil {
			t.Errorf("%q was a folder", name)
		}
	}
	if err := s.Put("o", "x", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("o", "x", 4); err == nil {
		t.Error("more was read than was asked for")
	}
	if err := s.Put(strings.Repeat("o", 70000), "x", nil); err == nil {
		t.Error("an owner of 70000 bytes")
	}
}

// TestOwners_clearsAway leaves what a killed process leaves.
func TestOwners_clearsAway(t *testing.T) {
	directory := t.TempDir()
	s := open(t, directory)
	if err := s.Put("o", "x", []byte("1")); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	for _, name := range []string{filepath.Join(folders[0], ".part-A"), filepath.Join(directory, "stray")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(directory, "nobodys"), 0o700); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Names("o"); err != nil || !slices.Equal(names, []string{"x"}) {
		t.Errorf("%q, %v", names, err)
	}
	if owners, err := s.Owners(); err != nil || !slices.Equal(owners, []string{"o"}) {
		t.Errorf("%q, %v", owners, err)
	}
	if _, err := os.Stat(filepath.Join(folders[0], ".part-A")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what interrupted writing left: %v", err)
	}
}

func TestFolder_staysInside(t *testing.T) {
	s := open(t, t.TempDir())
	root, err := s.Folder("o", "task")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := root.WriteFile("f", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(s.FolderPath("o", "task"), "f")); err != nil || string(data) != "1" {
		t.Errorf("%q, %v", data, err)
	}
	if names, err := s.Names("o"); err != nil || len(names) > 0 {
		t.Errorf("a folder is listed as documents %q, %v", names, err)
	}
	if err := s.RemoveFolder("o", "task"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.FolderPath("o", "task")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
