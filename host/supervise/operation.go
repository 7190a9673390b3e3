package supervise

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
)

// Use runs one operation on the generation in service and returns what it returns. The generation stays
// the same throughout: the context of the operation ends when the generation does, and the operation has
// to return then. While a generation is being replaced, Use waits for the next one. It is never run twice.
//
// The error is a *NotReadyError, that of the context, or that of the operation.
func (s *Supervisor) Use(ctx context.Context, operate func(ctx context.Context, on Running) error) error {
	if s.member.oneshot() {
		return s.once(ctx, operate)
	}
	g, err := s.enlist(ctx)
	if err != nil {
		return err
	}
	return s.operate(ctx, g, operate)
}

// Call sends one tool call to the generation in service.
func (s *Supervisor) Call(ctx context.Context, r extension.Request) (result *extension.ToolResult, err error) {
	err = s.Use(ctx, func(ctx context.Context, on Running) (err error) {
		result, err = on.Call(ctx, r)
		return err
	})
	return result, err
}

// operate runs the operation on a generation that counts it already.
func (s *Supervisor) operate(ctx context.Context, g *generation, operate func(ctx context.Context, on Running) error) error {
	defer s.leave(g)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.life, func() { cancel(context.Cause(g.life)) })()
	err := operate(ctx, g.Running)
	var failure *extension.Failure
	if errors.As(err, &failure) && failure.Unsettled {
		s.degrade(g)
	}
	return err
}

// enlist counts an operation in.
func (s *Supervisor) enlist(ctx context.Context) (*generation, error) {
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		g, step := s.current, s.step
		switch {
		case s.state == Ready && !g.closed:
			g.pending++
			s.mu.Unlock()
			return g, nil
		case !s.successor || s.closing:
			err := &NotReadyError{Name: s.member.Name, State: s.state, LastError: s.lastError}
			s.mu.Unlock()
			return nil, err
		}
		s.mu.Unlock()
		select {
		case <-step:
		case <-ctx.Done():
		}
	}
}

// leave counts an operation out.
func (s *Supervisor) leave(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.pending--
	if g.closed && g.pending == 0 {
		close(g.idle)
	}
}

// sealLocked lets a generation admit nothing more.
func (s *Supervisor) sealLocked(g *generation) {
	if g.closed {
		return
	}
	g.closed = true
	if g.pending == 0 {
		close(g.idle)
	}
}

// degrade takes a generation out of service that did not settle a cancelled request. Whoever noticed is
// ending its process.
func (s *Supervisor) degrade(g *generation) {
	s.mu.Lock()
	s.sealLocked(g)
	struck := s.current == g && s.state == Ready
	if struck {
		s.setLocked(Degraded)
	}
	s.mu.Unlock()
	if struck {
		s.changed(Degraded, g.Generation)
	}
}

// once starts a generation for one operation, and shuts it down behind it. Such operations wait for each
// other.
func (s *Supervisor) once(ctx context.Context, operate func(ctx context.Context, on Running) error) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.giveBack()
	s.mu.Lock()
	refusal := &NotReadyError{Name: s.member.Name, State: s.state, LastError: s.lastError}
	ready := s.state == Ready && !s.closing
	s.mu.Unlock()
	if !ready {
		return refusal
	}
	g, err := s.candidate(ctx, false)
	if err != nil {
		s.refused(nil, Ready, err)
		return err
	}
	s.admit(g)
	s.mu.Lock()
	s.number, s.current, s.gone = g.Generation, g, nil
	g.pending++
	s.mu.Unlock()
	stop := context.AfterFunc(s.life, func() { g.cancel(ErrClosed) })
	err = s.operate(ctx, g, operate)
	stop()
	s.retire(g, canonicalwire.SessionEndReasonShutdown, false)
	s.mu.Lock()
	s.setLocked(Ready)
	s.mu.Unlock()
	s.changed(Ready, g.Generation)
	return err
}
