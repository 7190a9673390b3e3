package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"
)

// sqlite is a database in one file. One connection writes; others read beside it.
type sqlite struct {
	path     string
	lockWait time.Duration
	writer   *sql.DB // nil if the file may not be changed
	readers  *sql.DB
	turn     chan struct{} // of the one who writes
	scratch  string        // a private directory to be removed; may be empty
	trouble  error         // why only a part of the file may be readable; nil if nothing was seen
	version  int           // of its schema: an earlier one where it may not be changed
}

const (
	defaultLockWait = 5 * time.Second
	readersAtOnce   = 4
)

// openSQLite opens a file for reading and writing, and makes it if it is missing.
func openSQLite(ctx context.Context, path string, lockWait time.Duration, steps []string) (_ *sqlite, err error) {
	defer func() { err = explain(path, err) }()
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	wait := fmt.Sprintf("busy_timeout(%d)", lockWait.Milliseconds())
	if err := checkLength(ctx, path, wait); err != nil {
		return nil, err
	}
	db := &sqlite{path: path, lockWait: lockWait, turn: make(chan struct{}, 1), version: len(steps)}
	defer func() {
		if err != nil {
			_ = db.close()
		}
	}()
	// The file is looked at before anything is set that would change it.
	if err := db.upgrade(ctx, steps); err != nil {
		return nil, err
	}
	if db.writer, err = sql.Open("sqlite", dsn(path, "rw", wait, "foreign_keys(1)", "synchronous(FULL)", "secure_delete(1)")); err != nil {
		return nil, err
	}
	db.writer.SetMaxOpenConns(1)
	if db.readers, err = sql.Open("sqlite", dsn(path, "rw", wait, "query_only(1)")); err != nil {
		return nil, err
	}
	db.readers.SetMaxOpenConns(readersAtOnce)
	if err := db.writer.PingContext(ctx); err != nil {
		return nil, err
	}
	return db, db.readers.PingContext(ctx)
}

// prepareFile makes a missing file for the user alone, and refuses one that is no database.
func prepareFile(path string) error {
	if err := checkFiles(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() == 0 {
		// A name that is lost with the power would take everything along.
		syncDirectory(filepath.Dir(path))
		syncDirectory(filepath.Dir(filepath.Dir(path)))
	}
	return checkHeader(path, file)
}

// syncDirectory makes the names in a directory durable where the system can do that.
func syncDirectory(path string) {
	if directory, err := os.Open(path); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}

// checkHeader refuses a file that does not begin like a database.
func checkHeader(path string, file *os.File) error {
	const magic = "SQLite format 3\x00"
	if info, err := file.Stat(); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return notStore(path, "it is no regular file")
	}
	header := make([]byte, len(magic))
	count, _ := file.ReadAt(header, 0)
	if count > 0 && string(header[:count]) != magic[:count] {
		return notStore(path, verdictNotStore.problem)
	}
	return nil
}

func notStore(path, problem string) error {
	return &Error{Path: path, Kind: ErrNotStore, Problem: problem, Remedy: verdictNotStore.remedy}
}

// upgrade identifies the file and brings it to the newest schema in write-ahead mode.
func (db *sqlite) upgrade(ctx context.Context, steps []string) (err error) {
	setup, err := sql.Open("sqlite", dsn(db.path, "rw", fmt.Sprintf("busy_timeout(%d)", db.lockWait.Milliseconds())))
	if err != nil {
		return err
	}
	defer func() { _ = setup.Close() }()
	conn, err := setup.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	version, err := identify(ctx, conn, db.path, len(steps))
	if err != nil {
		return err
	}
	if version == 0 {
		// Space of deleted sessions can be given back; this must be said before the first table.
		if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	if err := db.writeAhead(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	return migrate(ctx, conn, db.path, steps)
}

// writeAheadPause is the wait between two attempts to change the mode of a file that somebody else uses.
const writeAheadPause = 10 * time.Millisecond

// writeAhead puts the file into write-ahead mode. The database does not wait by itself for others that are
// about to do the same.
func (db *sqlite) writeAhead(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, db.lockWait)
	defer cancel()
	for {
		var mode string
		err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("the file system cannot keep a write-ahead log (mode %q)", mode)
		case code(err)&0xff != sqlite3.SQLITE_BUSY:
			return err
		}
		select {
		case <-time.After(writeAheadPause):
		case <-ctx.Done():
			return err
		}
	}
}

