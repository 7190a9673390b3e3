package oup

import (
	"context"
	"errors"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Decision is the answer to a request for approval. The zero value denies this request.
type Decision struct {
	Approve bool
	Scope   oupwire.ApprovalScope // what it is remembered for; empty is the request alone
	Note    string                // told to every reader
}

// Answer is the answer to one of the questions of a request.
type Answer = oupwire.UserQuestionAnswer

// Choose answers a question by labels of its options.
func Choose(labels ...string) Answer { return Answer{SelectedLabels: wirejson.Some(labels)} }

// Say answers a question in words.
func Say(text string) Answer { return Answer{FreeText: wirejson.Some(text)} }

// asks are the requests of a session that wait for an answer.
type asks struct {
	session *Session
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	live  bool            // what was pending when the session was opened is known
	open  map[string]*ask // by the id of the request
	ended bool
}

// ask is one request.
type ask struct {
	id, turn string
	body     any // Approval or Question
	life     context.Context
	over     context.CancelFunc

	seen      bool // the newest opening has told of it
	told      bool // it is in the queue of the caller
	asked     bool // the callback was called
	answer    func(ctx context.Context, on *conn) error
	answering bool
	answered  bool // the server has taken the answer, or does not want one any more
}

func newAsks(s *Session) *asks {
	a := &asks{session: s, open: map[string]*ask{}}
	a.life, a.end = context.WithCancel(s.client.life)
	return a
}

// wait returns when no callback runs any more.
func (a *asks) wait() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.end()
	a.running.Wait()
}

// spawn runs something that wait waits for.
func (a *asks) spawn(run func()) {
	if a.ended {
		return
	}
	a.running.Add(1)
	if !a.session.client.spawn(func() {
		defer a.running.Done()
		run()
	}) {
		a.running.Done()
	}
}

// note takes in what an event says of requests, and reports whether it is one that the caller was told of before.
func (a *asks) note(ev Event) (told bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch body := ev.Body.(type) {
	case Approval:
		return a.add(body.ApprovalID, body.TurnID, body)
	case Question:
		return a.add(body.QuestionID, body.TurnID, body)
	case ApprovalDecided:
		a.drop(body.ApprovalID)
	case ApprovalCancelled:
		a.drop(body.ApprovalID)
	case oupwire.ApprovalAutoResolvedEvent:
		a.drop(body.ApprovalID)
	case Ended:
		for id, each := range a.open {
			if each.turn == ev.Turn {
				a.drop(id)
			}
		}
	}
	return false
}

func (a *asks) add(id, turn string, body any) (told bool) {
	each, known := a.open[id]
	if !known {
		each = &ask{id: id, turn: turn, body: body}
		each.life, each.over = context.WithCancel(a.life)
		a.open[id] = each
	}
	each.seen = true
	if a.live {
		a.work(each)
	}
	return each.told
}

// told remembers that the caller gets to know of a request.
func (a *asks) told(ev Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := ""
	switch body := ev.Body.(type) {
	case Approval:
		id = body.ApprovalID
	case Question:
		id = body.QuestionID
	}
	if each := a.open[id]; each != nil {
		each.told = true
	}
}

func (a *asks) drop(id string) {
	if each := a.open[id]; each != nil {
		each.over()
		delete(a.open, id)
	}
}

// reopen forgets what is pending until the opening has told it.
func (a *asks) reopen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live = false
	for _, each := range a.open {
		each.seen = false
	}
}

// settle works on what the opening has told, and lets go of what it did not tell any more.
func (a *asks) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live = true
	for id, each := range a.open {
		if !each.seen {
			a.drop(id)
			continue
		}
		a.work(each)
	}
}

// work asks the callback, or sends the answer again that did not arrive. The caller holds the lock.
func (a *asks) work(each *ask) {
	switch {
	case each.answered || each.answering:
	case each.answer != nil:
		a.send(each)
	case !each.asked:
		each.asked = true
		switch body := each.body.(type) {
		case Approval:
			if decide := a.session.client.options.OnApproval; decide != nil {
				a.spawn(func() { a.approve(each, body, decide) })
			}
		case Question:
			if answer := a.session.client.options.OnQuestion; answer != nil {
				a.spawn(func() { a.reply(each, body, answer) })
			}
		}
	}
}

func (a *asks) approve(each *ask, request Approval, decide func(context.Context, Approval) (Decision, error)) {
	decision, err := decide(each.life, request)
	if err != nil {
		decision = Decision{Note: err.Error()}
	}
	params := oupwire.ApprovalRespondParams{
		SessionID: request.SessionID, ApprovalID: request.ApprovalID, Decision: oupwire.ApprovalDecisionDeny, ClientNote: given(decision.Note),
	}
	if decision.Approve {
		params.Decision = oupwire.ApprovalDecisionApprove
	}
	if decision.Scope != "" {
		params.ApprovalScope = wirejson.Some(decision.Scope)
	}
	a.decided(each, oupwire.MethodApprovalRespond, params)
}

func (a *asks) reply(each *ask, request Question, answer func(context.Context, Question) ([]Answer, error)) {
	answers, err := answer(each.life, request)
	if err != nil {
		a.session.client.options.Logger.Warn("a question is not answered", "question", request.QuestionID, "error", err)
		return
	}
	a.decided(each, oupwire.MethodUserQuestionRespond, oupwire.UserQuestionRespondParams{
		SessionID: request.SessionID, QuestionID: request.QuestionID, Answers: answers,
	})
}

// decided keeps the answer of a callback and sends it.
func (a *asks) decided(each *ask, method string, params wirejson.Encoder) {
	if err := params.Validate(); err != nil {
		a.session.client.options.Logger.Error("an answer breaks its model", "method", method, "error", err)
		return
	}
	text := params.AppendJSON(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	each.answer = func(ctx context.Context, on *conn) error {
		_, err := on.call(ctx, method, text)
		return err
	}
	if a.live && each.life.Err() == nil {
		a.send(each)
	}
}

// send gives the answer to the server. Where the connection is lost, the next opening says whether it is still wanted.
// The caller holds the lock.
func (a *asks) send(each *ask) {
	each.answering = true
	a.spawn(func() {
		a.session.mu.Lock()
		on := a.session.on
		a.session.mu.Unlock()
		err := error(&notSentError{"", ErrClosed})
		if on != nil {
			ctx, cancel := a.session.client.bounded(a.life)
			err = each.answer(ctx, on)
			cancel()
		}
		var refused *ServerError
		a.mu.Lock()
		each.answering = false
		each.answered = err == nil || errors.As(err, &refused)
		a.mu.Unlock()
		if err != nil {
			a.session.client.options.Logger.Info("an answer did not arrive", "request", each.id, "error", err)
		}
	})
}
