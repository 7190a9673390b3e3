package session

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
)

// applicationID marks a SQLite file as ours: "OCTS".
const applicationID = 0x4f435453

// migrations lead from an empty file to the schema of today. The version of a file is how many of them it
// has seen. A released one never changes: add another behind it.
var migrations = []string{
	`
CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value BLOB NOT NULL
);
CREATE TABLE sessions (
	num       INTEGER PRIMARY KEY,
	id        TEXT NOT NULL UNIQUE,
	workspace TEXT NOT NULL,
	name      TEXT NOT NULL,
	model     TEXT NOT NULL,
	title     TEXT NOT NULL,
	created   INTEGER NOT NULL,
	updated   INTEGER NOT NULL,
	entries   INTEGER NOT NULL,
	head      INTEGER NOT NULL,
	last      INTEGER NOT NULL,
	parent    TEXT NOT NULL,
	origin    TEXT NOT NULL,
	running   TEXT NOT NULL,
	usage     TEXT NOT NULL
);
CREATE INDEX sessions_updated ON sessions (updated DESC, num DESC);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';
CREATE TABLE records (
	num      INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
	seq      INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	type     TEXT NOT NULL,
	parent   INTEGER NOT NULL,
	time     INTEGER NOT NULL,
	sum      INTEGER NOT NULL,
	payload  BLOB NOT NULL,
	metadata BLOB,
	UNIQUE (session, seq)
);
CREATE TABLE labels (
	session INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	label   TEXT NOT NULL,
	PRIMARY KEY (session, seq)
) WITHOUT ROWID;
`,
	`
ALTER TABLE sessions ADD COLUMN key TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX sessions_key ON sessions (key) WHERE key <> '';
`,
	`
ALTER TABLE sessions ADD COLUMN profile TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
WITH RECURSIVE branch (session, type, parent) AS (
	SELECT r.session, r.type, r.parent FROM sessions s JOIN records r ON r.session = s.num AND r.seq = s.head
	UNION ALL
	SELECT r.session, r.type, r.parent FROM branch b JOIN records r ON r.session = b.session AND r.seq = b.parent
)
UPDATE sessions SET messages = counted.said
	FROM (SELECT session, count(*) AS said FROM branch WHERE type IN ('message', 'injected') GROUP BY session) AS counted
	WHERE counted.session = sessions.num;
`,
}

// The versions since which sessions have keys, and a profile and a count of messages. Files of earlier ones can be read
// without a right to change them.
const (
	keysSince     = 2
	messagesSince = 3
)

// identify says which version a file has; 0 is an empty one. Nothing is changed.
func identify(ctx context.Context, conn *sql.Conn, path string, newest int) (version int, err error) {
	var application, tables int
	// One statement sees one moment: somebody else may be making the tables right now.
	row := conn.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&application, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, &Error{
			Path: path, Kind: ErrNotStore, Problem: "the file is a database of another program",
			Remedy: "move it away" + elsewhere,
		}
	case version > newest:
		return 0, &Error{
			Path: path, Kind: ErrNewer,
			Problem: fmt.Sprintf("the file has schema version %d and this octet knows %d", version, newest),
			Remedy:  "use the octet that wrote it" + elsewhere,
		}
	}
	return version, nil
}

// migrate brings a file to the newest version, in one transaction.
func migrate(ctx context.Context, conn *sql.Conn, path string, steps []string) error {
	return immediate(ctx, conn, func() error {
		// Somebody else may have been faster.
		version, err := identify(ctx, conn, path, len(steps))
		if err != nil {
			return err
		}
		for ; version < len(steps); version++ {
			if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
				return fmt.Errorf("schema version %d: %w", version+1, err)
			}
		}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps))); err != nil {
			return err
		}
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		_, err = conn.ExecContext(ctx, "INSERT OR IGNORE INTO meta (key, value) VALUES ('owner_key', ?)", key)
		return err
	})
}
