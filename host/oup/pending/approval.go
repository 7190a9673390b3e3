package pending

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// approval is one request. It stays here until its turn has ended, so that a late answer can be told what was
// decided.
type approval struct {
	request Approval
	told    oupwire.ApprovalRequestedEvent
	settled chan Verdict // holds the verdict once it is decided
	waiting bool         // somebody takes the verdict
	pending bool
}

type scopeKey struct {
	scope oupwire.ApprovalScope
	match string
}

// everything is what a scope of the session matches.
const everything = "*"

func (b *Book) subject(id string) ledger.Subject { return ledger.Subject{Kind: event.Approval, ID: id} }

func (b *Book) ask(ctx context.Context, r Approval) (Verdict, error) {
	if ctx.Err() != nil {
		return Verdict{}, context.Cause(ctx)
	}
	id := event.NewID(b.now())
	if scope, match, decision, found := b.recall(r); found {
		return b.resolve(ctx, id, r, scope, match, decision)
	}
	a := &approval{request: r, told: b.requested(id, r), settled: make(chan Verdict, 1), waiting: true, pending: true}
	b.mu.Lock()
	b.approvals[id] = a
	b.order = append(b.order, id)
	b.mu.Unlock()
	_, err := b.ledger.Append(context.WithoutCancel(ctx),
		event.Of(b.session, oupwire.MethodApprovalRequested, a.told, b.subject(id), ledger.Begins))
	if err != nil {
		b.mu.Lock()
		delete(b.approvals, id)
		b.drop(id)
		b.mu.Unlock()
		return Verdict{}, err
	}
	select {
	case v := <-a.settled:
		return v, nil
	case <-ctx.Done():
		return Verdict{}, errors.Join(context.Cause(ctx), b.cancel(id, a))
	}
}

// cancel takes a request back. Where a decision was faster, that stands. What cannot be stored yet is told later.
func (b *Book) cancel(id string, a *approval) error {
	b.mu.Lock()
	a.waiting = false
	b.mu.Unlock()
	told := Cancelled(b.session, id, a.request.Turn, oupwire.ApprovalCancelReasonTurnInterrupted)
	_, err := b.ledger.Append(context.Background(), told)
	if errors.Is(err, ledger.ErrEnded) {
		return nil
	}
	if err != nil {
		b.ledger.Owe(told)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a.pending = false
	b.drop(id)
	return err
}

// CancelTurn takes back whatever a turn still asks for. Nobody waits for it any more.
//
// Rule: OUP-TURN-015.
func (b *Book) CancelTurn(turn string) error {
	b.mu.Lock()
	left := map[string]*approval{}
	for id, a := range b.approvals {
		if a.request.Turn == turn && a.pending {
			left[id] = a
		}
	}
	for _, id := range slices.Clone(b.order) {
		if q := b.questions[id]; q != nil && q.told.TurnID == turn && q.reason == "" {
			b.settle(id, q, string(oupwire.ApprovalCancelReasonTurnInterrupted))
		}
	}
	b.mu.Unlock()
	var errs []error
	for id, a := range left {
		errs = append(errs, b.cancel(id, a))
	}
	return errors.Join(errs...)
}

// Cancelled is the event that takes a request back.
func Cancelled(session, id, turn string, reason oupwire.ApprovalCancelReason) ledger.Event {
	return event.Of(session, oupwire.MethodApprovalCancelled, oupwire.ApprovalCancelledEvent{
		SessionID: session, Topic: event.Topic(session), ApprovalID: id, TurnID: turn, Reason: reason,
	}, ledger.Subject{Kind: event.Approval, ID: id}, ledger.Ends)
}

// requested is how a request is told.
func (b *Book) requested(id string, r Approval) oupwire.ApprovalRequestedEvent {
	told := oupwire.ApprovalRequestedEvent{
		SessionID: b.session, Topic: event.Topic(b.session), ApprovalID: id, TurnID: r.Turn, ToolName: r.Tool, Title: r.Title, Body: r.Body,
		Risk: wirejson.Some(cmp.Or(r.Risk, unspecified)),
	}
	if r.Kind != "" {
		told.ApprovalKind = wirejson.Some(r.Kind)
	}
	if r.Details != nil {
		told.TypedDetails = wirejson.Some(*r.Details)
	}
	return told
}

// unspecified is the risk of a tool that declares none. Rule: OUP-APPROVAL-017.
const unspecified = "unspecified"

// recall finds a decision that holds for longer than once: by turn, by tool and by session in this order.
func (b *Book) recall(r Approval) (scope oupwire.ApprovalScope, match string, decision oupwire.ApprovalDecision, found bool) {
	if r.Once {
		return "", "", "", false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range []scopeKey{
		{oupwire.ApprovalScopeTurn, r.Turn}, {oupwire.ApprovalScopeTool, r.Tool}, {oupwire.ApprovalScopeSession, everything},
	} {
		if decision, found := b.scopes[k]; found {
			return k.scope, k.match, decision, true
		}
	}
	return "", "", "", false
}

// resolve settles a request by a remembered decision.
func (b *Book) resolve(ctx context.Context, id string, r Approval, scope oupwire.ApprovalScope, match string, decision oupwire.ApprovalDecision) (Verdict, error) {
	topic := event.Topic(b.session)
	_, err := b.ledger.Append(context.WithoutCancel(ctx),
		event.Of(b.session, oupwire.MethodApprovalAutoResolved, oupwire.ApprovalAutoResolvedEvent{
			SessionID: b.session, Topic: topic, ApprovalID: id, TurnID: r.Turn, ToolName: r.Tool, Scope: scope, ScopeMatch: match, Decision: decision,
		}, b.subject(id), ledger.Begins),
		event.Of(b.session, oupwire.MethodApprovalDecided, oupwire.ApprovalDecidedEvent{
			SessionID: b.session, Topic: topic, ApprovalID: id, TurnID: r.Turn, Decision: decision, DecidedAt: event.Time(b.now()),
			AutoResolved: wirejson.Some(true), Scope: wirejson.Some(scope), PolicyID: wirejson.Some("policy:" + string(scope) + ":" + match),
		}, b.subject(id), ledger.Ends))
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{Allow: decision == oupwire.ApprovalDecisionApprove}, nil
}

func (b *Book) decide(ctx context.Context, d Decision) (Decided, error) {
	b.mu.Lock()
	a := b.approvals[d.Approval]
	b.mu.Unlock()
	if a == nil {
		return Decided{}, b.settledBefore(ctx, d.Approval)
	}
	scope := scopeOf(d.Scope)
	if a.request.Once {
		scope = oupwire.ApprovalScopeRequest
	}
	told := oupwire.ApprovalDecidedEvent{
		SessionID: b.session, Topic: event.Topic(b.session), ApprovalID: d.Approval, TurnID: a.request.Turn, Decision: d.Decision,
		DecidedAt: event.Time(b.now()), DecidedBy: d.By, AutoResolved: wirejson.Some(false), Scope: wirejson.Some(scope),
	}
	if d.Note != "" {
		told.ClientNote = wirejson.Some(d.Note)
	}
	stored, err := b.ledger.Append(context.WithoutCancel(ctx), event.Of(b.session, oupwire.MethodApprovalDecided, told, b.subject(d.Approval), ledger.Ends))
	if errors.Is(err, ledger.ErrEnded) || errors.Is(err, ledger.ErrNotBegun) {
		return Decided{}, b.settledBefore(ctx, d.Approval)
	}
	if err != nil {
		return Decided{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a.pending = false
	b.drop(d.Approval)
	b.remember(a.request, scope, d.Decision)
	resumed := a.waiting
	a.settled <- Verdict{Allow: d.Decision == oupwire.ApprovalDecisionApprove, Note: d.Note}
	return Decided{Event: stored[0], Resumed: resumed}, nil
}

// settledBefore says what became of a request that is not pending, from the event that settled it.
func (b *Book) settledBefore(ctx context.Context, id string) error {
	unknown := &UnknownError{What: "approval", ID: id}
	state, found, err := b.ledger.State(ctx, b.session, b.subject(id))
	switch {
	case err != nil:
		return err
	case !found:
		return unknown
	case state.Ended == 0: // begun, and nobody here asks: a restart is cleaning up
		return &CancelledError{Approval: id, Reason: oupwire.ApprovalCancelReasonWaiterDropped}
	}
	var settled ledger.Stored
	title := ""
	stop := errors.New("enough")
	_, err = b.ledger.Replay(ctx, b.session, &ledger.Cursor{Stream: b.session, Seq: state.Begun - 1}, func(s ledger.Stored) error {
		switch {
		case s.Seq == state.Begun && s.Method == oupwire.MethodApprovalRequested:
			if asked, err := oupwire.DecodeApprovalRequestedEvent(s.Body); err == nil {
				title = asked.Title
			}
		case s.Seq == state.Ended:
			settled = s
			return stop
		}
		return nil
	})
	if errors.Is(err, ledger.ErrExpired) || errors.Is(err, ledger.ErrDamaged) {
		return unknown // what is no longer kept, or damaged, is no longer known
	}
	if err != nil && !errors.Is(err, stop) {
		return err
	}
	if settled.Method == oupwire.MethodApprovalCancelled {
		told, err := oupwire.DecodeApprovalCancelledEvent(settled.Body)
		if err != nil {
			return err
		}
		return &CancelledError{Approval: id, Turn: told.TurnID, Reason: told.Reason}
	}
	told, err := oupwire.DecodeApprovalDecidedEvent(settled.Body)
	if err != nil {
		return err
	}
	return &NotPendingError{Approval: id, Turn: told.TurnID, Decision: told.Decision, Title: title}
}

// scopeOf is the scope that a client means. Rule: OUP-APPROVAL-010.
func scopeOf(word string) oupwire.ApprovalScope {
	for _, row := range oupwire.TableSpellings {
		if row.Member == "approval_scope" && row.Spelling == word {
			word = row.Means
		}
	}
	if scope := oupwire.ApprovalScope(word); scope.Known() {
		return scope
	}
	return oupwire.ApprovalScopeRequest
}

// remember keeps a decision. The caller has the lock.
func (b *Book) remember(r Approval, scope oupwire.ApprovalScope, decision oupwire.ApprovalDecision) {
	match := map[oupwire.ApprovalScope]string{
		oupwire.ApprovalScopeTurn: r.Turn, oupwire.ApprovalScopeTool: r.Tool, oupwire.ApprovalScopeSession: everything,
	}[scope]
	if match != "" {
		b.scopes[scopeKey{scope, match}] = decision
	}
}

func (b *Book) remembered() []oupwire.ApprovalScopeEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]oupwire.ApprovalScopeEntry, 0, len(b.scopes))
	for k, decision := range b.scopes {
		entry := oupwire.ApprovalScopeEntry{SessionID: b.session, Scope: k.scope, ScopeMatch: k.match, Decision: decision}
		if k.scope == oupwire.ApprovalScopeTurn {
			entry.TurnID = wirejson.Some(k.match)
		}
		list = append(list, entry)
	}
	slices.SortFunc(list, func(x, y oupwire.ApprovalScopeEntry) int {
		return cmp.Or(cmp.Compare(x.Scope, y.Scope), cmp.Compare(x.ScopeMatch, y.ScopeMatch))
	})
	return list
}

func (b *Book) pendingApprovals() []oupwire.ApprovalRequestedEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []oupwire.ApprovalRequestedEvent{}
	for _, id := range b.order {
		if a := b.approvals[id]; a != nil && a.pending {
			list = append(list, a.told)
		}
	}
	return list
}

// drop takes an id out of what is pending. The caller has the lock.
func (b *Book) drop(id string) {
	b.order = slices.DeleteFunc(b.order, func(other string) bool { return other == id })
}

// forget lets go of a turn: of what was decided for it, and of its requests, whose story is in the ledger.
func (b *Book) forget(turn string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.scopes, scopeKey{oupwire.ApprovalScopeTurn, turn})
	for id, a := range b.approvals {
		if a.request.Turn == turn && !a.pending {
			delete(b.approvals, id)
		}
	}
}
