package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// driver is a product with sessions in memory.
type driver struct {
	mu      sync.Mutex
	control *Controller
	active  string
	made    int
	log     []string
	busy    chan struct{} // closed when the session becomes idle; nil: it is
	err     error
	blocks  chan struct{} // every operation waits for it to be closed; nil: none does
	running int

	compacting bool
	compaction Compaction
	told       []string
}

func (d *driver) Idle(ctx context.Context) (string, func(), error) {
	d.mu.Lock()
	busy := d.busy
	d.mu.Unlock()
	if busy != nil {
		select {
		case <-busy:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, "idle")
	return d.active, func() { d.note("release") }, d.err
}

func (d *driver) note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, text)
}

// step is one operation; two at a time are a fault.
func (d *driver) step(name string) error {
	d.mu.Lock()
	d.running++
	if d.running > 1 {
		d.log = append(d.log, "overlap")
	}
	d.log = append(d.log, name)
	blocks, err := d.blocks, d.err
	d.mu.Unlock()
	if blocks != nil {
		<-blocks
	}
	d.mu.Lock()
	d.running--
	d.mu.Unlock()
	return err
}

func (d *driver) Create(context.Context) (string, error) {
	err := d.step("create")
	d.made++
	return fmt.Sprint("new-", d.made), err
}

func (d *driver) Fork(context.Context) (string, error) {
	err := d.step("fork")
	d.made++
	return fmt.Sprint(d.active, "-fork-", d.made), err
}

func (d *driver) Switch(_ context.Context, id string) (string, error) {
	if err := d.step("switch " + id); err != nil {
		return "", err
	}
	d.active = id
	d.control.Rebind()
	return id, nil
}

func (d *driver) Reload(context.Context) (string, error) {
	if err := d.step("reload"); err != nil {
		return "", err
	}
	d.control.Rebind()
	return d.active, nil
}

func (d *driver) Compact(_ context.Context, instructions string) (Compaction, error) {
	d.told = append(d.told, instructions)
	return d.compaction, d.step("compact")
}

func (d *driver) Compacting() bool { return d.compacting }

func in(t *testing.T, f func(t *testing.T, c *Controller, d *driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &driver{active: "s1"}
		c := New(d)
		d.control = c
		defer c.Close()
		f(t, c, d)
	})
}

// outcome is what became of an operation that runs beside the test.
type outcome struct {
	id  string
	err error
}

func start(do func() (string, error)) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		id, err := do()
		done <- outcome{id, err}
	}()
	synctest.Wait()
	return done
}

func pending(t *testing.T, what string, done chan outcome) {
	t.Helper()
	synctest.Wait()
	select {
	case o := <-done:
		t.Fatalf("%s is done: %q, %v", what, o.id, o.err)
	default:
	}
}

// EXT04-SESSION-003, EXT04-SESSION-004, EXT04-SESSION-005, EXT04-SESSION-007
// EXT03-SESSION-003, EXT03-SESSION-004, EXT03-SESSION-005, EXT03-SESSION-006, EXT03-SESSION-013
func TestController_operations(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		for _, step := range []struct {
			do           func() (string, error)
			want, active string
		}{
			{func() (string, error) { return c.WaitForIdle(t.Context()) }, "s1", "s1"},
			{func() (string, error) { return c.Create(t.Context()) }, "new-1", "s1"},
			{func() (string, error) { return c.Fork(t.Context()) }, "s1-fork-2", "s1"},
			{func() (string, error) { return c.Switch(t.Context(), "s2") }, "s2", "s2"},
			{func() (string, error) { return c.Reload(t.Context()) }, "s2", "s2"},
			{func() (string, error) { return c.WaitForIdle(t.Context()) }, "s2", "s2"},
		} {
			if got, err := step.do(); err != nil || got != step.want || d.active != step.active {
				t.Errorf("got %q, %v with %q active, want %q with %q", got, err, d.active, step.want, step.active)
			}
		}
		want := []string{"idle", "release", "idle", "create", "release", "idle", "fork", "release", "idle", "switch s2", "release", "idle", "reload", "release", "idle", "release"}
		synctest.Wait()
		if !slices.Equal(d.log, want) {
			t.Errorf("the driver did %q, want %q", d.log, want)
		}
	})
}

// EXT04-SESSION-006, EXT03-SESSION-008
func TestController_oneByOneInOrderAtIdleBoundaries(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.busy = make(chan struct{})
		create := start(func() (string, error) { return c.Create(t.Context()) })
		fork := start(func() (string, error) { return c.Fork(t.Context()) })
		wait := start(func() (string, error) { return c.WaitForIdle(t.Context()) })
		pending(t, "a mutation beside a running turn", create)
		d.mu.Lock()
		d.blocks = make(chan struct{})
		d.mu.Unlock()
		close(d.busy)
		pending(t, "an idle wait behind mutations", wait)
		close(d.blocks)
		for _, done := range []chan outcome{create, fork, wait} {
			if o := <-done; o.err != nil {
				t.Error(o.err)
			}
		}
		synctest.Wait()
		if want := []string{"idle", "create", "release", "idle", "fork", "release", "idle", "release"}; !slices.Equal(d.log, want) {
			t.Errorf("the driver did %q, want %q", d.log, want)
		}
	})
}

