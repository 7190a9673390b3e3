package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/frame"
)

// pokable is a stream whose Read can be interrupted, as that of a pipe of the system.
type pokable struct {
	*stream
	over bool
}

func (p *pokable) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = !t.IsZero()
	p.change.Broadcast()
	return nil
}

func (p *pokable) Read(b []byte) (int, error) {
	p.mu.Lock()
	for len(p.b) == 0 && !p.closed && !p.over {
		p.change.Wait()
	}
	over := p.over
	p.mu.Unlock()
	if over {
		return 0, os.ErrDeadlineExceeded
	}
	return p.stream.Read(b)
}

// newLendRig is a running host whose callers may read, with the role free.
func newLendRig(t *testing.T, o Options) *rig {
	t.Helper()
	o.Source = &frame.Reader{}
	r := newRig(t, frame.Host, "0.4", o)
	for n := range 2 {
		p := r.call(t.Context(), toolCall)
		r.want(strings.Replace(toolFrame, ":1,", fmt.Sprintf(":%d,", n+1), 1))
		r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":{}}`, n+1))
		p.gives(`{}`)
	}
	synctest.Wait()
	r.is(roleFree)
	return r
}

const toolFrame = `{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`

func frameOf(id string) string { return strings.Replace(toolFrame, ":1,", ":"+id+",", 1) }

// is checks what mark the turn has.
func (r *rig) is(mark uint64) {
	r.t.Helper()
	if turn := r.conn.role.turn.Load(); turn&(roleFree|roleLent) != mark {
		r.t.Errorf("the turn is %#x, want the mark %#x", turn, mark)
	}
}

func TestLend_callerReadsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		for n := 3; n < 20; n++ {
			p := r.call(t.Context(), toolCall)
			r.is(roleLent)
			r.want(frameOf(fmt.Sprint(n)))
			r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":%d}`, n, n))
			p.gives(fmt.Sprint(n))
			synctest.Wait()
			r.is(roleFree)
			time.Sleep(watchTick) // one tick is not long enough to have the role given away
			synctest.Wait()
			r.is(roleFree)
		}
		r.quiet()
	})
}

