package hooks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
)

// End says how a session settles.
type End struct {
	Outcome canonicalwire.SessionOutcome
	Reason  canonicalwire.SessionEndReason
}

// The ends that the replacement of a process brings.
var (
	reloaded = End{canonicalwire.SessionOutcomeInterrupted, canonicalwire.SessionEndReasonReload}
	crashed  = End{canonicalwire.SessionOutcomeInterrupted, canonicalwire.SessionEndReasonCrash}
)

// Pairs runs the session hooks of API 0.3: for every extension and session one start and one end, in this
// order, however often somebody asks. Nothing that an extension answers or fails to answer holds anything
// up for more than 250 ms. Its methods may be called from any goroutine.
//
// Sheet: canonical 6.4; EXT03-HOOK, EXT03-RELOAD-001, EXT03-RELOAD-002.
type Pairs struct {
	// Diagnose takes what went wrong, and dispositions that are on record without effect. Nil:
	// Extension.Diagnose.
	Diagnose func(x *extension.Extension, text string)
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	mu   sync.Mutex
	open []*pair // in the order of their starts
}

// pair is one binding that was started and has not settled.
type pair struct {
	x       *extension.Extension // the process that was told of it
	owner   string
	binding canonicalwire.SessionBinding
	since   time.Time
}

// Activate tells extensions that a session is theirs, all at once. Those that were told already, or declare
// no session hooks, are left alone.
func (p *Pairs) Activate(ctx context.Context, owner string, list ...*extension.Extension) {
	var started []*pair
	for _, x := range list {
		if e := p.enter(x, owner); e != nil {
			started = append(started, e)
		}
	}
	p.start(ctx, started)
}

// Settle ends a session in every extension that was told of it, all at once. Only the first call for an
// owner does anything.
func (p *Pairs) Settle(ctx context.Context, owner string, end End) {
	p.end(ctx, p.leave(func(e *pair) bool { return e.owner == owner }), end, nil)
}

// Retire ends every session in one extension, before it is shut down.
func (p *Pairs) Retire(ctx context.Context, x *extension.Extension, end End) {
	p.end(ctx, p.leave(func(e *pair) bool { return e.x == x }), end, nil)
}

// Reload moves the sessions of a process to the one that replaces it: the old one is told of the end before
// the new one is told of the start.
func (p *Pairs) Reload(ctx context.Context, old, replacement *extension.Extension) {
	moved := p.leave(func(e *pair) bool { return e.x == old })
	p.end(ctx, moved, reloaded, nil)
	p.restart(ctx, moved, replacement)
}

// Crash moves the sessions of a process that is gone to the one that replaces it. The new one is told of the
// end as well, with the binding of the old, and then of its own start.
func (p *Pairs) Crash(ctx context.Context, old, replacement *extension.Extension) {
	moved := p.leave(func(e *pair) bool { return e.x == old })
	p.end(ctx, moved, crashed, replacement)
	p.restart(ctx, moved, replacement)
}

func (p *Pairs) restart(ctx context.Context, moved []*pair, x *extension.Extension) {
	for _, e := range moved {
		p.Activate(ctx, e.owner, x)
	}
}

// enter records who owns a binding, in front of its start. It returns nil where there is nothing to start.
func (p *Pairs) enter(x *extension.Extension, owner string) *pair {
	if owner == "" || !x.DeclaresSessionHooks() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.open {
		if e.x == x && e.owner == owner {
			return nil
		}
	}
	e := &pair{x: x, owner: owner, since: p.now(), binding: canonicalwire.SessionBinding{
		SessionID: owner, ExtensionInstanceID: x.Instance(), ProcessGeneration: x.Generation(),
	}}
	p.open = append(p.open, e)
	return e
}

// leave takes bindings out, so that nobody ends them twice.
func (p *Pairs) leave(which func(*pair) bool) []*pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []*pair
	p.open = slices.DeleteFunc(p.open, func(e *pair) bool {
		if which(e) {
			left = append(left, e)
			return true
		}
		return false
	})
	return left
}

func (p *Pairs) start(ctx context.Context, list []*pair) {
	p.each(list, func(e *pair) {
		p.run(ctx, e.x, canonicalwire.SessionStartHook{Payload: canonicalwire.SessionStart{Binding: e.binding}}, string(manifestdoc.HookSessionStart))
	})
}

// end tells of ends: every binding to its own process, or all of them to the one that replaces it.
func (p *Pairs) end(ctx context.Context, list []*pair, end End, replacement *extension.Extension) {
	p.each(list, func(e *pair) {
		x := e.x
		if replacement != nil {
			x = replacement
		}
		p.run(ctx, x, canonicalwire.SessionEndHook{Payload: canonicalwire.SessionEnd{
			Binding: e.binding, Outcome: end.Outcome, Reason: end.Reason, DurationMs: max(0, p.now().Sub(e.since).Milliseconds()),
		}}, string(manifestdoc.HookSessionEnd))
	})
}

// each runs f for all bindings at once. One process takes its bindings one after the other.
func (p *Pairs) each(list []*pair, f func(*pair)) {
	var group sync.WaitGroup
	for i, e := range list {
		if slices.ContainsFunc(list[:i], func(before *pair) bool { return before.x == e.x }) {
			continue // taken along with the first one of its process
		}
		group.Go(func() {
			for _, same := range list[i:] {
				if same.x == e.x {
					f(same)
				}
			}
		})
	}
	group.Wait()
}

// run dispatches one hook. It has no say.
func (p *Pairs) run(ctx context.Context, x *extension.Extension, params canonicalwire.SessionHookParams, hook string) {
	if !x.DeclaresSessionHooks() {
		return
	}
	d, err := x.SessionHook(ctx, params)
	switch {
	case err != nil:
		p.diagnose(x, fmt.Sprintf("hook %q: %v", hook, err))
	case d.Kind != canonicalwire.DispositionKindContinue:
		p.diagnose(x, fmt.Sprintf("hook %q answered %s: %s; it is on record and has no effect", hook, d.Kind, d.Reason.Or("no reason given")))
	}
}

func (p *Pairs) diagnose(x *extension.Extension, text string) {
	if p.Diagnose != nil {
		p.Diagnose(x, bounded(text))
		return
	}
	x.Diagnose(bounded(text))
}

func (p *Pairs) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}
