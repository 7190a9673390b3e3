package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// The test binary is its own writer process: asked so by the environment, it writes to a ledger instead of
// running the tests.
const childVariable = "OCTET_TEST_LEDGER_CHILD"

func TestMain(m *testing.M) {
	directory := os.Getenv(childVariable)
	if directory == "" {
		os.Exit(m.Run())
	}
	if err := writeForever(context.Background(), directory); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// child starts a process that writes to the ledger of a directory, and returns what it says.
func child(t *testing.T, directory string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childVariable+"="+directory)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// writeForever ends what an earlier process left running, then has turns written to three streams at once,
// and says of each event where it is when the ledger has acknowledged it.
func writeForever(ctx context.Context, directory string) error {
	l, err := ledger.Open(ctx, directory)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(stored []ledger.Stored, err error) error {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range stored {
			fmt.Println("event", e.Stream, e.Seq, e.Subject.ID, e.Number, uint8(e.Step), string(e.Body))
		}
		return err
	}
	running, err := l.Running(ctx)
	if err != nil {
		return err
	}
	for _, r := range running {
		fmt.Println("orphan", r.Stream, r.Subject.ID)
		if err := say(l.Append(ctx, turnEvent(r.Stream, r.Subject.ID, ledger.Ends, 0))); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	failed := make(chan error)
	for n := range 6 {
		go func() {
			stream := fmt.Sprint("s", n%3)
			for {
				turn := fmt.Sprintf("t%016x", rand.Uint64())
				err := say(l.Append(ctx, turnEvent(stream, turn, ledger.Begins, 0), turnEvent(stream, turn, ledger.Within, 10)))
				for size := range 4 {
					err = errors.Join(err, say(l.Append(ctx, turnEvent(stream, turn, ledger.Within, size*1500))))
				}
				if err = errors.Join(err, say(l.Append(ctx, turnEvent(stream, turn, ledger.Ends, 0)))); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// turnEvent is an event of a turn with a body of about a size, without white space in it.
func turnEvent(stream, turn string, step ledger.Step, size int) ledger.Event {
	e := about(stream, turn, step)
	e.Body = fmt.Appendf(nil, `{"turn":%q,"fill":%q}`, turn, strings.Repeat("x", size))
	return e
}
