package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

var errUnfinished = errors.New("session: being written")

// Store is the file of all sessions.
type Store struct {
	path string
}

// Options change how a store is opened.
type Options struct {
	// LockWait is how long a write waits for other programs; 0: 5 seconds.
	LockWait time.Duration
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Open opens the store at a path, and makes it and its directory, for the user alone, if they are
// missing. Errors are of the kinds ErrLocked, ErrReadOnly, ErrNotStore, ErrNewer, ErrDamaged and ErrFull.
func Open(ctx context.Context, path string) (*Store, error) {
	return Options{}.Open(ctx, path)
}

// Open is Open with these options.
func (o Options) Open(ctx context.Context, path string) (*Store, error) { return nil, errUnfinished }

// OpenReader opens a store that exists for reading alone: nothing is made, changed or repaired.
func (o Options) OpenReader(ctx context.Context, path string) (*Store, error) {
	return nil, errUnfinished
}

// Path is the file.
func (s *Store) Path() string { return s.path }

// Close closes the store. Sessions that are held must have been closed.
func (s *Store) Close() error { return errUnfinished }

// Create makes an empty session.
func (s *Store) Create(ctx context.Context, n New) (Info, error) { return Info{}, errUnfinished }

// List returns sessions, the one with the latest record first.
func (s *Store) List(ctx context.Context, f Filter) ([]Info, error) { return nil, errUnfinished }

// Find returns the ids that begin with a prefix, at most limit of them.
func (s *Store) Find(ctx context.Context, prefix string, limit int) ([]string, error) {
	return nil, errUnfinished
}

// Info describes one session. ErrNotFound.
func (s *Store) Info(ctx context.Context, id string) (Info, error) { return Info{}, errUnfinished }

// SetName names a session, at most 4 KiB; an empty name takes it away. It needs no lease.
func (s *Store) SetName(ctx context.Context, id, name string) error { return errUnfinished }

// SetLabel labels an entry, at most 4 KiB; an empty label takes it away. It needs no lease.
func (s *Store) SetLabel(ctx context.Context, id string, entry EntryID, label string) error {
	return errUnfinished
}

// Delete removes a session for good. Its children stay and lose their parent. ErrBusy while anybody holds it.
func (s *Store) Delete(ctx context.Context, id string) error { return errUnfinished }

// Fork makes a session that begins with the branch that ends in an entry; an empty entry stands for the
// head. Entries keep their ids, labels and metadata. Costs stay with the session that caused them.
func (s *Store) Fork(ctx context.Context, id string, at EntryID) (Info, error) {
	return Info{}, errUnfinished
}

// Branch returns the entries from the first to the head, without a lease.
func (s *Store) Branch(ctx context.Context, id string) ([]Stored, error) { return nil, errUnfinished }

// Format is how a session is exported.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // every record, a JSON object a line
	Markdown Format = "markdown" // the branch to the head, to be read
)

// Export writes a session without anything that is private to an extension. What cannot be read is left
// out, said in its place, and reported with a *DamageError behind everything else.
func (s *Store) Export(ctx context.Context, id string, w io.Writer, format Format) error {
	return errUnfinished
}

// Begin takes a session for this process until Close, or until the process ends, however it does.
// ErrBusy if anybody holds it. A run that was going on when its process ended is settled first, with the
// outcome errored and the code orphaned_by_restart.
func (s *Store) Begin(ctx context.Context, id string) (*Session, error) { return nil, errUnfinished }

// Session is the right to write a session. Its methods may be called from several goroutines; batches are
// written one behind the other. When a method that writes has returned nil, what it wrote is on disk. A
// context that ends before the transaction began undoes nothing and writes nothing; one that ends later
// has no effect.
type Session struct {
	orphan *Settlement
}

// Info describes the session as it is now.
func (s *Session) Info(ctx context.Context) (Info, error) { return Info{}, errUnfinished }

// Owner is what extensions are told instead of the id.
func (s *Session) Owner() string { return "" }

// Orphan is the terminal that Begin has written for a run that a dead process left behind; nil if there was none.
func (s *Session) Orphan() *Settlement { return s.orphan }

// Append appends entries behind the head, each behind the other, and moves the head to the last.
func (s *Session) Append(ctx context.Context, entries ...Entry) ([]EntryID, error) {
	return nil, errUnfinished
}

// Commit writes a batch in one transaction.
func (s *Session) Commit(ctx context.Context, batch Batch) (Receipt, error) {
	return Receipt{}, errUnfinished
}

// Head is where the conversation stands; empty in an empty session.
func (s *Session) Head() EntryID { return "" }

// SetHead moves the head to an entry of the session, or to the beginning if it is empty. The entries
// behind it stay in the tree.
func (s *Session) SetHead(ctx context.Context, id EntryID) error { return errUnfinished }

// Branch returns the entries from the first to the head.
func (s *Session) Branch(ctx context.Context) ([]Stored, error) { return nil, errUnfinished }

// Entry returns one entry of any branch. ErrNoEntry.
func (s *Session) Entry(ctx context.Context, id EntryID) (Stored, error) {
	return Stored{}, errUnfinished
}

// SetName is Store.SetName.
func (s *Session) SetName(ctx context.Context, name string) error { return errUnfinished }

// Label is Store.SetLabel.
func (s *Session) Label(ctx context.Context, entry EntryID, label string) error { return errUnfinished }

// Usage sums what is known to have been used.
func (s *Session) Usage(ctx context.Context) (Totals, error) { return Totals{}, errUnfinished }

// Children lists the sessions that work for this one.
func (s *Session) Children(ctx context.Context) ([]Info, error) { return nil, errUnfinished }

// Composed returns the values that a composing tool keeps on the branch to the head, by key.
func (s *Session) Composed(ctx context.Context, tool string) (map[string]json.RawMessage, error) {
	return nil, errUnfinished
}

// Compose changes them in one batch: deletions first, then what is set. The head moves to the entry that
// it writes. ErrBound over 4,096 keys, 1,024 bytes a key, 256 KiB a value or 1 MiB in all.
func (s *Session) Compose(ctx context.Context, tool string, set map[string]json.RawMessage, remove []string) error {
	return errUnfinished
}

// Close gives the session back.
func (s *Session) Close() error { return errUnfinished }
