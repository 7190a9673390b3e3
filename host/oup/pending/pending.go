// Package pending is what a session waits for: approvals of tools and answers of a person. Each is asked once
// and settled once, by whoever is first; for approvals the ledger says who that is.
//
// Sheet: OUP core 9.4, 9.5, 13.4, 13.5; settled S62, S63, S70, S75.
package pending

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// Book is what one session waits for, and what was decided for longer than once. Its methods may be called
// from any goroutine.
type Book struct {
	session string
	ledger  *ledger.Ledger
	now     func() time.Time

	mu        sync.Mutex
	approvals map[string]*approval
	questions map[string]*question
	order     []string // ids of approvals and questions that are pending, as asked
	scopes    map[scopeKey]oupwire.ApprovalDecision
}

// New makes an empty book. now may be nil.
func New(session string, l *ledger.Ledger, now func() time.Time) *Book {
	if now == nil {
		now = time.Now
	}
	return &Book{
		session: session, ledger: l, now: now,
		approvals: map[string]*approval{}, questions: map[string]*question{}, scopes: map[scopeKey]oupwire.ApprovalDecision{},
	}
}

// Approval is a tool that needs leave.
type Approval struct {
	Turn    string
	Tool    string
	Title   string
	Body    string
	Kind    oupwire.ApprovalKind // empty: none fits
	Risk    string               // empty: unspecified
	Details *oupwire.ApprovalTypedDetails
	// Once says that the decision holds for this request alone, whatever scope is answered, and that no
	// remembered one is looked for.
	Once bool
}

// Verdict is how an approval was settled for the tool that waits.
type Verdict struct {
	Allow bool
	Note  string
}

// Decision is what a client answers.
type Decision struct {
	Approval string
	Decision oupwire.ApprovalDecision // anything but approve counts as deny
	Scope    string                   // as it was sent; unknown and empty mean this request alone
	Note     string
	By       string // profile of the connection, empty where there is none
}

// Decided says what became of a decision.
type Decided struct {
	// Event is approval/decided as it was stored. It is to be on the answering connection before the answer.
	Event ledger.Stored
	// Resumed says that a tool was waiting and goes on.
	Resumed bool
}

// NotPendingError says that an approval was decided before.
//
// Rule: OUP-APPROVAL-006.
type NotPendingError struct {
	Approval string
	Turn     string
	Decision oupwire.ApprovalDecision
	Title    string // of the request; empty where it is no longer kept
}

// Error says what was decided.
func (e *NotPendingError) Error() string {
	return fmt.Sprintf("approval %q was decided before: %s", e.Approval, e.Decision)
}

// CancelledError says that nobody waits for an approval any more.
//
// Rule: OUP-APPROVAL-007.
type CancelledError struct {
	Approval string
	Turn     string
	Reason   oupwire.ApprovalCancelReason
}

// Error says why.
func (e *CancelledError) Error() string {
	return fmt.Sprintf("approval %q is no longer waited for: %s", e.Approval, e.Reason)
}

// UnknownError says that there is no such approval or question in the session.
//
// Rules: OUP-APPROVAL-008, OUP-QUESTION-007.
type UnknownError struct {
	What string // approval or question
	ID   string
}

// Error names it.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no %s %q in this session", e.What, e.ID)
}

// StaleError says that questions were answered or are no longer waited for.
//
// Rule: OUP-QUESTION-006.
type StaleError struct {
	Question string
	Turn     string
	Reason   string // already_answered, or why they are not waited for
}

// Error says why.
func (e *StaleError) Error() string {
	return fmt.Sprintf("question %q is no longer pending: %s", e.Question, e.Reason)
}

// InvalidError says that answers do not fit the questions, which stay pending.
//
// Rule: OUP-QUESTION-005.
type InvalidError struct {
	Question string
	Reason   string
}

// Error says why.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("the answers to %q do not fit: %s", e.Question, e.Reason)
}

// Remembered lists the decisions that hold for longer than once, sorted by scope and then by what they match.
//
// Rule: OUP-APPROVAL-015.
func (b *Book) Remembered() []oupwire.ApprovalScopeEntry { return b.remembered() }

// Approvals are the requests that nobody has decided yet, oldest first, with their typed members.
func (b *Book) Approvals() []oupwire.ApprovalRequestedEvent { return b.pendingApprovals() }

// Questions are the questions that nobody has answered yet, oldest first.
func (b *Book) Questions() []oupwire.UserQuestionRequestedEvent { return b.pendingQuestions() }

// Ask asks for leave and waits until it is decided or the context ends, which cancels the request. The error
// is that of the context, or of the ledger; then the tool must not run.
//
// Rules: OUP-APPROVAL-001, OUP-APPROVAL-004, OUP-APPROVAL-005, OUP-APPROVAL-019.
func (b *Book) Ask(ctx context.Context, a Approval) (Verdict, error) { return b.ask(ctx, a) }

// Decide settles an approval. One decision counts: the first that is on disk. Errors are *UnknownError,
// *NotPendingError, *CancelledError, or of the ledger; then nothing is changed.
//
// Rules: OUP-APPROVAL-003, OUP-APPROVAL-006, OUP-APPROVAL-007, OUP-APPROVAL-008, OUP-APPROVAL-012.
func (b *Book) Decide(ctx context.Context, d Decision) (Decided, error) { return b.decide(ctx, d) }

// Question asks a person and waits for the answers, one for each question, until the context ends.
//
// Rules: OUP-QUESTION-002, OUP-QUESTION-003, OUP-QUESTION-004, OUP-QUESTION-008.
func (b *Book) Question(ctx context.Context, turn, title, body string, questions []oupwire.UserQuestion) ([]oupwire.UserQuestionAnswer, error) {
	return b.question(ctx, turn, title, body, questions)
}

// Answer settles questions. resumed says that somebody was waiting. Errors are *UnknownError, *StaleError and
// *InvalidError; then nothing is changed.
//
// Rules: OUP-QUESTION-005, OUP-QUESTION-006, OUP-QUESTION-007, OUP-QUESTION-009.
func (b *Book) Answer(id string, answers []oupwire.UserQuestionAnswer) (resumed bool, err error) {
	return b.answer(id, answers)
}

// TurnEnded forgets what was remembered for a turn.
//
// Rule: OUP-APPROVAL-011.
func (b *Book) TurnEnded(turn string) { b.forget(turn) }
