package session

import "errors"

// What can be wrong with a store, to be asked with errors.Is. The error itself is an *Error and names the
// file, the problem and the remedy.
var (
	ErrNotFound = errors.New("there is no such session")
	ErrNoEntry  = errors.New("there is no such entry")
	ErrBusy     = errors.New("the session is in use")         // *BusyError names the holder
	ErrLocked   = errors.New("the store is locked")           // by another program, for longer than we wait
	ErrFull     = errors.New("the disk is full")              // nothing of the batch was written
	ErrReadOnly = errors.New("the store cannot be written")   //
	ErrNotStore = errors.New("the file is no session store")  //
	ErrNewer    = errors.New("the store is of a later octet") //
	ErrDamaged  = errors.New("the store is damaged")          // *DamageError says what is still readable
	ErrClosed   = errors.New("the session is closed")         //
	ErrBound    = errors.New("a bound is exceeded")           //
)

// Error is a failed operation of a store.
type Error struct {
	Path    string // the file
	Problem string
	Remedy  string
	Kind    error // one of the errors above
	Cause   error // what the database said; may be nil
}

// BusyError says who holds a session.
type BusyError struct {
	Session string
	PID     int // 0: unknown
}

// DamageError says which records of a session cannot be read.
type DamageError struct {
	Path    string
	Session string
	// Lost are the records that cannot be read, at most 16 of them, and Count is how many there are.
	Lost  []int64
	Count int
	// Last is the last entry of the branch that can be read with everything before it.
	Last EntryID
}

func (e *Error) Error() string { return e.Path + ": " + e.Problem + "; " + e.Remedy }

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }
