//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

const playStuck = "OCTET_TEST_PLAY_STUCK"

// TestSignals_child is a program that is stuck in some phase and does not listen, for the test below.
func TestSignals_child(t *testing.T) {
	ctx := context.Background()
	switch os.Getenv(playStuck) {
	case "":
		return
	case "conversation":
		_, s := shutdowns(ctx)
		defer s.unwatch()
	case "attended":
		_, s := shutdowns(ctx)
		s.attend(true)
	case "call":
		_, stop := interrupts(ctx, func() {}, func() {})
		defer stop(0)
	case "other":
		_, finish := ended(ctx, context.Canceled)
		defer func() { _, _ = finish(0, nil) }()
	case "unwatched":
		defer quits()()
	}
	fmt.Println("ready")
	select {}
}

// Whatever octet hangs in, each signal ends it, with the exit code that is documented.
func TestSignals_endWhateverHangs(t *testing.T) {
	t.Parallel()
	// What this process ignores, as behind nohup, its children would ignore as well; what it hears they do not.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGINT, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, phase := range []string{"conversation", "attended", "call", "other", "unwatched"} {
		for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			t.Run(fmt.Sprintf("%s %v", phase, number), func(t *testing.T) {
				t.Parallel()
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSignals_child$")
				child.Env = append(os.Environ(), playStuck+"="+phase, "GORACE=atexit_sleep_ms=0")
				out, err := child.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
					t.Fatal(err)
				}
				if err := child.Process.Signal(number); err != nil {
					t.Fatal(err)
				}
				var died *exec.ExitError
				if err := child.Wait(); !errors.As(err, &died) {
					t.Fatalf("it ends with %v", err)
				}
				status, _ := died.Sys().(syscall.WaitStatus)
				if byItself := phase == "unwatched" && number != syscall.SIGQUIT; byItself && status.Signal() != number ||
					!byItself && status.ExitStatus() != 128+int(number) {
					t.Errorf("it ends with %v, want exit code %d", err, 128+int(number))
				}
			})
		}
	}
}

// What could not be written is told once, whatever else went wrong.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		lost error
		code int
		err  error
		want int
		said string
	}{
		{"all is well", nil, exitOK, nil, exitOK, ""},
		{"wrong line", nil, exitOK, usagef("no"), exitUsage, "octet: no\n"},
		{"lost", syscall.ENOSPC, exitOK, nil, exitTool, "octet: standard output cannot be written: no space left on device; make room, or direct it elsewhere\n"},
		{"lost, cancelled for that", syscall.EIO, exitCancelled, nil, exitTool, "octet: standard output cannot be written: input/output error; direct it to a place that takes it\n"},
		{"lost, as the command says too", syscall.EIO, exitTool, fmt.Errorf("write: %w", syscall.EIO), exitTool, "octet: standard output cannot be written: input/output error; direct it to a place that takes it\n"},
		{"nobody reads", syscall.EPIPE, exitOK, nil, exitPipe, ""},
	} {
		console, _, said := onTerminal(false)
		console.out.to = failing{c.lost}
		console.print("something")
		if got := console.outcome(c.code, c.err); got != c.want || said.String() != c.said {
			t.Errorf("%s: %d and %q, want %d and %q", c.name, got, said, c.want, c.said)
		}
	}
}

type failing struct{ err error }

func (f failing) Write(data []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return len(data), nil
}
