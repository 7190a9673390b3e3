package peer

import (
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
)

var (
	// ErrClosed is what calls return that Close ended, and calls behind Close.
	ErrClosed = errors.New("peer: closed")
	// ErrAnswered is what Request.Notify returns once the request has been answered.
	ErrAnswered = errors.New("peer: the request has been answered")
	// ErrDraining is what calls return behind the call of shutdown, and notifications of a host but
	// $/cancelRequest: the host starts nothing after it.
	ErrDraining = errors.New("peer: shutting down, nothing further is started")
	// ErrNotSent is what a call returns whose context ended before its frame was begun: the request
	// never happened. It comes wrapped together with the cause of the context.
	ErrNotSent = errors.New("peer: cancelled before the request was sent")
	// ErrUnsettled is what a cancelled call returns that got no answer within the grace, or on a wire
	// without cancellation: what became of the request is unknown. It comes wrapped together with the
	// cause of the context.
	ErrUnsettled = errors.New("peer: cancelled and not answered in time")
)

// Blame says who broke a rule.
type Blame uint8

// The two that can be to blame.
const (
	Local  Blame = iota + 1 // this program, by calling the package so
	Remote                  // the other side of the connection
)

// String returns "local" or "remote".
func (b Blame) String() string {
	if b == Local {
		return "local"
	}
	return "remote"
}

// ProtocolError is a broken rule that ended the connection or failed one call.
type ProtocolError struct {
	Rule  string // id of the rule, as in package rules; empty where none binds that side
	Blame Blame
	Text  string
	Err   error // what was found, for example a *canonical.Error; may be nil
}

// Error returns the blame, the text, the cause and the rule.
func (e *ProtocolError) Error() string {
	s := e.Blame.String() + " protocol error: " + e.Text
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Rule != "" {
		s += " (" + e.Rule + ")"
	}
	return s
}

// Unwrap returns Err.
func (e *ProtocolError) Unwrap() error { return e.Err }

// Diagnostic is a fact that neither ends the connection nor fails a call, and that somebody should
// be able to look up.
type Diagnostic struct {
	Rule   string // id of the rule it touches, or empty
	Blame  Blame
	Method string
	ID     envelope.ID
	Text   string
	Err    error
}

// Error is an error answer: what Call returns when the other side sent one, and what a handler
// returns to send one.
type Error struct {
	Code    int64
	Message string
	Data    []byte // JSON; nil: absent, which differs from null
}

// Error returns message and code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Fail returns the error answer of a row of the error table. data may be nil.
func Fail(row wirejson.ErrorCode, data Value) *Error {
	e := &Error{Code: row.Code, Message: row.Message}
	if data != nil {
		e.Data = data.AppendJSON(nil)
	}
	return e
}

// IsCancelled reports whether err is the other side's answer that cancellation won.
func IsCancelled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == canonicalwire.CodeRequestCancelled
}

// Reason is a cause for context.WithCancelCause whose text travels in $/cancelRequest.
type Reason string

// Error returns the reason.
func (r Reason) Error() string { return string(r) }

// CancelledError is the cause of a handler's context when the request was cancelled, by the other
// side or by a drain.
type CancelledError struct {
	Reason string // empty: none was given
}

// Error returns "request cancelled" and the reason.
func (e *CancelledError) Error() string {
	if e.Reason == "" {
		return "request cancelled"
	}
	return "request cancelled: " + e.Reason
}
