//go:build unix

package artifact

import (
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

// A pipe that takes the place of the file between the look and the opening is not waited for.
func TestReadRegular_doesNotWait(t *testing.T) {
	dir := t.TempDir()
	pipe(t, filepath.Join(dir, "pipe"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile("pipe", os.O_RDONLY|noWait, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
}
