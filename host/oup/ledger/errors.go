package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong, to be asked with errors.Is.
var (
	ErrClosed    = errors.New("the ledger is closed")
	ErrLocked    = errors.New("another program has the ledger") // of another server: a *LockedError
	ErrFull      = errors.New("the disk is full")
	ErrDisk      = errors.New("the disk fails")
	ErrReadOnly  = errors.New("the ledger cannot be written")
	ErrNotLedger = errors.New("the file is no ledger")
	ErrNewer     = errors.New("the ledger is of a later octet")
	ErrDamaged   = errors.New("the ledger is damaged") // of one event: a *DamageError
	ErrEvent     = errors.New("the event is not as it must be")

	ErrExpired   = errors.New("the cursor lies outside of what is kept")  // an *ExpiredError
	ErrStream    = errors.New("the cursor is of another stream")          // a *StreamError
	ErrMalformed = errors.New("the cursor is none")                       // a *MalformedError
	ErrLost      = errors.New("events are gone that were never read")     // a *LostError
	ErrUsed      = errors.New("the id was used before")                   // a *SubjectError
	ErrNotBegun  = errors.New("the subject has not begun in this stream") // a *SubjectError
	ErrEnded     = errors.New("the subject has ended")                    // a *SubjectError
)

// Error is a failed operation on the file. Nothing of the operation was done.
type Error struct {
	Path    string
	Problem string
	Remedy  string
	Kind    error // one of the errors above
	Cause   error // what the system or the database said; may be nil
}

// Error names file, problem and remedy.
func (e *Error) Error() string {
	text := "ledger " + e.Path + ": " + e.Problem
	if e.Cause != nil {
		text += " (" + e.Cause.Error() + ")"
	}
	return text + "; " + e.Remedy
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// ExpiredError says that a cursor lies before what is kept, or behind the newest event.
type ExpiredError struct {
	Cursor Cursor
	Window Window
}

// Error names the cursor, what is kept and the remedy.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("cursor %d of stream %q lies outside of %d to %d, which is what is kept; hydrate, and go on from the cursor of the answer",
		e.Cursor.Seq, e.Cursor.Stream, e.Window.Oldest-1, e.Window.Head)
}

// Unwrap returns ErrExpired.
func (e *ExpiredError) Unwrap() error { return ErrExpired }

// StreamError says that a cursor is of another stream than the one that is asked for.
type StreamError struct{ Expected, Actual string }

// Error names both.
func (e *StreamError) Error() string {
	return fmt.Sprintf("the cursor is of stream %q and not of %q; give one of the session that is asked for", e.Actual, e.Expected)
}

// Unwrap returns ErrStream.
func (e *StreamError) Unwrap() error { return ErrStream }

// MalformedError says that something is no cursor. Err is a *wirejson.Violation or *wirejson.SyntaxError, or
// nil where a number is out of its range.
type MalformedError struct {
	Cursor Cursor // as far as it could be read
	Err    error
}

// Error says what is wrong.
func (e *MalformedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("cursor %d of stream %q is none: the number must be 0 or more", e.Cursor.Seq, e.Cursor.Stream)
	}
	return "the cursor is none: " + e.Err.Error()
}

// Unwrap returns ErrMalformed and the cause.
func (e *MalformedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrMalformed}
	}
	return []error{ErrMalformed, e.Err}
}

// LostError says that events behind After and before Oldest are gone: the reader was too slow, or they are damaged. It
// goes on with Oldest.
type LostError struct {
	Stream string
	After  int64
	Oldest int64
	Damage *DamageError // nil where they are no longer kept
}

// Count is how many events were lost.
func (e *LostError) Count() int64 { return e.Oldest - e.After - 1 }

// Error says how many and where.
func (e *LostError) Error() string {
	if e.Damage != nil {
		return fmt.Sprintf("%d events of stream %q behind %d are passed over: %v", e.Count(), e.Stream, e.After, e.Damage)
	}
	return fmt.Sprintf("%d events of stream %q behind %d are no longer kept; go on with %d, or hydrate", e.Count(), e.Stream, e.After, e.Oldest)
}

// Unwrap returns ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// SubjectError says that an event does not fit to what its subject has come to. Nothing was appended.
type SubjectError struct {
	Stream  string
	Subject Subject
	State   State // the zero value where it has not begun
	Kind    error // ErrUsed, ErrNotBegun or ErrEnded
}

// Error names stream and subject.
func (e *SubjectError) Error() string {
	return fmt.Sprintf("%s %q of stream %q: %v", e.Subject.Kind, e.Subject.ID, e.Stream, e.Kind)
}

// Unwrap returns the kind.
func (e *SubjectError) Unwrap() error { return e.Kind }

// DamageError says which event cannot be read. Those before it were.
type DamageError struct {
	Path   string
	Stream string
	Seq    int64
	Cause  error // may be nil

	rest bool // nor what is behind it
}

// Error names file, stream, event and remedy.
func (e *DamageError) Error() string {
	text := fmt.Sprintf("ledger %s: event %d of stream %q cannot be read", e.Path, e.Seq, e.Stream)
	if e.Cause != nil {
		text += " (" + e.Cause.Error() + ")"
	}
	return text + "; the others can; keep a copy of the file, then move it away: conversations are not in it"
}

// Unwrap returns ErrDamaged and the cause.
func (e *DamageError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrDamaged}
	}
	return []error{ErrDamaged, e.Cause}
}

// verdict is what we say of a failure.
type verdict struct {
	kind            error
	problem, remedy string
}

const elsewhere = ", or name another directory with --data-dir"

var (
	verdictLocked    = verdict{ErrLocked, "another program has locked the file for too long", "end that program, then try again"}
	verdictFull      = verdict{ErrFull, "the disk is full; what was stored before is intact", "free some space, then try again"}
	verdictDisk      = verdict{ErrDisk, "the file cannot be read or written; what was stored before is intact", "look after the disk and its limits, then try again"}
	verdictReadOnly  = verdict{ErrReadOnly, "the file or its directory cannot be written", "make both writable" + elsewhere}
	verdictDamaged   = verdict{ErrDamaged, "the file is damaged", "keep a copy of it, then move it away: conversations are not in it"}
	verdictNotLedger = verdict{ErrNotLedger, "the file is no SQLite database, or its beginning is overwritten", "move it away" + elsewhere}
	verdictOther     = verdict{ErrDisk, "the database does not work", "look after the file and the disk it is on"}
)

// explain makes an error of the system or the database one that names the file, the problem and the
// remedy. Errors that already do stay as they are.
func explain(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, known := range []error{
		ErrClosed, ErrLocked, ErrFull, ErrDisk, ErrReadOnly, ErrNotLedger, ErrNewer, ErrDamaged, ErrEvent,
		ErrExpired, ErrStream, ErrMalformed, ErrLost, ErrUsed, ErrNotBegun, ErrEnded,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	v := judge(err)
	return &Error{Path: path, Problem: v.problem, Remedy: v.remedy, Kind: v.kind, Cause: err}
}

func judge(err error) verdict {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return verdictReadOnly
	case errors.Is(err, syscall.ENOSPC):
		return verdictFull
	}
	switch resultCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return verdictLocked
	case sqlite3.SQLITE_FULL:
		return verdictFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return verdictReadOnly
	case sqlite3.SQLITE_CORRUPT:
		return verdictDamaged
	case sqlite3.SQLITE_NOTADB:
		return verdictNotLedger
	case sqlite3.SQLITE_IOERR:
		return verdictDisk
	}
	return verdictOther
}

// resultCode is the code of the database, 0 for an error of somebody else.
func resultCode(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code()
	}
	return 0
}
