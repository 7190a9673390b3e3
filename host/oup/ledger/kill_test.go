package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// TestKill_losesNothingAcknowledged covers OUP-LEDGER-005: it kills a process that writes many times, at
// random points, and looks for everything that was acknowledged, and for one end of every turn.
func TestKill_losesNothingAcknowledged(t *testing.T) {
	directory := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	acknowledged := map[string]string{} // stream and position, and what stands there
	const kills = 12
	orphans := 0
	for range kills {
		cmd, said := child(t, directory)
		left := 10 + random.IntN(60)
		for said.Scan() {
			switch word, rest, _ := strings.Cut(said.Text(), " "); word {
			case "orphan":
				orphans++
			case "ready":
			case "event":
				words := strings.SplitN(rest, " ", 3)
				if len(words) == 3 && strings.HasSuffix(rest, "}") { // the last line may be cut
					acknowledged[words[0]+" "+words[1]] = words[2]
				}
			default:
				t.Errorf("the writer says %q", said.Text())
			}
			// What it says between the kill and its end counts too.
			if left--; left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
	}
	l := open(t, directory)
	if err := l.Check(t.Context()); err != nil {
		t.Error(err)
	}
	stored, open := map[string]string{}, map[string]int64{}
	for n := range 3 {
		list, _ := replay(t, l, fmt.Sprint("s", n), 0)
		for _, e := range list {
			stored[fmt.Sprint(e.Stream, " ", e.Seq)] = fmt.Sprint(e.Subject.ID, " ", e.Number, " ", uint8(e.Step), " ", string(e.Body))
			if open[e.Subject.ID]++; open[e.Subject.ID] != e.Number {
				t.Errorf("event %d of %s has number %d of its turn, want %d", e.Seq, e.Stream, e.Number, open[e.Subject.ID])
			}
			if e.Step == ledger.Ends {
				open[e.Subject.ID] = -1 << 32 // nothing may follow
			}
		}
	}
	for place, what := range acknowledged {
		if stored[place] != what {
			t.Errorf("%s was acknowledged with %.60q; stored is %.60q", place, what, stored[place])
		}
	}
	running, err := l.Running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for turn, number := range open {
		if number > 0 {
			found := false
			for _, r := range running {
				found = found || r.Subject.ID == turn
			}
			if !found {
				t.Errorf("turn %s has no end and does not count as running", turn)
			}
		}
	}
	if orphans < kills/2 || len(acknowledged) < 10*kills {
		t.Errorf("%d orphans and %d events: the writers did not get to write", orphans, len(acknowledged))
	}
	t.Logf("%d kills, %d events acknowledged, %d stored, %d orphans ended", kills, len(acknowledged), len(stored), orphans)
}

// TestLock_secondProcessIsToldWho has a real process hold the directory, and gets it as soon as that is gone.
func TestLock_secondProcessIsToldWho(t *testing.T) {
	directory := t.TempDir()
	cmd, said := child(t, directory)
	for said.Scan() && said.Text() != "ready" {
	}
	_, err := ledger.Open(t.Context(), directory)
	if err := errors.Join(cmd.Process.Kill(), drained(cmd)); err != nil {
		t.Fatal(err)
	}
	var locked *ledger.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, ledger.ErrLocked) {
		t.Fatalf("got %v, want a *LockedError", err)
	}
	want(t, "word", locked.Word(), "OCTOS_DATA_DIR_LOCKED")
	want(t, "directory", locked.Directory, directory)
	if locked.PID != cmd.Process.Pid && locked.PID != 0 {
		t.Errorf("holder %d, want %d", locked.PID, cmd.Process.Pid)
	}
	want(t, "sentence", locked.Error(), fmt.Sprintf(
		"data directory %q is in use by another server (process %d); end that one first, or name another directory with --data-dir", directory, locked.PID))
	l := open(t, directory)
	_, err = ledger.Open(t.Context(), directory)
	if !errors.As(err, &locked) || locked.PID != os.Getpid() && locked.PID != 0 {
		t.Errorf("in this process: got %v", err)
	}
	_ = l.Close()
	open(t, directory)
}

// drained waits for a process that was killed.
func drained(cmd *exec.Cmd) error {
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		return err
	}
	return nil
}
