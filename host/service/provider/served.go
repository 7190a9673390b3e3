package provider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
)

// Protocol is that of every provider of this package.
const Protocol = "extension"

// served is a provider that an extension serves, by its id.
type served struct {
	registry *Registry
	id       string
}

var _ model.Provider = (*served)(nil)

// Name is the id of the provider.
func (s *served) Name() string { return s.id }

// Protocol is "extension".
func (s *served) Protocol() string { return Protocol }

// Models lists what is registered.
func (s *served) Models(context.Context) ([]model.Info, error) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	live := s.registry.liveLocked(s.id)
	if live == nil {
		return nil, s.gone()
	}
	infos := make([]model.Info, len(live.models))
	for i, m := range live.models {
		infos[i] = model.Info{
			Provider: s.id, Model: m.ID, DisplayName: m.DisplayName.Or(""), ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens,
			Input: []string{"text"},
		}
		if m.Capabilities.Reasoning {
			infos[i].Reasoning = []string{"low", "medium", "high"}
		}
	}
	return infos, nil
}

func (s *served) gone() error {
	return s.unsent(fmt.Sprintf("no extension serves the provider %q any more", s.id))
}

// unsent is the error of a request that was not sent.
func (s *served) unsent(text string) *model.Error {
	return &model.Error{Provider: s.id, Phase: model.BeforeGeneration, Message: text}
}

// Stream asks the process that serves the provider at the moment, once. No error allows a retry, except
// that of a process that is being replaced and was not asked.
func (s *served) Stream(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := s.registry
	r.mu.Lock()
	live := r.liveLocked(s.id)
	if live == nil {
		r.mu.Unlock()
		return nil, s.gone()
	}
	owner, lease := live.owner, live.lease
	var definition *canonicalwire.ProviderModelDefinition
	for i := range live.models {
		if live.models[i].ID == request.Model {
			definition = &live.models[i]
		}
	}
	r.mu.Unlock()
	switch {
	case definition == nil:
		return nil, s.unsent(fmt.Sprintf("extension %q has no model %q any more", owner.Name(), request.Model))
	case !owner.Opens(canonicalwire.MethodProviderStream):
		return nil, s.unsent(fmt.Sprintf("extension %q registers the provider, but serves no streams", owner.Name()))
	case over(owner):
		return nil, s.unsent(fmt.Sprintf("extension %q has ended", owner.Name()))
	case owner.Draining():
		failure := s.unsent(fmt.Sprintf("extension %q is being replaced", owner.Name()))
		failure.Retry = true
		return nil, failure
	}
	body, err := encode(s.id, *definition, request)
	if err != nil {
		return nil, s.unsent("the request cannot be put into the form of the wire: " + err.Error())
	}
	asked := canonicalwire.ProviderStreamRequest{StreamID: rand.Text(), ProviderID: s.id, ModelID: request.Model, Request: body}
	if lease != "" {
		asked.AuthorizationLease = wirejson.Some(lease)
	}
	return s.run(ctx, owner, asked, newAnswer(s.id, request, emit))
}

func over(x *extension.Extension) bool {
	select {
	case <-x.Done():
		return true
	default:
		return false
	}
}

// run opens a stream and takes its events until the last one.
func (s *served) run(ctx context.Context, owner *extension.Extension, asked canonicalwire.ProviderStreamRequest, a *answer) (*model.Response, error) {
	r := s.registry
	opened := newStream(owner, asked.StreamID)
	r.mu.Lock()
	r.streams[opened.id] = opened
	r.mu.Unlock()
	defer r.forget(opened)
	overall, cancel := context.WithTimeoutCause(ctx, r.options.Deadline, errDeadline)
	defer cancel()
	accepted, err := owner.Stream(overall, asked)
	if err != nil {
		return nil, s.unaccepted(ctx, overall, opened, err)
	}
	if !accepted.Accepted {
		text := fmt.Sprintf("extension %q does not take the request", owner.Name())
		if reason := accepted.Reason.Or(""); reason != "" {
			text += ": " + reason
		}
		return nil, s.unsent(text)
	}
	idle := time.NewTimer(r.options.Idle)
	defer idle.Stop()
	for {
		gone := false
		select {
		case <-opened.ready:
		case <-owner.Done(): // what has arrived still counts
			gone = true
		case <-overall.Done():
			s.cancel(opened, context.Cause(overall).Error())
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, s.broke(a, fmt.Sprintf("the stream of extension %q takes longer than %v", owner.Name(), r.options.Deadline))
		case <-idle.C:
			s.cancel(opened, "no event came in time")
			return nil, s.broke(a, fmt.Sprintf("extension %q has sent nothing for %v", owner.Name(), r.options.Idle))
		}
		events, fault := opened.take()
		idle.Reset(r.options.Idle)
		for _, e := range events {
			if ctx.Err() != nil {
				break // the cancellation is found above
			}
			if err := a.take(e); err != nil {
				s.cancel(opened, "an event cannot be read")
				return nil, s.broke(a, fmt.Sprintf("event %d of extension %q: %v", e.Sequence, owner.Name(), err))
			}
			switch e.Kind {
			case canonicalwire.ProviderStreamEventKindFinished:
				return a.response(), nil
			case canonicalwire.ProviderStreamEventKindError:
				return nil, s.broke(a, fmt.Sprintf("extension %q: %s", owner.Name(), a.failure))
			}
		}
		if gone && fault == "" {
			fault = endedReason
		}
		if fault != "" && ctx.Err() == nil {
			s.cancel(opened, fault)
			return nil, s.broke(a, fmt.Sprintf("the stream of extension %q broke: %s", owner.Name(), fault))
		}
	}
}

var errDeadline = errors.New("the deadline of the stream has passed")

// unaccepted is the error of a request without an answer that could be used: refused, never sent, or
// unclear, and then the extension may be at work on it.
func (s *served) unaccepted(ctx, overall context.Context, opened *stream, err error) error {
	var failure *extension.Failure
	if !errors.As(err, &failure) {
		return s.unsent(err.Error())
	}
	switch failure.Kind {
	case extension.Unsent, extension.Refused:
		return s.unsent(failure.Message)
	}
	reason := "the answer to the request was lost"
	if overall.Err() != nil {
		reason = context.Cause(overall).Error()
	}
	s.cancel(opened, reason)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &model.Error{
		Provider: s.id, Phase: model.StreamStart, UsageUnknown: true, Cause: failure,
		Message: "it is unclear whether the request was taken, so it is not sent again: " + failure.Message,
	}
}

// broke is the error of a stream that was accepted.
func (s *served) broke(a *answer, text string) error {
	e := &model.Error{Provider: s.id, Phase: model.StreamStart, UsageUnknown: !a.known, Message: text}
	if a.heard {
		e.Phase = model.InterruptedInference
	}
	return e
}

// cancel tells the extension that nobody waits for a stream any more, if it can be told. Events that still
// come are dropped.
func (s *served) cancel(opened *stream, reason string) {
	s.registry.forget(opened)
	// As good as it gets: a process that hangs is not waited for.
	ctx, cancel := context.WithTimeout(context.Background(), cancelWait)
	defer cancel()
	_ = opened.owner.Notify(ctx, canonicalwire.MethodProviderCancel, canonicalwire.ProviderStreamCancelParams{
		StreamID: opened.id, Reason: wirejson.Some(reason),
	})
}

// cancelWait is how long a cancellation may wait for room on the connection.
const cancelWait = 250 * time.Millisecond
