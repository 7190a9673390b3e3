package nativehost_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRun_doesNotWaitForAFifo names what nobody writes to where a file is wanted.
func TestRun_doesNotWaitForAFifo(t *testing.T) {
	p := newPlace(t)
	p.write("demo.yaml", "script: 1\nsteps: [{text: hello}]\n")
	if err := unix.Mkfifo(filepath.Join(p.workspace, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := p.talk(p.request("demo.yaml", `"context_files":["pipe"]`))
	if _, message := list[0].fault(t); !strings.Contains(message, `context_files[0]: "pipe" is no regular file`) {
		t.Errorf("got %q", message)
	}
}
