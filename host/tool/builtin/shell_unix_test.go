//go:build unix

package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/tool"
)

func TestShell(t *testing.T) {
	b := open(t)
	b.wants("shell", arguments{"command": "echo out; echo err >&2; pwd"}, false, "out\nerr\n"+b.dir+"\n[exit code 0]")
	r := b.wants("shell", arguments{"command": "exit 3"}, true, "[exit code 3]")
	var kept ran
	if err := json.Unmarshal(r.Details.Metadata, &kept); err != nil || kept.ExitCode != 3 {
		t.Errorf("kept: %s %v", r.Details.Metadata, err)
	}
	b.wants("shell", arguments{"command": "cat"}, false, "[exit code 0]") // there is no input
	b.wants("shell", arguments{"command": "kill -9 $$"}, true, "signal")
	b.wants("shell", arguments{"command": "printf 'no end'"}, false, "no end\n[exit code 0]")
	b.wants("shell", arguments{"command": "echo 'a"}, true)
	b.wants("shell", arguments{"command": `printf 'a\000b\377'`}, false, "a\uFFFDb\uFFFD")
}

func TestShell_keepsTheEnd(t *testing.T) {
	b := open(t)
	r := b.wants("shell", arguments{"command": "seq 1 100000"}, false, "bytes of output in front of this are left out", "\n100000\n[exit code 0]")
	if len(textOf(r)) > maxOutputBytes+200 {
		t.Errorf("%d bytes are kept", len(textOf(r)))
	}
	r = b.wants("shell", arguments{"command": "seq 1 2000"}, false)
	if strings.Contains(textOf(r), "left out") {
		t.Error("output at the bound of lines is cut")
	}
	r = b.wants("shell", arguments{"command": "seq 1 2001"}, false, "left out")
	if strings.Contains(textOf(r), "\n1\n") {
		t.Error("output over the bound of lines is not cut")
	}
}

func TestShell_environment(t *testing.T) {
	ours := []string{
		"PATH=/bin", "OPENAI_API_KEY=x", "OCTET_HOME=/x", "HOME=/h", "ANTHROPIC_API_KEY=y", "ANTHROPIC_AUTH_TOKEN=z",
		"OCTOS_AUTH_TOKEN=t", "GEMINI_API_KEY=g", "some_api_key=s",
	}
	before := strings.Join(ours, " ")
	if got := strings.Join(Environment(ours), " "); got != "PATH=/bin HOME=/h" {
		t.Errorf("commands get %s", got)
	}
	if strings.Join(ours, " ") != before {
		t.Error("the argument was changed")
	}
}

// pid is the number that a command has written to a file.
func (b *bench) pid(name string) int {
	b.Helper()
	var pid int
	if _, err := fmt.Sscan(b.content(name), &pid); err != nil {
		b.Fatal(err)
	}
	return pid
}

func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	// It may be a zombie that nobody has collected in this container.
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestShell_timeout(t *testing.T) {
	fired := make(chan time.Time, 1)
	b := open(t, func(o *Options) {
		o.After = func(d time.Duration) <-chan time.Time {
			if d == 7*time.Second {
				return fired
			}
			return time.After(d)
		}
	})
	r, err := b.callWith(context.Background(), "shell", arguments{"command": "sleep 1000 & echo $! > child; echo waiting; wait", "timeout_seconds": 7}, func(p tool.Progress) {
		if strings.Contains(string(p.Data), "waiting") {
			fired <- time.Time{}
		}
	})
	if err != nil || !r.IsError || !strings.Contains(textOf(r), "waiting\n[stopped after 7s") {
		t.Errorf("%s %v", textOf(r), err)
	}
	if !gone(b.pid("child")) {
		t.Error("a child of the command runs on")
	}
}

func TestShell_cancel(t *testing.T) {
	b := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	command := `trap '' TERM; setsid sh -c 'echo $$ > child; exec sleep 1000' & while [ ! -s child ]; do :; done; echo waiting; wait; sleep 1000`
	_, err := b.callWith(ctx, "shell", arguments{"command": command}, func(p tool.Progress) {
		if strings.Contains(string(p.Data), "waiting") {
			cancel()
		}
	})
	if err == nil {
		t.Error("a cancelled call has a result")
	}
	if !gone(b.pid("child")) {
		t.Error("a descendant that left the group runs on")
	}
}

func TestShell_background(t *testing.T) {
	heard := make(chan time.Time)
	b := open(t, func(o *Options) {
		o.After = func(d time.Duration) <-chan time.Time {
			if d == drainGrace {
				return heard // a busy machine may read late what was said
			}
			return time.After(d)
		}
	})
	r, err := b.callWith(context.Background(), "shell", arguments{"command": "sleep 1000 & echo $! > child; echo done"}, func(p tool.Progress) {
		if strings.Contains(string(p.Data), "done") {
			close(heard)
		}
	})
	if text := textOf(r); err != nil || r.IsError || !strings.Contains(text, "done\n[exit code 0]") || !strings.Contains(text, "1 processes that it left in the background") {
		t.Errorf("%s %v", text, err)
	}
	if !gone(b.pid("child")) {
		t.Error("what was left in the background runs on")
	}
}
