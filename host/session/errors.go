package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with a store, to be asked with errors.Is. The error itself is an *Error and names the
// file, the problem and the remedy.
var (
	ErrNotFound = errors.New("there is no such session")
	ErrNoEntry  = errors.New("there is no such entry")
	ErrBusy     = errors.New("the session is in use") // a *BusyError names the holder
	ErrLocked   = errors.New("the store is locked by another program")
	ErrFull     = errors.New("the disk is full")
	ErrDisk     = errors.New("the disk fails")
	ErrReadOnly = errors.New("the store cannot be written")
	ErrMissing  = errors.New("there is no store")
	ErrNotStore = errors.New("the file is no session store")
	ErrNewer    = errors.New("the store is of a later octet")
	ErrDamaged  = errors.New("the store is damaged") // of one session: a *DamageError says what is still readable
	ErrClosed   = errors.New("the session is closed")
	ErrBound    = errors.New("a bound is exceeded")
	ErrExists   = errors.New("the key is taken") // by another session
)

// Error is a failed operation of a store. Nothing of the operation was done.
type Error struct {
	Path    string // the file
	Problem string
	Remedy  string
	Kind    error // one of the errors above
	Cause   error // what the system or the database said; may be nil
}

// Error names file, problem and remedy.
func (e *Error) Error() string {
	text := "session store " + e.Path + ": " + e.Problem
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

// BusyError says who holds a session.
type BusyError struct {
	Session string
	PID     int // 0: unknown
}

// Error names the session and the holder.
func (e *BusyError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("session %s is in use by %s; end that one first, or fork the session", e.Session, holder)
}

// Unwrap returns ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// maxLost is how many lost records a DamageError lists.
const maxLost = 16

// DamageError says which records of a session cannot be read.
type DamageError struct {
	Path    string
	Session string
	// Lost are the records that cannot be read, at most 16 of them, and Count is how many there are.
	Lost  []int64
	Count int
	// Last is the last entry of the branch that can be read with everything before it; empty if not even
	// the first can, or there is none. The head if only records beside the conversation are lost.
	Last EntryID
}

// Error names file, session, records and remedy.
func (e *DamageError) Error() string {
	var lost strings.Builder
	for i, seq := range e.Lost {
		if i > 0 {
			lost.WriteString(", ")
		}
		fmt.Fprint(&lost, seq)
	}
	if e.Count > len(e.Lost) {
		fmt.Fprintf(&lost, " and %d more", e.Count-len(e.Lost))
	}
	return fmt.Sprintf("session store %s: session %s is damaged at record %s; of the conversation %s, and octet sessions export %s writes what can be read",
		e.Path, e.Session, lost.String(), e.whole(""), e.Session)
}

// whole says how much of the conversation has nothing missing in it.
func (e *DamageError) whole(quote string) string {
	if e.Last == "" {
		return "no entry is whole with all before it"
	}
	return "all is whole up to " + quote + string(e.Last) + quote
}

// Unwrap returns ErrDamaged.
func (e *DamageError) Unwrap() error { return ErrDamaged }

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
	verdictDamaged   = verdict{ErrDamaged, "the file is damaged", "octet sessions export ID writes what can be read of a session; keep a copy of the file, then move it away"}
	verdictNotStore  = verdict{ErrNotStore, "the file is no SQLite database, or its beginning is overwritten", "move it away, put a backup in its place" + elsewhere}
	verdictDirectory = verdict{ErrNotStore, "it is a directory", "name the directory that holds it with --data-dir"}
	verdictMissing   = verdict{ErrMissing, "there is no such file", "name the right directory with --data-dir"}
	verdictOther     = verdict{ErrDisk, "the database does not work", "look after the file and the disk it is on"}
)

// explain makes an error of the system or the database one that names the file, the problem and the
// remedy. Errors that already do stay as they are.
func explain(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, known := range []error{ErrExists, ErrNotFound, ErrNoEntry, ErrBusy, ErrReadOnly, ErrNotStore, ErrNewer, ErrDamaged, ErrClosed, ErrBound, ErrFull, ErrDisk, ErrLocked, ErrMissing} {
		if errors.Is(err, known) {
			return err
		}
	}
	v := judge(err)
	return &Error{Path: path, Problem: v.problem, Remedy: v.remedy, Kind: v.kind, Cause: err}
}

func judge(err error) verdict {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return verdictMissing
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return verdictReadOnly
	case errors.Is(err, syscall.EISDIR):
		return verdictDirectory
	case errors.Is(err, syscall.ENOSPC):
		return verdictFull
	}
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return verdictLocked
	case sqlite3.SQLITE_FULL:
		return verdictFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return verdictReadOnly
	case sqlite3.SQLITE_CORRUPT:
		return verdictDamaged
	case sqlite3.SQLITE_NOTADB:
		return verdictNotStore
	case sqlite3.SQLITE_IOERR:
		return verdictDisk
	}
	return verdictOther
}

// code is the result code of the database, 0 for an error of somebody else.
func code(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code()
	}
	return 0
}

// unreadable reports whether the database says that its file is damaged.
func unreadable(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

// cannotOpen reports whether a file could not be opened because something beside it cannot be made.
func cannotOpen(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}