// EXT04-SESSION-009, EXT03-SESSION-009
func TestController_queueIsBounded(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.busy = make(chan struct{})
		var waiting []chan outcome
		for range queueMost + 1 { // the first one is taken out of the queue
			waiting = append(waiting, start(func() (string, error) { return c.WaitForIdle(t.Context()) }))
		}
		if _, err := c.Create(t.Context()); !errors.Is(err, ErrExhausted) {
			t.Errorf("one more: got %v, want ErrExhausted", err)
		}
		close(d.busy)
		for _, done := range waiting {
			if o := <-done; o.err != nil {
				t.Error(o.err)
			}
		}
	})
}

// EXT04-SESSION-008, EXT03-SESSION-010
func TestController_epochsFence(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.blocks = make(chan struct{})
		change := start(func() (string, error) { return c.Switch(t.Context(), "s2") })
		create := start(func() (string, error) { return c.Create(t.Context()) })
		close(d.blocks)
		if o := <-change; o.err != nil || o.id != "s2" {
			t.Errorf("the switch itself: %q, %v", o.id, o.err)
		}
		if o := <-create; !errors.Is(o.err, ErrFenced) {
			t.Errorf("queued for the session before: %q, %v", o.id, o.err)
		}
		if d.made != 0 {
			t.Error("fenced work was done")
		}
		// The person changes the session while work waits for it to be idle.
		d.mu.Lock()
		d.busy = make(chan struct{})
		d.mu.Unlock()
		fork := start(func() (string, error) { return c.Fork(t.Context()) })
		c.Rebind()
		close(d.busy)
		if o := <-fork; !errors.Is(o.err, ErrFenced) || d.made != 0 {
			t.Errorf("waited across a change: %q, %v", o.id, o.err)
		}
		if _, err := c.Create(t.Context()); err != nil {
			t.Errorf("for the session now: %v", err)
		}
	})
}

func TestController_cancelWithdrawsWhatIsQueued(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.busy = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		first := start(func() (string, error) { return c.WaitForIdle(ctx) })
		second := start(func() (string, error) { return c.Create(ctx) })
		cancel()
		for name, done := range map[string]chan outcome{"waiting": first, "queued": second} {
			if o := <-done; !errors.Is(o.err, context.Canceled) {
				t.Errorf("the %s one: got %v", name, o.err)
			}
		}
		if d.made != 0 || len(c.queue) != 0 {
			t.Error("cancelled work was done or is still queued")
		}
	})
}

func TestController_cancelWithdrawsNobodyElse(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.busy = make(chan struct{})
		first := start(func() (string, error) { return c.WaitForIdle(t.Context()) })
		create := start(func() (string, error) { return c.Create(t.Context()) })
		ctx, cancel := context.WithCancel(t.Context())
		fork := start(func() (string, error) { return c.Fork(ctx) })
		cancel()
		if o := <-fork; !errors.Is(o.err, context.Canceled) {
			t.Errorf("the cancelled one: %v", o.err)
		}
		close(d.busy)
		for _, done := range []chan outcome{first, create} {
			if o := <-done; o.err != nil {
				t.Error(o.err)
			}
		}
		if d.made != 1 {
			t.Errorf("%d sessions were made, want the one of who still waits", d.made)
		}
	})
}

// What was begun is waited for: its outcome is the one that counts.
func TestController_cancelDoesNotLoseACommittedMutation(t *testing.T) {
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.blocks = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		create := start(func() (string, error) { return c.Create(ctx) })
		cancel()
		pending(t, "a mutation in the middle", create)
		close(d.blocks)
		if o := <-create; o.err != nil || o.id != "new-1" {
			t.Errorf("got %q, %v", o.id, o.err)
		}
	})
}

func TestController_close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &driver{active: "s1", busy: make(chan struct{})}
		c := New(d)
		first := start(func() (string, error) { return c.WaitForIdle(t.Context()) })
		second := start(func() (string, error) { return c.Create(t.Context()) })
		c.Close()
		for _, done := range []chan outcome{first, second} {
			if o := <-done; !errors.Is(o.err, ErrClosed) {
				t.Errorf("got %q, %v, want ErrClosed", o.id, o.err)
			}
		}
		if _, err := c.Fork(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("behind the end: %v", err)
		}
	})
}

type panicking struct{ driver }

func (*panicking) Create(context.Context) (string, error) { panic("out of order") }

func TestController_survivesItsDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(&panicking{driver{active: "s1"}})
		defer c.Close()
		if _, err := c.Create(t.Context()); err == nil {
			t.Error("a panic is no error")
		}
		time.Sleep(time.Second)
		if id, err := c.WaitForIdle(t.Context()); err != nil || id != "s1" {
			t.Errorf("behind it: %q, %v", id, err)
		}
	})
}
