package extension

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/peer"
)

// SessionStart tells that this process serves a session from now on.
type SessionStart struct {
	Owner Owner // the binding, the same at the end
}

// SessionEnd tells that a binding of this process, or of the one it replaces, is over.
type SessionEnd struct {
	Owner    Owner
	Outcome  string // how the work of the session ended, such as "completed" or "interrupted"
	Reason   string // why the binding ended: "shutdown", "reload", "crash" or "cancelled"
	Duration time.Duration
}

// sessionHooks are what the author wants to hear of sessions; nil is nothing.
type sessionHooks struct {
	start func(context.Context, SessionStart)
	end   func(context.Context, SessionEnd)
}

// OnSessionStart has f called when a session starts. It needs API 0.3, and a manifest that declares both
// session hooks; other hosts do not tell. The host waits for f no longer than 250 ms and lets nothing depend
// on it. OnSessionStart panics on another API, and once the extension is serving. A second f replaces the
// first.
func (e *Extension) OnSessionStart(f func(ctx context.Context, session SessionStart)) {
	e.register("session start handler", canonicalOnly, func(p *plan) { p.sessions.start = f })
}

// OnSessionEnd has f called when a session ends, under the conditions of OnSessionStart.
func (e *Extension) OnSessionEnd(f func(ctx context.Context, session SessionEnd)) {
	e.register("session end handler", canonicalOnly, func(p *plan) { p.sessions.end = f })
}

// declaresSessionHooks reports whether the manifest declares the pair.
func (d declaration) declaresSessionHooks() bool {
	return d.lists(hooksMember, string(manifestdoc.HookSessionStart)) && d.lists(hooksMember, string(manifestdoc.HookSessionEnd))
}

// sessionHook delivers a session hook. Whatever the author's function does, the answer is that the host may
// go on: the hooks are for observing.
func (s *server) sessionHook(ctx context.Context, r *peer.Request) (peer.Value, error) {
	event, err := canonicalwire.DecodeSessionHookParams(r.Params)
	if err != nil {
		return nil, err // the peer knows how a breach is answered
	}
	s.deliver(ctx, event)
	return canonicalwire.SessionHookResult{Disposition: canonicalwire.Disposition{Kind: canonicalwire.DispositionKindContinue}}, nil
}

func (s *server) deliver(ctx context.Context, event canonicalwire.SessionHookParams) {
	defer func() {
		if value := recover(); value != nil {
			s.ext.log.printf("session hook panicked: %v\n%s", value, debug.Stack())
		}
	}()
	hooks := s.plan.sessions
	switch event := event.(type) {
	case canonicalwire.SessionStartHook:
		if hooks.start != nil {
			hooks.start(ctx, SessionStart{ownerOf(event.Payload.Binding)})
		}
	case canonicalwire.SessionEndHook:
		defer s.memory.forget(ownerOf(event.Payload.Binding))
		if hooks.end != nil {
			end := event.Payload
			hooks.end(ctx, SessionEnd{ownerOf(end.Binding), string(end.Outcome), string(end.Reason), time.Duration(end.DurationMs) * time.Millisecond})
		}
	}
}

func ownerOf(b canonicalwire.SessionBinding) Owner {
	return Owner{b.SessionID, b.ExtensionInstanceID, b.ProcessGeneration}
}
