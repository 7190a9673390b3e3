package nativehost_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A request has no --data-dir; its remedies are in its own words.
func TestRun_speaksOfItsOwnDirectory(t *testing.T) {
	p := newPlace(t)
	p.write("demo.yaml", "script: 1\nsteps: [{text: hello}]\n")
	if err := os.Mkdir(filepath.Join(p.workspace, "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.workspace, "kept", "sessions.db"), []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := p.talk(p.request("demo.yaml", `"session_dir":"kept"`))
	if _, message := list[0].fault(t); !strings.Contains(message, "session_dir") || strings.Contains(message, "--data-dir") {
		t.Errorf("got %q", message)
	}
}