func TestLend_cancelledWhileTheCallerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		p := r.call(ctx, toolCall)
		r.is(roleLent)
		r.want(frameOf("3"))
		start := time.Now()
		cancel(Reason("user"))
		r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3,"reason":"user"}}`)
		if waited := time.Since(start); waited > 2*watchTick {
			t.Errorf("the cancellation took %v, want at most two ticks", waited)
		}
		r.send(`{"error":{"code":-32800,"message":"request cancelled"},"id":3,"jsonrpc":"2.0"}`)
		<-p.done
		if !IsCancelled(p.err) {
			t.Errorf("the call gives %s, %v", p.result, p.err)
		}
		r.quiet()
	})
}

func TestLend_givenUpWhileTheCallerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		p := r.call(ctx, toolCall)
		r.want(frameOf("3"), `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3,"reason":"timeout"}}`)
		p.fails(ErrUnsettled, context.DeadlineExceeded)
		r.send(`{"id":3,"jsonrpc":"2.0","result":1}`)
		r.noted("late answer to an abandoned call absorbed")
		r.quiet()
	})
}

func TestLend_longCallLeavesTheReadingToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan string, 9)
		r := newLendRig(t, Options{Notice: func(n *Notice) { heard <- string(n.Params) }})
		p := r.call(t.Context(), toolCall)
		r.want(frameOf("3"))
		r.send(`{"jsonrpc":"2.0","method":"notification","params":{"n":1}}`)
		if got := <-heard; got != `{"n":1}` {
			t.Errorf("heard %s", got)
		}
		r.is(roleLent)
		time.Sleep(2 * watchTick)
		synctest.Wait()
		r.is(0)
		r.sendRaw(`{"jsonrpc":"2.0","method":"notification",`)
		synctest.Wait()
		r.sendRaw(`"params":{"n":2}}` + "\n" + `{"id":3,"jsonrpc":"2.0","result":3}` + "\n")
		p.gives("3")
		if got := <-heard; got != `{"n":2}` {
			t.Errorf("heard %s", got)
		}
		r.quiet()
	})
}

func TestLend_interruptedInTheMiddleOfAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		p := r.call(t.Context(), toolCall)
		r.want(frameOf("3"))
		r.sendRaw(`{"id":3,"jsonrpc":"2.0",`)
		time.Sleep(3 * watchTick)
		synctest.Wait()
		r.is(0)
		r.sendRaw(`"result":3}` + "\n")
		p.gives("3")
		r.quiet()
	})
}

func TestLend_whatComesUnaskedIsReadWithinTwoTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{Handle: echo})
		start := time.Now()
		r.send(`{"id":"c-1","jsonrpc":"2.0","method":"session/create","params":{"x":1}}`)
		if _, err := r.in.Next(); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 2*watchTick {
			t.Errorf("the request waited %v, want at most two ticks", waited)
		}
		r.quiet()
	})
}

func TestLend_whatComesWithTheAnswerDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{}, 1)
		r := newLendRig(t, Options{Notice: func(*Notice) { heard <- struct{}{} }})
		p := r.call(t.Context(), toolCall)
		r.want(frameOf("3"))
		start := time.Now()
		r.send(`{"id":3,"jsonrpc":"2.0","result":3}`, `{"jsonrpc":"2.0","method":"notification","params":{}}`)
		p.gives("3")
		<-heard
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the notification waited %v", waited)
		}
		r.quiet()
	})
}

func TestLend_callBackThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		time.Sleep(2 * watchTick)
		synctest.Wait()
		r.is(0)
		r.conn.role.source.Interrupt() // meant for a caller that has left by itself
		synctest.Wait()
		p := r.call(t.Context(), toolCall)
		r.want(frameOf("3"))
		r.send(`{"id":3,"jsonrpc":"2.0","result":3}`)
		p.gives("3")
		r.quiet()
	})
}

func TestLend_requestIsServedBesideTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newLendRig(t, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-release
			return Raw(`{}`), nil
		}})
		r.conn.Install(Session{Open: []string{"tool/call", child.Method}})
		p := r.call(t.Context(), toolCall)
		r.want(frameOf("3"))
		r.send(childFrame, `{"id":3,"jsonrpc":"2.0","result":3}`)
		p.gives("3")
		close(release)
		r.want(`{"id":"c-1","jsonrpc":"2.0","result":{}}`)
		r.quiet()
	})
}

func TestLend_twoCallers(t *testing.T) {
	for name, order := range map[string][]string{"reader first": {"3", "4"}, "reader last": {"4", "3"}} {
		t.Run(name, in(func(t *testing.T) {
			r := newLendRig(t, Options{})
			calls := map[string]*pending{"3": r.call(t.Context(), toolCall), "4": r.call(t.Context(), toolCall)}
			r.want(frameOf("3"), frameOf("4"))
			start := time.Now()
			for _, id := range order {
				r.send(`{"id":` + id + `,"jsonrpc":"2.0","result":` + id + `}`)
				calls[id].gives(id)
			}
			if waited := time.Since(start); waited != 0 {
				t.Errorf("the answers took %v, want no waiting for the watch", waited)
			}
			r.quiet()
		}))
	}
}

func TestLend_answersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		a, b := r.call(t.Context(), toolCall), r.call(t.Context(), toolCall)
		r.want(frameOf("3"), frameOf("4"))
		start := time.Now()
		r.send(`{"id":3,"jsonrpc":"2.0","result":3}`, `{"id":4,"jsonrpc":"2.0","result":4}`)
		a.gives("3")
		b.gives("4")
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the answers took %v, want no waiting for the watch", waited)
		}
		r.quiet()
	})
}

func TestLend_endWhileTheCallerReads(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(r *rig)
		check func(r *rig, p *pending)
	}{
		"stream ends": {
			func(r *rig) { r.bytes.close() },
			func(r *rig, p *pending) { p.fails(io.EOF) },
		},
		"stream ends in a frame": {
			func(r *rig) { r.sendRaw(`{"id":3,`); synctest.Wait(); r.bytes.close() },
			func(r *rig, p *pending) { p.fails(); r.endedBy(rules.EXT04Frame002, Remote) },
		},
		"closed": {
			func(r *rig) { r.conn.Close() },
			func(r *rig, p *pending) { p.fails(ErrClosed) },
		},
		"no JSON": {
			func(r *rig) { r.send(`{"id":3`) },
			func(r *rig, p *pending) { p.fails(); r.endedBy(rules.EXT04Frame001, Remote) },
		},
	} {
		t.Run(name, in(func(t *testing.T) {
			r := newLendRig(t, Options{})
			p := r.call(t.Context(), toolCall)
			r.want(frameOf("3"))
			r.is(roleLent)
			c.end(r)
			<-p.done
			if p.err == nil || p.took != 0 {
				t.Errorf("the call gives %s, %v behind %v", p.result, p.err, p.took)
			}
			c.check(r, p)
		}))
	}
}

func TestLend_endWhileNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		start := time.Now()
		r.bytes.close()
		if err := r.conn.Wait(); err != io.EOF {
			t.Errorf("ended with %v", err)
		}
		if waited := time.Since(start); waited > 2*watchTick {
			t.Errorf("the end was seen behind %v, want at most two ticks", waited)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		if err := r.conn.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.conn.Call(t.Context(), "tool/call", Raw(`{}`)); !errors.Is(err, ErrClosed) {
			t.Errorf("a call behind Close gives %v", err)
		}
	})
}

func TestLend_restsWhenNoCallsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLendRig(t, Options{})
		time.Sleep((watchIdle + 4) * watchTick)
		synctest.Wait()
		r.is(0)
		if r.conn.role.watching.Load() {
			t.Error("the watch goes on though nothing comes")
		}
		for n := 3; n < 9; n++ { // seldom calls are read as ever
			p := r.call(t.Context(), toolCall)
			r.want(frameOf(fmt.Sprint(n)))
			r.is(0)
			r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":1}`, n))
			p.gives("1")
			synctest.Wait()
			r.is(0)
			time.Sleep(10 * time.Millisecond)
		}
		r.quiet()
	})
}