// openSQLiteReader opens a file that is there and changes nothing in it.
func openSQLiteReader(ctx context.Context, path string, lockWait time.Duration, newest int) (_ *sqlite, err error) {
	defer func() { err = explain(path, err) }()
	if err := checkFiles(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := checkHeader(path, file); err != nil {
		return nil, err
	}
	wait := fmt.Sprintf("busy_timeout(%d)", lockWait.Milliseconds())
	db := &sqlite{path: path, lockWait: lockWait}
	defer func() {
		if err != nil {
			_ = db.close()
		}
	}()
	if db.readers, err = sql.Open("sqlite", dsn(path, "ro", wait)); err != nil {
		return nil, err
	}
	err = db.checkVersion(ctx, newest)
	if code(err)&0xff == sqlite3.SQLITE_CORRUPT {
		// Whole pages are missing at the end. What is left is read all the same where somebody insists.
		db.trouble = explain(path, err)
		_ = db.readers.Close()
		if db.readers, err = sql.Open("sqlite", dsn(path, "ro", wait, "writable_schema(1)", "query_only(1)")); err != nil {
			return nil, err
		}
		return db, db.checkVersion(ctx, newest)
	}
	if err == nil {
		if err = cutShort(ctx, db.readers, path); errors.Is(err, ErrDamaged) {
			db.trouble, err = err, nil
		}
	}
	if !cannotOpen(err) {
		return db, err
	}
	// The index of the log cannot be made here. Without a log nobody writes, and none is needed; with one,
	// a copy can have an index.
	_ = db.readers.Close()
	if info, statErr := os.Stat(path + "-wal"); statErr != nil || info.Size() == 0 {
		db.readers, err = sql.Open("sqlite", dsn(path, "ro", wait)+"&immutable=1")
	} else {
		err = db.readCopy(wait)
	}
	if err != nil {
		return nil, err
	}
	return db, db.checkVersion(ctx, newest)
}

func (db *sqlite) checkVersion(ctx context.Context, newest int) error {
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	version, err := identify(ctx, conn, db.path, newest)
	if err == nil && version == 0 {
		err = &Error{Path: db.path, Kind: ErrMissing, Problem: "the file is empty", Remedy: verdictMissing.remedy}
	}
	db.version = version
	return err
}

// readCopy reads a private copy of the file and its log.
func (db *sqlite) readCopy(wait string) (err error) {
	if db.scratch, err = os.MkdirTemp("", "octet-sessions-"); err != nil {
		return err
	}
	to := filepath.Join(db.scratch, filepath.Base(db.path))
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(db.path + suffix)
		if errors.Is(err, fs.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			return err
		}
	}
	db.readers, err = sql.Open("sqlite", dsn(to, "rw", wait, "query_only(1)"))
	return err
}

// dsn is the address of a file for the driver.
func dsn(path, mode string, pragmas ...string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	address := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	return address.String()
}

func (db *sqlite) update(ctx context.Context, work func(rows) error) error {
	if db.writer == nil {
		return &Error{Path: db.path, Kind: ErrReadOnly, Problem: "the store was opened for reading alone", Remedy: "make it and its directory writable"}
	}
	select {
	case db.turn <- struct{}{}:
		defer func() { <-db.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return explain(db.path, err)
	}
	defer func() { _ = conn.Close() }()
	return explain(db.path, immediate(ctx, conn, func() error {
		return work(&sqliteRows{ctx: context.WithoutCancel(ctx), conn: conn, version: db.version})
	}))
}

// immediate runs one transaction that takes the right to write at its beginning.
func immediate(ctx context.Context, conn *sql.Conn, work func() error) error {
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	over := ctx.Err()
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		// It may have begun just when the context ended; a connection is not given back in that state.
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(over, err)
	}
	err = work()
	if err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	// A full disk may have ended the transaction already; then there is nothing to take back.
	_, _ = conn.ExecContext(ctx, "ROLLBACK")
	return err
}

func (db *sqlite) view(ctx context.Context, work func(rows) error) error {
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return explain(db.path, err)
	}
	defer func() { _ = conn.Close() }()
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return explain(db.path, err)
	}
	return explain(db.path, work(&sqliteRows{ctx: ctx, conn: conn, version: db.version}))
}

func (db *sqlite) compact(ctx context.Context) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return explain(db.path, err)
	}
	defer func() { _ = conn.Close() }()
	for _, query := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		result, err := conn.QueryContext(ctx, query)
		if err != nil {
			return explain(db.path, err)
		}
		for result.Next() { // each step gives back one page
		}
		if err := errors.Join(result.Err(), result.Close()); err != nil {
			return explain(db.path, err)
		}
	}
	return nil
}

func (db *sqlite) close() error {
	var err error
	for _, pool := range []*sql.DB{db.readers, db.writer} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	if db.scratch != "" {
		err = errors.Join(err, os.RemoveAll(db.scratch))
	}
	return err
}
