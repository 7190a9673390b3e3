// Package ledger keeps what clients were told, in order, on disk: one stream of numbered events for each
// session. Nothing that was acknowledged is lost, also when the process is killed; no number is given
// twice; what is no longer kept is announced by an error and never left out in silence.
//
// A Ledger is one file in a data directory that one process has at a time. Writers share commits; readers
// follow a stream from a cursor on without a gap between what was stored and what is new, and none of them
// delays anybody.
//
// It knows no method of the protocol: what an event says is the business of whoever appends it.
//
// Sheet: OUP core 7; settled S52, S53, S62, S64, S65, S66, S71.
package ledger

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/again"
)

// Step says what an event means for its subject. Begins and Ends may come together.
type Step uint8

// The steps.
const (
	Within Step = 0
	Begins Step = 1
	Ends   Step = 2
)

// Subject is what an event is about: a turn, an approval. It begins once in its stream, numbers its events
// from 1 without a gap, and ends once; its id is never used again there, not even when the stream was
// forgotten. The zero value is no subject.
type Subject struct {
	Kind string // at most 64 bytes
	ID   string // at most 512 bytes
}

// Event is something to append.
type Event struct {
	Stream  string // session key with its topic, 1 to 1024 bytes
	Method  string // the notification that tells it, 1 to 128 bytes
	Subject Subject
	Step    Step // Within where there is no subject
	// Body is a JSON object of at most oupwire.MaxTextFrameBytes. What depends on the position is not in it.
	Body []byte
}

// Stored is an event as it lies in the ledger. Its body is shared: treat it as read-only.
type Stored struct {
	Event
	Seq    int64 // position in the stream, from 1
	Number int64 // position in the subject, from 1; 0 without one
	Time   time.Time
}

// Cursor is the position of an event: everything up to it has been seen.
type Cursor struct {
	Stream string
	Seq    int64
}

// Window is what is kept of a stream. Head is 0 in a stream that never had an event, but in a successor. Where nothing is kept,
// Oldest is one more than Head.
type Window struct {
	Stream string
	Oldest int64
	Head   int64
}

// Options change how a ledger is opened.
type Options struct {
	// Retain is how many events of a stream are kept at least; fewer than oupwire.LedgerRingEvents are
	// taken for that many. 0: 131,072.
	Retain int
	// LockWait is how long the file is waited for if some other program reads it; 0: 5 seconds.
	LockWait time.Duration
	// Successor says that there has been another ledger here, which is gone: streams of a new one begin above what
	// the other can have numbered, so that its cursors are not taken for those of this one.
	Successor bool
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// After calls a function once later, in a goroutine of its own, unless it is taken back; nil: time.AfterFunc.
	After func(time.Duration, func()) (stop func() bool)
}

const (
	defaultRetain   = 32 * oupwire.LedgerRingEvents
	defaultLockWait = 5 * time.Second
	// fileName is the file in the data directory.
	fileName = "ledger.db"
	// waitingRequests is how many appends wait beside those that are being written.
	waitingRequests = 1024
)

// Ledger is an open ledger. Its methods may be called from any goroutine.
type Ledger struct {
	path    string
	retain  int64
	now     func() time.Time
	lock    *lock
	writer  *sql.DB
	readers *sql.DB

	requests chan *request
	written  chan struct{} // closed when the writing goroutine has ended
	done     chan struct{} // closed when the ledger closes: readers end

	closing sync.RWMutex // held for reading while a request is handed over
	closed  bool

	mu    sync.Mutex
	feeds map[string]*feed

	debts debts
}

// Open opens the ledger of a data directory, and makes both, for the user alone, if they are missing. A
// *LockedError if another process has it; else errors are of the kinds ErrLocked, ErrReadOnly,
// ErrNotLedger, ErrNewer, ErrDamaged, ErrFull and ErrDisk.
func Open(ctx context.Context, directory string) (*Ledger, error) {
	return Options{}.Open(ctx, directory)
}

// Open is Open with these options.
func (o Options) Open(ctx context.Context, directory string) (_ *Ledger, err error) {
	if o.Retain == 0 {
		o.Retain = defaultRetain
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Ledger{
		path: filepath.Join(directory, fileName), retain: int64(max(o.Retain, oupwire.LedgerRingEvents)), now: o.Now,
		requests: make(chan *request, waitingRequests), written: make(chan struct{}), done: make(chan struct{}),
		feeds: map[string]*feed{}, debts: debts{events: map[string][]Event{}},
	}
	l.debts.plan = again.Plan{Try: l.retry, Left: l.debts.left, After: o.After}
	if l.lock, err = lockDirectory(directory); err != nil {
		return nil, err
	}
	if l.writer, l.readers, err = openDatabase(ctx, l.path, o.LockWait, migrations); err != nil {
		_ = l.lock.release()
		return nil, err
	}
	if o.Successor {
		err = l.succeed(ctx)
	}
	var w *writer
	if err == nil {
		w, err = newWriter(ctx, l)
	}
	if err != nil {
		_ = l.closeFile()
		return nil, explain(l.path, err)
	}
	go l.write(w)
	return l, nil
}

// succeed has the streams of a ledger that has none yet begin behind the milliseconds since 1970: no stream had so many
// events before.
func (l *Ledger) succeed(ctx context.Context) error {
	_, err := l.writer.ExecContext(ctx, `INSERT INTO origin (floor) SELECT ?
		WHERE NOT EXISTS (SELECT 1 FROM origin) AND NOT EXISTS (SELECT 1 FROM streams)`, l.now().UnixMilli())
	return err
}

// Path is the file.
func (l *Ledger) Path() string { return l.path }

// Close writes what has been handed over, ends every reader with ErrClosed and gives the directory back.
func (l *Ledger) Close() error {
	l.closing.Lock()
	if l.closed {
		l.closing.Unlock()
		return nil
	}
	l.closed = true
	close(l.requests)
	l.closing.Unlock()
	l.writeOff()
	<-l.written
	close(l.done)
	return l.closeFile()
}
