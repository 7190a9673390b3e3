package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrMissing says that a data directory has no ledger.
var ErrMissing = errors.New("there is no ledger")

// Contents is what a ledger holds.
type Contents struct {
	Path    string
	Streams int64
	Events  int64
	Running int64 // subjects that have begun and not ended
}

// examineWait is how long an examination waits for a program that writes.
const examineWait = 2 * time.Second

// Examine reads the whole ledger of a data directory, without its lock and without changing anything: a server may
// be at work on it. ErrMissing if there is none; another error is the first trouble.
func Examine(ctx context.Context, directory string) (c Contents, err error) {
	path := filepath.Join(directory, fileName)
	c.Path = path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return c, ErrMissing
	}
	if err != nil {
		return c, explain(path, err)
	}
	if err := checkRegular(path); err != nil {
		return c, err
	}
	wait := fmt.Sprintf("busy_timeout(%d)", examineWait.Milliseconds())
	address := dsn(path, "ro", wait, "query_only(1)")
	// Without a log nobody has the file open, and it is read without making one. With one, a server may be at work.
	if !hasLog(path) {
		if c, err = examine(ctx, path, address+"&immutable=1"); err == nil || !hasLog(path) {
			return c, err
		}
	}
	return examine(ctx, path, address)
}

func hasLog(path string) bool {
	_, err := os.Stat(path + "-wal")
	return err == nil
}

func examine(ctx context.Context, path, address string) (c Contents, err error) {
	c.Path = path
	l := &Ledger{path: path, done: make(chan struct{})}
	if l.readers, err = sql.Open("sqlite", address); err != nil {
		return c, explain(path, err)
	}
	defer func() { _ = l.readers.Close() }()
	err = l.view(ctx, func(conn *sql.Conn) error {
		if _, err := identify(ctx, conn, path, len(migrations)); err != nil {
			return err
		}
		return conn.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM streams), (SELECT count(*) FROM events), (SELECT count(*) FROM subjects WHERE ended = 0)").
			Scan(&c.Streams, &c.Events, &c.Running)
	})
	if err != nil {
		return c, err
	}
	return c, l.Check(ctx)
}
