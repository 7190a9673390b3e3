package house_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/live"
)

const chat = "_main:local:chat#build"

func TestTurn_isToldInOrder(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), " hello ")
	end := f.ended(turn(1))
	const want = `turn/started
user  hello 
delta heard  hello 
persisted heard  hello 
progress/updated
terminal completed
`
	if got := f.told(); got != want {
		t.Errorf("told was\n%s\nwant\n%s", got, want)
	}
	usage, known := end.TokenUsage.Get()
	if !known || usage.InputTokens.Or(0) != 10 || usage.OutputTokens.Or(0) != 2 {
		t.Errorf("usage %+v, known %v", usage, known)
	}
	number := int64(0)
	for i, stored := range f.seen {
		e, ok, err := event.EnvelopeOf(stored)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		number++
		cursor, _ := e.Cursor.Get()
		if e.Seq != number || cursor.Seq != int64(i+1) || e.ThreadID != turn(1) || e.TurnID != turn(1) || e.Topic.Or("") != "build" || e.SessionID != chat {
			t.Errorf("envelope %d is %+v", number, e)
		}
	}
	branch, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	settled, found, err := r.store.Settled(t.Context(), s.ID(), turn(1))
	if err != nil || !found || settled.Outcome != "completed" {
		t.Errorf("the transcript of %d entries says %+v, %v, %v", len(branch), settled, found, err)
	}
}

func TestStart_usesAnIDOnce(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	gate := r.brain.gate()
	begin(t, s, turn(1), "one")
	again, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "something else"})
	if err != nil || !again.Again {
		t.Errorf("the id of the running turn: %+v, %v", again, err)
	}
	again.Go()
	var busy *live.InProgressError
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(2), Text: "two"}); !errors.As(err, &busy) || busy.Turn != turn(1) {
		t.Errorf("a second turn: %v", err)
	}
	close(gate)
	f := r.follow(chat)
	f.ended(turn(1))
	waitIdle(t, s)
	for range 2 {
		var used *live.UsedError
		if _, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"}); !errors.As(err, &used) {
			t.Errorf("the id of an ended turn: %v", err)
		}
		if err := r.Delete(t.Context(), parse(t, chat), house.Parting{}); err != nil {
			t.Fatal(err)
		}
		s = r.session(chat) // the id stays used
	}
	if n := len(r.brain.requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	begin(t, s, turn(2), "two")
	f.ended(turn(2))
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(3), Text: " \n"}); !errors.Is(err, live.ErrNoInput) {
		t.Errorf("no input: %v", err)
	}
}

