package house_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// disk changes the ledger of a place as if its disk were full, or had room again.
func (p *place) disk(query string) {
	p.t.Helper()
	p.execute("ledger.db", query)
}

// execute changes a file of a place behind its back.
func (p *place) execute(name, query string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.directory, name))
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = db.Exec(query)
	if err := errors.Join(err, db.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// TestTurn_itsEndComesOnceThereIsRoom: OUP-TURN-015 with a disk that is full for a while. Whoever has the session open
// is warned, and gets the end without anybody asking for anything.
func TestTurn_itsEndComesOnceThereIsRoom(t *testing.T) {
	p := newPlace(t)
	planned := make(chan func(), 1)
	p.ledger = ledger.Options{After: func(_ time.Duration, do func()) func() bool {
		planned <- do
		return func() bool { return true }
	}}
	var mu sync.Mutex
	warned := ""
	r := p.open(func(o *house.Options) {
		o.Spread = func(session, method string, params wirejson.Encoder) {
			mu.Lock()
			defer mu.Unlock()
			warned += session + " " + method + " " + string(params.AppendJSON(nil)) + "\n"
		}
	})
	r.brain.commanding("one")
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "go")
	f.asked(1)
	p.disk(`CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END`)
	if _, err := s.Interrupt(t.Context(), turn(1)); err != nil {
		t.Fatal(err)
	}
	waitIdle(t, s)
	mu.Lock()
	if !strings.Contains(warned, chat+" "+oupwire.MethodWarning+" ") || !strings.Contains(warned, `"not_stored_yet"`) || !strings.Contains(warned, turn(1)) {
		t.Errorf("told meanwhile was %q", warned)
	}
	mu.Unlock()
	if s.Rest(time.Now().Add(time.Hour)) {
		t.Error("a session rests whose end is not told")
	}
	if list := s.Pending().Approvals(); len(list) != 0 {
		t.Errorf("pending are %+v", list)
	}
	p.disk(`DROP TRIGGER full`)
	(<-planned)()
	if end := f.ended(turn(1)); end.Outcome != oupwire.TurnOutcomeInterrupted {
		t.Errorf("the end is %+v", end)
	}
	if told := f.told(); !strings.Contains(told, "approval/cancelled turn_interrupted\nterminal interrupted") {
		t.Errorf("told was\n%s", told)
	}
	if !s.Rest(time.Now().Add(time.Hour)) {
		t.Error("the session does not rest")
	}
}
