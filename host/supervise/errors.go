package supervise

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
)

// ErrClosed says that the supervisor was shut down.
var ErrClosed = errors.New("the host is shutting down")

// ErrReplaced cancels what a generation has not finished when its drain is over.
var ErrReplaced = errors.New("the generation is being replaced")

// NotReadyError says that no generation takes operations. Nothing was sent.
type NotReadyError struct {
	Name      string
	State     State
	LastError string // why; may be empty
}

// Error names the extension, its state and what to do.
func (e *NotReadyError) Error() string {
	text := fmt.Sprintf("extension `%s` takes no calls: it is %s", e.Name, e.State)
	if e.LastError != "" {
		text += ": " + e.LastError
	}
	switch e.State {
	case Parked:
		text += "; reload it when the cause is gone"
	case Backoff, Crashed, Degraded:
		text += "; it is being restarted, try again later"
	}
	return text
}

// MismatchError says that a candidate has other contributions than the generation before it.
//
// Rules: MAN-RELOADING-005, MAN-RELOADING-006, EXT04-RELOAD-005.
type MismatchError struct {
	Name    string
	Changes []string // what differs, at least one
}

// Error names the extension, what changed and the remedy.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("extension `%s` changed contributions during reload: %s; re-registration required: rebuild the host with /reload",
		e.Name, strings.Join(e.Changes, ", "))
}

// ConflictError says that tools cannot be published because their names belong to others.
type ConflictError struct {
	Name      string // of the extension
	Conflicts []Conflict
}

// Error names each tool and its owner.
func (e *ConflictError) Error() string {
	said := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		said[i] = c.String()
	}
	return strings.Join(said, "; ")
}

// permanent marks an error that another attempt would meet again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error of a Starter: the extension is parked at once. Nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// hopeless reports whether another attempt is of no use.
//
// Rules: MAN-RESTART-004, EXT04-RELOAD-012.
func hopeless(err error) bool {
	var marked permanent
	var mismatch *MismatchError
	var manifest *extension.ManifestError
	return errors.As(err, &marked) || errors.As(err, &mismatch) || errors.As(err, &manifest) ||
		errors.Is(err, discovery.ErrSourceChanged)
}

// bounded is the text of an error in at most MaxErrorBytes, cut between two characters.
func bounded(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if len(text) <= MaxErrorBytes {
		return text
	}
	const mark = " […]"
	end := MaxErrorBytes - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
