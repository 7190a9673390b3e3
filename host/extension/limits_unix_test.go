//go:build unix

package extension

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// limits prints every limit of a process, the soft ones and the hard ones.
const limits = "ulimit -Sa; ulimit -Ha"

// An extension has the limits that any other child of ours has.
//
// MAN-POLICY-008.
func TestStart_limitsNothing(t *testing.T) {
	want, err := exec.Command("/bin/sh", "-c", limits).Output()
	if err != nil || len(want) == 0 {
		t.Fatalf("limits of a child: %q, %v", want, err)
	}
	dir, out := filepath.Join(t.TempDir(), "demo"), filepath.Join(t.TempDir(), "limits")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"/bin/sh\"\nargs = [\"-c\", '(%s) > \"$0\"', %q]\n", limits, out)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := Start(t.Context(), source, Options{}); err == nil {
		x.Close()
		t.Fatal("a program that prints its limits has initialized")
	}
	got, err := os.ReadFile(out)
	if err != nil || string(got) != string(want) {
		t.Errorf("limits of an extension:\n%s%v\nwant\n%s", got, err, want)
	}
}
