package house_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/session"
)

const childPlace = "OCTET_TEST_HOUSE"

func TestMain(m *testing.M) {
	if directory := os.Getenv(childPlace); directory != "" {
		work(directory)
	}
	os.Exit(m.Run())
}

// work holds turn after turn, decides about what tools ask for, and prints a line for everything that is
// acknowledged. It goes on until it is killed.
func work(directory string) {
	p := &place{t: nil, directory: directory, workspace: filepath.Join(filepath.Dir(directory), "work"), brain: &brain{}}
	p.brain.commanding("one", "two")
	ctx := context.Background()
	r, err := p.tryOpen(ctx, nil)
	if err != nil {
		die(err)
	}
	k, err := key.Parse(chat)
	if err != nil {
		die(err)
	}
	s, _, err := r.Make(ctx, k, house.New{})
	if err != nil {
		die(err)
	}
	window, err := r.ledger.Window(ctx, chat)
	if err != nil {
		die(err)
	}
	reader, err := r.ledger.Follow(ctx, chat, &ledger.Cursor{Stream: chat, Seq: window.Head})
	if err != nil {
		die(err)
	}
	acknowledge := func(seq int64, subject, id, step string) {
		line, _ := json.Marshal(ack{seq, subject, id, step})
		fmt.Println(string(line))
	}
	for {
		id := event.NewID(time.Now())
		started, err := s.Start(ctx, live.Turn{ID: id, Text: "go " + id})
		if err != nil {
			die(err)
		}
		acknowledge(started.Events[1].Seq, event.Turn, id, "begun")
		started.Go()
		if _, err := s.Steer(ctx, input("steer"), id); err != nil {
			die(err)
		}
		for over := false; !over; {
			page, err := reader.Next(ctx)
			if err != nil {
				die(err)
			}
			for _, stored := range page {
				switch {
				case stored.Method == oupwire.MethodApprovalRequested:
					acknowledge(stored.Seq, event.Approval, stored.Subject.ID, "begun")
					go func() {
						decided, err := s.Pending().Decide(ctx, pending.Decision{Approval: stored.Subject.ID, Decision: "approve"})
						if err != nil {
							die(err)
						}
						acknowledge(decided.Event.Seq, event.Approval, stored.Subject.ID, "ended")
					}()
				case isEnd(stored, id):
					acknowledge(stored.Seq, event.Turn, id, "ended")
					over = true
				}
			}
		}
		for s.Running() != "" {
			runtime.Gosched()
		}
	}
}

func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// ack is what a child has acknowledged.
type ack struct {
	Seq             int64
	Kind, ID, State string
}

// TestRestart_losesNothing kills a real process at any moment, again and again on the same data: everything that it
// has acknowledged is there, every turn has exactly one end, nothing is waited for, and what transcript and ledger
// say of the ends of turns is the same.
func TestRestart_losesNothing(t *testing.T) {
	p := newPlace(t)
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	orphans := 0
	var acks []ack
	for range rounds {
		acks = append(acks, p.killed()...)
		r := p.open(nil)
		orphans = check(t, r, acks)
		r.close()
	}
	if len(acks) < rounds || orphans == 0 {
		t.Errorf("%d things were acknowledged and %d turns orphaned: too few to tell", len(acks), orphans)
	}
	t.Logf("%d rounds, %d acknowledged, %d turns orphaned", rounds, len(acks), orphans)
}

// killed runs a child for a moment that nobody can foresee, kills it, and returns what it has acknowledged.
func (p *place) killed() []ack {
	p.t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPlace+"="+p.directory)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var acks []ack
	stop := 1 + rand.IntN(40) // lines, so that the moment does not depend on the machine
	for lines.Scan() {
		var a ack
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			break // the last line is cut
		}
		acks = append(acks, a)
		if len(acks) == stop {
			_ = child.Process.Kill()
		}
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if child.ProcessState.ExitCode() == 3 {
		p.t.Fatal("the child has failed")
	}
	return acks
}

