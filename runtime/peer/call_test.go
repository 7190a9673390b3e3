package peer

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
)

const (
	firstCall  = `{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`
	secondCall = `{"id":2,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`
)

func TestDo_roundTrip(t *testing.T) {
	for _, version := range []string{"0.1", "0.2", "0.3", "0.4"} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			var issued []string
			q := toolCall
			q.Issued = func(id envelope.ID) { issued = append(issued, id.String()) }
			a, b := r.call(t.Context(), q), r.call(t.Context(), q)
			r.want(firstCall, secondCall)
			r.send(`{"id":2,"jsonrpc":"2.0","result":{"b":2}}`, `{"id":1,"jsonrpc":"2.0","result":{"a":1}}`)
			a.gives(`{"a":1}`)
			b.gives(`{"b":2}`)
			if strings.Join(issued, " ") != "1 2" {
				t.Errorf("issued %q", issued)
			}
			r.quiet()
		}))
	}
}

func TestDo_extensionIDsAreStrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.3", Options{IDPrefix: "c-"})
		k := r.call(t.Context(), Call{Method: "theme/select", Params: Raw(`{}`)})
		r.want(`{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`)
		r.send(`{"id":"c-1","jsonrpc":"2.0","result":{}}`)
		k.gives(`{}`)
	})
}

func TestDo_returnsErrorAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		k := r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown tool: \u0074","data":null}}`)
		<-k.done
		var e *Error
		if !errors.As(k.err, &e) || e.Code != -32601 || e.Message != "unknown tool: t" || string(e.Data) != "null" || IsCancelled(k.err) {
			t.Errorf("got %v, want the error as it was sent", k.err)
		}
	})
}

