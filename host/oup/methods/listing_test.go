package methods_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestListing_readsNoTranscript: what a list tells of a session stands beside it, so that a list costs the same however
// much was said.
func TestListing_readsNoTranscript(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello()
	c.open(sessionA)
	c.turn(sessionA, 1, "hello")
	db, err := sql.Open("sqlite", filepath.Join(w.data, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 10000; DELETE FROM records"); err != nil {
		t.Fatal(err)
	}
	var list oupwire.SessionListResult
	c.do(oupwire.MethodSessionList, params{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].MessageCount != 2 || list.Sessions[0].Title.Or("") != "hello" {
		t.Errorf("without its transcript the session is listed as %+v", list.Sessions)
	}
}