// check holds the ledger of an open house against what was acknowledged, and returns how many turns are orphans.
func check(t *testing.T, r *rig, acks []ack) (orphans int) {
	t.Helper()
	bySeq := map[int64]ledger.Stored{}
	ends := map[ledger.Subject]ledger.Stored{}
	number := map[ledger.Subject]int64{}
	last := int64(0)
	window, err := r.ledger.Replay(t.Context(), chat, nil, func(s ledger.Stored) error {
		if s.Seq != last+1 {
			t.Errorf("event %d follows %d", s.Seq, last)
		}
		last = s.Seq
		bySeq[s.Seq] = s
		if s.Subject.Kind == "" {
			return nil
		}
		if number[s.Subject]++; s.Number != number[s.Subject] {
			t.Errorf("event %d of %v has the number %d", number[s.Subject], s.Subject, s.Number)
		}
		if end, ended := ends[s.Subject]; ended {
			t.Errorf("%v ended with event %d and has event %d", s.Subject, end.Seq, s.Seq)
		}
		if s.Step&ledger.Ends != 0 {
			ends[s.Subject] = s
		}
		return nil
	})
	if err != nil || window.Head != last {
		t.Fatalf("%+v, %v", window, err)
	}
	for _, a := range acks {
		if s := bySeq[a.Seq]; s.Subject != (ledger.Subject{Kind: a.Kind, ID: a.ID}) {
			t.Errorf("%+v was acknowledged and is %+v", a, s.Subject)
		}
	}
	for subject := range number {
		if _, ended := ends[subject]; !ended {
			t.Errorf("%v has no end", subject)
		}
	}
	running, err := r.ledger.Running(t.Context())
	if err != nil || len(running) != 0 {
		t.Errorf("running are %+v, %v", running, err)
	}
	info, err := r.store.Keyed(t.Context(), chat)
	if errors.Is(err, session.ErrNotFound) && last == 0 {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	if info.Running != "" {
		t.Errorf("the run %s goes on", info.Running)
	}
	for subject, end := range ends {
		if subject.Kind != event.Turn {
			continue
		}
		data := terminal(t, end)
		failure, _ := data.Error.Get()
		if failure.Code == "orphaned_by_restart" {
			orphans++
		}
		settled, found, err := r.store.Settled(t.Context(), info.ID, subject.ID)
		if err != nil {
			t.Fatal(err)
		}
		if found && (settled.Outcome == session.Completed) != (data.Outcome == oupwire.TurnOutcomeCompleted) {
			t.Errorf("turn %s ended %s for the transcript and %s for clients", subject.ID, settled.Outcome, data.Outcome)
		}
		if !found && failure.Code != "orphaned_by_restart" {
			t.Errorf("turn %s is not in the transcript and ended %+v", subject.ID, data)
		}
	}
	s := r.session(chat)
	if list := s.Pending().Approvals(); len(list) != 0 {
		t.Errorf("pending are %+v", list)
	}
	return orphans
}

// diedAsking is what a process leaves behind that ended in a turn which waited for an approval.
func diedAsking(t *testing.T) (*place, *live.Session) {
	t.Helper()
	p := newPlace(t)
	r := p.open(nil)
	s := r.session(chat)
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"}); err != nil { // nobody lets it go
		t.Fatal(err)
	}
	s.Rest(time.Now().Add(time.Hour))
	asked := event.Of(chat, oupwire.MethodApprovalRequested, oupwire.ApprovalRequestedEvent{
		SessionID: chat, ApprovalID: turn(5), TurnID: turn(1), ToolName: "shell", Title: "t", Body: "b",
	}, ledger.Subject{Kind: event.Approval, ID: turn(5)}, ledger.Begins)
	if _, err := r.ledger.Append(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	return copyPlace(t, p), s
}

// TestRestart_tellsWhatTheTranscriptKnows: the end of the run was stored, and the process ended before it was told.
func TestRestart_tellsWhatTheTranscriptKnows(t *testing.T) {
	for _, c := range []struct {
		settled *session.Settlement
		want    string
	}{
		{&session.Settlement{Run: turn(1), Outcome: session.Completed}, "terminal completed"},
		{&session.Settlement{Run: turn(1), Outcome: session.Interrupted, Code: "interrupted"}, "terminal interrupted interrupted"},
		{&session.Settlement{Run: turn(1), Outcome: session.Errored, Code: "provider_failed", Text: "no"}, "terminal errored runtime_error"},
		{nil, "terminal errored orphaned_by_restart"},
	} {
		copied, s := diedAsking(t)
		if c.settled != nil {
			settle(t, copied, s.ID(), *c.settled)
		}
		again := copied.open(nil)
		told := again.follow(chat).everything()
		if want := "turn/started\nuser one\napproval/requested\napproval/cancelled waiter_dropped\n" + c.want + "\n"; told != want {
			t.Errorf("told was\n%s", told)
		}
		fresh := again.session(chat)
		if list := fresh.Pending().Approvals(); len(list) != 0 {
			t.Errorf("pending are %+v", list)
		}
		var cancelled *pending.CancelledError
		if _, err := fresh.Pending().Decide(t.Context(), pending.Decision{Approval: turn(5), Decision: "approve"}); !errors.As(err, &cancelled) || cancelled.Turn != turn(1) {
			t.Errorf("a decision behind the restart: %v", err)
		}
		if _, err := fresh.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"}); !errors.As(err, new(*live.UsedError)) {
			t.Errorf("the id of the turn: %v", err)
		}
		again.close()
		again = copied.open(nil)
		if more := again.follow(chat).everything(); more != told {
			t.Errorf("another restart adds\n%s", strings.TrimPrefix(more, told))
		}
		again.close()
	}
}

// copyPlace copies the data as a kill would leave it.
func copyPlace(t *testing.T, p *place) *place {
	t.Helper()
	to := newPlace(t)
	if err := os.CopyFS(to.directory, os.DirFS(p.directory)); err != nil {
		t.Fatal(err)
	}
	to.workspace = p.workspace
	return to
}

// settle stores the end of a run as a process would whose end comes right behind it.
func settle(t *testing.T, p *place, id string, end session.Settlement) {
	t.Helper()
	store, err := session.Open(t.Context(), filepath.Join(p.directory, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := store.Begin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Commit(t.Context(), session.Batch{Start: end.Run}); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Commit(t.Context(), session.Batch{Settle: &end}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(held.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTurn_thatCannotBeTold: where the ledger fails the turn is stopped, and the next start tells its end.
func TestTurn_thatCannotBeTold(t *testing.T) {
	p := newPlace(t)
	r := p.open(nil)
	s := r.session(chat)
	gate := r.brain.gate()
	begin(t, s, turn(1), "one")
	<-r.brain.reached
	if err := r.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	close(gate)
	waitIdle(t, s)
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(2), Text: "two"}); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("another turn: %v", err)
	}
	if _, err := s.Interrupt(t.Context(), turn(1)); err != nil {
		t.Errorf("an interrupt behind the end: %v", err)
	}
	r.close()
	r = p.open(nil)
	told := r.follow(chat).everything()
	if !strings.HasPrefix(told, "turn/started\nuser one\n") || strings.Count(told, "terminal ") != 1 {
		t.Errorf("told was\n%s", told)
	}
}
