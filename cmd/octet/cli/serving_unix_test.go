//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

const playServe = "OCTET_TEST_PLAY_SERVE"

// TestServe_child is octet serve itself, in a process of its own for the test below.
func TestServe_child(*testing.T) {
	if directory := os.Getenv(playServe); directory != "" {
		os.Exit(Main(context.Background(), []string{
			"serve", "--stdio", "--data-dir", filepath.Join(directory, "data"), "--model", "scripted:" + filepath.Join(directory, "script.yaml"),
		}, os.Stdin, os.Stdout, os.Stderr))
	}
}

// TestServe_endsInOrderBesideAClientThatDoesNotRead: what the client has not read is its loss; the end of the server is no
// failure.
func TestServe_endsInOrderBesideAClientThatDoesNotRead(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "script.yaml"), []byte("script: 1\nsteps: [{text: beginning}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServe_child$")
	child.Env = append(os.Environ(), playServe+"="+directory, "HOME="+directory, "GORACE=atexit_sleep_ms=0")
	wrong, err := os.Create(filepath.Join(directory, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = wrong.Close() }()
	child.Stderr = wrong
	in, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	child.Stdin = in
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	ask := []byte(`{"jsonrpc":"2.0","id":"1","method":"` + oupwire.MethodConfigCapabilitiesList + `","params":{}}` + "\n")
	if _, err := ours.Write(ask); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it is there
		t.Fatal(err)
	}
	for err == nil { // until it reads no further, because nobody reads what it says
		if err = ours.SetWriteDeadline(time.Now().Add(time.Second)); err == nil {
			_, err = ours.Write(ask)
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	state, err := child.Process.Wait() // Cmd.Wait would close what it writes to
	said, unread := os.ReadFile(wrong.Name())
	if err != nil || state.ExitCode() != 0 || len(said) > 0 || unread != nil {
		t.Errorf("it ends with %v, %v: %s", state, err, said)
	}
}
