package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/sdk-go/oup"
)

// killed is what clients were promised in one session before its server was killed.
type killed struct {
	key, until string
	mu         sync.Mutex
	accepted   []string // turns
	titled     int      // number of the last title that was taken; 0 for none
}

// TestKills: what a server has acknowledged before it was killed is there when it is back.
func TestKills(t *testing.T) {
	base := chosenSeed(t)
	var next, promised atomic.Int64
	var group sync.WaitGroup
	how := &ends{count: map[oupwire.TurnState]int{}}
	for range min(*width, *kills) {
		on := newServer(t)
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(*kills) && !t.Failed(); n = next.Add(1) - 1 {
				count, err := oneKill(t, on, base+uint64(n), how)
				promised.Add(int64(count))
				if err != nil {
					t.Errorf("kill %d: %v\nrepeat with -kills 1 -seed %d", n, err, base+uint64(n))
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d kills, %d turns were acknowledged before them and ended so: %v", *kills, promised.Load(), how.count)
	if !t.Failed() && *kills >= 10 && promised.Load() == 0 {
		t.Errorf("%d turns in %d kills: nothing was tested", promised.Load(), *kills)
	}
}

// ends counts how the acknowledged turns ended.
type ends struct {
	mu    sync.Mutex
	count map[oupwire.TurnState]int
}

func (e *ends) add(state oupwire.TurnState) {
	e.mu.Lock()
	e.count[state]++
	e.mu.Unlock()
}

// oneKill has clients at work in three sessions, kills the server, starts it again, and looks at what is there.
func oneKill(t *testing.T, on *server, seed uint64, how *ends) (promised int, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), mostRun)
	defer cancel()
	chaos := rand.New(rand.NewPCG(seed, 0))
	// When it happens is left to chance: behind some of the events that the clients see.
	after := &trigger{hit: make(chan struct{})}
	after.left.Store(1 + chaos.Int64N(400))
	var all []*killed
	var watchers []*watcher
	for n := range sessions {
		k := &killed{key: fmt.Sprintf("local:kill-%d-%d", seed, n), until: fmt.Sprintf("7d0c2f1e-5a0b-4a57-9a60-%012x", (seed*8+uint64(n))&0xffffffffffff)}
		all = append(all, k)
		for who := range 2 {
			watchers = append(watchers, watch(t, ctx, &watcher{name: fmt.Sprint("client ", who), key: k.key, url: on.url(), until: k.until, steady: true, tick: after.tick}))
		}
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for n, k := range all {
		chaos := rand.New(rand.NewPCG(seed, uint64(n)+1))
		group.Go(func() { k.work(working, on, chaos) })
	}
	select {
	case <-after.hit:
	case <-ctx.Done():
	}
	on.kill()
	stop()
	group.Wait()
	if err := on.start(); err != nil {
		return 0, err
	}
	for _, k := range all {
		if err := last(ctx, on, k.key, k.until); err != nil {
			return promised, fmt.Errorf("%s: the last turn: %w", k.key, err)
		}
		fresh := watch(t, ctx, &watcher{name: "fresh", key: k.key, url: on.url(), until: k.until, steady: true})
		<-fresh.done
		if fresh.err != nil {
			return promised, fmt.Errorf("%s: a fresh client: %w", k.key, fresh.err)
		}
		if err := k.kept(ctx, on, fresh.final, how); err != nil {
			return promised, fmt.Errorf("%s: %w", k.key, err)
		}
		promised += len(k.accepted)
		for _, w := range watchers {
			if w.key != k.key {
				continue
			}
			<-w.done
			switch {
			case w.err != nil:
				return promised, fmt.Errorf("%s of %s: %w", w.name, w.key, w.err)
			case w.final.gaps > 0 || w.final.hash() != fresh.final.hash():
				return promised, fmt.Errorf("%s of %s saw what is not there any more, or not all: %s", w.name, w.key, w.final.differs(fresh.final))
			}
		}
	}
	return promised, nil
}

// trigger counts events down.
type trigger struct {
	left atomic.Int64
	hit  chan struct{}
}

func (r *trigger) tick() {
	if r.left.Add(-1) == 0 {
		close(r.hit)
	}
}

// work starts turns and sets titles until the server is gone, and remembers what it was promised.
func (k *killed) work(ctx context.Context, on *server, chaos *rand.Rand) {
	client, err := oup.WebSocket(ctx, on.url(), oup.Options{Reconnect: oup.Backoff{Attempts: -1}})
	if err != nil {
		return
	}
	defer client.Close()
	session, err := client.Open(ctx, k.key, oup.OpenOptions{})
	if err != nil {
		return
	}
	for n := 1; ctx.Err() == nil && client.Err() == nil; n++ {
		if _, err := client.Methods.SessionTitleSet(ctx, oupwire.SessionTitleSetParams{SessionID: k.key, Title: fmt.Sprint("title ", n)}); err == nil {
			k.mu.Lock()
			k.titled = n
			k.mu.Unlock()
		}
		turn, err := session.Turn(ctx, []string{"Use the tool", "Talk"}[chaos.IntN(2)])
		if err != nil {
			continue
		}
		k.mu.Lock()
		k.accepted = append(k.accepted, turn.ID())
		k.mu.Unlock()
		_, _ = turn.Result(ctx) // the kill is in the middle of it
	}
}

// kept holds what was promised against what is there.
func (k *killed) kept(ctx context.Context, on *server, now *state, how *ends) error {
	if fault := now.faults(); fault != "" {
		return errors.New(fault)
	}
	for _, id := range k.accepted {
		if now.ended[id] != 1 {
			return fmt.Errorf("the turn %s was accepted and has ended %d times", id, now.ended[id])
		}
	}
	client, err := oup.WebSocket(ctx, on.url(), oup.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, id := range k.accepted {
		at, err := client.Methods.TurnStateGet(ctx, oupwire.TurnStateGetParams{SessionID: k.key, TurnID: id})
		if err != nil {
			return err
		}
		how.add(at.State)
		if at.State == oupwire.TurnStateActive || at.State == oupwire.TurnStateInterrupting || at.State == oupwire.TurnStateUnknown {
			return fmt.Errorf("the turn %s was accepted and is %s", id, at.State)
		}
	}
	if k.titled == 0 {
		return nil
	}
	list, err := client.Methods.SessionList(ctx, oupwire.SessionListParams{})
	if err != nil {
		return err
	}
	for _, row := range list.Sessions {
		if row.ID != k.key {
			continue
		}
		// A later one may have been taken just before the kill, and the answer lost.
		number := 0
		if _, err := fmt.Sscanf(row.Title.Or(""), "title %d", &number); err != nil || number < k.titled {
			return fmt.Errorf("the title is %q and was set to number %d", row.Title.Or(""), k.titled)
		}
		return nil
	}
	return errors.New("the session is not listed, and its title was set")
}
