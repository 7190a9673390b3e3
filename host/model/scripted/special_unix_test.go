//go:build unix

package scripted_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/host/model/scripted"
)

// A pipe that nobody writes to would be waited for without end.
func TestLoad_takesRegularFilesAlone(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, dir, "/dev/zero"} {
		if _, err := scripted.Load(file); err == nil || !strings.Contains(err.Error(), "it is no regular file; name a file that holds a script") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
