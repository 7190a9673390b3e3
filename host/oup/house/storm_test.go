package house_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pending"
)

// TestStorm lets many do everything at once with a few sessions: nothing blocks, every error is one of those that are
// documented, and every turn that was accepted has one end.
func TestStorm(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.commanding("one")
	keys := []key.Key{parse(t, chat), parse(t, "two"), parse(t, "_main:local:three")}
	accepted := make([]map[string]bool, len(keys))
	var mu sync.Mutex
	for i := range accepted {
		accepted[i] = map[string]bool{}
	}
	var counts [6]atomic.Int64
	expected := func(err error) {
		switch {
		case err == nil, errors.Is(err, live.ErrRetired), errors.Is(err, live.ErrNoTurns):
		case errors.As(err, new(*live.InProgressError)), errors.As(err, new(*live.UsedError)), errors.As(err, new(*live.UnknownTurnError)):
		case errors.As(err, new(*house.UnknownError)), errors.As(err, new(*live.UnavailableError)):
		case errors.As(err, new(*pending.CancelledError)), errors.As(err, new(*pending.NotPendingError)), errors.As(err, new(*pending.UnknownError)):
		default:
			t.Error(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	var next atomic.Int64
	var tasks sync.WaitGroup
	for range 12 {
		tasks.Go(func() {
			for ctx.Err() == nil {
				n := rand.IntN(len(keys))
				s, _, err := r.Make(context.Background(), keys[n], house.New{})
				if err != nil {
					t.Error(err)
					return
				}
				what := rand.IntN(len(counts))
				switch what {
				case 0, 1:
					id := turn(int(next.Add(1)))
					started, err := s.Start(context.Background(), live.Turn{ID: id, Text: "go " + id})
					expected(err)
					if err == nil {
						mu.Lock()
						accepted[n][id] = true
						mu.Unlock()
						started.Go()
					}
				case 2:
					if id := s.Running(); id != "" {
						_, err := s.Interrupt(context.Background(), id)
						expected(err)
					}
				case 3:
					for _, a := range s.Pending().Approvals() {
						_, err := s.Pending().Decide(context.Background(), pending.Decision{Approval: a.ApprovalID, Decision: "approve"})
						expected(err)
					}
				case 4:
					_, err := s.Rollback(context.Background(), 1)
					expected(err)
				case 5:
					if rand.IntN(8) == 0 {
						expected(r.Delete(context.Background(), keys[n], house.Parting{}))
					} else {
						s.Rest(time.Now())
					}
				}
				counts[what].Add(1)
			}
		})
	}
	tasks.Wait()
	r.close()
	again := r.place.open(nil)
	running, err := again.ledger.Running(t.Context())
	if err != nil || len(running) != 0 {
		t.Errorf("running are %+v, %v", running, err)
	}
	if err := again.ledger.Check(t.Context()); err != nil {
		t.Error(err)
	}
	total := 0
	for n, ids := range accepted {
		for id := range ids {
			total++
			state, found, err := again.ledger.State(t.Context(), keys[n].String(), ledger.Subject{Kind: event.Turn, ID: id})
			if err != nil || !found || state.Ended == 0 {
				t.Errorf("turn %s: %+v, %v, %v", id, state, found, err)
			}
		}
	}
	if total == 0 {
		t.Error("no turn was accepted")
	}
}

// TestTools_stayInTheirWorkspace: each session works where it was opened, and what leads out of there is asked about.
//
// Rule: OUP-KEY-012.
func TestTools_stayInTheirWorkspace(t *testing.T) {
	p := newPlace(t)
	r := p.open(nil)
	other := filepath.Join(filepath.Dir(p.workspace), "other")
	if err := errors.Join(os.Mkdir(other, 0o700), os.Symlink(p.workspace, filepath.Join(other, "link"))); err != nil {
		t.Fatal(err)
	}
	r.brain.does(func(_ context.Context, q model.Request, _ func(string)) (*model.Response, error) {
		last := q.Messages[len(q.Messages)-1]
		if last.Role == conversation.User {
			return calls("w-"+last.PlainText(), "write", `{"path":"`+last.PlainText()+`","content":"x\n"}`), nil
		}
		return said(last.Parts[0].PlainText()), nil
	})
	s, _, err := r.Make(t.Context(), parse(t, chat), house.New{Workspace: other})
	if err != nil {
		t.Fatal(err)
	}
	f := r.follow(chat)
	for n, c := range []struct {
		path, lands string
		asks        bool
	}{
		{"in.txt", filepath.Join(other, "in.txt"), false},
		{"../work/out.txt", filepath.Join(p.workspace, "out.txt"), true},
		{"link/through.txt", filepath.Join(p.workspace, "through.txt"), true},
		{p.workspace + "/absolute.txt", filepath.Join(p.workspace, "absolute.txt"), true},
	} {
		begin(t, s, turn(n+1), c.path)
		if c.asks {
			asked := f.until("a request", func(stored ledger.Stored) bool {
				told, err := oupwire.DecodeApprovalRequestedEvent(stored.Body)
				return err == nil && stored.Method == oupwire.MethodApprovalRequested && told.TurnID == turn(n+1)
			})
			if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: asked.Subject.ID, Decision: "deny"}); err != nil {
				t.Fatal(err)
			}
		}
		f.ended(turn(n + 1))
		waitIdle(t, s)
		if _, err := os.Stat(c.lands); (err == nil) == c.asks {
			t.Errorf("%s: %v; told was\n%s", c.path, err, f.told())
		}
	}
	if strings.Count(f.told(), "tool_end skipped") != 3 {
		t.Errorf("told was\n%s", f.told())
	}
}

// TestClose_leavesNothing: no goroutine of a house outlives it.
func TestClose_leavesNothing(t *testing.T) {
	p := newPlace(t)
	before := runtime.NumGoroutine()
	for range 3 {
		r, err := p.tryOpen(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.brain.commanding("one")
		for _, text := range []string{chat, "two"} {
			s := r.session(text)
			started, err := s.Start(t.Context(), live.Turn{ID: event.NewID(time.Now()), Text: "go"})
			if err != nil {
				t.Fatal(err)
			}
			started.Go()
			for len(s.Pending().Approvals()) == 0 {
				runtime.Gosched()
			}
		}
		r.close()
	}
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
