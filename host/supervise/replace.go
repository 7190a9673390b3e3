package supervise

import (
	"context"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/diagnostic"
)

// replace starts a candidate and puts it in the place of old, which may be nil. The caller has the turn.
// If it cannot be done and there is no old one, fallback is the state afterwards.
//
// The order is fixed: check the source, start and initialize, compare contributions, drain old, let it
// hear its end, shut it down, let the new one hear its beginning, switch.
//
// Rules: MAN-RELOADING-003 to MAN-RELOADING-008, EXT04-RELOAD-003, EXT04-RELOAD-004.
func (s *Supervisor) replace(ctx context.Context, old *generation, fallback State) Report {
	s.mu.Lock()
	previous := s.number
	s.mu.Unlock()
	fresh, err := s.candidate(ctx, old == nil)
	if err != nil {
		s.refused(old, fallback, err)
		return s.report(previous, err)
	}
	graceful := false
	if old != nil {
		graceful = s.retire(old, canonicalwire.SessionEndReasonReload, true)
	}
	if s.member.oneshot() {
		// Its catalog is known now. A process of it runs for an operation alone.
		s.drop(fresh)
	} else if s.life.Err() != nil {
		s.drop(fresh)
		return s.report(previous, ErrClosed)
	} else {
		s.admit(fresh)
	}
	s.install(fresh)
	s.tell(diagnostic.Info, "", "nothing", "generation %d is ready", fresh.Generation)
	if !s.member.oneshot() {
		s.tasks.Go(func() { s.watch(fresh) })
	}
	report := s.report(previous, nil)
	report.Replaced, report.Graceful = true, graceful
	return report
}

// install makes the candidate the generation in service, in one step.
func (s *Supervisor) install(fresh *generation) {
	agreement := fresh.Agreement()
	s.mu.Lock()
	s.number, s.agreement, s.tools = fresh.Generation, agreement, agreement.Tools
	if s.staged != nil {
		s.tools, s.staged = *s.staged, nil
	}
	s.successor, s.gone = false, nil
	if !s.member.oneshot() {
		s.current = fresh
	}
	s.setLocked(Ready)
	s.mu.Unlock()
	s.changed(Ready, fresh.Generation)
}

// candidate starts and initializes the next generation and compares it with the last one. Visible says
// that there is nothing in service whose state it would hide.
func (s *Supervisor) candidate(ctx context.Context, visible bool) (*generation, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
	if s.life.Err() != nil {
		return nil, ErrClosed
	}
	if s.member.Recheck != nil {
		if err := s.member.Recheck(); err != nil {
			return nil, Permanent(err)
		}
	}
	s.mu.Lock()
	s.staged = nil
	launch := Launch{Name: s.member.Name, InstanceID: s.id, Generation: s.number + 1}
	known := s.agreement
	s.mu.Unlock()
	if visible {
		s.enter(Starting)
	}
	launch.Launched = func(kill func()) {
		s.launching(kill)
		if visible {
			s.enter(Initializing)
		}
	}
	instance, err := s.member.Start(ctx, launch)
	s.launching(nil)
	if err != nil {
		return nil, err
	}
	fresh := s.adopt(Running{Instance: instance, Name: launch.Name, InstanceID: launch.InstanceID, Generation: launch.Generation})
	if err = s.verdict(ctx, fresh); err == nil && known != nil {
		if found := changes(known, instance.Agreement()); len(found) > 0 {
			err = &MismatchError{Name: s.member.Name, Changes: found}
		}
	}
	if err != nil {
		s.drop(fresh)
		return nil, err
	}
	return fresh, nil
}

// launching remembers how to kill a process that no generation has yet.
func (s *Supervisor) launching(kill func()) {
	s.mu.Lock()
	s.launched = kill
	s.mu.Unlock()
	if kill != nil && s.hurried() {
		kill()
	}
}

// hurried reports whether Kill was called.
func (s *Supervisor) hurried() bool {
	select {
	case <-s.hurry:
		return true
	default:
		return false
	}
}

// adopt makes a generation of an instance, which Kill can reach from now on.
func (s *Supervisor) adopt(r Running) *generation {
	g := &generation{Running: r, idle: make(chan struct{})}
	g.life, g.cancel = context.WithCancelCause(context.Background())
	s.mu.Lock()
	s.unfinished[g] = true
	s.mu.Unlock()
	if s.hurried() {
		g.Kill()
	}
	return g
}

