package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What was typed is found again where the file lies behind a link.
func TestHistory_followsALink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	if err := OpenHistory(path).Add("one"); err != nil {
		t.Fatal(err)
	}
	if list := OpenHistory(path).list(); len(list) != 1 || list[0] != "one" {
		t.Errorf("read %q, want what was added", list)
	}
}

func TestHistory_doesNotWaitForAFifo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	h := OpenHistory(path)
	if err := h.Add("one"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
	if list := h.list(); len(list) != 1 {
		t.Errorf("kept %q, want the line that was added", list)
	}
}
