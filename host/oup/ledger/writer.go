package ledger

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

// writer is the one connection that writes, with its statements. The goroutine of Ledger.write has it.
type writer struct {
	ledger *Ledger
	conn   *sql.Conn

	stream, addStream, putStream    *sql.Stmt
	subject, addSubject, putSubject *sql.Stmt
	addEvent, trim, endAll          *sql.Stmt
	save, undo, keep                *sql.Stmt

	statements []*sql.Stmt // all of them
}

func newWriter(ctx context.Context, l *Ledger) (*writer, error) {
	conn, err := l.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{ledger: l, conn: conn}
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&w.stream, "SELECT num, last, floor FROM streams WHERE name = ?"},
		{&w.addStream, "INSERT INTO streams (name, last, floor) SELECT ?, floor, floor FROM (SELECT coalesce(max(floor), 0) AS floor FROM origin)"},
		{&w.putStream, "UPDATE streams SET last = ?, floor = ? WHERE num = ?"},
		{&w.subject, "SELECT last, begun, ended FROM subjects WHERE stream = ? AND kind = ? AND id = ?"},
		{&w.addSubject, "INSERT INTO subjects (last, begun, ended, stream, kind, id) VALUES (?, ?, ?, ?, ?, ?)"},
		{&w.putSubject, "UPDATE subjects SET last = ?, begun = ?, ended = ? WHERE stream = ? AND kind = ? AND id = ?"},
		{&w.addEvent, "INSERT INTO events (stream, seq, time, method, kind, id, step, number, sum, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&w.trim, "DELETE FROM events WHERE stream = ? AND seq <= ?"},
		{&w.endAll, "UPDATE subjects SET ended = ? WHERE stream = ? AND ended = 0"},
		{&w.save, "SAVEPOINT request"},
		{&w.undo, "ROLLBACK TO request"},
		{&w.keep, "RELEASE request"},
	} {
		if *s.into, err = conn.PrepareContext(ctx, s.query); err != nil {
			w.close()
			return nil, err
		}
		w.statements = append(w.statements, *s.into)
	}
	return w, nil
}

// close gives the connection back. The file stays open, and its log is not written into it, for as long as
// there is a statement.
func (w *writer) close() {
	for _, s := range w.statements {
		_ = s.Close()
	}
	_ = w.conn.Close()
}

// background is the context of everything that is being written: a transaction that has begun is not
// stopped half way.
var background = context.Background()

