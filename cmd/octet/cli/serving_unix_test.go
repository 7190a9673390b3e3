//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/transport"
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

// TestServe_saysThatNobodyHears: an answer that cannot be written is no success of the server.
func TestServe_saysThatNobodyHears(t *testing.T) {
	closed := func() *os.File {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		return writer
	}
	full := func() *os.File {
		file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no device is always full here: ", err)
		}
		return file
	}
	for _, c := range []struct {
		name string
		out  func() *os.File
		code int
		said string
	}{
		{"nobody reads", closed, exitPipe, ""},
		{"no room", full, exitTool, "octet: standard output cannot be written: no space left on device; make room, or direct it elsewhere\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.WriteFile(filepath.Join(directory, "script.yaml"), []byte("script: 1\nsteps: [{text: beginning}]"), 0o600); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServe_child$")
			child.Env = append(os.Environ(), playServe+"="+directory, "HOME="+directory, "GORACE=atexit_sleep_ms=0")
			var said strings.Builder
			out := c.out()
			defer func() { _ = out.Close() }()
			child.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":"1","method":"` + oupwire.MethodConfigCapabilitiesList + `","params":{}}` + "\n")
			child.Stdout, child.Stderr = out, &said
			_ = child.Run() // the exit code says more
			if code := child.ProcessState.ExitCode(); code != c.code || said.String() != c.said {
				t.Errorf("it ends with %d, want %d: %s", code, c.code, said.String())
			}
		})
	}
}

// TestTold_ofAClientThatIsGivenUp: who reads nothing and is given up for it shows in the exit code as who has gone does.
func TestTold_ofAClientThatIsGivenUp(t *testing.T) {
	for want, err := range map[int]error{exitPipe: fmt.Errorf("served: %w", transport.ErrGivenUp), exitOK: transport.ErrStuck} {
		var said bytes.Buffer
		c := newConsole(&bytes.Buffer{}, &said)
		told{c}.ended(err)
		if code := c.outcome(failed(unlessGone(err))); code != want || said.Len() > 0 {
			t.Errorf("%v ends with %d, want %d: %s", err, code, want, said.String())
		}
	}
}
