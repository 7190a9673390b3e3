package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// once is one turn: an answer of the model, and the results of the calls in it. more is false when the model
// is done and nobody has anything to say.
//
//	limits -> steering -> ModelTurnStart -> tools -> ask (compact, send, retry) -> keep -> run the calls
//	-> ModelTurnEnd -> steering or follow-up
func (r *run) once() (more bool, err error) {
	if err := r.withinLimits(); err != nil {
		return false, err
	}
	if r.ctx.Err() != nil {
		return false, r.interrupted()
	}
	if err := r.steer(); err != nil {
		return false, err
	}
	turn := ModelTurn{Index: r.turn, Time: r.Clock.Now()}
	if err := r.Hooks.ModelTurnStart(r.ctx, r.scope(), turn); err != nil {
		return false, r.hookEnded("model_turn_start", err)
	}
	r.Emit(TurnStarted{r.at()})
	tools, err := r.snapshot()
	if err != nil {
		return false, err
	}
	response, err := r.ask(tools)
	if err != nil {
		return false, err
	}
	answer, err := r.keep(response)
	if err != nil {
		return false, err
	}
	calls := response.Message.ToolCalls()
	results, err := r.runCalls(tools, calls, response.Stop)
	if err != nil {
		return false, err
	}
	if r.ctx.Err() != nil {
		return false, r.interrupted()
	}
	if err := r.turnEnded(turn, answer, results); err != nil {
		return false, err
	}
	r.Emit(TurnFinished{At: r.at(), Calls: len(calls)})
	if len(calls) > 0 {
		return true, nil
	}
	if err := stopped(response.Stop); err != nil {
		return false, err
	}
	text, kind := r.next(true)
	if kind == "" {
		return false, nil
	}
	return true, r.deliver(text, kind)
}

// stopped says whether an answer without calls ends a run in another way than by being complete.
func stopped(reason model.StopReason) error {
	switch reason {
	case model.StopLength:
		return &ending{LimitReached, CodeLength, "the answer was cut at the output bound of the model"}
	case model.StopFiltered:
		return &ending{Failed, CodeFiltered, "the provider holds the rest of the answer back"}
	case model.StopCancelled:
		return &ending{Failed, CodeProvider, "the provider cancelled the answer"}
	}
	return nil
}

func (r *run) withinLimits() error {
	l := r.Limits
	switch {
	case l.Turns > 0 && r.turn >= l.Turns:
		return &ending{LimitReached, CodeTurns, fmt.Sprintf("the run has had all the turns it may have (%d)", l.Turns)}
	case l.Tokens > 0 && r.usage.Tokens() >= l.Tokens:
		return &ending{LimitReached, CodeTokens, fmt.Sprintf("the run has used %d tokens of the %d it may use", r.usage.Tokens(), l.Tokens)}
	case l.CostMicrodollars > 0 && r.usage.CostMicrodollars != nil && *r.usage.CostMicrodollars >= l.CostMicrodollars:
		return &ending{LimitReached, CodeCost, fmt.Sprintf("the run has cost %d microdollars of the %d it may cost", *r.usage.CostMicrodollars, l.CostMicrodollars)}
	}
	return nil
}

// steer delivers what the user has said meanwhile.
func (r *run) steer() error {
	for {
		text, kind := r.next(false)
		if kind == "" {
			return nil
		}
		if err := r.deliver(text, kind); err != nil {
			return err
		}
	}
}

func (r *run) hookEnded(hook string, err error) error {
	if r.ctx.Err() != nil {
		return r.interrupted()
	}
	return &ending{Failed, CodeHook, fmt.Sprintf("the hook %s failed: %v", hook, err)}
}

// turnEnded runs the hook behind a turn. It is shown the entries as they are stored.
func (r *run) turnEnded(turn ModelTurn, answer session.EntryID, results []session.EntryID) error {
	if _, none := r.Hooks.(NoHooks); none {
		return nil
	}
	branch, err := r.branch()
	if err != nil {
		return err
	}
	var said session.Stored
	var answered []session.Stored
	for _, stored := range branch {
		switch {
		case stored.ID == answer:
			said = stored
		case slices.Contains(results, stored.ID):
			answered = append(answered, stored)
		}
	}
	if err := r.Hooks.ModelTurnEnd(r.ctx, r.scope(), turn, said, answered); err != nil {
		return r.hookEnded("model_turn_end", err)
	}
	return nil
}

