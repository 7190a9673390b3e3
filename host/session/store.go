package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Store is the file of all sessions.
type Store struct {
	path  string
	db    database
	now   func() time.Time
	owner []byte // the key of opaque owner ids
}

// Options change how a store is opened.
type Options struct {
	// LockWait is how long a write waits for other programs; 0: 5 seconds.
	LockWait time.Duration
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Open opens the store at a path, and makes it and its directory, for the user alone, if they are
// missing. Errors are of the kinds ErrLocked, ErrReadOnly, ErrNotStore, ErrNewer, ErrDamaged, ErrFull and
// ErrDisk.
func Open(ctx context.Context, path string) (*Store, error) {
	return Options{}.Open(ctx, path)
}

// Open is Open with these options.
func (o Options) Open(ctx context.Context, path string) (*Store, error) {
	o = o.complete()
	db, err := openSQLite(ctx, path, o.LockWait, migrations)
	if err != nil {
		return nil, err
	}
	return o.store(ctx, path, db, false)
}

// OpenReader opens a store that exists for reading alone: nothing in it is changed or repaired, and
// methods that write fail with ErrReadOnly. It needs no right to write. ErrMissing if there is no file.
func (o Options) OpenReader(ctx context.Context, path string) (*Store, error) {
	o = o.complete()
	db, err := openSQLiteReader(ctx, path, o.LockWait, len(migrations))
	if err != nil {
		return nil, err
	}
	return o.store(ctx, path, db, true)
}

func (o Options) complete() Options {
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) store(ctx context.Context, path string, db database, readOnly bool) (*Store, error) {
	s := &Store{path: path, db: db, now: o.Now}
	err := db.view(ctx, func(r rows) (err error) {
		s.owner, err = r.ownerKey()
		return err
	})
	// Whoever only reads a damaged file wants what is left of it, and asks for no owner.
	if errors.Is(err, ErrDamaged) && readOnly {
		err = nil
	}
	if err != nil {
		_ = db.close()
		return nil, err
	}
	return s, nil
}

// Path is the file.
func (s *Store) Path() string { return s.path }

// Close closes the store. Sessions that are held must have been closed.
func (s *Store) Close() error { return explain(s.path, s.db.close()) }

// info makes an Info of a row.
func (s *Store) info(row sessionRow) Info {
	return Info{
		ID: row.id, Name: row.name, Workspace: row.workspace, Model: row.model, Title: row.title,
		Created: time.UnixMilli(row.created).UTC(), Updated: time.UnixMilli(row.updated).UTC(),
		Entries: row.entries, Head: entryID(row.head), Parent: row.parent, Fork: row.origin,
		Running: row.running, Usage: row.usage, Key: row.key, Profile: row.profile, Messages: row.messages, Owner: s.ownerID(row.id),
	}
}

// ownerID is what extensions are told instead of a session's id. Without the key of this store nobody can
// tell from it which session it is.
func (s *Store) ownerID(id string) string {
	h := sha256.New()
	_, _ = h.Write(s.owner)
	_, _ = h.Write([]byte("\x00" + id))
	return hex.EncodeToString(h.Sum(nil))
}

var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID makes the id of a session: 80 random bits as 16 characters.
func newID() string {
	var random [10]byte
	_, _ = rand.Read(random[:])
	return idAlphabet.EncodeToString(random[:])
}

// Create makes an empty session. ErrNotFound if the parent does not exist, ErrExists if a session has the key.
func (s *Store) Create(ctx context.Context, n New) (Info, error) {
	if err := s.checkName(n.Name); err != nil {
		return Info{}, err
	}
	now := s.now().UnixMilli()
	row := sessionRow{
		id: newID(), workspace: n.Workspace, name: n.Name, model: n.Model, parent: n.Parent, key: n.Key, profile: n.Profile,
		created: now, updated: now,
	}
	err := s.db.update(ctx, func(r rows) error {
		if n.Parent != "" {
			if _, err := s.lookup(r, n.Parent); err != nil {
				return err
			}
		}
		if err := s.free(r, n.Key); err != nil {
			return err
		}
		return r.addSession(row)
	})
	if err != nil {
		return Info{}, err
	}
	return s.info(row), nil
}

// free reports with ErrExists that a session has a key.
func (s *Store) free(r rows, key string) error {
	if key == "" {
		return nil
	}
	taken, err := r.keyed(key)
	switch {
	case err == nil:
		return fmt.Errorf("key %q: %w as %s", key, ErrExists, taken.id)
	case errors.Is(err, ErrNotFound):
		return nil
	}
	return err
}

// Keyed describes the session that has a key. ErrNotFound.
func (s *Store) Keyed(ctx context.Context, key string) (info Info, err error) {
	err = s.db.view(ctx, func(r rows) error {
		row, err := r.keyed(key)
		if err == ErrNotFound {
			err = fmt.Errorf("session with the key %q: %w in %s", key, ErrNotFound, s.path)
		}
		info = s.info(row)
		return err
	})
	return info, err
}

// Settled says how a run of a session ended; found is false where it goes on, or there was none. ErrNotFound.
func (s *Store) Settled(ctx context.Context, id, run string) (end Settlement, found bool, err error) {
	err = s.db.view(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		for rec, err := range r.records(row.num, 1, row.last, true) {
			if err != nil {
				return err
			}
			if rec.kind != kindCheckpoint || !rec.whole(row.id) {
				continue
			}
			var c checkpoint
			if err := json.Unmarshal(rec.payload, &c); err != nil {
				return err
			}
			if c.Run == run {
				end, found = c.Settlement, c.State == stateSettled
				return nil
			}
		}
		return nil
	})
	return end, found, err
}