// carryOut writes a group in one transaction that is on disk when it returns. Each request has its error.
func (w *writer) carryOut(group []*request) {
	err := immediate(background, w.conn, func() error {
		for _, r := range group {
			if r.ctx.Err() != nil {
				r.err = context.Cause(r.ctx)
				continue
			}
			if err := w.apart(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	err = explain(w.ledger.path, err)
	for _, r := range group {
		if r.err == nil {
			r.err = err
		}
	}
}

// apart carries a request out so that a refusal of it leaves the others alone. The error is one of the
// database, which nothing of the transaction survives.
func (w *writer) apart(r *request) error {
	if _, err := w.save.Exec(); err != nil {
		return err
	}
	var err error
	if r.events == nil {
		err = w.forget(r.forget)
	} else {
		err = w.append(r)
	}
	var refused *SubjectError
	if errors.As(err, &refused) {
		r.err, r.stored = err, nil
		if _, err = w.undo.Exec(); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	_, err = w.keep.Exec()
	return err
}

// streamRow is a stream as it is stored.
type streamRow struct{ num, last, floor int64 }

// window is what is kept of the stream.
func (s streamRow) window(name string) Window {
	return Window{Stream: name, Oldest: s.floor + 1, Head: s.last}
}

// find reads a stream; num is 0 if it is not there.
func (w *writer) find(name string) (row streamRow, err error) {
	err = w.stream.QueryRow(name).Scan(&row.num, &row.last, &row.floor)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return row, err
}

// append writes the events of a request.
func (w *writer) append(r *request) error {
	now := w.ledger.now().UnixMilli()
	touched := map[string]*streamRow{}
	r.stored = make([]Stored, 0, len(r.events))
	for _, e := range r.events {
		row := touched[e.Stream]
		if row == nil {
			found, err := w.find(e.Stream)
			if err != nil {
				return err
			}
			if found.num == 0 {
				if _, err := w.addStream.Exec(e.Stream); err != nil {
					return err
				}
				if found, err = w.find(e.Stream); err != nil {
					return err
				}
			}
			row = &found
			touched[e.Stream] = row
		}
		row.last++
		stored := Stored{Event: e, Seq: row.last, Time: time.UnixMilli(now).UTC()}
		if err := w.advance(row.num, &stored); err != nil {
			return err
		}
		if _, err := w.addEvent.Exec(row.num, stored.Seq, now, e.Method, e.Subject.Kind, e.Subject.ID, int64(e.Step), stored.Number, stored.sum(), e.Body); err != nil {
			return err
		}
		r.stored = append(r.stored, stored)
	}
	for _, row := range touched {
		if err := w.settle(row); err != nil {
			return err
		}
	}
	return nil
}

// settle writes where a stream stands, and drops what is more than enough of it.
func (w *writer) settle(row *streamRow) error {
	// Dropping some at once is cheaper than one for one.
	retain := w.ledger.retain
	if row.last-row.floor > retain+retain/8 {
		row.floor = row.last - retain
		if _, err := w.trim.Exec(row.num, row.floor); err != nil {
			return err
		}
	}
	_, err := w.putStream.Exec(row.last, row.floor, row.num)
	return err
}

// advance takes the subject of an event one step on and numbers the event in it.
func (w *writer) advance(stream int64, e *Stored) error {
	subject := e.Subject
	if subject == (Subject{}) {
		return nil
	}
	var state State
	found := true
	err := w.subject.QueryRow(stream, subject.Kind, subject.ID).Scan(&state.Number, &state.Begun, &state.Ended)
	if errors.Is(err, sql.ErrNoRows) {
		found, err = false, nil
	}
	var refusal error
	switch begins := e.Step&Begins != 0; {
	case err != nil:
		return err
	case begins && found:
		refusal = ErrUsed
	case !begins && !found:
		refusal = ErrNotBegun
	case state.Ended != 0:
		refusal = ErrEnded
	}
	if refusal != nil {
		return &SubjectError{Stream: e.Stream, Subject: subject, State: state, Kind: refusal}
	}
	write := w.putSubject
	if !found {
		write, state.Begun = w.addSubject, e.Seq
	}
	state.Number++
	if e.Step&Ends != 0 {
		state.Ended = e.Seq
	}
	e.Number = state.Number
	_, err = write.Exec(state.Number, state.Begun, state.Ended, stream, subject.Kind, subject.ID)
	return err
}

// forget deletes the events of a stream.
func (w *writer) forget(name string) error {
	row, err := w.find(name)
	if err != nil || row.num == 0 {
		return err
	}
	if _, err := w.trim.Exec(row.num, row.last); err != nil {
		return err
	}
	if _, err := w.endAll.Exec(row.last, row.num); err != nil {
		return err
	}
	_, err = w.putStream.Exec(row.last, row.last, row.num)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is a checksum over everything of an event: the database does not see a bit that has changed inside of
// a row.
func (e *Stored) sum() int64 {
	var fixed [33]byte
	for i, n := range []int64{e.Seq, e.Number, e.Time.UnixMilli(), int64(len(e.Body))} {
		binary.BigEndian.PutUint64(fixed[8*i:], uint64(n))
	}
	fixed[32] = byte(e.Step)
	sum := crc32.Checksum(fixed[:], castagnoli)
	for _, text := range []string{e.Stream, e.Method, e.Subject.Kind, e.Subject.ID} {
		sum = crc32.Update(sum, castagnoli, []byte(text))
		sum = crc32.Update(sum, castagnoli, []byte{0xff}) // no UTF-8 has it
	}
	return int64(crc32.Update(sum, castagnoli, e.Body))
}
