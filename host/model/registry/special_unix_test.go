//go:build unix

package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/host/model/registry"
)

// A pipe in place of the file of providers would be waited for without end.
func TestNew_refusesAPipeForTheFileOfProviders(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".octet"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(registry.File(home), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.New(registry.Options{Home: home}); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("the error is %v", err)
	}
}
