package campaign

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/sdk-go/oup"
)

var (
	runs  = flag.Int("runs", 2, "how many runs of disconnects, reconnects and cursors there are")
	kills = flag.Int("kills", 2, "how often a server is killed")
	seed  = flag.Uint64("seed", 0, "repeats a campaign; 0: a new one")
	width = flag.Int("width", 2, "how many runs go on at once")
)

// The size of one run.
const (
	sessions = 3
	clients  = 4
	turns    = 4
	// mostRun is far more than a run takes.
	mostRun = 5 * time.Minute
	// perServer is how many runs share a server process.
	perServer = 50
)

func chosenSeed(t *testing.T) uint64 {
	t.Helper()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	return *seed
}

// tally counts what happened to the clients of a campaign.
type tally struct{ cuts, renewed, turns, events atomic.Int64 }

func (c *tally) String() string {
	return fmt.Sprintf("%d connections cut, %d clients closed and gone on from a stored cursor, %d turns, %d events",
		c.cuts.Load(), c.renewed.Load(), c.turns.Load(), c.events.Load())
}

// TestDisconnects: every client reaches the state of one that nothing was done to.
func TestDisconnects(t *testing.T) {
	base := chosenSeed(t)
	var count tally
	var running *server
	for from := 0; from < *runs && !t.Failed(); from += perServer {
		if running != nil {
			running.kill()
		}
		running = newServer(t)
		var next atomic.Int64
		var group sync.WaitGroup
		many := int64(min(perServer, *runs-from))
		for range min(int64(*width), many) {
			group.Go(func() {
				for n := next.Add(1) - 1; n < many && !t.Failed(); n = next.Add(1) - 1 {
					disconnects(t, running, base+uint64(from)+uint64(n), &count)
				}
			})
		}
		group.Wait()
	}
	t.Logf("%d runs with %d sessions and %d clients each: %s", *runs, sessions, clients, &count)
	if !t.Failed() && count.cuts.Load() < int64(*runs) {
		t.Errorf("%d connections were cut in %d runs: nothing was tested", count.cuts.Load(), *runs)
	}
}

// disconnects is one run.
func disconnects(t *testing.T, on *server, seed uint64, count *tally) {
	ctx, cancel := context.WithTimeout(t.Context(), mostRun)
	defer cancel()
	var group sync.WaitGroup
	for n := range sessions {
		group.Go(func() {
			if err := oneSession(t, ctx, on, seed*1000+uint64(n), count); err != nil {
				t.Errorf("seed %d, session %d: %v\nrepeat with -runs 1 -seed %d", seed, n, err, seed)
			}
		})
	}
	group.Wait()
}

// oneSession has clients that are disturbed follow a session, one of which starts each turn, and compares.
func oneSession(t *testing.T, ctx context.Context, on *server, seed uint64, count *tally) error {
	chaos := rand.New(rand.NewPCG(seed, 0))
	key, until := fmt.Sprintf("local:run-%d", seed), fmt.Sprintf("7d0c2f1e-5a0b-4a57-9a60-%012x", seed&0xffffffffffff)
	undisturbed := watch(t, ctx, &watcher{name: "undisturbed", key: key, url: on.url(), until: until, steady: true})
	watchers := []*watcher{}
	proxies := []*proxy{}
	for n := range clients {
		p := newProxy(t, seed+uint64(n), func() string { return on.address })
		proxies = append(proxies, p)
		watchers = append(watchers, watch(t, ctx, &watcher{
			name: fmt.Sprint("client ", n), key: key, url: p.url(), until: until, chaos: rand.New(rand.NewPCG(seed, uint64(n)+10)),
		}))
	}
	defer func() {
		for _, p := range proxies {
			count.cuts.Add(int64(p.close()))
		}
	}()
	for n := range turns {
		if err := work(ctx, chaos, watchers, undisturbed, n); err != nil {
			return fmt.Errorf("turn %d: %w", n, err)
		}
		count.turns.Add(1)
	}
	for n, w := range watchers {
		w.soothe()
		proxies[n].soothe()
	}
	if err := last(ctx, on, key, until); err != nil {
		return fmt.Errorf("the last turn: %w", err)
	}
	<-undisturbed.done
	if undisturbed.err != nil {
		return fmt.Errorf("the undisturbed client: %w", undisturbed.err)
	}
	want := undisturbed.final
	if fault := want.faults(); fault != "" {
		return errors.New(fault)
	}
	for _, w := range watchers {
		<-w.done
		switch {
		case w.err != nil:
			return fmt.Errorf("%s: %w", w.name, w.err)
		case w.final.gaps > 0:
			return fmt.Errorf("%s was told of %d gaps, and everything is kept", w.name, w.final.gaps)
		case w.final.hash() != want.hash():
			return fmt.Errorf("%s has another state, renewed %d times: %s", w.name, w.renewed, w.final.differs(want))
		}
		count.renewed.Add(int64(w.renewed))
		count.events.Add(int64(len(w.final.lines)))
	}
	return nil
}

// work has one of the clients start a turn, whatever becomes of it then.
func work(ctx context.Context, chaos *rand.Rand, watchers []*watcher, undisturbed *watcher, n int) error {
	texts := []string{"Say something", "Use the tool please", "Tell a long story of everything that you know about streams"}
	for {
		at := undisturbed.position()
		session, err := watchers[chaos.IntN(len(watchers))].at(ctx)
		if err != nil {
			return err
		}
		turn, err := session.Turn(ctx, fmt.Sprintf("%s (%d)", texts[chaos.IntN(len(texts))], n))
		var refused *oup.ServerError
		switch {
		case errors.As(err, &refused) && refused.Kind == "turn_in_progress":
			undisturbed.passes(ctx, at, nil)
			continue
		case errors.As(err, &refused) || ctx.Err() != nil:
			return err
		case err != nil:
			continue // its client was closed
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = turn.Result(ctx) // the client may be closed meanwhile
		}()
		if chaos.IntN(4) == 0 {
			undisturbed.passes(ctx, undisturbed.position()+chaos.IntN(3), over)
			if _, err := turn.Steer(ctx, "and be kind"); errors.As(err, &refused) && refused.Code == oupwire.CodeInternalError {
				return err
			}
		}
		if chaos.IntN(5) == 0 {
			undisturbed.passes(ctx, at+chaos.IntN(20), over)
			if _, err := turn.Interrupt(ctx); errors.As(err, &refused) {
				return err
			}
		}
		<-over
		return nil
	}
}

// last is the turn behind which clients compare, by a client that nothing is done to.
func last(ctx context.Context, on *server, key, id string) error {
	client, err := oup.WebSocket(ctx, on.url(), oup.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := client.Open(ctx, key, oup.OpenOptions{Listen: true})
	if err != nil {
		return err
	}
	ended := make(chan struct{}, 1)
	go func() { // until the client is closed
		for ev := range session.Events(ctx) {
			if _, is := ev.Body.(oup.Ended); is {
				select {
				case ended <- struct{}{}:
				default:
				}
			}
		}
	}()
	for {
		turn, err := session.Start(ctx, oupwire.TurnStartParams{TurnID: id, Input: []oupwire.InputItem{oup.TextInput("Farewell")}})
		var refused *oup.ServerError
		if errors.As(err, &refused) && refused.Kind == "turn_in_progress" {
			select {
			case <-ended:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if err != nil {
			return err
		}
		_, err = turn.Result(ctx)
		return err
	}
}
