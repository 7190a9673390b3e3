package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
)

// sqliteRows are the tables of a SQLite file inside one transaction of a connection.
type sqliteRows struct {
	ctx     context.Context
	conn    *sql.Conn
	version int // of the schema
}

func (r *sqliteRows) exec(query string, args ...any) error {
	_, err := r.conn.ExecContext(r.ctx, query, args...)
	return err
}

func (r *sqliteRows) ownerKey() (key []byte, err error) {
	err = r.conn.QueryRowContext(r.ctx, "SELECT value FROM meta WHERE key = 'owner_key'").Scan(&key)
	return key, err
}

const sessionColumns = "num, id, workspace, name, model, title, created, updated, entries, head, last, parent, origin, running, usage, "

// columns are those of a session.
func (r *sqliteRows) columns() string {
	switch {
	case r.version < keysSince:
		return sessionColumns + "'', '', 0"
	case r.version < messagesSince:
		return sessionColumns + "key, '', 0"
	}
	return sessionColumns + "key, profile, messages"
}

func (r *sqliteRows) addSession(s sessionRow) error {
	origin, usage, err := encodeSession(s)
	if err != nil {
		return err
	}
	return r.exec("INSERT INTO sessions (id, workspace, name, model, title, created, updated, entries, head, last, parent, origin, running, usage, key, profile, messages)"+
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.id, s.workspace, s.name, s.model, s.title, s.created, s.updated, s.entries, s.head, s.last, s.parent, origin, s.running, usage, s.key,
		s.profile, s.messages)
}

func (r *sqliteRows) putSession(s sessionRow) error {
	origin, usage, err := encodeSession(s)
	if err != nil {
		return err
	}
	return r.exec("UPDATE sessions SET workspace = ?, name = ?, model = ?, title = ?, updated = ?, entries = ?, head = ?, last = ?,"+
		" parent = ?, origin = ?, running = ?, usage = ?, messages = ? WHERE num = ?",
		s.workspace, s.name, s.model, s.title, s.updated, s.entries, s.head, s.last, s.parent, origin, s.running, usage, s.messages, s.num)
}

func encodeSession(s sessionRow) (origin, usage string, err error) {
	if s.origin != nil {
		data, err := json.Marshal(s.origin)
		if err != nil {
			return "", "", err
		}
		origin = string(data)
	}
	data, err := json.Marshal(s.usage)
	return origin, string(data), err
}

// scanner is a row that can be read.
type scanner interface{ Scan(into ...any) error }

func scanSession(row scanner) (s sessionRow, err error) {
	var origin, usage string
	err = row.Scan(&s.num, &s.id, &s.workspace, &s.name, &s.model, &s.title, &s.created, &s.updated, &s.entries, &s.head, &s.last,
		&s.parent, &origin, &s.running, &usage, &s.key, &s.profile, &s.messages)
	if err != nil {
		return s, err
	}
	if origin != "" {
		s.origin = new(Origin)
		err = json.Unmarshal([]byte(origin), s.origin)
	}
	return s, errors.Join(err, json.Unmarshal([]byte(usage), &s.usage))
}

func (r *sqliteRows) session(id string) (sessionRow, error) { return r.one("id = ?", id) }

func (r *sqliteRows) keyed(key string) (sessionRow, error) {
	if key == "" || r.version < keysSince {
		return sessionRow{}, ErrNotFound
	}
	return r.one("key = ? AND key <> ''", key)
}

func (r *sqliteRows) one(which string, argument any) (sessionRow, error) {
	s, err := scanSession(r.conn.QueryRowContext(r.ctx, "SELECT "+r.columns()+" FROM sessions WHERE "+which, argument))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return s, err
}

