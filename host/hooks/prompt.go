package hooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/promptcontext"
	"github.com/octet-dev/octet/host/tool"
)

// BeforePrompt asks in the order of registration. The first denial ends the round.
func (s *Set) BeforePrompt(ctx context.Context, a agent.Scope, prompt string) agent.Opinion {
	return s.opinion(ctx, a, featurewire.HookBeforePrompt, featurewire.BeforePromptPayload{Prompt: prompt}, nil)
}

// BeforeToolCall asks in the order of registration. The first denial ends the round.
func (s *Set) BeforeToolCall(ctx context.Context, a agent.Scope, call tool.Call) agent.Opinion {
	payload := featurewire.BeforeToolCallPayload{Name: call.Name, Arguments: call.Arguments}
	return s.opinion(ctx, a, featurewire.HookBeforeToolCall, payload, &call)
}

// opinion asks one extension after the other and joins what they say. An extension that fails has no opinion
// (EXT04-HOOK-029); one that could not be asked, because no frame carries what it is to judge, has not failed, and a
// model must not get round it by that.
func (s *Set) opinion(ctx context.Context, a agent.Scope, hook string, payload wirejson.Encoder, call *tool.Call) agent.Opinion {
	var all agent.Opinion
	var turn promptcontext.Turn
	for _, x := range s.declaring(hook) {
		h := extension.HookRun{Hook: hook, Payload: payload}
		if call != nil {
			h.Value = call
		}
		r, err := s.run(ctx, x, a, h)
		var failure *extension.Failure
		switch {
		case errors.As(err, &failure) && failure.Kind == extension.Unsent:
			reason := fmt.Sprintf("extension %q has a say in this and cannot be shown it: %v", x.Name(), err)
			all.Deny = &reason
			all.Context = contributions(&turn)
			return all
		case err != nil:
			continue
		}
		all.Notifications = append(all.Notifications, notifications(x, r)...)
		if err := turn.Collected(x.Name(), x.Admit(r.Context.Or(nil))); err != nil {
			s.options.Diagnose(x, bounded("context of hook "+hook+": "+err.Error()))
		}
		if d, ok := r.Disposition.Get(); ok {
			if deny, denied := d.(featurewire.DispositionDeny); denied {
				all.Deny = &deny.Reason
				break
			}
		}
	}
	all.Context = contributions(&turn)
	return all
}

func contributions(turn *promptcontext.Turn) []agent.Context {
	var list []agent.Context
	for _, c := range turn.Contributions() {
		list = append(list, agent.Context{Source: c.Extension, Label: c.Label, Content: c.Content, Placement: agent.Placement(c.Placement)})
	}
	return list
}

// CollectContext takes what waits in the pool and asks every extension that contributes context, all at
// once. What finds no room in the turn is dropped with a diagnostic.
func (s *Set) CollectContext(ctx context.Context, a agent.Scope, prompt string) ([]agent.Context, []agent.Notification) {
	var turn promptcontext.Turn
	if s.options.Pool != nil {
		_ = turn.Add(s.options.Pool.Take()...) // the pool keeps to the bounds of a turn
	}
	var list []*extension.Extension
	for _, x := range s.options.Ready() {
		if x.Source().Manifest.Contributes.Context {
			list = append(list, x)
		}
	}
	answers := make([][]featurewire.ContextContribution, len(list))
	together(list, func(n int, x *extension.Extension) {
		answer, err := x.CollectContext(ctx, s.scope(a), &prompt)
		if err != nil {
			s.failed(x, featurewire.MethodContextCollect, err)
		}
		answers[n] = answer
	})
	for n, x := range list {
		if err := turn.Collected(x.Name(), answers[n]); err != nil {
			s.options.Diagnose(x, bounded(err.Error()))
		}
	}
	return contributions(&turn), nil
}

// AfterToolCall tells all extensions at once.
func (s *Set) AfterToolCall(ctx context.Context, a agent.Scope, call tool.Call, result tool.Result) []agent.Notification {
	output := conversation.Message{Role: conversation.Tool, Parts: result.Content}.PlainText()
	return s.observe(ctx, a, featurewire.HookAfterToolCall, featurewire.AfterToolCallPayload{
		Name: call.Name, Arguments: call.Arguments, Output: output, IsError: result.IsError,
	})
}

// AfterResponse tells all extensions at once.
func (s *Set) AfterResponse(ctx context.Context, a agent.Scope, response string) []agent.Notification {
	return s.observe(ctx, a, featurewire.HookAfterResponse, featurewire.AfterResponsePayload{Response: response})
}

// observe asks extensions that have no say. Each stands for itself; a denial is ignored.
func (s *Set) observe(ctx context.Context, a agent.Scope, hook string, payload wirejson.Encoder) []agent.Notification {
	list := s.declaring(hook)
	said := make([][]agent.Notification, len(list))
	together(list, func(n int, x *extension.Extension) {
		r := s.ask(ctx, x, a, extension.HookRun{Hook: hook, Payload: payload})
		if r == nil {
			return
		}
		said[n] = notifications(x, r)
		if s.options.Pool != nil {
			s.options.Pool.Put(x, x.Admit(r.Context.Or(nil)))
		}
	})
	var all []agent.Notification
	for _, each := range said {
		all = append(all, each...)
	}
	return all
}
