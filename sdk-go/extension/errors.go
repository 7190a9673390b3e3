package extension

import (
	"errors"
	"fmt"
)

var (
	// ErrNotNegotiated is returned by Progress, Output and Notify where this host, this API version or the
	// manifest leaves them out. Nothing was sent. A tool may ignore it: they are for people, not for the
	// result.
	ErrNotNegotiated = errors.New("not negotiated with this host")

	// ErrCallOver is returned by the methods of a Call that send, once the call has been answered. Nothing
	// was sent.
	ErrCallOver = errors.New("the call has been answered")
)

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
