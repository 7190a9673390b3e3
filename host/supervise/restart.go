package supervise

import (
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/diagnostic"
)

// watch waits for the end of a generation. One that nobody asked to end is cleared away, and restarts
// begin. No process is asked for a sign of life.
//
// Rules: MAN-RESTART-002, MAN-SUPER-013, EXT04-RELOAD-009, EXT04-RELOAD-014.
func (s *Supervisor) watch(g *generation) {
	<-g.Done()
	s.mu.Lock()
	recovered := s.recoveredLocked()
	s.sealLocked(g)
	struck := s.current == g && s.state == Ready
	if struck {
		s.setLocked(Crashed)
	}
	s.mu.Unlock()
	if struck {
		s.changed(Crashed, g.Generation)
	}
	// Whatever else goes on, nothing of it is left behind. What ran on it has settled or is cancelled.
	err := endError(g)
	s.clear(g)
	if s.take(s.life) != nil {
		return
	}
	s.mu.Lock()
	mine := s.current == g
	if mine {
		s.current, s.lastError = nil, bounded(err)
		s.gone = &Previous{Generation: g.Generation, Reason: canonicalwire.SessionEndReasonCrash}
		if recovered {
			s.attempts = 0
		}
	}
	s.mu.Unlock()
	if !mine { // a reload was faster
		s.giveBack()
		return
	}
	s.tell(diagnostic.Warning, "MAN-RESTART-002", "nothing; it is restarted", "generation %d has gone: %v", g.Generation, err)
	s.restart(g.Generation)
}

// restart tries to bring a generation behind number into service, with a pause in front of each attempt.
// The caller has the turn and loses it.
//
// Rules: MAN-RESTART-003, MAN-RESTART-004, EXT04-RELOAD-010, EXT04-RELOAD-011.
func (s *Supervisor) restart(number int64) {
	for {
		again := s.schedule()
		s.giveBack()
		if !again || !s.pause() || s.take(s.life) != nil {
			return
		}
		s.mu.Lock()
		// A reload by hand may have been faster, or have parked it.
		due := s.state == Backoff && s.number == number
		s.mu.Unlock()
		if !due {
			s.giveBack()
			return
		}
		if report := s.replace(s.life, nil, Backoff); report.Replaced || report.State == Parked {
			s.giveBack()
			return
		}
	}
}

// schedule draws the pause in front of the next attempt, or parks when all have been made.
func (s *Supervisor) schedule() (again bool) {
	t := s.options.Timing
	s.mu.Lock()
	attempt := s.attempts + 1
	s.mu.Unlock()
	var pause time.Duration
	if again = attempt <= t.Attempts; again {
		pause = s.options.Random(longest(t, attempt))
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return false
	}
	number, last := s.number, s.lastError
	if again {
		s.attempts, s.retry = attempt, time.Now().Add(pause)
		s.setLocked(Backoff)
	} else {
		s.setLocked(Parked)
	}
	state := s.state
	s.mu.Unlock()
	s.changed(state, number)
	if !again {
		s.tell(diagnostic.Error, "MAN-RESTART-004", "mend it and reload it; the host goes on without it",
			"parked after %d attempts: %s", t.Attempts, last)
	}
	return again
}

// longest is the longest pause in front of an attempt; the first is number 1.
func longest(t Timing, attempt int) time.Duration {
	most := t.RestartBase
	for range attempt - 1 {
		if most >= t.RestartCap/2 {
			return t.RestartCap
		}
		most *= 2
	}
	return min(most, t.RestartCap)
}

// pause waits until the next attempt is due, unless supervision ends.
func (s *Supervisor) pause() (due bool) {
	s.mu.Lock()
	timer := time.NewTimer(time.Until(s.retry))
	s.mu.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.life.Done():
		return false
	}
}
