package conform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program of an adapter is looked for beside the own one when PATH lacks it.
func TestFindProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The ending is what makes a file a program where modes do not.
	beside := filepath.Join(filepath.Dir(self), "conform-beside.exe")
	if err := os.WriteFile(beside, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(beside) })
	argv := []string{"conform-beside.exe", "serve"}
	if err := findProgram(argv); err != nil || argv[0] != beside {
		t.Errorf("the program is %q (%v), want %s", argv[0], err, beside)
	}
	if err := findProgram([]string{"conform-nowhere"}); err == nil || !strings.Contains(err.Error(), "add its directory to PATH") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
}
