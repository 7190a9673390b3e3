package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/campaign"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// prepared is a player whose host is over.
func prepared(t *testing.T) *player {
	t.Helper()
	p := &player{
		program: os.Args[0], dir: t.TempDir(), mark: fmt.Sprint(os.Getpid(), " ", t.Name()), random: newRandom(1, 1),
		patience: 400 * time.Millisecond, total: &totals{kinds: map[string]int{}},
		open: map[int]*call{}, answers: map[int]chan answer{}, read: make(chan struct{}), stderr: &tail{},
	}
	if err := p.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// wantFault demands that the campaign sees what is wrong.
func wantFault(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want an error with %q", err, words)
	}
}

func TestRemembered(t *testing.T) {
	p := prepared(t)
	store, err := session.Open(t.Context(), filepath.Join(p.dir, storeName))
	if err != nil {
		t.Fatal(err)
	}
	writer, err := store.Begin(t.Context(), p.session)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := writer.Append(t.Context(), session.Entry{Value: session.Message{Message: conversation.Message{
		Role: conversation.User, Parts: []conversation.Part{conversation.TextPart("kept")},
	}}})
	if err := errors.Join(err, writer.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(p.dir, ledgerName)
	for _, c := range []struct {
		line, words string
	}{
		{fmt.Sprintln(ids[0], "kept"), ""},
		{fmt.Sprintln(ids[0], "another text"), "another text"},
		{fmt.Sprintln("unknown", "lost"), "lost"},
	} {
		if err := os.WriteFile(ledger, []byte(c.line), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.remembered(t.Context()); c.words == "" && err != nil {
			t.Error(err)
		} else if c.words != "" {
			wantFault(t, err, c.words)
		}
	}
	if p.total.Forgotten.Load() != 2 || p.total.Acknowledged.Load() != 1 {
		t.Errorf("%d forgotten of %d", p.total.Forgotten.Load(), p.total.Acknowledged.Load())
	}
}

func TestOnce(t *testing.T) {
	p := prepared(t)
	if err := p.once(); err != nil {
		t.Errorf("without a record: %v", err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, recordName), []byte("token-1\ntoken-2\ntoken-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFault(t, p.once(), "token-1")
}

func TestTake(t *testing.T) {
	p := prepared(t)
	p.open[1] = &call{what: "a call", done: make(chan struct{})}
	p.take(answer{ID: 1, Runs: 1})
	if err := p.said(); err != nil || p.total.Answered.Load() != 1 {
		t.Errorf("one outcome: %v", err)
	}
	p.take(answer{ID: 1})
	wantFault(t, p.said(), "a second outcome")
	p.faults = nil
	p.open[2] = &call{what: "a call", done: make(chan struct{})}
	p.take(answer{ID: 2, Runs: 2})
	wantFault(t, p.said(), "ran 2 times")
}

// A call that nobody settles, and a process that nobody ends.
func TestFinishAndEventually(t *testing.T) {
	p := prepared(t)
	stranger := exec.Command("/bin/sh", "-c", "echo ready; read line")
	stranger.Env = []string{markVariable + "=" + p.mark}
	input, err := stranger.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := stranger.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Wait() }()
	defer func() { _ = input.Close() }()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	wantFault(t, p.eventually(func(campaign.Relative) bool { return false }), fmt.Sprint(stranger.Process.Pid))
	if err := p.eventually(func(r campaign.Relative) bool { return r.PID == stranger.Process.Pid }); err != nil {
		t.Error(err)
	}
	p.process = stranger
	p.open[1] = &call{what: "a call", done: make(chan struct{})}
	wantFault(t, p.finish(1), "a call is not settled")
	if p.total.Unsettled.Load() != 1 || p.total.Survivors.Load() != 1 {
		t.Errorf("%d unsettled, %d survivors", p.total.Unsettled.Load(), p.total.Survivors.Load())
	}
}

// A host that ends in order owes every outcome, and says nothing of races and panics.
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		name   string
		script string
		open   bool
		killed bool
		words  string
	}{
		{"in order", "exit 0", false, false, ""},
		{"with a code", "exit 3", false, false, "exit status 3"},
		{"owing an outcome", "exit 0", true, false, "had no outcome"},
		{"killed, owing an outcome", "kill -9 $$", true, true, ""},
		{"with a race", "echo WARNING: DATA RACE >&2; kill -9 $$", false, true, "DATA RACE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := prepared(t)
			p.process = exec.Command("/bin/sh", "-c", c.script)
			p.process.Stderr = p.stderr
			p.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			input, err := p.process.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := p.process.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.process.Start(); err != nil {
				t.Fatal(err)
			}
			p.input = input
			_, _ = io.Copy(io.Discard, output)
			close(p.read)
			if c.open {
				p.open[1] = &call{what: "a call", done: make(chan struct{})}
			}
			err = p.ended(t.Context(), c.killed)
			if c.words == "" && err != nil {
				t.Error(err)
			} else if c.words != "" {
				wantFault(t, err, c.words)
			}
		})
	}
}
