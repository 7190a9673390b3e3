package subject_test

import (
	"context"
	"testing"

	"github.com/octet-dev/octet/features/subject"
)

// stayer is a subject that has to be killed.
type stayer struct {
	subject.Running
	hurried bool
}

func (s *stayer) Exited() <-chan struct{} { return nil }
func (s *stayer) Hurry()                  { s.hurried = true }
func (s *stayer) End() subject.Ended      { return subject.Ended{Killed: true} }

type startStayers struct{ started []*stayer }

func (s *startStayers) Start(subject.Start) (subject.Running, error) {
	s.started = append(s.started, &stayer{})
	return s.started[len(s.started)-1], nil
}

func TestBounded_isPoliteUntilOneHadToBeKilled(t *testing.T) {
	stayers := &startStayers{}
	starter := subject.Bounded(t.Context(), stayers)
	for range 2 {
		run, err := starter.Start(subject.Start{})
		if err != nil {
			t.Fatal(err)
		}
		run.End()
	}
	if stayers.started[0].hurried || !stayers.started[1].hurried {
		t.Errorf("hurried: %v and %v, want the second alone", stayers.started[0].hurried, stayers.started[1].hurried)
	}
}

func TestBounded_startsNothingOnceItIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stayers := &startStayers{}
	if _, err := subject.Bounded(ctx, stayers).Start(subject.Start{}); err == nil || len(stayers.started) > 0 {
		t.Errorf("got %v and %d subjects, want an error and none", err, len(stayers.started))
	}
}
