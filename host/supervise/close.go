package supervise

import (
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
)

// Ending is how an extension came down.
type Ending struct {
	Name string
	// Ran says that there was a generation in service; the rest counts only then.
	Ran bool
	extension.Ending
}

// Close ends supervision and what is in service: nothing is started any more, operations get the drain to
// end by themselves, the rest is cancelled, and the process is shut down in stages. It returns when nothing
// is left. Every further call returns the Ending of the first.
//
// Rules: MAN-RESTART-009, EXT04-RELOAD-016.
func (s *Supervisor) Close() Ending { return s.closeWithin(s.options.Timing.Drain) }

func (s *Supervisor) closeWithin(drain time.Duration) Ending {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		s.mu.Unlock()
		s.end()
		s.turn <- struct{}{}
		s.mu.Lock()
		current := s.current
		s.mu.Unlock()
		s.ending = Ending{Name: s.member.Name}
		if current != nil {
			s.ending = s.retireWithin(current, canonicalwire.SessionEndReasonShutdown, false, drain)
		}
		s.enter(Stopped)
		s.giveBack()
		s.tasks.Wait()
	})
	return s.ending
}

// Kill ends every process of the extension at once and starts none any more. Close must still be called; one
// that is under way finishes early.
func (s *Supervisor) Kill() {
	s.mu.Lock()
	s.closing = true
	list := make([]*generation, 0, len(s.unfinished))
	for g := range s.unfinished {
		list = append(list, g)
	}
	launched := s.launched
	s.mu.Unlock()
	s.end()
	s.killOnce.Do(func() { close(s.hurry) })
	if launched != nil {
		launched()
	}
	for _, g := range list {
		g.cancel(ErrClosed)
		g.Kill()
	}
}
