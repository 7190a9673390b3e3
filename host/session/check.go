package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// beside are the files that the database keeps next to its own.
var beside = []string{"-wal", "-shm", "-journal"}

// checkFiles refuses what is in the place of the file, or beside it, and is no regular file. Nothing is
// opened: a fifo would keep us waiting for whoever writes to it.
func checkFiles(path string) error {
	for i, name := range append([]string{path}, suffixed(path, beside)...) {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), i > 0 && err != nil:
			continue
		case err != nil:
			return err
		case info.IsDir() && i == 0:
			return &Error{Path: name, Kind: verdictDirectory.kind, Problem: verdictDirectory.problem, Remedy: verdictDirectory.remedy}
		case i > 0 && !info.Mode().IsRegular():
			return &Error{
				Path: path, Kind: ErrNotStore, Problem: fmt.Sprintf("%s, which belongs to it, is %s and no regular file", name, fileKind(info)),
				Remedy: "move that away" + elsewhere,
			}
		case !info.Mode().IsRegular():
			return notStore(name, "it is "+fileKind(info)+" and no regular file")
		}
	}
	return nil
}

func suffixed(path string, suffixes []string) (names []string) {
	for _, suffix := range suffixes {
		names = append(names, path+suffix)
	}
	return names
}

func fileKind(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a fifo"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// checkLength looks whether an existing file is shorter than it says. It only reads, so that the log of a
// damaged file is not written into it.
func checkLength(ctx context.Context, path, wait string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	reader, err := sql.Open("sqlite", dsn(path, "ro", wait))
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	err = cutShort(ctx, reader, path)
	if cannotOpen(err) {
		return nil // its log has no index yet
	}
	return err
}

// cutShort is an error of the kind ErrDamaged if a file has fewer bytes than its pages. The database takes a
// page that ends early for whole, and one that is missing for empty.
func cutShort(ctx context.Context, pool *sql.DB, path string) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// While somebody reads, nobody cuts the file or its log.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	var tables, pages, size int64
	for _, ask := range []struct {
		query string
		into  *int64
	}{{"SELECT count(*) FROM sqlite_schema", &tables}, {"PRAGMA page_count", &pages}, {"PRAGMA page_size", &size}} {
		if err := conn.QueryRowContext(ctx, ask.query).Scan(ask.into); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() >= pages*size {
		return err
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return quickCheck(ctx, conn, path) // the rest may stand in the log
	}
	return damagedFile(path, fmt.Sprintf("the file is cut short: it has %d bytes and should have %d", info.Size(), pages*size), nil)
}

// quickCheck has the database look at the structure of its file.
func quickCheck(ctx context.Context, conn *sql.Conn, path string) error {
	var found string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil || found == "ok" {
		return err
	}
	return damagedFile(path, verdictDamaged.problem, errors.New(found))
}

func damagedFile(path, problem string, cause error) error {
	return &Error{Path: path, Kind: ErrDamaged, Problem: problem, Remedy: verdictDamaged.remedy, Cause: cause}
}

func (db *sqlite) check(ctx context.Context) error {
	if db.trouble != nil {
		return db.trouble
	}
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return explain(db.path, err)
	}
	defer func() { _ = conn.Close() }()
	return explain(db.path, quickCheck(ctx, conn, db.path))
}

func (db *sqlite) known() error { return db.trouble }

// Trouble is what was seen of a damaged file when it was opened for reading, an error of the kind
// ErrDamaged; nil if nothing was. What is left can be read all the same.
func (s *Store) Trouble() error { return s.db.known() }

// Check examines the whole file and every record of every session. It returns a *DamageError for each session
// that has some damage, at most as many as wanted, and the trouble of the file.
func (s *Store) Check(ctx context.Context, most int) (damaged []*DamageError, file error) {
	file = s.db.check(ctx)
	err := s.db.view(ctx, func(r rows) error {
		all, err := r.sessions(Filter{Children: true})
		if err != nil {
			return err
		}
		for _, row := range all {
			if len(damaged) == most || ctx.Err() != nil {
				break
			}
			_, damage := s.readable(r, row)
			if damage == nil {
				continue
			}
			if _, err := s.salvageBranch(r, row, row.head); !errors.As(err, &damage) {
				damage.Last = entryID(row.head)
			}
			damaged = append(damaged, damage)
		}
		return ctx.Err()
	})
	if file == nil {
		file = err
	}
	return damaged, file
}
