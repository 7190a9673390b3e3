package sessions

import (
	"context"
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Control serves the session control of API 0.4. Bind it only where an active session can be controlled.
func Control(c *Controller) extension.Binding {
	handler := func(decode func([]byte) (id string, err error), do func(ctx context.Context, id string) (string, error), answer func(string) peer.Value) extension.Handler {
		return func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
			id, err := decode(r.Params)
			if err != nil {
				return nil, refusal.Of(err)
			}
			r.Waits()
			if id, err = do(ctx, id); err != nil {
				return nil, controlFailure(ctx, err)
			}
			return answer(id), nil
		}
	}
	return extension.Binding{
		Features: []string{featurewire.FeatureSessionControlV1},
		Offer:    retained,
		Requests: map[string]extension.Handler{
			featurewire.MethodSessionWaitForIdle: handler(func(b []byte) (string, error) {
				p, err := featurewire.DecodeSessionWaitForIdleParams(b)
				return "", noSession(p.SessionID, err)
			}, without(c.WaitForIdle), func(id string) peer.Value { return featurewire.SessionWaitForIdleResult{SessionID: id} }),
			featurewire.MethodSessionCreate: handler(func(b []byte) (string, error) {
				p, err := featurewire.DecodeSessionCreateParams(b)
				return "", noSession(p.SessionID, err)
			}, without(c.Create), func(id string) peer.Value { return featurewire.SessionCreateResult{SessionID: id} }),
			featurewire.MethodSessionFork: handler(func(b []byte) (string, error) {
				p, err := featurewire.DecodeSessionForkParams(b)
				return "", noSession(p.SessionID, err)
			}, without(c.Fork), func(id string) peer.Value { return featurewire.SessionForkResult{SessionID: id} }),
			featurewire.MethodSessionReload: handler(func(b []byte) (string, error) {
				p, err := featurewire.DecodeSessionReloadParams(b)
				return "", noSession(p.SessionID, err)
			}, without(c.Reload), func(id string) peer.Value { return featurewire.SessionReloadResult{SessionID: id} }),
			featurewire.MethodSessionSwitch: handler(func(b []byte) (string, error) {
				p, err := featurewire.DecodeSessionSwitchParams(b)
				return p.SessionID, err
			}, c.Switch, func(id string) peer.Value { return featurewire.SessionSwitchResult{SessionID: id} }),
		},
	}
}

// without is work for which no session is named.
func without(do func(context.Context) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) { return do(ctx) }
}

// retained reports whether an extension speaks the version that has these services. The wires share names of
// methods.
func retained(s *extension.Source) bool { return s.Manifest.API == featurewire.Version04 }

// noSession refuses a session where none belongs.
func noSession(id wirejson.Opt[string], err error) error {
	if _, given := id.Get(); err == nil && given {
		return errors.New("only " + featurewire.MethodSessionSwitch + " names a session; leave session_id out")
	}
	return err
}

// controlFailure is the answer to work that was not done.
func controlFailure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrExhausted):
		e := peer.Fail(featurewire.ErrQueueExhausted, nil)
		e.Message = ErrExhausted.Error()
		return e
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return context.Cause(ctx)
	case errors.Is(err, ErrFenced):
		return extension.RefuseOwner(ErrFenced.Error())
	}
	return extension.RefuseFailed("the session operation failed: " + err.Error())
}

// Compact serves the compaction of API 0.4. Bind it together with Control, and only where a compactor is there
// before the process is started.
func Compact(c *Controller, k Compactor) extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureSessionCompactionV1},
		Offer:    retained,
		Requests: map[string]extension.Handler{
			featurewire.MethodSessionCompact: func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
				p, err := featurewire.DecodeSessionCompactParams(r.Params)
				if err != nil {
					return nil, refusal.Of(err)
				}
				if k.Compacting() {
					return nil, extension.RefuseInvalid("a compaction is going on; ask behind it")
				}
				instructions := p.CustomInstructions.Or("")
				if strings.TrimSpace(instructions) == "" {
					instructions = ""
				}
				r.Waits()
				made, err := c.compact(ctx, k, instructions)
				if err != nil {
					return nil, controlFailure(ctx, err)
				}
				return featurewire.SessionCompactResult{EntryID: made.EntryID, Summary: made.Summary, FirstKept: made.FirstKept}, nil
			},
		},
	}
}
