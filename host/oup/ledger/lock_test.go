package ledger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gofrs/flock"
)

// TestLock_ofADeadHolderIsWaitedFor: a process that was killed while it started another leaves its lock to that for a
// moment.
func TestLock_ofADeadHolderIsWaitedFor(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	path := filepath.Join(directory, lockName)
	for range 20 {
		left := flock.New(path)
		if held, err := left.TryLock(); err != nil || !held {
			t.Fatal(held, err)
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(dead.Process.Pid)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		released := make(chan error)
		go func() { released <- left.Close() }()
		l, err := lockDirectory(directory)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		if err := l.release(); err != nil {
			t.Fatal(err)
		}
	}
}
