package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// ask gets an answer of the model. A conversation that has become too long is summed up first, once before
// sending and once if the provider says so.
func (r *run) ask(tools *offer) (*model.Response, error) {
	refused, tried := false, r.uncompact
	for {
		branch, err := r.branch()
		if err != nil {
			return nil, err
		}
		request := r.request(branch, tools)
		if !tried && r.full(r.tokens(branch, &request)) {
			tried = true
			err := r.compactInRun(branch, triggerThreshold)
			if err == nil {
				continue
			}
			if r.ctx.Err() != nil {
				return nil, r.interrupted()
			}
			r.uncompact = !errors.Is(err, ErrNothingToCompact)
		}
		response, err := r.send(request, "", r.delta)
		if err == nil {
			r.agent.remember(request, response, r.Clock.Now())
			return response, nil
		}
		if !tooLong(err) || r.Compaction.Off {
			return nil, err
		}
		if refused || r.compactInRun(branch, triggerOverflow) != nil {
			if r.ctx.Err() != nil {
				return nil, r.interrupted()
			}
			return nil, &ending{Failed, CodeContext, "the conversation is longer than the model can read: " + err.Error()}
		}
		refused = true
	}
}

func (r *run) request(branch []session.Stored, tools *offer) model.Request {
	most := r.Limits.OutputTokens
	if limit := r.Model.MaxOutputTokens; limit > 0 && (most == 0 || most > limit) {
		most = limit
	}
	return model.Request{
		Model: r.Model.Model, System: r.prompt(tools), Messages: model.Present(assemble(branch, r.view()), r.Model.Input),
		Tools: tools.tools(), MaxOutputTokens: most, Reasoning: r.Reasoning,
	}
}

// delta tells of a piece of an answer.
func (r *run) delta(d model.Delta) {
	switch d.Kind {
	case conversation.Text:
		r.Emit(TextDelta{r.at(), d.Text})
	case conversation.Reasoning:
		r.Emit(ReasoningDelta{r.at(), d.Text})
	case conversation.ToolCall:
		r.Emit(ToolCallDelta{At: r.at(), CallID: d.CallID, Name: d.Name, Text: d.Text})
	}
}

// sending is one request with all its attempts.
type sending struct {
	*run
	operation Operation
	attempt   int           // the one that is under way, from 1
	waits     int           // attempts that found no network, in a row
	offline   time.Time     // since when; zero while there is a network
	added     time.Duration // by advice so far
}

// send sends one request until there is an answer or the end: transient faults are tried again a few times,
// a missing network for as long as it takes.
func (r *run) send(request model.Request, operation Operation, delta func(model.Delta)) (*model.Response, error) {
	s := &sending{run: r, operation: operation, attempt: 1}
	for {
		if r.ctx.Err() != nil {
			return nil, r.interrupted()
		}
		response, shown, err := s.try(request, delta)
		if err == nil {
			return response, nil
		}
		fault := s.fault(err)
		if shown {
			r.Emit(AnswerDiscarded{r.at(), fault.Message})
		}
		if fault.UsageUnknown {
			if _, err := r.commit(session.Batch{Uncertainty: []session.Uncertainty{r.doubt(fault.Message)}}); err != nil {
				return nil, err
			}
			r.doubted(fault.Message)
		}
		if r.ctx.Err() != nil {
			return nil, r.interrupted()
		}
		if err := s.wait(fault); err != nil {
			return nil, err
		}
	}
}

// try is one attempt. shown reports whether pieces of an answer were told.
func (s *sending) try(request model.Request, delta func(model.Delta)) (response *model.Response, shown bool, err error) {
	response, err = s.Provider.Stream(s.ctx, request, func(d model.Delta) {
		s.online()
		if s.operation == "" {
			shown = true
			delta(d)
		}
	})
	if err == nil && response == nil {
		err = errors.New("the provider gave no answer")
	}
	if err == nil {
		s.online()
	}
	return response, shown, err
}

// fault is a failed attempt, described as providers do. A cancelled one may have cost something.
func (s *sending) fault(err error) *model.Error {
	var fault *model.Error
	if errors.As(err, &fault) {
		return fault
	}
	if s.ctx.Err() != nil {
		return &model.Error{Provider: s.Provider.Name(), Phase: model.InterruptedInference, UsageUnknown: true, Message: "the request was cancelled before its usage was known", Cause: err}
	}
	return &model.Error{Provider: s.Provider.Name(), Phase: model.BeforeGeneration, Message: err.Error(), Cause: err}
}

