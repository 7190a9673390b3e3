package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as ours: "OCTL".
const applicationID = 0x4f43544c

// migrations lead from an empty file to the schema of today. The version of a file is how many of them it
// has seen. A released one never changes: add another behind it.
//
// floor is the newest number that is no longer kept. A row of streams and subjects is never deleted: it
// keeps numbers and ids from being used again.
var migrations = []string{
	`
CREATE TABLE streams (
	num   INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	last  INTEGER NOT NULL,
	floor INTEGER NOT NULL
);
CREATE TABLE events (
	stream  INTEGER NOT NULL REFERENCES streams (num),
	seq     INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	method  TEXT NOT NULL,
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	step    INTEGER NOT NULL,
	number  INTEGER NOT NULL,
	sum     INTEGER NOT NULL,
	body    BLOB NOT NULL,
	PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE subjects (
	stream INTEGER NOT NULL REFERENCES streams (num),
	kind   TEXT NOT NULL,
	id     TEXT NOT NULL,
	last   INTEGER NOT NULL,
	begun  INTEGER NOT NULL,
	ended  INTEGER NOT NULL,
	PRIMARY KEY (stream, kind, id)
) WITHOUT ROWID;
CREATE INDEX subjects_open ON subjects (stream) WHERE ended = 0;
`,
	// The floor of every new stream, where it is not 0.
	`
CREATE TABLE origin (floor INTEGER NOT NULL);
`,
}

// readersAtOnce is how many read from the file beside the one that writes.
const readersAtOnce = 4

// openDatabase opens a file for one writer and some readers, and makes it if it is missing. The directory is
// locked: nobody else of us has it.
func openDatabase(ctx context.Context, path string, lockWait time.Duration, steps []string) (writer, readers *sql.DB, err error) {
	defer func() {
		err = explain(path, err)
		for _, pool := range []*sql.DB{writer, readers} {
			if err != nil && pool != nil {
				_ = pool.Close()
			}
		}
	}()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := checkRegular(path + suffix); err != nil {
			return nil, nil, err
		}
	}
	if err := makeFile(path); err != nil {
		return nil, nil, err
	}
	wait := fmt.Sprintf("busy_timeout(%d)", lockWait.Milliseconds())
	if err := checkLength(ctx, path, wait); err != nil {
		return nil, nil, err
	}
	if writer, err = sql.Open("sqlite", dsn(path, "rw", wait, "foreign_keys(1)", "synchronous(FULL)")); err != nil {
		return nil, nil, err
	}
	writer.SetMaxOpenConns(1)
	if err := upgrade(ctx, writer, path, steps); err != nil {
		return writer, nil, err
	}
	if readers, err = sql.Open("sqlite", dsn(path, "rw", wait, "query_only(1)")); err != nil {
		return writer, nil, err
	}
	readers.SetMaxOpenConns(readersAtOnce)
	readers.SetMaxIdleConns(readersAtOnce)
	return writer, readers, readers.PingContext(ctx)
}

// checkRegular refuses what stands in the place of a file and is none. Nothing is opened: a fifo would keep
// us waiting for whoever writes to it.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	return &Error{Path: path, Kind: ErrNotLedger, Problem: "it is no regular file", Remedy: "move it away" + elsewhere}
}

// makeFile makes a missing file for the user alone.
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Size() > 0 {
		return err
	}
	// A name that is lost with the power would take everything along. Not every system can do this.
	for _, name := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if directory, err := os.Open(name); err == nil {
			_ = directory.Sync()
			_ = directory.Close()
		}
	}
	return nil
}

// dsn is the address of a file for the driver.
func dsn(path, mode string, pragmas ...string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive
	}
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	address := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	return address.String()
}

// checkLength is an error of the kind ErrDamaged if a file has fewer bytes than its pages: the database
// takes a page that is missing for empty. It only reads, so that a log is not written into a damaged file.
func checkLength(ctx context.Context, path, wait string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return err
	}
	pool, err := sql.Open("sqlite", dsn(path, "ro", wait))
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	var pages, size int64
	err = pool.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &size)
	switch {
	case resultCode(err)&0xff == sqlite3.SQLITE_CANTOPEN:
		return nil // its log has no index yet
	case err != nil || info.Size() >= pages*size:
		return err
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return quickCheck(ctx, pool, path) // the rest may stand in the log
	}
	return &Error{
		Path: path, Kind: ErrDamaged, Problem: fmt.Sprintf("the file is cut short: it has %d bytes and should have %d", info.Size(), pages*size),
		Remedy: verdictDamaged.remedy,
	}
}

// quickCheck has the database look at the structure of its file.
func quickCheck(ctx context.Context, pool *sql.DB, path string) error {
	var found string
	if err := pool.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil || found == "ok" {
		return err
	}
	return &Error{Path: path, Kind: ErrDamaged, Problem: verdictDamaged.problem, Remedy: verdictDamaged.remedy, Cause: errors.New(found)}
}

// upgrade identifies a file and brings it to the newest schema in write-ahead mode. What is not ours is not
// changed.
func upgrade(ctx context.Context, writer *sql.DB, path string, steps []string) error {
	conn, err := writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	version, err := identify(ctx, conn, path, len(steps))
	if err != nil {
		return err
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot keep a write-ahead log (mode %q)", mode)
	}
	if version == len(steps) {
		return nil
	}
	return immediate(ctx, conn, func() error {
		for ; version < len(steps); version++ {
			if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
				return fmt.Errorf("schema version %d: %w", version+1, err)
			}
		}
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps)))
		return err
	})
}

// identify says which version a file has; 0 is an empty one. Nothing is changed.
func identify(ctx context.Context, conn *sql.Conn, path string, newest int) (version int, err error) {
	var application, tables int
	row := conn.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&application, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, &Error{Path: path, Kind: ErrNotLedger, Problem: "the file is a database of another program", Remedy: "move it away" + elsewhere}
	case version > newest:
		return 0, &Error{
			Path: path, Kind: ErrNewer, Problem: fmt.Sprintf("the file has schema version %d and this octet knows %d", version, newest),
			Remedy: "use the octet that wrote it" + elsewhere,
		}
	}
	return version, nil
}

// immediate runs one transaction that takes the right to write at its beginning. Once begun, the context has
// no effect on it.
func immediate(ctx context.Context, conn *sql.Conn, work func() error) error {
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		if err = work(); err == nil {
			if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
				return nil
			}
		}
	}
	// A full disk may have ended the transaction already; then there is nothing to take back.
	_, _ = conn.ExecContext(ctx, "ROLLBACK")
	return err
}

// view runs work on one unchanging state of the file.
func (l *Ledger) view(ctx context.Context, work func(*sql.Conn) error) error {
	err := func() error {
		conn, err := l.readers.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		return work(conn)
	}()
	if err != nil && l.isClosed() {
		return ErrClosed
	}
	return explain(l.path, err)
}

func (l *Ledger) isClosed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// closeFile closes the file, then gives the directory back.
func (l *Ledger) closeFile() error {
	err := explain(l.path, errors.Join(l.readers.Close(), l.writer.Close()))
	return errors.Join(err, l.lock.release())
}