// keep stores an answer with what it has used, and tells of it.
func (r *run) keep(response *model.Response) (session.EntryID, error) {
	r.tidy(&response.Message)
	said := response.Message
	batch := session.Batch{Entries: []session.Entry{{
		Value: session.Message{
			Message: said, Run: r.id, Provider: r.Provider.Name(), Model: r.Model.Model, Stop: string(response.Stop),
		},
		Metadata: r.Hooks.BeforePersistence(r.ctx, r.scope(), persistence(r.Provider.Protocol(), response)),
	}}}
	tell := r.account(&batch, session.UsageTurn, response)
	receipt, err := r.commit(batch)
	if err != nil {
		return "", err
	}
	entry := receipt.Entries[0]
	r.turns++
	r.text = said.PlainText()
	if response.UsageKnown {
		r.agent.measured = measure{entry: entry, tokens: response.Usage.Tokens()}
	}
	r.Emit(Message{At: r.at(), Entry: entry, Message: said, Stop: response.Stop})
	tell()
	return entry, nil
}

func persistence(protocol string, response *model.Response) Persistence {
	p := Persistence{Protocol: protocol, StopReason: string(response.Stop)}
	for _, part := range response.Message.Parts {
		switch part.Kind {
		case conversation.Text:
			p.TextBytes += int64(len(part.Text))
		case conversation.ToolCall:
			p.ToolCalls++
		case conversation.Reasoning:
			p.Reasonings++
		case conversation.Image, conversation.Audio:
			p.Media++
		}
	}
	return p
}

// tidy makes an answer fit to be kept: it is the model's, its calls have ids that are unique in the
// conversation, and arguments that are JSON.
func (r *run) tidy(m *conversation.Message) {
	m.Role = conversation.Assistant
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p conversation.Part) bool { return p.Kind == conversation.ToolResult })
	for i := range m.Parts {
		part := &m.Parts[i]
		part.Text = validText(part.Text)
		if part.Kind != conversation.ToolCall {
			continue
		}
		part.Name = validText(part.Name)
		part.Arguments = model.Arguments(string(part.Arguments))
		id := part.CallID
		for n := 1; id == "" || r.ids[id]; n++ {
			id = fmt.Sprintf("%s_%d", orCall(part.CallID), n)
		}
		part.CallID, r.ids[id] = id, true
	}
}

func orCall(id string) string {
	if id == "" {
		return "call"
	}
	return id
}

// account puts what a request has used into a batch. The function that it returns tells of it, once the
// batch is stored.
func (r *run) account(batch *session.Batch, kind session.UsageKind, response *model.Response) (tell func()) {
	if !response.UsageKnown {
		reason := "the provider did not say what the request has used"
		batch.Uncertainty = append(batch.Uncertainty, r.doubt(reason))
		return func() { r.doubted(reason) }
	}
	used := response.Usage
	if used.CostMicrodollars == nil && r.Model.Price != nil {
		cost := r.Model.Price.Cost(used)
		used.CostMicrodollars = &cost
	}
	batch.Usage = append(batch.Usage, session.UsageRecord{Kind: kind, Provider: r.Provider.Name(), Model: r.Model.Model, Run: r.id, Usage: used})
	return func() {
		r.usage = r.usage.Add(used)
		totals, err := r.Session.Usage(context.WithoutCancel(r.ctx))
		if err != nil { // what is known for sure is a part of it
			totals = session.Totals{Usage: r.usage, Uncertain: true}
		}
		r.Emit(Usage{At: r.at(), Kind: kind, Usage: used, Session: totals})
	}
}

func (r *run) doubt(reason string) session.Uncertainty {
	return session.Uncertainty{Provider: r.Provider.Name(), Model: r.Model.Model, Run: r.id, Reason: reason}
}

func (r *run) doubted(reason string) {
	r.uncertain = true
	r.Emit(UsageUncertain{At: r.at(), Reason: reason})
}
