package session

import (
	"context"
	"iter"
)

// database is what a store needs beneath it. SQLite is behind it here; anything with serializable
// transactions that are on disk when they return can be.
type database interface {
	// update runs one transaction that may write, alone. It waits for others until the context ends or
	// the wait is over; from then on the context has no effect. When it returns nil, all is on disk.
	update(ctx context.Context, work func(rows) error) error
	// view runs work on one unchanging state of the database.
	view(ctx context.Context, work func(rows) error) error
	// compact gives unused space back.
	compact(ctx context.Context) error
	// check examines the whole file; known is what was seen of damage when it was opened for reading.
	check(ctx context.Context) error
	known() error
	close() error
}

// rows are the tables inside one transaction.
type rows interface {
	ownerKey() ([]byte, error)

	addSession(sessionRow) error
	session(id string) (sessionRow, error) // ErrNotFound
	keyed(key string) (sessionRow, error)  // ErrNotFound
	sessions(Filter) ([]sessionRow, error)
	putSession(sessionRow) error
	deleteSession(num int64) error
	find(prefix string, limit int) ([]string, error)

	addRecord(record) error
	record(session, seq int64) (record, error) // ErrNoEntry
	// records yields them in the order of seq, or the other way round, from first to last.
	records(session, first, last int64, newestFirst bool) iter.Seq2[record, error]
	// sequences lists the records that there are, readable or not.
	sequences(session int64) ([]int64, error)
	// salvage finds a record without the index.
	salvage(session int64) iter.Seq2[record, error]

	labels(session int64) (map[int64]string, error)
	setLabel(session, seq int64, label string) error
}

// sessionRow is a session as it is stored. All of it but name, labels, key and profile can be told from the records;
// it is kept so that nobody has to read them.
type sessionRow struct {
	num       int64
	id        string
	workspace string
	name      string
	model     string
	title     string
	created   int64 // milliseconds
	updated   int64
	entries   int64
	head      int64 // seq, 0: none
	last      int64 // the highest seq that was given
	parent    string
	origin    *Origin
	running   string
	usage     Totals
	key       string
	profile   string
	messages  int64 // on the branch to the head
}

// The kinds of records.
const (
	kindEntry       = "entry"
	kindHead        = "head"
	kindCheckpoint  = "checkpoint"
	kindUsage       = "usage"
	kindUncertainty = "usage_uncertainty"
)

// record is one row of the history of a session. It is never changed.
type record struct {
	session  int64
	seq      int64
	kind     string
	valueOf  string // type of an entry's value
	parent   int64
	time     int64 // milliseconds
	payload  []byte
	metadata []byte
	sum      int64 // see checksum
}
