//go:build unix

package artifact

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// pipe puts a named pipe without a writer somewhere: whoever opens it in the ordinary way waits for ever.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What takes the place of the file between the look and the opening is refused, and a pipe is not waited for.
func TestOpen_exchanged(t *testing.T) {
	dir := t.TempDir()
	pipe(t, filepath.Join(dir, "pipe"))
	for _, name := range []string{"file", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), png(67), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	before, err := root.Lstat("file")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"file": nil, "other": errChanged, "pipe": errChanged, "none": errPath} {
		file, err := open(root, name, before)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if err == nil {
			_ = file.Close()
		}
	}
}
