//go:build unix

package infile

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("full"), []byte("12345678"), 0o600); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(at("large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A socket's path has little room.
	short, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if data, err := Read(at("full"), "a list", 8); err != nil || string(data) != "12345678" {
		t.Errorf("got %q, %v", data, err)
	}
	for _, c := range []struct{ path, want string }{
		{at("none"), "no such file"},
		{at("full"), "has more than 7 bytes; a list is shorter"},
		{at("large"), "has more than 7 bytes; a list is shorter"},
		{at("fifo"), "is a pipe; name a file that holds a list"},
		{dir, "is a directory; name a file that holds a list"},
		{os.DevNull, "is a device; name a file that holds a list"},
		{filepath.Join(short, "s"), ""}, // each system has words of its own
	} {
		if _, err := Read(c.path, "a list", 7); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.path, err, c.want)
		}
	}
}
