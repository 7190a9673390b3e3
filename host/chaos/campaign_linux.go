package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/host/campaign"
)

// Campaign says what to do. All but Hosts and Told are required.
type Campaign struct {
	Program string // this very program: it plays the hosts and extensions through Main
	Dir     string // an empty directory
	Seed    uint64 // the same seed strikes with the same faults in the same order
	Faults  int
	Hosts   int          // at once; 0: two
	Told    func(Result) // called behind every fault, from several goroutines
}

// Result is what a campaign has done, and what it has found.
type Result struct {
	Faults, Hosts, Reloads        int64
	Calls, Answered, Failed, Lost int64 // Lost: their host was killed, which is their outcome
	Acknowledged                  int64 // records of sessions
	// What must not be.
	Survivors, Unsettled, Repeated, Forgotten int64
	Kinds                                     map[string]int
	Took                                      time.Duration
}

// totals are the counters behind a Result.
type totals struct {
	Faults, Hosts, Reloads                    atomic.Int64
	Calls, Answered, Failed, Lost             atomic.Int64
	Acknowledged                              atomic.Int64
	Survivors, Unsettled, Repeated, Forgotten atomic.Int64

	began time.Time
	mu    sync.Mutex
	kinds map[string]int
}

func (t *totals) result() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	kinds := make(map[string]int, len(t.kinds))
	for kind, n := range t.kinds {
		kinds[kind] = n
	}
	return Result{
		Faults: t.Faults.Load(), Hosts: t.Hosts.Load(), Reloads: t.Reloads.Load(),
		Calls: t.Calls.Load(), Answered: t.Answered.Load(), Failed: t.Failed.Load(), Lost: t.Lost.Load(),
		Acknowledged: t.Acknowledged.Load(),
		Survivors:    t.Survivors.Load(), Unsettled: t.Unsettled.Load(), Repeated: t.Repeated.Load(), Forgotten: t.Forgotten.Load(),
		Kinds: kinds, Took: time.Since(t.began),
	}
}

// Run strikes until all faults were made, something is wrong, or the context ends. The error says what is
// wrong, behind which fault.
func (c Campaign) Run(ctx context.Context) (Result, error) {
	if c.Hosts == 0 {
		c.Hosts = 2
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	total := &totals{began: time.Now(), kinds: map[string]int{}}
	failures := make([]error, c.Hosts)
	var players sync.WaitGroup
	for n := range c.Hosts {
		players.Go(func() {
			p := &player{
				program: c.Program, dir: filepath.Join(c.Dir, fmt.Sprint("host-", n)), total: total,
				mark:   fmt.Sprintf("%d-%d-%d", os.Getpid(), c.Seed, n),
				random: newRandom(c.Seed, n), patience: patience,
			}
			share := c.Faults / c.Hosts
			if n < c.Faults%c.Hosts {
				share++
			}
			if failures[n] = p.play(ctx, share, c.Told); failures[n] != nil {
				stop()
			}
		})
	}
	players.Wait()
	err := errors.Join(failures...)
	if err == nil {
		err = nobodyLeft(total)
	}
	return total.result(), err
}

// nobodyLeft demands that no host, extension, descendant or guard is left.
func nobodyLeft(total *totals) error {
	for late := time.Now().Add(patience / 4); ; time.Sleep(2 * time.Millisecond) {
		left := campaign.SameProgram()
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(late) {
			total.Survivors.Add(int64(len(left)))
			return fmt.Errorf("left at the end: %v", left)
		}
	}
}

// play makes a number of faults with one host after the other.
func (p *player) play(ctx context.Context, count int, told func(Result)) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	for n := 0; n < count && ctx.Err() == nil; n++ {
		if p.process == nil {
			if err := p.start(); err != nil {
				p.abandon()
				return fmt.Errorf("start a host: %w", err)
			}
		}
		f := p.draw()
		if err := p.strike(ctx, f); err != nil {
			stderr := lastLines(p.stderr.String())
			p.abandon()
			return fmt.Errorf("fault %d, %s: %w\nstandard error of the host: %s", n+1, f.name, err, stderr)
		}
		p.total.Faults.Add(1)
		p.total.mu.Lock()
		p.total.kinds[f.name]++
		p.total.mu.Unlock()
		if told != nil {
			told(p.total.result())
		}
	}
	if p.process == nil {
		return nil
	}
	_, err := closeHost(false)(p, context.WithoutCancel(ctx))
	if err != nil {
		p.abandon()
		return fmt.Errorf("the last end: %w", err)
	}
	return nil
}

// strike makes one fault among calls and settles what it leaves.
func (p *player) strike(ctx context.Context, f fault) error {
	for range 1 + p.random.IntN(4) {
		p.call(p.any(), []string{"echo", "count", "record", "slow"}[p.random.IntN(4)])
	}
	ended, err := f.strike(p, ctx)
	if err != nil {
		return err
	}
	if ended {
		p.process = nil
		return nil
	}
	for range p.random.IntN(3) {
		p.call(p.any(), "record")
	}
	return p.settle()
}

// draw chooses a fault by weight.
func (p *player) draw() fault {
	sum := 0
	for _, f := range faults {
		sum += f.weight
	}
	at := p.random.IntN(sum)
	for _, f := range faults {
		if at -= f.weight; at < 0 {
			return f
		}
	}
	panic("the weights do not add up")
}

// abandon ends a host after a failure.
func (p *player) abandon() {
	if p.process != nil && p.process.Process != nil {
		_ = p.process.Process.Kill()
		<-p.read
		_ = p.process.Wait()
		p.process = nil
	}
}

// newRandom gives every host of a campaign a sequence of its own.
func newRandom(seed uint64, host int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(host))) }