func (r *sqliteRows) sessions(f Filter) (list []sessionRow, err error) {
	query := "SELECT " + r.columns() + " FROM sessions WHERE TRUE"
	var args []any
	if f.Workspace != "" {
		query, args = query+" AND workspace = ?", append(args, f.Workspace)
	}
	switch {
	case f.Keyed && r.version < keysSince:
		query += " AND FALSE"
	case f.Keyed:
		query += " AND key <> ''"
	}
	switch {
	case f.Parent != "":
		query, args = query+" AND parent = ?", append(args, f.Parent)
	case !f.Children:
		query += " AND parent = ''"
	}
	if f.After != "" {
		after, err := r.session(f.After)
		if err != nil {
			return nil, err
		}
		query, args = query+" AND (updated, num) < (?, ?)", append(args, after.updated, after.num)
	}
	query += " ORDER BY updated DESC, num DESC"
	if f.Limit > 0 {
		query, args = query+" LIMIT ?", append(args, f.Limit)
	}
	result, err := r.conn.QueryContext(r.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		s, err := scanSession(result)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, result.Err()
}

func (r *sqliteRows) deleteSession(num int64) error {
	return r.exec("DELETE FROM sessions WHERE num = ?", num)
}

func (r *sqliteRows) find(prefix string, limit int) (ids []string, err error) {
	result, err := r.conn.QueryContext(r.ctx, "SELECT id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2", prefix, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		var id string
		if err := result.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, result.Err()
}

const recordColumns = "session, seq, kind, type, parent, time, sum, payload, metadata"

func (r *sqliteRows) addRecord(rec record) error {
	return r.exec("INSERT INTO records ("+recordColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		rec.session, rec.seq, rec.kind, rec.valueOf, rec.parent, rec.time, rec.sum, rec.payload, rec.metadata)
}

func scanRecord(row scanner) (rec record, err error) {
	err = row.Scan(&rec.session, &rec.seq, &rec.kind, &rec.valueOf, &rec.parent, &rec.time, &rec.sum, &rec.payload, &rec.metadata)
	return rec, err
}

func (r *sqliteRows) record(session, seq int64) (record, error) {
	rec, err := scanRecord(r.conn.QueryRowContext(r.ctx, "SELECT "+recordColumns+" FROM records WHERE session = ? AND seq = ?", session, seq))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoEntry
	}
	return rec, err
}

func (r *sqliteRows) records(session, first, last int64, newestFirst bool) iter.Seq2[record, error] {
	query := "SELECT " + recordColumns + " FROM records WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq"
	if newestFirst {
		query += " DESC"
	}
	return r.each(query, session, first, last)
}

func (r *sqliteRows) each(query string, args ...any) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		result, err := r.conn.QueryContext(r.ctx, query, args...)
		if err != nil {
			yield(record{}, err)
			return
		}
		defer func() { _ = result.Close() }()
		for result.Next() {
			rec, err := scanRecord(result)
			if !yield(rec, err) || err != nil {
				return
			}
		}
		if err := result.Err(); err != nil {
			yield(record{}, err)
		}
	}
}

func (r *sqliteRows) sequences(session int64) (list []int64, err error) {
	result, err := r.conn.QueryContext(r.ctx, "SELECT seq FROM records WHERE session = ? ORDER BY seq", session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		var seq int64
		if err := result.Scan(&seq); err != nil {
			return list, err
		}
		list = append(list, seq)
	}
	return list, result.Err()
}

// salvage walks over the table by its own key and steps over what cannot be read.
func (r *sqliteRows) salvage(session int64) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		// The sequence is a table of its own: it knows the highest number where the end of this one is damaged.
		var highest int64
		err := r.conn.QueryRowContext(r.ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'records'").Scan(&highest)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			yield(record{}, err)
			return
		}
		for num := int64(1); num <= highest && r.ctx.Err() == nil; num++ {
			rec, err := scanRecord(r.conn.QueryRowContext(r.ctx, "SELECT "+recordColumns+" FROM records NOT INDEXED WHERE num = ?", num))
			if err != nil || rec.session != session {
				continue
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

func (r *sqliteRows) labels(session int64) (_ map[int64]string, err error) {
	result, err := r.conn.QueryContext(r.ctx, "SELECT seq, label FROM labels WHERE session = ?", session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	labels := map[int64]string{}
	for result.Next() {
		var seq int64
		var label string
		if err := result.Scan(&seq, &label); err != nil {
			return nil, err
		}
		labels[seq] = label
	}
	return labels, result.Err()
}

func (r *sqliteRows) setLabel(session, seq int64, label string) error {
	if label == "" {
		return r.exec("DELETE FROM labels WHERE session = ? AND seq = ?", session, seq)
	}
	return r.exec("INSERT INTO labels (session, seq, label) VALUES (?, ?, ?) ON CONFLICT (session, seq) DO UPDATE SET label = excluded.label", session, seq, label)
}
