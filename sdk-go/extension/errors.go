package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrNotNegotiated is returned by what this host, this API version or the manifest leaves out; services
	// return it as a *NotNegotiatedError. Nothing was sent. A tool may ignore it where people alone miss
	// something: it is for them, not for the result.
	ErrNotNegotiated = errors.New("not negotiated with this host")

	// ErrNoParent is returned by services that the scope cannot be tied to, as a *NoParentError. Nothing was
	// sent.
	ErrNoParent = errors.New("the scope has nothing to tie the request to")

	// ErrCancelled is returned by services whose request was cancelled, by whomever: the context ended, the
	// host gave it up, the request it belonged to was answered, the session is ending.
	ErrCancelled = errors.New("cancelled")

	// ErrCallOver is returned by Progress, Output, Decorate and Notify, once the request has been answered.
	// Nothing was sent.
	ErrCallOver = errors.New("the call has been answered")
)

// errAnswered is why the requests end that belong to a request which has been answered.
var errAnswered = errors.New("the request it belonged to has been answered")

// NotNegotiatedError is ErrNotNegotiated with what is missing.
type NotNegotiatedError struct {
	Method string // that was not sent
	Needs  string // what it needs, such as `the feature "composer"`
	Remedy string // what to do
}

// Error names the method, what it needs and the remedy.
func (e *NotNegotiatedError) Error() string {
	return fmt.Sprintf("%s is not negotiated with this host: it needs %s; %s", e.Method, e.Needs, e.Remedy)
}

// Is reports whether target is ErrNotNegotiated.
func (e *NotNegotiatedError) Is(target error) bool { return target == ErrNotNegotiated }

// NoParentError is ErrNoParent with the reason.
type NoParentError struct {
	Method string // that was not sent
	Why    string // and the remedy
}

// Error names the method and the reason.
func (e *NoParentError) Error() string {
	return fmt.Sprintf("%s cannot be sent from here: %s", e.Method, e.Why)
}

// Is reports whether target is ErrNoParent.
func (e *NoParentError) Is(target error) bool { return target == ErrNoParent }

// HostError is an error that the host answered with.
type HostError struct {
	Method  string
	Code    int64
	Message string
	Data    json.RawMessage // nil for none
}

// Error returns method, message and code.
func (e *HostError) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code) }

// Token returns the first word of the message, which names the refusal where several share a code, such as
// not_foreground_owner.
func (e *HostError) Token() string {
	word, _, _ := strings.Cut(e.Message, " ")
	return word
}

// ResultError says that the host answered with a result that breaks its model.
type ResultError struct {
	Method string
	Err    error // a *wirejson.Violation, or a *wirejson.SyntaxError
}

// Error returns the method and the fault.
func (e *ResultError) Error() string {
	return fmt.Sprintf("%s: the host's result is malformed: %v", e.Method, e.Err)
}

// cancelledError is ErrCancelled with the cause.
type cancelledError struct {
	method string
	cause  error
}

func (e *cancelledError) Error() string {
	return fmt.Sprintf("%s was cancelled: %v", e.method, e.cause)
}

// Is reports whether target is ErrCancelled.
func (e *cancelledError) Is(target error) bool { return target == ErrCancelled }

// Unwrap returns the cause, that of the context included.
func (e *cancelledError) Unwrap() error { return e.cause }

// ToolError is a failure that the model should read: its message becomes the text of a result whose is_error
// is true. Any other error of a handler becomes such a result too, but is also written to stderr, because
// nobody chose its words for the model.
type ToolError struct {
	Message string
}

// Error returns the message.
func (e *ToolError) Error() string { return e.Message }

// Errorf returns a *ToolError with a formatted message.
func Errorf(format string, args ...any) error {
	return &ToolError{Message: fmt.Sprintf(format, args...)}
}

// quotedList returns names in quotes.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
