package sessions

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Lifecycle serves the session lifecycle of API 0.3. Bind it only where an interactive product controls its
// active session.
func Lifecycle(c *Controller) extension.Binding {
	handler := func(decode func([]byte) (id string, err error), do func(ctx context.Context, id string) (string, error)) extension.Handler {
		return func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
			id, err := decode(r.Params)
			if err != nil {
				return nil, err
			}
			r.Waits()
			if id, err = do(ctx, id); err != nil {
				return nil, lifecycleFailure(ctx, err)
			}
			return canonicalwire.SessionLifecycleResult{SessionID: id}, nil
		}
	}
	return extension.Binding{
		Capabilities: []string{canonicalwire.CapabilitySessionLifecycle},
		// The wires share names of methods.
		Offer: func(s *extension.Source) bool { return s.Manifest.API == canonicalwire.Version03 },
		Requests: map[string]extension.Handler{
			canonicalwire.MethodSessionCreate: handler(func(b []byte) (string, error) {
				_, err := canonicalwire.DecodeSessionCreateParams(b)
				return "", err
			}, without(c.Create)),
			canonicalwire.MethodSessionFork: handler(func(b []byte) (string, error) {
				_, err := canonicalwire.DecodeSessionForkParams(b)
				return "", err
			}, without(c.Fork)),
			canonicalwire.MethodSessionReload: handler(func(b []byte) (string, error) {
				_, err := canonicalwire.DecodeSessionReloadParams(b)
				return "", err
			}, without(c.Reload)),
			canonicalwire.MethodSessionSwitch: handler(func(b []byte) (string, error) {
				p, err := canonicalwire.DecodeSessionSwitchParams(b)
				return p.SessionID, err
			}, c.Switch),
		},
	}
}

// lifecycleFailure is the answer to work that was not done.
func lifecycleFailure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrExhausted):
		return peer.Fail(canonicalwire.ErrResourceExhausted, nil)
	case errors.Is(err, ErrClosed), errors.Is(err, ErrFenced):
		return peer.Fail(canonicalwire.ErrCapabilityMismatch, nil)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return context.Cause(ctx)
	}
	return peer.Fail(canonicalwire.ErrInternalError, nil)
}
