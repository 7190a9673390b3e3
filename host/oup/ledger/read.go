package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// State is what a subject has come to.
type State struct {
	Begun  int64 // position of its first event
	Ended  int64 // position of its last one; 0 while it goes on
	Number int64 // how many events it has
}

// Running is a subject that has begun and not ended.
type Running struct {
	Stream  string
	Subject Subject
	State   State
}

// DecodeCursor reads a cursor as it stands in a frame. A *MalformedError if it is none.
func DecodeCursor(data []byte) (Cursor, error) {
	c, err := oupwire.DecodeCursor(data)
	if err != nil {
		return Cursor{}, &MalformedError{Err: err}
	}
	return Cursor{Stream: c.Stream, Seq: c.Seq}, nil
}

// check refuses a cursor that does not point into a window.
func (c Cursor) check(w Window) error {
	switch {
	case c.Seq < 0:
		return &MalformedError{Cursor: c}
	case c.Stream != w.Stream:
		return &StreamError{Expected: w.Stream, Actual: c.Stream}
	case c.Seq < w.Oldest-1 || c.Seq > w.Head:
		return &ExpiredError{Cursor: c, Window: w}
	}
	return nil
}

// Window says what is kept of a stream.
func (l *Ledger) Window(ctx context.Context, stream string) (w Window, err error) {
	err = l.view(ctx, func(conn *sql.Conn) error {
		row, err := findStream(ctx, conn, stream)
		w = row.window(stream)
		return err
	})
	return w, err
}

// Replay hands out every event that is kept behind a cursor, or every one if there is no cursor, and says
// what was kept at the same moment: nothing up to its Head is missing. An error of each ends it and is
// returned. A *MalformedError, *StreamError or *ExpiredError where the cursor is not one of this stream; a
// *DamageError behind all events that could be read, if there are others: it names the first of those.
func (l *Ledger) Replay(ctx context.Context, stream string, after *Cursor, each func(Stored) error) (w Window, err error) {
	var stopped error
	err = l.view(ctx, func(conn *sql.Conn) error {
		row, err := findStream(ctx, conn, stream)
		if err != nil {
			return err
		}
		w = row.window(stream)
		from := row.floor
		if after != nil {
			if err := after.check(w); err != nil {
				return err
			}
			from = after.Seq
		}
		var first error
		for stopped == nil && from < row.last {
			err := l.scan(ctx, conn, w, row.num, from, row.last, func(e Stored) bool {
				stopped = each(e)
				return stopped == nil
			})
			var damage *DamageError
			if !errors.As(err, &damage) {
				return errors.Join(err, first)
			}
			if first == nil {
				first = err
			}
			from = past(ctx, conn, row, damage)
		}
		return first
	})
	if stopped != nil {
		return w, stopped
	}
	return w, err
}

// scan yields the events of a stream behind one position up to another. One that is missing or not as it was
// written is a *DamageError.
func (l *Ledger) scan(ctx context.Context, conn *sql.Conn, w Window, num, after, last int64, yield func(Stored) bool) error {
	next := after + 1
	damaged := func(cause error) error {
		return &DamageError{Path: l.path, Stream: w.Stream, Seq: next, Cause: cause}
	}
	rows, err := conn.QueryContext(ctx, `SELECT seq, time, method, kind, id, step, number, sum, body FROM events
		WHERE stream = ? AND seq > ? AND seq <= ? ORDER BY seq`, num, after, last)
	if err != nil {
		return l.unreadable(err, damaged)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var millis, sum int64
		e := Stored{Event: Event{Stream: w.Stream}}
		if err := rows.Scan(&e.Seq, &millis, &e.Method, &e.Subject.Kind, &e.Subject.ID, &e.Step, &e.Number, &sum, &e.Body); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return damaged(err)
		}
		e.Time = time.UnixMilli(millis).UTC()
		if e.Seq != next {
			return damaged(nil)
		}
		if e.sum() != sum {
			return damaged(errors.New("its checksum is another one"))
		}
		if !yield(e) {
			return nil
		}
		next++
	}
	if err := rows.Err(); err != nil {
		return l.unreadable(err, damaged)
	}
	if next <= last {
		return damaged(nil)
	}
	return nil
}