// verdict reports what has happened to a candidate or its starter by now.
func (s *Supervisor) verdict(ctx context.Context, fresh *generation) error {
	select {
	case <-fresh.Done():
		return endError(fresh)
	default:
		return context.Cause(ctx)
	}
}

// endError says why a generation ended.
func endError(g *generation) error {
	if err := g.Err(); err != nil {
		return err
	}
	return fmt.Errorf("extension `%s` has ended", g.Name)
}

// drop ends a candidate that does not come into service. It is owed nothing.
func (s *Supervisor) drop(fresh *generation) {
	fresh.Kill()
	s.clear(fresh)
}

// clear closes a generation and forgets its process.
func (s *Supervisor) clear(g *generation) Ending {
	ending := Ending{Name: s.member.Name, Ran: true, Ending: g.Close()}
	g.cancel(ErrReplaced)
	s.mu.Lock()
	delete(s.unfinished, g)
	s.mu.Unlock()
	return ending
}

// refused records that a candidate did not make it. What is in service stays in service.
func (s *Supervisor) refused(old *generation, fallback State, err error) {
	if hopeless(err) {
		fallback = Parked
	}
	s.mu.Lock()
	s.lastError, s.staged = bounded(err), nil
	if old == nil && !s.closing {
		s.setLocked(fallback)
	}
	state, number := s.state, s.number
	s.mu.Unlock()
	s.changed(state, number)
	switch {
	case old != nil:
		s.tell(diagnostic.Warning, "MAN-RELOADING-004", "mend it and reload again", "generation %d stays in service: %v", number, err)
	case state == Parked:
		s.parked(err)
	}
}

func (s *Supervisor) parked(err error) {
	s.tell(diagnostic.Error, "MAN-START-012", "mend it and reload it; the host goes on without it", "parked: %v", err)
}

// retire takes a generation out of service: no further operation, a while for those that run, the end for
// the rest, a last word, shutdown. It returns whether that went well.
//
// Rules: MAN-RELOADING-007, MAN-RELOADING-011, EXT04-SHUT.
func (s *Supervisor) retire(old *generation, reason Reason, successor bool) bool {
	return s.retireWithin(old, reason, successor, s.options.Timing.Drain).Orderly()
}

func (s *Supervisor) retireWithin(old *generation, reason Reason, successor bool, drain time.Duration) Ending {
	s.mu.Lock()
	s.sealLocked(old)
	s.successor = successor
	draining := s.state == Ready
	if draining {
		s.setLocked(Draining)
	}
	number := s.number
	s.mu.Unlock()
	if draining {
		s.changed(Draining, number)
	}
	old.Drain()
	if old.Agreement().API == featurewire.Version01 {
		drain = 0 // that version knows none
	}
	s.await(old, drain)
	why := ErrReplaced
	if reason == canonicalwire.SessionEndReasonShutdown {
		why = ErrClosed
	}
	old.cancel(why)
	s.await(old, s.options.Timing.Grace)
	gone := &Previous{Generation: old.Generation, Reason: reason}
	select {
	case <-old.Done():
		gone.Reason = canonicalwire.SessionEndReasonCrash
	default:
		if tell := s.options.Handover.Retire; tell != nil {
			s.handover(old, func(ctx context.Context) { tell(ctx, old.Running, reason) })
		}
	}
	ending := s.clear(old)
	s.mu.Lock()
	s.gone, s.current = gone, nil
	s.mu.Unlock()
	return ending
}

// await waits until no operation of a generation runs, for a while.
func (s *Supervisor) await(g *generation, most time.Duration) {
	if most <= 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-g.idle:
	case <-timer.C:
	case <-s.hurry:
	}
}

// admit lets a new generation hear its beginning.
func (s *Supervisor) admit(fresh *generation) {
	tell := s.options.Handover.Admit
	if tell == nil {
		return
	}
	s.mu.Lock()
	gone := s.gone
	s.mu.Unlock()
	s.handover(fresh, func(ctx context.Context) { tell(ctx, fresh.Running, gone) })
}

// handover calls a function of the Handover with a context that ends in time, and with the generation.
func (s *Supervisor) handover(g *generation, tell func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), HandoverTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		select {
		case <-g.Done():
		case <-done:
		}
		cancel()
	}()
	defer close(done)
	tell(ctx)
}