func TestDo_cancel(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"user"}}`
	for _, version := range []string{"0.3", "0.4"} {
		t.Run(version+" answered", in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, toolCall)
			r.want(firstCall)
			stop(Reason("user"))
			r.want(cancel)
			time.Sleep(1900 * time.Millisecond)
			r.send(`{"error":{"code":-32800,"message":"request cancelled"},"id":1,"jsonrpc":"2.0"}`)
			<-k.done
			if !IsCancelled(k.err) {
				t.Errorf("got %v, want the cancellation", k.err)
			}
			r.quiet()
		}))
		t.Run(version+" result wins", in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, toolCall)
			r.want(firstCall)
			stop(Reason("user"))
			r.want(cancel)
			r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
			k.gives(`{}`)
			r.quiet()
		}))
		t.Run(version+" unsettled", in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			k := r.call(ctx, toolCall)
			r.want(firstCall, strings.Replace(cancel, "user", "timeout", 1))
			k.fails(ErrUnsettled, context.DeadlineExceeded)
			if k.took != 32*time.Second {
				t.Errorf("the call took %v, want its 30 s and the grace of 2 s", k.took)
			}
			r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
			r.noted("CANCEL-01", "remote", "late answer")
			if r.conn.Err() != nil {
				t.Errorf("a late answer ended the connection: %v", r.conn.Err())
			}
			r.quiet()
		}))
	}
}

func TestDo_cancelBeforeTheFrameIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		big := Call{Method: "tool/call", Params: Raw(`{"name":"` + strings.Repeat("x", 100<<10) + `"}`)}
		first := r.call(t.Context(), big) // fills the pipe and stays in the middle of its frame
		ctx, stop := context.WithCancel(t.Context())
		second := r.call(ctx, toolCall)
		stop()
		second.fails(ErrNotSent, context.Canceled)
		if second.took != 0 {
			t.Errorf("it took %v to withdraw a request, want no waiting", second.took)
		}
		r.conn.mu.Lock()
		if queued, taken := len(r.conn.out.queue), r.conn.calls.taken; queued != 0 || taken != 1 {
			t.Errorf("%d frames queued and %d permits taken, want none and that of the first call", queued, taken)
		}
		r.conn.mu.Unlock()
		if _, err := r.in.Next(); err != nil {
			t.Fatal(err)
		}
		r.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		first.gives(`{}`)
		r.quiet()
	})
}

// A call must notice the end of its context though the other side reads nothing.
func TestDo_cancelWhileTheOtherSideReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		r.conn.Install(Session{MaxConcurrent: 1000})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		big := r.call(ctx, Call{Method: "tool/call", Params: Raw(`{"name":"` + strings.Repeat("x", 200<<10) + `"}`)})
		var small []*pending
		for range 200 { // 128 of them queue behind it, the others wait for room
			small = append(small, r.call(ctx, toolCall))
		}
		big.fails(ErrUnsettled, context.DeadlineExceeded)
		for _, k := range small {
			k.fails(ErrNotSent, context.DeadlineExceeded)
			if k.took != time.Second {
				t.Fatalf("a call that was not begun took %v, want no grace", k.took)
			}
		}
	})
}

func TestDo_knowsWhatTheOtherSideHasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		for n, size := range []int{10, 100 << 10, 20 << 10, 20 << 10} {
			k := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`{"name":"` + strings.Repeat("x", size) + `"}`)})
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
			r.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(n+1) + `,"result":{}}`)
			k.gives(`{}`)
			r.conn.mu.Lock()
			if sent, proven := r.conn.out.sent, r.conn.calls.proven; sent != proven || sent < int64(size) {
				t.Errorf("call %d: %d bytes sent and %d known to be read, want all", n, sent, proven)
			}
			r.conn.mu.Unlock()
		}
	})
}

// The bound may fall between the check and the writing; then the sink refuses, and the call fails.
func TestDo_sinkRefusesAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		first := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`{"name":"` + strings.Repeat("x", 100<<10) + `"}`)})
		second := r.call(t.Context(), toolCall) // waits behind it
		r.conn.Install(Session{MaxFrameBytes: len(secondCall) - 1})
		if _, err := r.in.Next(); err != nil {
			t.Fatal(err)
		}
		<-second.done
		var fault *frame.Error
		if !errors.As(second.err, &fault) || fault.Fault != frame.TooLong {
			t.Errorf("got %v, want the refusal of the sink", second.err)
		}
		r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
		first.gives(`{}`)
		r.conn.mu.Lock()
		if taken := r.conn.calls.taken; taken != 0 {
			t.Errorf("%d permits are taken and no call is in flight", taken)
		}
		r.conn.mu.Unlock()
		r.quiet()
	})
}

func TestDo_contextThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		ctx, stop := context.WithCancel(t.Context())
		stop()
		r.call(ctx, toolCall).fails(ErrNotSent, context.Canceled)
		r.quiet()
	})
}

func TestDo_withoutCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.1", Options{})
		ctx, stop := context.WithCancel(t.Context())
		k := r.call(ctx, toolCall)
		r.want(firstCall)
		stop()
		k.fails(ErrUnsettled, context.Canceled)
		r.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		r.noted("late answer")
		r.quiet()
	})
}

func TestDo_waitsForAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		r.conn.Install(Session{MaxConcurrent: 1})
		first := r.call(t.Context(), toolCall)
		ctx, stop := context.WithCancel(t.Context())
		second := r.call(ctx, toolCall)
		third := r.call(t.Context(), toolCall)
		r.want(firstCall)
		stop()
		second.fails(ErrNotSent, context.Canceled)
		down := r.call(t.Context(), Call{Method: "shutdown", Params: Raw(`{}`)})
		r.want(`{"id":2,"jsonrpc":"2.0","method":"shutdown","params":{}}`)
		r.send(`{"id":1,"jsonrpc":"2.0","result":1}`, `{"id":2,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`)
		first.gives("1")
		third.fails(ErrDraining)
		down.gives(`{"terminal":"shutdown"}`)
		r.call(t.Context(), toolCall).fails(ErrDraining)
		r.conn.mu.Lock()
		if taken := r.conn.calls.taken; taken != 0 {
			t.Errorf("%d permits are taken and no call is in flight", taken)
		}
		r.conn.mu.Unlock()
		r.quiet()
	})
}

func TestDo_raisedBoundAdmitsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		r.conn.Install(Session{MaxConcurrent: 1})
		a, b := r.call(t.Context(), toolCall), r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.conn.Install(Session{MaxConcurrent: 2})
		r.want(secondCall)
		r.conn.Close()
		a.fails(ErrClosed)
		b.fails(ErrClosed)
		r.call(t.Context(), toolCall).fails(ErrClosed)
	})
}

func TestDo_refusesWhatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		r.conn.Install(Session{MaxFrameBytes: len(firstCall)})
		try := func(q Call) error {
			k := r.call(t.Context(), q)
			<-k.done
			return k.err
		}
		var fault *frame.Error
		if err := try(Call{Method: "tool/call", Params: Raw(`{"name":"tt"}`)}); !errors.As(err, &fault) || fault.Rule() != "EXT03-LIMIT-006" {
			t.Errorf("a frame one byte over the bound: %v", err)
		}
		var c *canonical.Error
		if err := try(Call{Method: "tool/call", Params: Raw(`{"n":1.5}`)}); !errors.As(err, &c) || c.Class != canonical.Number {
			t.Errorf("a fraction: %v", err)
		}
		var p *ProtocolError
		for _, method := range []string{"no/such", "context/collect", "hook/run", "theme/select", "initialize", "$/cancelRequest"} {
			if err := try(Call{Method: method, Params: Raw(`{}`)}); !errors.As(err, &p) || p.Blame != Local || p.Rule != "EXT03-METHOD-008" {
				t.Errorf("%s: %v, want a local fault", method, err)
			}
		}
		// EXT03-ENV-023, as is $/cancelRequest as a call above.
		if err := r.conn.Notify(t.Context(), "tool/call", Raw(`{}`)); !errors.As(err, &p) || p.Blame != Local {
			t.Errorf("a request sent as a notification: %v", err)
		}
		k := r.call(t.Context(), toolCall)
		r.want(strings.Replace(firstCall, `"id":1`, `"id":3`, 1))
		r.send(`{"id":3,"jsonrpc":"2.0","result":{}}`)
		k.gives(`{}`)
		r.quiet()
	})
}

func TestWait_tellsHowItEnded(t *testing.T) {
	t.Run("end of file", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		k := r.call(t.Context(), toolCall)
		r.hang()
		if err := r.conn.Wait(); err != io.EOF {
			t.Errorf("Wait = %v, want io.EOF", err)
		}
		k.fails(io.EOF)
		if err := r.conn.Close(); err != nil {
			t.Errorf("Close behind the end = %v, want nil", err)
		}
	}))
	t.Run("half a frame", in(func(t *testing.T) {
		host, ext := newStream(), newStream()
		c := New(Options{
			Profile: CanonicalProfile(frame.Host),
			Source:  frame.NewReader(ext, frame.Canonical, frame.Extension, 100),
			Sink:    frame.NewWriter(host, frame.Canonical, frame.Host, 100),
		})
		c.Start()
		io.WriteString(ext, `{"id":1`)
		ext.close()
		var e *ProtocolError
		if err := c.Wait(); !errors.As(err, &e) || e.Rule != "EXT03-FRAME-001" || e.Blame != Remote {
			t.Errorf("Wait = %v, want a framing fault", err)
		}
	}))
	t.Run("broken sink", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		r.hang()
		r.call(t.Context(), toolCall)
		if err := r.conn.Wait(); err == nil {
			t.Error("Wait = nil, want the fault of the stream")
		}
	}))
}
