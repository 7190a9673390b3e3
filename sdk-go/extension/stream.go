package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Inference is one stream that a provider of the extension runs.
type Inference struct {
	// Request is what the host wants.
	Request canonicalwire.ProviderStreamRequest

	server *server
	cancel context.CancelCauseFunc

	mu    sync.Mutex // held while an event is queued, so that sequences go out in order
	next  int64      // sequence of the next event
	ended bool       // an event that ends the stream was sent
}

// errEnded is what Send returns behind the last event.
var errEnded = errors.New("the stream has ended: nothing follows " + string(canonicalwire.ProviderStreamEventKindFinished) + " and " + string(canonicalwire.ProviderStreamEventKindError))

// Declined is an error of the handler of a stream, before it has sent anything, that declines the request: the
// host hears the reason.
type Declined struct{ Reason string }

// Error returns the reason.
func (d *Declined) Error() string { return d.Reason }

// OnProviderStream has f serve the inferences of the providers that the extension registers. Accept, if not
// nil, may return a *Declined to refuse a request. The stream is accepted then, and f sends its events, on a
// goroutine of its own; when it returns an error, the stream ends with an event that says so, and when it
// returns without having ended the stream, it is finished. The context of f ends when the host cancels the
// stream or the extension shuts down.
//
// It needs API 0.3 and asks for the capability provider_stream. It panics on another API and once the
// extension is serving.
func (e *Extension) OnProviderStream(accept func(ctx context.Context, request canonicalwire.ProviderStreamRequest) error, f func(ctx context.Context, stream *Inference) error) {
	e.register("stream handler", canonicalOnly, func(p *plan) { p.accept, p.stream = accept, f })
}

// Send sends the next event of the stream; payload is a JSON value. The sequence is the SDK's business. It
// returns a *wirejson.Violation for an event out of bounds, and an error behind the last one.
func (t *Inference) Send(ctx context.Context, kind canonicalwire.ProviderStreamEventKind, payload json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
		return errEnded
	case t.next >= canonicalwire.MaxProviderStreamEvents:
		return fmt.Errorf("the stream has %d events, which is the most", t.next)
	}
	event := canonicalwire.ProviderStreamEvent{StreamID: t.Request.StreamID, Sequence: t.next, Kind: kind, Payload: payload}
	if err := event.Validate(); err != nil {
		return err
	}
	if err := t.server.conn.Notify(ctx, canonicalwire.MethodProviderEvent, event); err != nil {
		return hostError(canonicalwire.MethodProviderEvent, err)
	}
	t.next++
	t.ended = kind == canonicalwire.ProviderStreamEventKindFinished || kind == canonicalwire.ProviderStreamEventKindError
	return nil
}

// finish ends the stream if its handler has not.
func (t *Inference) finish(err error) {
	kind, payload := canonicalwire.ProviderStreamEventKindFinished, json.RawMessage(`{}`)
	if err != nil {
		kind = canonicalwire.ProviderStreamEventKindError
		payload = json.RawMessage(wirejson.AppendString([]byte(`{"message":`), failureText(err.Error())))
		payload = append(payload, '}')
	}
	if sent := t.Send(context.Background(), kind, payload); sent != nil && !errors.Is(sent, errEnded) && !errors.Is(sent, ErrCancelled) {
		t.server.ext.log.printf("the end of stream %q was not sent: %v", t.Request.StreamID, sent)
	}
}

// streams are the open ones, by the id the host gave them.
type streams struct {
	mu   sync.Mutex
	open map[string]*Inference
}

func (s *server) acceptStream(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := canonicalwire.DecodeProviderStreamRequest(r.Params)
	if err != nil {
		return nil, err
	}
	if s.plan.stream == nil {
		return nil, s.fail(s.ext.dialect.unknownTool(r.Method))
	}
	return s.guard(ctx, r.Method, func() (wirejson.Encoder, error) {
		if s.plan.accept != nil {
			if err := s.plan.accept(ctx, asked); err != nil {
				return declined(asked, err)
			}
		}
		t := &Inference{Request: asked, server: s}
		streaming, cancel := context.WithCancelCause(s.life)
		t.cancel = cancel
		if !s.streams.add(t) {
			cancel(nil)
			return declined(asked, &Declined{"a stream of that id is open"})
		}
		r.Behind(func(result bool) {
			if !result || !s.spawn("stream", func(context.Context) error { s.play(streaming, t); return nil }) {
				s.streams.remove(t)
				cancel(nil)
			}
		})
		return canonicalwire.ProviderStreamAccepted{StreamID: asked.StreamID, Accepted: true}, nil
	})
}

func declined(asked canonicalwire.ProviderStreamRequest, err error) (wirejson.Encoder, error) {
	var refused *Declined
	if !errors.As(err, &refused) {
		return nil, err
	}
	return canonicalwire.ProviderStreamAccepted{StreamID: asked.StreamID, Reason: wirejson.Some(refused.Reason)}, nil
}

// play runs the handler of a stream.
func (s *server) play(ctx context.Context, t *Inference) {
	defer t.cancel(nil)
	defer s.streams.remove(t)
	err := errors.New("the handler of the stream did not return")
	s.apart("stream", func() { err = s.plan.stream(ctx, t) })
	if err != nil && ctx.Err() == nil {
		s.ext.log.printf("stream %q: %v", t.Request.StreamID, err)
	}
	if context.Cause(ctx) != nil && err == nil {
		err = context.Cause(ctx)
	}
	t.finish(err)
}

func (s *streams) add(t *Inference) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[t.Request.StreamID]; taken {
		return false
	}
	if s.open == nil {
		s.open = map[string]*Inference{}
	}
	s.open[t.Request.StreamID] = t
	return true
}

func (s *streams) remove(t *Inference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, t.Request.StreamID)
}

// cancelStream ends the context of a stream that the host gives up.
func (s *server) cancelStream(params []byte) {
	asked, err := canonicalwire.DecodeProviderStreamCancelParams(params)
	if err != nil {
		s.ext.log.printf("%s dropped, it is malformed: %v", canonicalwire.MethodProviderCancel, err)
		return
	}
	s.streams.mu.Lock()
	t := s.streams.open[asked.StreamID]
	s.streams.mu.Unlock()
	if t != nil {
		t.cancel(&peer.CancelledError{Reason: asked.Reason.Or("")})
	}
}