// online tells that there is a network again.
func (s *sending) online() {
	if !s.offline.IsZero() {
		s.Emit(NetworkBack{At: s.at(), Waited: s.Clock.Now().Sub(s.offline).Milliseconds()})
		s.offline, s.waits = time.Time{}, 0
	}
}

// wait decides whether a fault is followed by another attempt, and lets the time until then pass. An error
// ends the request.
//
// EXT04-HOOK-032 to EXT04-HOOK-040.
func (s *sending) wait(fault *model.Error) error {
	end := &ending{Failed, CodeProvider, fault.Error()}
	plan := RetryPlan{Kind: string(fault.Phase), Attempt: s.attempt + 1, MaxAttempts: s.Retry.Attempts, Operation: s.operation}
	if fault.Phase == model.WaitingForNetwork {
		if s.offline.IsZero() {
			s.offline = s.Clock.Now()
		}
		s.waits++
		plan.Attempt, plan.MaxAttempts = s.waits+1, 0
		plan.Delay = s.backoff(s.waits, s.Retry.Network)
	} else {
		s.online()
		if !fault.Retry || s.attempt >= s.Retry.Attempts {
			return tooLongOr(fault, end)
		}
		plan.Delay = s.backoff(s.attempt, s.Retry.Most)
		s.attempt++
	}
	if fault.RetryAfter > s.Retry.Patience {
		end.reason += fmt.Sprintf("; it asks for a wait of %s, longer than the %s we wait", fault.RetryAfter, s.Retry.Patience)
		return end
	}
	plan.Delay = max(plan.Delay, fault.RetryAfter)
	s.announce(plan, fault)
	return s.pass(plan, end)
}

func (s *sending) announce(plan RetryPlan, fault *model.Error) {
	if plan.MaxAttempts == 0 {
		s.Emit(WaitingForNetwork{
			At: s.at(), Operation: s.operation, Attempt: plan.Attempt, Millis: plan.Delay.Milliseconds(),
			Waited: s.Clock.Now().Sub(s.offline).Milliseconds(), Reason: fault.Message,
		})
		return
	}
	s.Emit(RetryScheduled{
		At: s.at(), Operation: s.operation, Kind: plan.Kind, Attempt: plan.Attempt, MaxAttempts: plan.MaxAttempts,
		Millis: plan.Delay.Milliseconds(), Reason: fault.Message,
	})
}

// pass lets the delay of a plan pass, and asks hooks for advice meanwhile.
func (s *sending) pass(plan RetryPlan, end *ending) error {
	due := s.Clock.After(plan.Delay)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	advised := make(chan RetryAdvice, 1)
	go func() { advised <- s.Hooks.ProviderRetry(ctx, s.scope(), plan) }()
	var advice RetryAdvice
	select {
	case advice = <-advised:
	case <-due:
		cancel()
		<-advised // what comes too late does not count
		return nil
	case <-s.ctx.Done():
		<-advised
		return s.interrupted()
	}
	if advice.Stop {
		end.reason += "; an extension declined another attempt"
		if advice.Reason != "" {
			end.reason += ": " + advice.Reason
		}
		return end
	}
	more := min(max(advice.Delay, 0), featurewire.MaxRetryDelayMs*time.Millisecond-s.added)
	s.added += more
	select {
	case <-due:
	case <-s.ctx.Done():
		return s.interrupted()
	}
	if more > 0 {
		select {
		case <-s.Clock.After(more):
		case <-s.ctx.Done():
			return s.interrupted()
		}
	}
	return nil
}

// backoff doubles from the base, and is spread between half of it and all of it.
func (s *sending) backoff(failures int, most time.Duration) time.Duration {
	d := s.Retry.Base
	for ; failures > 1 && d < most; failures-- {
		d *= 2
	}
	d = min(d, most)
	return d/2 + time.Duration(s.Random()*float64(d/2))
}

// longError is an ending of which the conversation's length is the cause.
type longError struct{ *ending }

func (e *longError) Unwrap() error { return e.ending }

// overflow is how servers word that a request is longer than the model can read, for providers that do not know the
// words of theirs.
var overflow = regexp.MustCompile(`(?i)context (length|window)|maximum context|context_length_exceeded|prompt is too long|too many (input )?tokens|input is too long|request too large`)

func tooLongOr(fault *model.Error, end *ending) error {
	if fault.Overflow || fault.Status == http.StatusRequestEntityTooLarge || (fault.Status == http.StatusBadRequest || fault.Status == 0) && overflow.MatchString(fault.Message) {
		return &longError{end}
	}
	return end
}

func tooLong(err error) bool {
	var long *longError
	return errors.As(err, &long)
}