// lookup finds a session. Its error names the id.
func (s *Store) lookup(r rows, id string) (sessionRow, error) {
	row, err := r.session(id)
	if err == ErrNotFound {
		err = fmt.Errorf("session %q: %w in %s", id, ErrNotFound, s.path)
	}
	return row, err
}

// List returns sessions, the one with the latest record first. ErrNotFound if Filter.After is unknown.
func (s *Store) List(ctx context.Context, f Filter) (list []Info, err error) {
	err = s.db.view(ctx, func(r rows) error {
		found, err := r.sessions(f)
		for _, row := range found {
			list = append(list, s.info(row))
		}
		return err
	})
	return list, err
}

// Find returns the ids that begin with a prefix, in ascending order, at most limit of them.
func (s *Store) Find(ctx context.Context, prefix string, limit int) (ids []string, err error) {
	err = s.db.view(ctx, func(r rows) (err error) {
		ids, err = r.find(prefix, limit)
		return err
	})
	return ids, err
}

// Info describes one session. ErrNotFound.
func (s *Store) Info(ctx context.Context, id string) (info Info, err error) {
	err = s.db.view(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		info = s.info(row)
		return err
	})
	return info, err
}

// SetName names a session, at most 4 KiB; an empty name takes it away. It needs no lease.
func (s *Store) SetName(ctx context.Context, id, name string) error {
	if err := s.checkName(name); err != nil {
		return err
	}
	return s.db.update(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		row.name = name
		return r.putSession(row)
	})
}

func (s *Store) checkName(name string) error {
	if len(name) > featurewire.MaxSessionNameBytes {
		return fmt.Errorf("name of a session: %w: %d bytes, at most %d", ErrBound, len(name), featurewire.MaxSessionNameBytes)
	}
	return nil
}

// SetLabel labels an entry, at most 4 KiB; an empty label takes it away. It needs no lease. ErrNoEntry.
func (s *Store) SetLabel(ctx context.Context, id string, entry EntryID, label string) error {
	if len(label) > featurewire.MaxEntryLabelBytes {
		return fmt.Errorf("label of entry %s: %w: %d bytes, at most %d", entry, ErrBound, len(label), featurewire.MaxEntryLabelBytes)
	}
	return s.db.update(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		rec, err := s.entry(r, row, entry)
		if err != nil {
			return err
		}
		return r.setLabel(row.num, rec.seq, label)
	})
}

// entry finds the record of an entry. Its error names the entry and the session.
func (s *Store) entry(r rows, row sessionRow, id EntryID) (record, error) {
	missing := fmt.Errorf("entry %q: %w in session %s", id, ErrNoEntry, row.id)
	seq, ok := id.seq()
	if !ok {
		return record{}, missing
	}
	rec, err := r.record(row.num, seq)
	switch {
	case err == ErrNoEntry, err == nil && rec.kind != kindEntry:
		return record{}, missing
	case unreadable(err), err == nil && !rec.whole(row.id):
		branch, err := s.salvageBranch(r, row, seq)
		if err != nil {
			return record{}, err
		}
		return branch[len(branch)-1], nil // only the way to it is damaged
	}
	return rec, err
}

// Delete removes sessions for good, and with them those that work for them. ErrBusy while anybody holds
// one of them, ErrNotFound; then nothing is removed. It returns how many were.
func (s *Store) Delete(ctx context.Context, ids ...string) (count int, err error) {
	doomed, err := s.families(ctx, ids)
	if err != nil {
		return 0, err
	}
	for _, row := range doomed {
		held, err := s.hold(row.id)
		if err != nil {
			return 0, err
		}
		defer func() { _ = held.release() }()
	}
	err = s.db.update(ctx, func(r rows) error {
		for _, row := range doomed {
			if err := r.deleteSession(row.num); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	// What follows only tidies up: the sessions are gone.
	_ = s.db.compact(ctx)
	return len(doomed), nil
}

// families lists sessions and everything that works for them, each once.
func (s *Store) families(ctx context.Context, ids []string) (list []sessionRow, err error) {
	seen := map[string]bool{}
	add := func(rows ...sessionRow) {
		for _, row := range rows {
			if !seen[row.id] {
				seen[row.id] = true
				list = append(list, row)
			}
		}
	}
	err = s.db.view(ctx, func(r rows) error {
		for _, id := range ids {
			row, err := s.lookup(r, id)
			if err != nil {
				return err
			}
			add(row)
		}
		for next := 0; next < len(list); next++ {
			children, err := r.sessions(Filter{Parent: list[next].id})
			if err != nil {
				return err
			}
			add(children...)
		}
		return nil
	})
	return list, err
}

// title is the first line of a text, at most 80 characters.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = oneLine(line)
	if runes := []rune(line); len(runes) > 80 {
		line = strings.TrimSpace(string(runes[:79])) + "…"
	}
	return line
}
