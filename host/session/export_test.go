package session

import (
	"context"
	"fmt"
)

// LimitPages makes the disk of a store as small as some pages more than it has.
func (s *Store) LimitPages(ctx context.Context, more int) error {
	writer := s.db.(*sqlite).writer
	var pages int
	if err := writer.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	_, err := writer.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
	return err
}

// SchemaVersion is the newest schema.
var SchemaVersion = len(migrations)

// OpenWith opens a store as an octet with other migrations would.
func OpenWith(ctx context.Context, path string, steps []string) error {
	db, err := openSQLite(ctx, path, defaultLockWait, steps)
	if err != nil {
		return err
	}
	return db.close()
}

// Migrations are the steps to the newest schema.
func Migrations() []string { return migrations }

// Hold takes the lease of a session alone.
func (s *Store) Hold(id string) (release func() error, err error) {
	held, err := s.hold(id)
	if err != nil {
		return nil, err
	}
	return held.release, nil
}
