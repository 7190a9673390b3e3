package oupreferee

import (
	"errors"
	"testing"
	"time"
)

// queued is a server whose run delay is made up.
type queued struct {
	Server
	asked int
	delay time.Duration // new each time that it is asked for
}

func (q *queued) Close() {}

func (q *queued) Ended() (bool, string) { return false, "" }

func (q *queued) FreshDelay() time.Duration {
	q.asked++
	return q.delay
}

func waiting(t *testing.T, q *queued) *world {
	t.Helper()
	w, err := newWorld(t.Context(), &Setup{Wait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	w.server = q
	return w
}

// A server that stands in line for a processor is not accused of silence.
func TestPatience_isProlongedByTheRunDelay(t *testing.T) {
	q := &queued{delay: 50 * time.Millisecond}
	w := waiting(t, q)
	if err := w.until(&client{}, func() bool { return q.asked > 2 }); err != nil {
		t.Errorf("an answer that came late: %v", err)
	}
	before := q.asked
	ctx, cancel := w.bounded()
	defer cancel()
	if <-ctx.Done(); q.asked < before+3 {
		t.Errorf("an upgrade was waited for %d times", q.asked-before)
	}
	before = q.asked
	if err := w.serverEnds(); err == nil || q.asked < before+3 {
		t.Errorf("an end that does not come was waited for %d times: %v", q.asked-before, err)
	}
}

func TestPatience_hasAnEnd(t *testing.T) {
	q := &queued{}
	w := waiting(t, q)
	if err := w.until(&client{}, func() bool { return false }); !errors.Is(err, errSilent) || q.asked != 1 {
		t.Errorf("a server that sleeps was waited for %d times: %v", q.asked, err)
	}
}