func TestLend_extensionLendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.3", Options{Source: &frame.Reader{}})
		for n := range 9 {
			p := r.call(t.Context(), Call{Method: "theme/select", Params: Raw(`{}`)})
			r.want(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":"theme/select","params":{}}`, n+1))
			r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":1}`, n+1))
			p.gives("1")
			synctest.Wait()
			r.is(0)
		}
		r.quiet()
	})
}

// Few callers over pipes of the system, some of whom give up, with notifications in between: every call settles once
// with its own answer, nothing unasked is lost, and Close leaves nothing behind.
func TestLend_overPipes(t *testing.T) {
	for callers := 1; callers <= 3; callers++ {
		t.Run(fmt.Sprint(callers), func(t *testing.T) { lendOverPipes(t, callers) })
	}
}

func lendOverPipes(t *testing.T, callers int) {
	var ends [4]*os.File
	for n := range 2 {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ends[2*n], ends[2*n+1] = read, write
	}
	const open = "tool/call $/cancelRequest notification"
	var sent, heard atomic.Int64
	connect := func(side frame.Side, in, out *os.File, o Options) *Conn {
		p := profile(t, side, "0.4")
		o.Profile = p
		o.Source = frame.NewReader(in, p.Wire, side.Other(), p.MaxFrameBytes)
		o.Sink = frame.NewWriter(out, p.Wire, side, p.MaxFrameBytes)
		o.Hangup = func() { in.Close(); out.Close() }
		c := New(o)
		c.Install(Session{Open: strings.Fields(open), MaxConcurrent: 16})
		c.Start()
		return c
	}
	ext := connect(frame.Extension, ends[0], ends[3], Options{Handle: func(ctx context.Context, r *Request) (Value, error) {
		if rand.IntN(4) == 0 {
			if err := r.Notify(ctx, "notification", Raw(`{}`)); err == nil {
				sent.Add(1)
			}
		}
		if strings.Contains(string(r.Params), "slow") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return Raw(string(r.Params)), nil
	}})
	host := connect(frame.Host, ends[2], ends[1], Options{Notice: func(*Notice) { heard.Add(1) }})
	if host.role.source == nil {
		t.Skip("pipes of this system cannot be interrupted")
	}
	var wg sync.WaitGroup
	for who := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range 600 {
				body := fmt.Sprintf(`{"n":%d,"w":%d}`, n, who)
				ctx, stop := context.WithCancel(t.Context())
				slow := rand.IntN(50) == 0
				if slow {
					body = `{"slow":true}`
					stop()
					ctx, stop = context.WithTimeout(t.Context(), time.Duration(rand.IntN(3000))*time.Microsecond)
				}
				got, err := host.Call(ctx, "tool/call", Raw(body))
				stop()
				switch {
				case slow && err != nil:
				case err != nil || string(got) != body:
					t.Errorf("call %s gives %s, %v", body, got, err)
				}
			}
		}()
	}
	wg.Wait()
	// One more answer comes behind all notifications of the requests before it.
	if _, err := host.Call(t.Context(), "tool/call", Raw(`{}`)); err != nil {
		t.Error(err)
	}
	ext.Close()
	if err := host.Wait(); err != io.EOF {
		t.Errorf("the host ended with %v", err)
	}
	if sent.Load() != heard.Load() {
		t.Errorf("%d notifications were sent and %d heard", sent.Load(), heard.Load())
	}
}