// past is where reading goes on behind a damaged event: in front of the next one that is there, or at the end.
func past(ctx context.Context, conn *sql.Conn, row streamRow, damage *DamageError) int64 {
	var next sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT min(seq) FROM events WHERE stream = ? AND seq > ?", row.num, damage.Seq).Scan(&next)
	if damage.rest || err != nil || !next.Valid {
		return row.last
	}
	return next.Int64 - 1
}

// unreadable names the event at which the file turned out to be damaged.
func (l *Ledger) unreadable(err error, damaged func(error) error) error {
	if errors.Is(explain(l.path, err), ErrDamaged) {
		err = damaged(err)
		var damage *DamageError
		if errors.As(err, &damage) {
			damage.rest = true
		}
	}
	return err
}

// findStream reads a stream; one without a number, as it will begin, if it is not there.
func findStream(ctx context.Context, conn *sql.Conn, name string) (row streamRow, err error) {
	err = conn.QueryRowContext(ctx, "SELECT num, last, floor FROM streams WHERE name = ?", name).Scan(&row.num, &row.last, &row.floor)
	if errors.Is(err, sql.ErrNoRows) {
		err = conn.QueryRowContext(ctx, "SELECT coalesce(max(floor), 0) FROM origin").Scan(&row.floor)
		row.last = row.floor
	}
	return row, err
}

// State says what a subject has come to; found is false if it has not begun.
func (l *Ledger) State(ctx context.Context, stream string, s Subject) (state State, found bool, err error) {
	err = l.view(ctx, func(conn *sql.Conn) error {
		err := conn.QueryRowContext(ctx, `SELECT last, begun, ended FROM subjects
			WHERE stream = (SELECT num FROM streams WHERE name = ?) AND kind = ? AND id = ?`, stream, s.Kind, s.ID).
			Scan(&state.Number, &state.Begun, &state.Ended)
		found = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	})
	return state, found, err
}

// Spelled returns the id of a subject as it is spelled in the ledger, where ASCII letters are alike in both cases, and
// the id as it is where there is none.
func (l *Ledger) Spelled(ctx context.Context, stream string, s Subject) (id string, err error) {
	id = s.ID
	err = l.view(ctx, func(conn *sql.Conn) error {
		err := conn.QueryRowContext(ctx, `SELECT id FROM subjects
			WHERE stream = (SELECT num FROM streams WHERE name = ?) AND kind = ? AND id = ? COLLATE NOCASE`, stream, s.Kind, s.ID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}

// Running lists what has begun and not ended, in the order in which it began in its stream. Behind a start
// it is what a process has left that did not end in order.
func (l *Ledger) Running(ctx context.Context) (list []Running, err error) {
	err = l.view(ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT name, kind, id, subjects.last, begun, ended
			FROM subjects JOIN streams ON streams.num = subjects.stream WHERE ended = 0 ORDER BY subjects.stream, begun`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var r Running
			if err := rows.Scan(&r.Stream, &r.Subject.Kind, &r.Subject.ID, &r.State.Number, &r.State.Begun, &r.State.Ended); err != nil {
				return err
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	return list, err
}

// Check reads the whole file: its structure, and every event of every stream. It returns the first trouble.
func (l *Ledger) Check(ctx context.Context) error {
	if err := quickCheck(ctx, l.readers, l.path); err != nil {
		return explain(l.path, err)
	}
	var names []string
	err := l.view(ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, "SELECT name FROM streams ORDER BY num")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	for _, name := range names {
		if err == nil {
			_, err = l.Replay(ctx, name, nil, func(Stored) error { return nil })
		}
	}
	return err
}