func TestStart_runsNothingWhereTheAnswerIsLost(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	started, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"})
	if err != nil {
		t.Fatal(err)
	}
	started.GiveUp()
	started.Go()
	f := r.follow(chat)
	if end := f.ended(turn(1)); end.Outcome != oupwire.TurnOutcomeErrored {
		t.Errorf("ended %+v", end)
	}
	if got, want := f.told(), "turn/started\nuser one\nterminal errored connection_closed\n"; got != want {
		t.Errorf("told was\n%s", got)
	}
	if n := len(r.brain.requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestInterrupt(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	var unknown *live.UnknownTurnError
	if _, err := s.Interrupt(t.Context(), turn(1)); !errors.As(err, &unknown) {
		t.Errorf("without a turn: %v", err)
	}
	asked := r.brain.stall()
	begin(t, s, turn(1), "one")
	<-asked
	if i, err := s.Interrupt(t.Context(), turn(2)); !errors.As(err, &unknown) || unknown.Turn != turn(2) {
		t.Errorf("one that never was, while another one runs: %+v, %v", i, err)
	}
	if status, err := s.Turn(t.Context(), turn(1)); err != nil || status.State != oupwire.TurnStateActive {
		t.Errorf("a running turn: %+v, %v", status, err)
	}
	if i, err := s.Interrupt(t.Context(), turn(1)); err != nil || i != (live.Interrupted{Interrupted: true}) {
		t.Errorf("the running turn: %+v, %v", i, err)
	}
	f := r.follow(chat)
	f.ended(turn(1))
	if got, want := f.told(), "turn/started\nuser one\nterminal interrupted interrupted\n"; got != want {
		t.Errorf("told was\n%s", got)
	}
	want := live.Interrupted{Interrupted: true, Ended: oupwire.TurnEndInterrupted}
	if i, err := s.Interrupt(t.Context(), turn(1)); err != nil || i != want {
		t.Errorf("the ended turn: %+v, %v", i, err)
	}
	if _, err := s.Interrupt(t.Context(), turn(2)); !errors.As(err, &unknown) {
		t.Errorf("one that never was, behind the end of another one: %v", err)
	}
	waitIdle(t, s)
	asked = r.brain.stall()
	begin(t, s, turn(3), "three")
	<-asked
	if i, err := s.Interrupt(t.Context(), turn(1)); err != nil || i != (live.Interrupted{Mismatch: true, Ended: oupwire.TurnEndInterrupted}) {
		t.Errorf("the ended turn, while another one runs: %+v, %v", i, err)
	}
	if i, err := s.Interrupt(t.Context(), turn(3)); err != nil || !i.Interrupted {
		t.Errorf("the next turn: %+v, %v", i, err)
	}
	r.close()
	r = r.place.open(nil) // what is known comes from the ledger now
	s = r.session(chat)
	if i, err := s.Interrupt(t.Context(), turn(1)); err != nil || i != want {
		t.Errorf("the ended turn, after a restart: %+v, %v", i, err)
	}
	if status, err := s.Turn(t.Context(), turn(1)); err != nil || status.State != oupwire.TurnStateInterrupted || status.Started.IsZero() || status.Completed.IsZero() {
		t.Errorf("the ended turn, after a restart: %+v, %v", status, err)
	}
	if status, err := s.Turn(t.Context(), turn(9)); err != nil || status.State != oupwire.TurnStateUnknown {
		t.Errorf("a turn that never was: %+v, %v", status, err)
	}
}

// TestInterrupt_keepsWhatWasSaid: people have read it, so the segment is closed with it, and not taken back. The model is
// not shown it again.
func TestInterrupt_keepsWhatWasSaid(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	reached := make(chan struct{})
	r.brain.does(func(ctx context.Context, _ model.Request, say func(string)) (*model.Response, error) {
		say("Half an ")
		say("answer")
		close(reached)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	begin(t, s, turn(1), "one")
	<-reached
	if i, err := s.Interrupt(t.Context(), turn(1)); err != nil || !i.Interrupted {
		t.Fatalf("%+v, %v", i, err)
	}
	f := r.follow(chat)
	f.ended(turn(1))
	if got, want := f.told(), "turn/started\nuser one\ndelta Half an answer\npersisted Half an answer\nterminal interrupted interrupted\n"; got != want {
		t.Errorf("told was\n%s", got)
	}
	waitIdle(t, s)
	r.brain.does(func(context.Context, model.Request, func(string)) (*model.Response, error) { return said("two"), nil })
	begin(t, s, turn(2), "two")
	f.ended(turn(2))
	asked := r.brain.requests()
	for _, m := range asked[len(asked)-1].Messages {
		if strings.Contains(m.PlainText(), "Half") {
			t.Errorf("the model is shown %q", m.PlainText())
		}
	}
}

// TestInterrupt_beforeItRuns: a turn that was acknowledged and not launched yet is interrupted all the same.
func TestInterrupt_beforeItRuns(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	started, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan live.Interrupted, 1)
	go func() {
		i, _ := s.Interrupt(context.Background(), turn(1))
		done <- i
	}()
	for {
		if status, _ := s.Turn(t.Context(), turn(1)); status.State != oupwire.TurnStateActive {
			break
		}
		runtime.Gosched()
	}
	started.Go()
	if i := <-done; !i.Interrupted {
		t.Errorf("%+v", i)
	}
	if end := r.follow(chat).ended(turn(1)); end.Outcome != oupwire.TurnOutcomeInterrupted {
		t.Errorf("ended %+v", end)
	}
	if n := len(r.brain.requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestTurn_thatFails(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.does(func(context.Context, model.Request, func(string)) (*model.Response, error) {
		return nil, errors.New("no such key")
	})
	s := r.session(chat)
	begin(t, s, turn(1), "one")
	end := r.follow(chat).ended(turn(1))
	failure, _ := end.Error.Get()
	if end.Outcome != oupwire.TurnOutcomeErrored || failure.Code != "runtime_error" || !strings.Contains(failure.Message, "no such key") {
		t.Errorf("ended %+v", end)
	}
}

func TestSteer(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	gate := r.brain.gate()
	begin(t, s, turn(1), "one")
	<-r.brain.reached
	for _, text := range []string{"two", "three"} {
		steered, err := s.Steer(t.Context(), input(text), turn(1))
		if err != nil || steered.Turn != turn(1) || steered.Started != nil {
			t.Fatalf("%+v, %v", steered, err)
		}
	}
	var other *live.OtherTurnError
	if _, err := s.Steer(t.Context(), input("four"), turn(2)); !errors.As(err, &other) {
		t.Errorf("another turn is expected: %v", err)
	}
	close(gate)
	f := r.follow(chat)
	f.ended(turn(1))
	waitIdle(t, s)
	const want = `turn/started
user one
delta heard one
persisted heard one
progress/updated
user two
user three
delta heard three
persisted heard three
progress/updated
terminal completed
`
	if got := f.told(); got != want {
		t.Errorf("told was\n%s", got)
	}
	steered, err := s.Steer(t.Context(), input("five"), "")
	if err != nil || steered.Started == nil || steered.Turn == turn(1) {
		t.Fatalf("%+v, %v", steered, err)
	}
	steered.Started.Go()
	if end := f.ended(steered.Turn); end.Outcome != oupwire.TurnOutcomeCompleted {
		t.Errorf("ended %+v", end)
	}
}

func TestSteer_isDroppedByAnInterrupt(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	asked := r.brain.stall()
	begin(t, s, turn(1), "one")
	<-asked
	for _, text := range []string{"two", "three"} {
		if _, err := s.Steer(t.Context(), input(text), ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Interrupt(t.Context(), turn(1)); err != nil {
		t.Fatal(err)
	}
	f := r.follow(chat)
	f.ended(turn(1))
	if got, want := f.told(), "turn/started\nuser one\nturn/steer_dropped interrupted two three\nterminal interrupted interrupted\n"; got != want {
		t.Errorf("told was\n%s", got)
	}
}

// TestStart_reasonsAsMuchAsAskedFor, as far as the model can.
func TestStart_reasonsAsMuchAsAskedFor(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	f := r.follow(chat)
	for n, c := range []struct{ asked, want string }{{"low", "low"}, {"", "low"}, {"medium", "low"}, {"max", "high"}} {
		started, err := s.Start(t.Context(), live.Turn{ID: turn(n), Text: "go", Reasoning: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		started.Go()
		f.ended(turn(n))
		waitIdle(t, s)
		requests := r.brain.requests()
		if got := requests[len(requests)-1].Reasoning; got != c.want {
			t.Errorf("asked for %q, the model reasons %q", c.asked, got)
		}
		if _, model, reasoning, known := s.Model(); !known || model != "one" || reasoning != c.want {
			t.Errorf("told is %q %q %v", model, reasoning, known)
		}
	}
}
