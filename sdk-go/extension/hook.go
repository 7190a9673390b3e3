package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/featureservice"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// HookCall is one call of a hook. Its methods may be used from any goroutine.
type HookCall struct {
	Scope
	hook string
	leaf json.RawMessage
}

// Hook returns the name of the hook.
func (h *HookCall) Hook() string { return h.hook }

// SessionLeaf returns the grant that the hooks of session operations carry, as the host sent it, nil for none.
func (h *HookCall) SessionLeaf() json.RawMessage { return h.leaf }

// Hooks registers what the extension answers when the host asks, on API 0.1, 0.2 and 0.4, each hook that the
// manifest declares once. The result is checked before it is sent; an error is written to stderr, and the host
// hears only that the hook failed. A method panics on an API version that does not have the hook, if the hook
// has a handler already, and once the extension is serving. API 0.3 has OnSessionStart and OnSessionEnd.
func (e *Extension) Hooks() featureservice.Hooks[*HookCall] {
	return featureservice.NewHooks(func(row *wirejson.Hook, run featureservice.Hook[*HookCall]) {
		e.register("hook "+row.Name, row.Versions, func(p *plan) {
			if _, taken := p.hooks[row.Name]; taken {
				panic(fmt.Sprintf("extension: hook %q has a handler already", row.Name))
			}
			if p.hooks == nil {
				p.hooks = map[string]hook{}
			}
			p.hooks[row.Name] = hook{row, run}
		})
	})
}

func (s *server) hook(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, where, err := s.decodeHook(r.Params)
	if err != nil {
		return nil, err
	}
	name := string(asked.Hook)
	if !s.session.Load().declared.lists(hooksMember, name) {
		return nil, s.fail(s.ext.dialect.invalidParams(wirejson.WrongValue, "/hook", fmt.Sprintf("the manifest declares no hook %q", name)))
	}
	h, found := s.plan.hooks[name]
	if !found {
		return nil, s.fail(s.ext.dialect.invalidParams(wirejson.WrongValue, "/hook", fmt.Sprintf("the extension has no handler for the hook %q", name)))
	}
	run, err := h.run(asked.Payload)
	if err != nil {
		return nil, inside("/payload", err)
	}
	call := &HookCall{hook: name, leaf: asked.SessionLeaf.Or(nil)}
	call.init(s, requestScope, r, ctx, where)
	return s.guard(ctx, "hook "+name, func() (wirejson.Encoder, error) { return run(ctx, call) })
}

func (s *server) decodeHook(params json.RawMessage) (featurewire.HookRunParams, Context, error) {
	if s.ext.api == API01 {
		asked, err := featurewire.DecodeHookRunParamsV01(params)
		return featurewire.HookRunParams{Hook: asked.Hook, Payload: asked.Payload}, contextV01(asked.Context), err
	}
	asked, err := featurewire.DecodeHookRunParams(params)
	return asked, contextOf(asked.Context), err
}

// inside puts a place in front of that of a violation.
func inside(place string, err error) error {
	var v *wirejson.Violation
	if !errors.As(err, &v) {
		return err
	}
	outer := *v
	outer.Pointer = place + v.Pointer
	return &outer
}
