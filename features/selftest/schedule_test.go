package selftest_test

import (
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// listening is a starter that keeps what is written to its subjects, a text for each write.
type listening struct {
	subject.Starter
	mu     sync.Mutex
	writes []string
}

func (l *listening) Start(s subject.Start) (subject.Running, error) {
	run, err := l.Starter.Start(s)
	return heard{run, l}, err
}

type heard struct {
	subject.Running
	by *listening
}

func (h heard) Stdin() io.WriteCloser { return ear{h.Running.Stdin(), h.by} }

type ear struct {
	io.WriteCloser
	by *listening
}

func (e ear) Write(b []byte) (int, error) {
	e.by.mu.Lock()
	e.by.writes = append(e.by.writes, string(b))
	e.by.mu.Unlock()
	return e.WriteCloser.Write(b)
}

// The same seed repeats a schedule: the same bytes in the same writes. These peers ask nothing of their host; an
// answer goes out when an extension asks for it.
func TestSchedules_areRepeated(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.4"} {
		played := func(seed int64) []string {
			setup, err := selftest.Setup(faultypeer.Fault{API: api}, selftest.Options{Patience: steps.DefaultPatience}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			setup.Extension.Scratch, setup.Extension.Transfer = "", "" // of this run alone
			l := &listening{Starter: setup.Starter}
			setup.Starter = l
			scenarios, err := referee.Run(t.Context(), referee.Options{
				Setup: setup, Jobs: 1, Seed: seed,
				Select: func(s features.Scenario) bool { return s.Area() == "races" },
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scenarios {
				if s.Class != verdict.Pass && s.Class != verdict.NotApplicable {
					t.Errorf("API %s, seed %d: %s: %s", api, seed, s.Name, s.Reason)
				}
			}
			return l.writes
		}
		first, again, other := played(20), played(20), played(21)
		if !slices.Equal(first, again) {
			t.Errorf("API %s: one seed has written %d and then %d times, or other bytes", api, len(first), len(again))
		}
		if slices.Equal(first, other) {
			t.Errorf("API %s: two seeds have written the same", api)
		}
		if len(first) < 200 {
			t.Errorf("API %s: %d writes; byte by byte there are many more", api, len(first))
		}
	}
}
