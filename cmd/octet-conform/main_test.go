//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes this program play octet-conform, and a subject that hangs, when it is started as one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "hang":
		os.Exit(hang(os.Args[2]))
	case len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test."):
		main()
	}
	os.Exit(m.Run())
}

// hang reports to an address that it runs, ignores every polite signal, and stays until it is killed or
// the address is gone.
func hang(address string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 1
	}
	_, _ = io.Copy(io.Discard, c)
	return 0
}

// start runs this program until a subject that it started hangs, and returns the connection of that as well.
func start(t *testing.T, args func(self, address string) []string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer, hung net.Conn) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd = exec.Command(self, args(self, l.Addr().String())...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		for {
			more, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = more.Close() }()
		}
	}()
	return cmd, stdout, stderr, c
}

func hangingExtension(t *testing.T, self, address string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hung")
	text := fmt.Sprintf("name = \"hung\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = %q\nargs = [\"hang\", %q]\n", self, address)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// prompt is far under every deadline of these runs, which are scaled by a hundred.
const prompt = time.Minute

// judged is what a run has judged before it starts anything: the manifest.
var judged = map[string]string{"scenarios": "[1-9][0-9]", "vectors": "0"}

func TestInterrupted(t *testing.T) {
	for name, args := range map[string]func(self, address string) []string{
		"scenarios": func(self, address string) []string {
			return []string{"extension", "--timeout-scale", "100", hangingExtension(t, self, address)}
		},
		"vectors": func(self, address string) []string {
			return []string{"vectors", "--timeout-scale", "100", "--", self, "hang", address}
		},
	} {
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				cmd, stdout, stderr, _ := start(t, args)
				began := time.Now()
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != 3 {
					t.Errorf("exit code: got %d, want 3", code)
				}
				if took := time.Since(began); took > prompt {
					t.Errorf("took %v", took)
				}
				want := regexp.MustCompile(`^octet-conform: interrupted: ` + judged[name] + ` of [1-9][0-9]* ` + name + ` judged\n$`)
				if !want.Match(stderr.Bytes()) || stdout.Len() > 0 {
					t.Errorf("got %q and %q, want one line %v", stdout, stderr, want)
				}
			})
		}
	}
}

// Whatever kills the referee, neither its subjects outlive it nor what these have started.
func TestKilled_leavesNoProcessBehind(t *testing.T) {
	for name, args := range map[string]func(self, address string) []string{
		"scenarios": func(self, address string) []string {
			return []string{"extension", "--timeout-scale", "100", "--api", "0.4", "--", "sh", "-c", `"$0" hang "$1"; exit 1`, self, address}
		},
		"vectors": func(self, address string) []string {
			return []string{"vectors", "--timeout-scale", "100", "--", "sh", "-c", `"$0" hang "$1"; exit 1`, self, address}
		},
		"hosts": func(self, address string) []string {
			return []string{"host", "--timeout-scale", "100", "--api", "0.4", "--", "sh", "-c", `"$0" hang "$1"; exit 1`, self, address, "{extension}", "{tool}", "{arguments}"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, _, _, hung := start(t, args)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if err := hung.SetReadDeadline(time.Now().Add(prompt)); err != nil {
				t.Fatal(err)
			}
			if _, err := hung.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a child of a subject is alive although the referee was killed")
			}
		})
	}
}

func TestGivesUpOnWhatHangs(t *testing.T) {
	cmd, stdout, stderr, _ := start(t, func(self, address string) []string {
		return []string{"extension", "--timeout-scale", "0.05", hangingExtension(t, self, address)}
	})
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || stderr.Len() > 0 {
		t.Errorf("exit code %d and %q, want 1 and nothing on standard error", code, stderr)
	}
	line := regexp.MustCompile(`(?m)^NOT JUDGED [0-9]+ rules: the extension does not serve: 8 scenarios in a row got no answer; the remaining [0-9]+ were not run$`)
	if n := len(line.FindAll(stdout.Bytes(), -1)); n != 1 || bytes.Count(stdout.Bytes(), []byte("does not serve")) != 1 {
		t.Errorf("%d lines %v in\n%s", n, line, stdout)
	}
}
