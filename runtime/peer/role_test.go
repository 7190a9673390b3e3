package peer

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// warm has the next request served by the holder of the reader's role.
func (r *rig) warm() {
	r.t.Helper()
	for range 2 {
		r.send(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"name":"warm"}}`)
		r.want(`{"id":1,"jsonrpc":"2.0","result":{"name":"warm"}}`)
	}
	synctest.Wait()
	if c := r.conn; !c.role.watching.Load() || c.role.eager.Load() != 0 {
		r.t.Fatal("the next request would be handed over at once")
	}
}

func TestRole_slowRequestDoesNotStopTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			if strings.Contains(string(q.Params), "warm") {
				return echo(ctx, q)
			}
			return untilCancelled(ctx, q)
		}})
		r.warm()
		start := time.Now()
		r.send(request, strings.Replace(request, "7", "8", 1), cancel7, strings.Replace(cancel7, "7", "8", 1))
		answers := map[string]bool{}
		for range 2 {
			f, err := r.in.Next()
			if err != nil {
				t.Fatal(err)
			}
			answers[string(f)] = true
		}
		for _, id := range []string{"7", "8"} {
			if want := `{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":` + id + `,"jsonrpc":"2.0"}`; !answers[want] {
				t.Errorf("got %v, want %s", answers, want)
			}
		}
		if waited := time.Since(start); waited > 2*watchTick {
			t.Errorf("the cancellation took %v, want at most two ticks: one request was slow, the next is handed over at once", waited)
		}
		if turn := r.conn.role.turn.Load(); turn%2 == roleServes {
			t.Errorf("turn %d says that the role is kept, but it was taken away", turn)
		}
		r.quiet()
	})
}

func TestRole_handlerMayCallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.3", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			if strings.Contains(string(q.Params), "warm") {
				return echo(ctx, q)
			}
			got, err := q.Conn().Call(ctx, "theme/select", Raw(`{}`))
			return Raw(got), err
		}})
		r.warm()
		start := time.Now()
		r.send(request)
		r.want(`{"id":1,"jsonrpc":"2.0","method":"theme/select","params":{}}`)
		r.send(`{"id":1,"jsonrpc":"2.0","result":{"x":1}}`)
		r.want(`{"id":7,"jsonrpc":"2.0","result":{"x":1}}`)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the call back took %v, want no waiting for the watch", waited)
		}
		r.quiet()
	})
}

func TestRole_survivesAHandlerThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			if strings.Contains(string(q.Params), "warm") {
				return echo(ctx, q)
			}
			runtime.Goexit()
			return nil, nil
		}})
		r.warm()
		r.send(request)
		r.want(`{"error":{"code":-32603,"message":"Internal error"},"id":7,"jsonrpc":"2.0"}`)
		time.Sleep(3 * watchTick)
		r.send(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"name":"warm"}}`)
		r.want(`{"id":1,"jsonrpc":"2.0","result":{"name":"warm"}}`)
		r.quiet()
	})
}

func TestRole_watchEndsWhenNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: echo})
		for range 3 {
			r.warm()
			time.Sleep((watchIdle + 2) * watchTick)
			synctest.Wait()
			if r.conn.role.watching.Load() {
				t.Error("the watch goes on though nothing comes")
			}
		}
		r.quiet()
	})
}

func TestRole_quickRequestsStayOnOneGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: echo})
		r.warm()
		before := r.conn.role.turn.Load()
		for range 10 {
			r.send(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"name":"warm"}}`)
			r.want(`{"id":1,"jsonrpc":"2.0","result":{"name":"warm"}}`)
		}
		synctest.Wait()
		if turns := r.conn.role.turn.Load() - before; turns != 20 {
			t.Errorf("%d turns for 10 quick requests, want 20: each served while the role was kept", turns)
		}
		r.quiet()
	})
}

func TestRole_busyRequestsAreHandedOver(t *testing.T) {
	for _, c := range []struct {
		took    time.Duration
		waiting bool
		eager   bool
	}{
		{busyServe, true, true},
		{busyServe - 1, true, false},
		{busyServe, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				if q.ID.String() == "7" {
					time.Sleep(c.took)
				}
				return echo(ctx, q)
			}})
			r.warm()
			frames := []string{request}
			if c.waiting {
				frames = append(frames, strings.Replace(request, "7", "8", 1))
			}
			r.send(frames...)
			for range frames {
				if _, err := r.in.Next(); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if got := r.conn.role.eager.Load() > 0; got != c.eager {
				t.Errorf("a request of %v, others waiting %v: the next are handed over %v, want %v", c.took, c.waiting, got, c.eager)
			}
			r.quiet()
		})
	}
}

func TestRole_quickRequestsBehindASlowOneAreSoonServedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			if strings.Contains(string(q.Params), "slow") {
				time.Sleep(busyServe)
			}
			return echo(ctx, q)
		}})
		r.warm()
		for name, quick := range map[string]bool{"t": true, "slow": false} {
			r.conn.role.eager.Store(eagerRun)
			for range eagerRun / quickSpares {
				r.send(requestOf("7", name))
				r.want(resultOf("7", name))
				synctest.Wait()
			}
			if eager := r.conn.role.eager.Load(); (eager <= 0) != quick || eager < 0 {
				t.Errorf("behind %d requests of the kind %q, %d more are handed over", eagerRun/quickSpares, name, eager)
			}
		}
		r.quiet()
	})
}

func TestRole_watchStaysWhileRequestsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: echo})
		r.warm()
		before := r.conn.role.turn.Load()
		for range 3 * watchIdle {
			r.send(request)
			r.want(`{"id":7,"jsonrpc":"2.0","result":{"name":"t"}}`)
			time.Sleep(2 * watchTick)
		}
		if turns := r.conn.role.turn.Load() - before; turns != 2*3*watchIdle {
			t.Errorf("%d turns for %d requests, want two each", turns, 3*watchIdle)
		}
		r.quiet()
	})
}
