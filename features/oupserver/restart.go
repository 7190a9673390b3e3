package oupserver

import "github.com/octet-dev/octet/generated/oupwire"

// Restart has the server die, whatever it is doing, and begin anew on what it has kept.
func (s *Server) Restart() {
	s.mu.Lock()
	for c := range s.conns {
		c.gone, c.queue = true, nil
	}
	s.conns = map[*conn]bool{}
	var orphans []*turn
	for t := range s.alive {
		t.orphan = true
		orphans = append(orphans, t)
	}
	s.changed.Broadcast()
	s.mu.Unlock()
	s.turns.Wait()

	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range orphans {
		s.settle(t)
	}
	if s.does("forgets models at a restart") {
		s.book.models = nil
	}
	if !s.does("keeps the mode of its router over a restart") {
		s.mode = oupwire.RouterModeOff
	}
	for _, ses := range s.sorted() {
		ses.remembered, ses.plan = nil, nil
		ses.settleTasks()
		switch {
		case s.does("forgets events at a restart"):
			ses.events = nil
		case s.does("counts anew at a restart"):
			ses.last = 0
		}
	}
}

// settle ends a turn that died with the server.
func (s *Server) settle(t *turn) {
	t.orphan, t.ses.running = false, nil
	if s.does("takes turns up again at a restart") {
		t.state = active
		t.say("Where was I?")
		t.finish(nil)
		return
	}
	t.state = errored
	if !s.does("leaves requests pending at a restart") {
		t.cancelAll()
	}
	if s.does("leaves turns open at a restart") {
		return
	}
	t.ended = s.now()
	code := "orphaned_by_restart"
	if s.does("calls an orphan interrupted") {
		code = "interrupted"
	}
	t.envelope("turn_terminal", object{"outcome": errored, "error": object{"code": code, "message": "the server died"}})
}

// dead reports whether the server died under a turn, which then does nothing more.
func (t *turn) dead() bool { return t.orphan }
