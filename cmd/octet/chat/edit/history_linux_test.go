package edit

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

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
