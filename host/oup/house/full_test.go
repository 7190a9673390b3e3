package house_test

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/storage"
	"github.com/octet-dev/octet/host/session"
)

// A disk that is full of one of the two files.
const (
	fullLedger = `CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END`
	roomLedger = `DROP TRIGGER full`
)

// TestOpen_settlesLaterWhatTheDiskDoesNotTake: a server opens, serves everybody else, and gives nobody a session whose
// turn has no end.
func TestOpen_settlesLaterWhatTheDiskDoesNotTake(t *testing.T) {
	for name, settle := range map[string]func(retry func(), r *rig){
		"by itself":            func(retry func(), _ *rig) { retry() },
		"when it is asked for": func(_ func(), r *rig) { r.session(chat) },
	} {
		t.Run(name, func(t *testing.T) {
			copied, _ := diedAsking(t)
			copied.disk(fullLedger)
			var planned []time.Duration
			var retry func()
			again := copied.open(func(o *house.Options) {
				o.After = func(delay time.Duration, do func()) func() bool {
					planned, retry = append(planned, delay), do
					return func() bool { return true }
				}
			})
			if len(planned) != 1 {
				t.Fatalf("planned are %v", planned)
			}
			if _, err := again.Find(t.Context(), parse(t, chat)); storage.Trouble(err) == "" {
				t.Errorf("a session whose turn has no end: %v", err)
			}
			again.session("_main:local:other")
			retry()
			copied.disk(roomLedger)
			settle(retry, again)
			const want = "turn/started\nuser one\napproval/requested\napproval/cancelled waiter_dropped\nterminal errored orphaned_by_restart\n"
			if told := again.follow(chat).everything(); told != want {
				t.Errorf("told was\n%s", told)
			}
			again.session(chat)
			retry()
			if len(planned) != 2 {
				t.Errorf("planned are %v", planned)
			}
		})
	}
}

// TestDelete_ofWhatTheDiskKeeps: where the conversation stays, nobody is told that it is gone.
func TestDelete_ofWhatTheDiskKeeps(t *testing.T) {
	p := newPlace(t)
	r := p.open(nil)
	s := r.session(chat)
	begin(t, s, turn(1), "one")
	waitIdle(t, s)
	told := false
	refused := errors.New("no")
	if err := r.Delete(t.Context(), parse(t, chat), house.Parting{Retired: func() error { return refused }}); !errors.Is(err, refused) {
		t.Errorf("what belongs to it stays: %v", err)
	}
	p.execute("sessions.db", `CREATE TRIGGER full BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'full'); END`)
	err := r.Delete(t.Context(), parse(t, chat), house.Parting{Gone: func(int64) { told = true }})
	if storage.Trouble(err) == "" || told {
		t.Errorf("it is deleted: %v, told %t", err, told)
	}
	if s, err := r.Find(t.Context(), parse(t, chat)); err != nil {
		t.Errorf("it is gone: %v", err)
	} else if _, err := s.Start(t.Context(), live.Turn{ID: turn(2), Text: "two"}); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
	p.execute("sessions.db", `DROP TRIGGER full`)
	p.execute("ledger.db", `CREATE TRIGGER full BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'full'); END`)
	last := int64(0)
	if err := r.Delete(t.Context(), parse(t, chat), house.Parting{Gone: func(seq int64) { last = seq }}); err != nil || last == 0 {
		t.Errorf("the conversation is gone, and that is refused: %v", err)
	}
	p.execute("ledger.db", `DROP TRIGGER full`)
	r.session(chat)
	if window, err := r.ledger.Window(t.Context(), chat); err != nil || window.Oldest <= window.Head {
		t.Errorf("what was told of it is still there: %+v, %v", window, err)
	}
}

// TestMake_ofWhatCannotBeTold: a session whose first event cannot be stored is not made.
func TestMake_ofWhatCannotBeTold(t *testing.T) {
	r := newPlace(t).open(nil)
	refused := errors.New("no")
	_, made, err := r.Make(t.Context(), parse(t, chat), house.New{First: func(s *live.Session) error {
		if s.Key() != chat {
			t.Errorf("first is %q", s.Key())
		}
		return refused
	}})
	if !errors.Is(err, refused) || made {
		t.Errorf("it is made: %t, %v", made, err)
	}
	if list, err := r.store.List(t.Context(), session.Filter{Keyed: true}); err != nil || len(list) != 0 {
		t.Errorf("there are %v, %v", list, err)
	}
	if _, err := r.Find(t.Context(), parse(t, chat)); !errors.As(err, new(*house.UnknownError)) {
		t.Errorf("it is found: %v", err)
	}
	s := r.session(chat)
	begin(t, s, turn(1), "one")
	waitIdle(t, s)
	if told := r.follow(chat).everything(); !strings.HasPrefix(told, "turn/started\nuser one\n") {
		t.Errorf("told was\n%s", told)
	}
	if _, made, err = r.Make(t.Context(), parse(t, chat), house.New{First: func(*live.Session) error { return refused }}); made || err != nil {
		t.Errorf("one that is there: %t, %v", made, err)
	}
}

// TestEnter_isWaitedFor: nobody deletes a session that somebody is about to follow, and nobody follows one that is
// being deleted.
func TestEnter_isWaitedFor(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	leave, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	var alone atomic.Bool
	go func() {
		gone <- r.Delete(t.Context(), parse(t, chat), house.Parting{Retired: func() error { alone.Store(true); return nil }})
	}()
	for {
		more, err := s.Enter()
		if err != nil {
			if !errors.Is(err, live.ErrRetired) {
				t.Fatal(err)
			}
			break
		}
		more()
	}
	for range 10_000 { // time enough for who does not wait
		runtime.Gosched()
	}
	if alone.Load() {
		t.Error("it is deleted under who is there")
	}
	leave()
	if err := <-gone; err != nil {
		t.Error(err)
	}
}

// TestTurn_forgetsItsScopesBeforeItsEnd: OUP-APPROVAL-011. Whoever is told the end may ask at once what is remembered.
func TestTurn_forgetsItsScopesBeforeItsEnd(t *testing.T) {
	p := newPlace(t)
	remembered := make(chan int, 1)
	var s *live.Session
	r := p.open(func(o *house.Options) {
		o.Spread = func(string, string, wirejson.Encoder) { remembered <- len(s.Pending().Remembered()) } // where the end is told
	})
	r.brain.commanding("one")
	s = r.session(chat)
	f := r.follow(chat)
	p.disk(`CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.kind = 'turn' AND NEW.step = 2 BEGIN SELECT RAISE(ABORT, 'full'); END`)
	begin(t, s, turn(1), "go")
	if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: f.asked(1).ApprovalID, Decision: "approve", Scope: "turn"}); err != nil {
		t.Fatal(err)
	}
	if n := <-remembered; n != 0 {
		t.Errorf("%d scopes are remembered when the end is told", n)
	}
	waitIdle(t, s)
	p.disk(roomLedger)
}
