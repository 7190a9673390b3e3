package private_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/host/oup/private"
)

type list struct{ Names []string }

func TestFile_isOfItsUserAlone(t *testing.T) {
	f := private.File[list]{Path: filepath.Join(t.TempDir(), "below", "secrets.json")}
	if got, err := f.Read(); err != nil || got.Names != nil {
		t.Errorf("a file that is not there gives %v, %v", got, err)
	}
	if err := f.Change(func(l *list) error { l.Names = append(l.Names, "a"); return nil }); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{f.Path: 0o600, filepath.Dir(f.Path): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), mode)
		}
	}
	refused := errors.New("no")
	if err := f.Change(func(l *list) error { l.Names = nil; return refused }); !errors.Is(err, refused) {
		t.Errorf("a refused change gives %v", err)
	}
	if got, err := f.Read(); err != nil || len(got.Names) != 1 {
		t.Errorf("behind it the file holds %v, %v", got, err)
	}
	files, err := os.ReadDir(filepath.Dir(f.Path))
	if err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestFile_losesNoChange(t *testing.T) {
	f := private.File[list]{Path: filepath.Join(t.TempDir(), "secrets.json")}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := f.Change(func(l *list) error { l.Names = append(l.Names, "a"); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := f.Read(); err != nil || len(got.Names) != 16 {
		t.Errorf("the file holds %d changes, %v", len(got.Names), err)
	}
}

func TestFile_refusesWhatItDidNotWriteWithoutTellingIt(t *testing.T) {
	f := private.File[list]{Path: filepath.Join(t.TempDir(), "secrets.json")}
	for _, text := range []string{`{"Names": ["sk-secret"`, `{"Names": "sk-secret"}`, "sk-secret", strings.Repeat(" ", 5<<20)} {
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := f.Read()
		if err == nil || strings.Contains(err.Error(), "sk-") || !strings.Contains(err.Error(), f.Path) {
			t.Errorf("%.30q gives %v", text, err)
		}
		if err := f.Change(func(*list) error { return nil }); err == nil {
			t.Errorf("%.30q is overwritten", text)
		}
	}
}

// TestFile_followsNoLinkOfItsLock: a link is no lock, and nothing is made where it leads.
func TestFile_followsNoLinkOfItsLock(t *testing.T) {
	directory := t.TempDir()
	path, made := filepath.Join(directory, "file.json"), filepath.Join(directory, "made")
	if err := os.Symlink(made, path+".lock"); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	err := private.File[struct{ N int }]{Path: path}.Change(func(*struct{ N int }) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(made); !os.IsNotExist(err) {
		t.Errorf("a file is made: %v", err)
	}
}

// TestFile_writesNothingThatItWouldNotRead: a document at the bound is refused while the old one can still be read.
func TestFile_writesNothingThatItWouldNotRead(t *testing.T) {
	f := private.File[list]{Path: filepath.Join(t.TempDir(), "secrets.json")}
	add := func(bytes int) error {
		return f.Change(func(l *list) error { l.Names = append(l.Names, strings.Repeat("a", bytes)); return nil })
	}
	if err := add(4<<20 - 100); err != nil {
		t.Fatal(err)
	}
	var large *private.LargeError
	if err := add(100); !errors.As(err, &large) || large.Bytes <= large.Limit || !strings.Contains(err.Error(), "take something away") {
		t.Errorf("one that is too large: %v", err)
	}
	if got, err := f.Read(); err != nil || len(got.Names) != 1 {
		t.Errorf("the file holds %d names, %v", len(got.Names), err)
	}
	if err := f.Change(func(l *list) error { l.Names = nil; return nil }); err != nil {
		t.Error(err)
	}
}
