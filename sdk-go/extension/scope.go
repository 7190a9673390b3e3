package extension

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalservice"
	"github.com/octet-dev/octet/generated/featureservice"
	"github.com/octet-dev/octet/runtime/peer"
)

// scopeKind says what a scope belongs to.
type scopeKind uint8

const (
	sessionScope    scopeKind = iota // the session itself: no request
	requestScope                     // a request of the host
	toolScope                        // a tool call
	initializeScope                  // initialize, while it is being answered
)

// Scope is what a handler works in: who asks, and what may be asked back. Its methods may be used from any
// goroutine, also when the request has been answered: then the services that need a running request say so.
//
// The services of API 0.1, 0.2 and 0.4 stand here by noun, as in scope.Composer().Set(ctx, "text"); those of
// API 0.3 are at V03. Each refuses what this host has not opened, see ErrNotNegotiated, and what the scope
// cannot be tied to, see ErrNoParent; nothing is sent then. What the host answers with an error is a
// *HostError, a cancelled request ErrCancelled, and arguments out of bounds a *wirejson.Violation that says
// where.
type Scope struct {
	featureservice.Services // Services.Context is the noun that Context hides

	server  *server
	session *session
	request *peer.Request   // nil in the scope of the session
	ctx     context.Context // of the handler
	context Context
	kind    scopeKind
	settled bool   // made for what runs behind the answer
	arrived uint64 // events that came before

	mu       sync.Mutex // held while progress is queued, so that sequences go out in order
	sequence int64      // of the last progress
	living   context.Context
}

// init makes the scope ready in place, because its services refer to it.
func (s *Scope) init(server *server, kind scopeKind, request *peer.Request, ctx context.Context, where Context) {
	s.server, s.session, s.kind, s.request, s.ctx, s.context = server, server.session.Load(), kind, request, ctx, where
	s.Services = featureservice.New((*featureLink)(s))
	s.arrived = server.events.arrived.Load()
}

// V03 returns the services of API 0.3.
func (s *Scope) V03() canonicalservice.Services { return canonicalservice.New((*canonicalLink)(s)) }

// Context returns where and for whom the request runs.
func (s *Scope) Context() Context { return s.context }

// Owner returns the owner of the request, nil for none.
func (s *Scope) Owner() *Owner { return s.context.Owner }

// Workspace returns the root of the workspace of the request.
func (s *Scope) Workspace() string {
	if s.context.Workspace != "" {
		return s.context.Workspace
	}
	return s.session.workspace
}

// Flags returns the command-line flags of this process. The caller may keep and change the map.
func (s *Scope) Flags() Flags { return maps.Clone(s.session.flags) }

// Features returns what was negotiated: features of API 0.2 and 0.4, capabilities of API 0.3, ascending; none
// on API 0.1.
func (s *Scope) Features() []string { return slices.Clone(s.session.features) }

// Live reports whether the request of the scope is still to be answered.
func (s *Scope) Live() bool { return s.request != nil && !s.settled && !s.request.Answered() }

// After has f run once the request has been answered with a result: f may ask for what needs a settled
// request, such as session/compact, and for what outlives it. It runs on a goroutine of its own; its context
// ends when the extension shuts down, and its error is logged. Behind an answer, and in the scope of the
// session, f runs at once. Behind an error answer it does not run.
func (s *Scope) After(f func(ctx context.Context, scope *Scope) error) {
	behind := func(result bool) {
		if !result {
			return
		}
		later := &Scope{settled: true}
		later.init(s.server, s.kind, s.request, s.server.life, s.context)
		s.server.spawn("after", func(ctx context.Context) error { return f(ctx, later) })
	}
	if s.request == nil {
		behind(true)
		return
	}
	s.request.Behind(behind)
}

// CatchUp waits until the handlers of all events that came before the request have returned. Without it a
// request may be handled while earlier events still are.
func (s *Scope) CatchUp(ctx context.Context) error { return s.server.events.wait(ctx, s.arrived) }

// alive returns a context that ends with the request, or with the session where there is none any more.
func (s *Scope) alive(live bool) context.Context {
	if !live {
		return s.server.life
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.living == nil {
		ctx, cancel := context.WithCancelCause(s.server.life)
		s.living = ctx
		s.request.Behind(func(bool) { cancel(errAnswered) })
	}
	return s.living
}

// Scoped is a Scope or what has one.
type Scoped interface{ scope() *Scope }

func (s *Scope) scope() *Scope { return s }
