//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const playHost = "OCTET_TEST_PLAY_HOST"

// TestHost_child is octet host itself, in a process of its own for the test below.
func TestHost_child(*testing.T) {
	if os.Getenv(playHost) != "" {
		os.Exit(Main(context.Background(), []string{"host"}, os.Stdin, os.Stdout, os.Stderr))
	}
}

// MAN-NATIVE-013: a signal ends the run with its result, and the exit code names it.
func TestHost_endsWithSignals(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "slow.yaml")
	if err := os.WriteFile(script, []byte("script: 1\nsteps: [{text: beginning, chunk: 5, pause: 1h}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf(`{"protocol_version":1,"request_id":"1","command":"run","run_id":"r","workspace":%q,"model":"scripted:%s","prompt":"go"}`+"\n", dir, script)
	for _, c := range []struct {
		signal syscall.Signal
		busy   bool
	}{
		{syscall.SIGHUP, true}, {syscall.SIGINT, true}, {syscall.SIGQUIT, true}, {syscall.SIGTERM, true}, {syscall.SIGTERM, false},
	} {
		t.Run(fmt.Sprintf("%v busy=%v", c.signal, c.busy), func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHost_child$")
			child.Env = append(os.Environ(), playHost+"=1", "HOME="+dir, "GORACE=atexit_sleep_ms=0")
			in, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			request, ready := `{"protocol_version":1,"request_id":"0","command":"hello"}`+"\n", `"hello"`
			if c.busy {
				request, ready = run, `"model_delta"`
			}
			if _, err := io.WriteString(in, request); err != nil {
				t.Fatal(err)
			}
			sent, last := false, ""
			for lines := bufio.NewScanner(out); lines.Scan(); {
				last = lines.Text()
				if !sent && strings.Contains(last, ready) {
					sent = true
					if err := child.Process.Signal(c.signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			var ended *exec.ExitError
			if err := child.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 128+int(c.signal) {
				t.Errorf("it ends with %v, want exit code %d", err, 128+int(c.signal))
			}
			if c.busy && !strings.Contains(last, `"final_result"`) {
				t.Errorf("the last line is %s", last)
			}
		})
	}
}
