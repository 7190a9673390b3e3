// Package permission decides whether a tool may run: by the effect policy and what the tool does, and by
// asking a person where the policy says so.
//
// Sheet: manifest 6.4.
package permission

import (
	"context"

	"github.com/octet-dev/octet/host/tool"
)

// Decision is what is to be done with a call.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Request is one call that wants to run.
type Request struct {
	Run    string // the run that the call belongs to
	CallID string
	Tool   tool.Definition
	// Summary says what the call is about; Subject is empty where the tool cannot say.
	Summary tool.Summary
	// Arguments fit the parameters of the tool.
	Arguments []byte
}

// Scope says for how long an answer holds.
type Scope string

// The scopes, shortest first. Beyond Once, an answer holds for the same command, or for every call of
// the same tool where it is not a command.
const (
	Once    Scope = "once"
	Run     Scope = "run"
	Session Scope = "session"
)

// Ruling is what is decided of a call.
type Ruling struct {
	Decision Decision
	// Reason says why, in a sentence for the model and for people. Empty for plain leave.
	Reason string
	// Scopes are what a person may answer with, for Ask.
	Scopes []Scope
	// Remembered is the scope of an earlier answer that decided; empty for none.
	Remembered Scope
}

// Gate decides about calls. Methods may be called from several goroutines.
type Gate interface {
	// Judge decides without asking anybody. It does not block.
	Judge(Request) Ruling
	// Ask asks a person about a call that Judge wants asked. It returns Allow or Deny; never Ask. When the
	// context ends the answer is Deny.
	Ask(ctx context.Context, r Request) Ruling
	// Settled says that a run is over: what was answered for it is forgotten.
	Settled(run string)
}

// Asker is the frontend's side: it shows a question and returns the answer of a person.
type Asker interface {
	// Ask blocks until there is an answer or the context ends. An error denies, and is named as the reason.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a person is asked.
type Question struct {
	Request
	// Reason says which policy wants the question.
	Reason string
	Scopes []Scope // what may be answered with, shortest first
}

// Answer is what the person says.
type Answer struct {
	Allow bool
	// Scope that was not offered, or is empty, counts as Once.
	Scope Scope
	// Note is passed on to the model with a denial.
	Note string
}

// AskerFunc makes an Asker of a function.
type AskerFunc func(ctx context.Context, q Question) (Answer, error)

// Ask calls the function.
func (f AskerFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }
