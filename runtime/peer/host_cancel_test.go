package peer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

func cancelFrame(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d,"reason":"user"}}`, id)
}

// bigCall fills a pipe and stays in the middle of its frame until somebody reads.
var bigCall = Call{Method: "tool/call", Params: Raw(`"` + strings.Repeat("x", 100<<10) + `"`)}

const bigFrameTail = `,"jsonrpc":"2.0","method":"tool/call","params":"`

// A cancellation goes out once, and never without the whole frame of its request in front of it.
func TestHostCancel_onceAndBehindItsRequest(t *testing.T) {
	for _, version := range []string{"0.2", "0.4"} {
		t.Run("EXT04-CANCEL-010 once "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, toolCall)
			r.want(callFrame(1))
			stop(Reason("user"))
			stop(Reason("again"))
			r.want(cancelFrame(1))
			k.fails(ErrUnsettled) // the grace is over
			time.Sleep(time.Minute)
			r.silent()
			r.quiet()
		}))
		t.Run("EXT04-CANCEL-010 behind the whole frame "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, bigCall)
			stop(Reason("user"))
			if f, err := r.in.Next(); err != nil || !strings.HasPrefix(string(f), `{"id":1`+bigFrameTail) || len(f) < 100<<10 {
				t.Fatalf("%d bytes, %v, want the whole frame of the call", len(f), err)
			}
			r.want(cancelFrame(1))
			r.send(`{"error":{"code":-32800,"message":"request cancelled"},"id":1,"jsonrpc":"2.0"}`)
			if <-k.done; !IsCancelled(k.err) {
				t.Errorf("the call gives %v", k.err)
			}
			r.quiet()
		}))
		t.Run("EXT04-CANCEL-010 not begun "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			r.conn.Install(Session{MaxConcurrent: 3})
			first := r.call(t.Context(), bigCall)
			ctx, stop := context.WithCancelCause(t.Context())
			queued, other := r.call(ctx, toolCall), r.call(t.Context(), toolCall)
			waiting := r.call(ctx, toolCall) // for a permit
			stop(Reason("user"))
			queued.fails(ErrNotSent)
			waiting.fails(ErrNotSent)
			if queued.took != 0 || waiting.took != 0 {
				t.Errorf("withdrawing took %v and %v, want no grace", queued.took, waiting.took)
			}
			if f, err := r.in.Next(); err != nil || !strings.HasPrefix(string(f), `{"id":1`) {
				t.Fatal(len(f), err)
			}
			r.want(callFrame(3)) // neither the second request nor a cancellation comes between
			r.send(answerFrame(3), answerFrame(1))
			first.gives("1")
			other.gives("3")
			r.quiet()
		}))
	}
}

// The id of an abandoned call is remembered, so that its late answer is known for what it is.
func TestHostCancel_lateAnswersAreAbsorbed(t *testing.T) {
	const late, unknown = "EXT04-CANCEL-011 remote late answer to an abandoned call absorbed", "EXT04-ENV-004 remote response that names no call in flight"
	abandon := func(t *testing.T, version string, calls int) *rig {
		r := newRig(t, frame.Host, version, Options{})
		r.conn.Install(Session{MaxConcurrent: 1000})
		ctx, stop := context.WithCancelCause(t.Context())
		var all []*pending
		for id := 1; id <= calls; id++ {
			all = append(all, r.call(ctx, toolCall))
			r.want(callFrame(id))
		}
		stop(Reason("user"))
		asked := map[string]bool{}
		for range calls {
			f, err := r.in.Next()
			if err != nil {
				t.Fatal(err)
			}
			asked[string(f)] = true
		}
		for id := 1; id <= calls; id++ {
			if !asked[cancelFrame(id)] {
				t.Fatalf("call %d was not cancelled", id)
			}
			all[id-1].fails(ErrUnsettled)
		}
		return r
	}
	for _, version := range []string{"0.2", "0.4"} {
		for wait, note := range map[time.Duration]string{
			0:                                late,
			30*time.Second - time.Nanosecond: late,
			30 * time.Second:                 unknown,
		} {
			t.Run(fmt.Sprint("EXT04-CANCEL-011 ", version, " after ", wait), in(func(t *testing.T) {
				r := abandon(t, version, 1)
				time.Sleep(wait)
				r.send(answerFrame(1))
				r.noted(note)
				r.diagnosed(1)
				k := r.call(t.Context(), toolCall) // nothing else is hurt
				r.want(callFrame(2))
				r.send(answerFrame(2))
				k.gives("2")
				r.quiet()
			}))
		}
	}
	t.Run("EXT04-CANCEL-011 at most 512", in(func(t *testing.T) {
		r := abandon(t, "0.4", 513)
		for id := 1; id <= 513; id++ {
			r.send(answerFrame(id))
		}
		r.diagnosed(513)
		absorbed := 0
		for _, n := range r.notes {
			if strings.HasPrefix(n, late) {
				absorbed++
			}
		}
		if absorbed != 512 {
			t.Errorf("%d late answers were known, want 512", absorbed)
		}
		r.quiet()
	}))
}

// Whichever outcome comes first is the only one.
func TestHostCancel_resultThatWins(t *testing.T) {
	const refused = `{"error":{"code":-32800,"message":"request cancelled"},"id":1,"jsonrpc":"2.0"}`
	for _, version := range []string{"0.2", "0.4"} {
		t.Run("EXT04-CANCEL-013 before the cancellation "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, toolCall)
			r.want(callFrame(1))
			r.send(answerFrame(1))
			k.gives("1")
			stop(Reason("user"))
			r.silent() // there is nothing to cancel
			r.send(refused)
			r.noted("EXT04-ENV-004", "names no call")
			r.quiet()
		}))
		t.Run("EXT04-CANCEL-013 crossing the cancellation "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k, other := r.call(ctx, toolCall), r.call(t.Context(), toolCall)
			r.want(callFrame(1), callFrame(2))
			stop(Reason("user"))
			r.want(cancelFrame(1))
			r.send(answerFrame(1), refused)
			k.gives("1")
			r.noted("EXT04-ENV-004", "names no call")
			r.send(answerFrame(2))
			other.gives("2")
			r.quiet()
		}))
	}
}

// An extension may cancel what it asked for, and gets one answer all the same. Cancelling it again, or once
// it is answered, changes nothing: EXT04-CANCEL-017.
func TestHostCancel_extensionCancelsItsOwnRequest(t *testing.T) {
	const ask = `{"jsonrpc":"2.0","id":"c-1","method":"input/request","params":{"n":1}}`
	const cancel = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1","reason":"enough"}}`
	for _, version := range []string{"0.2", "0.4"} {
		for name, c := range map[string]struct {
			handle func(context.Context, *Request) (Value, error)
			want   string
		}{
			"cancelled": {untilCancelled, `{"error":{"code":-32800,"data":{"reason":"enough"},"message":"request cancelled"},"id":"c-1","jsonrpc":"2.0"}`},
			"result first": {func(ctx context.Context, q *Request) (Value, error) {
				<-ctx.Done()
				return echo(ctx, q)
			}, `{"id":"c-1","jsonrpc":"2.0","result":{"n":1}}`},
			"error first": {func(ctx context.Context, q *Request) (Value, error) {
				<-ctx.Done()
				return nil, &Error{Code: -32002, Message: "no owner"}
			}, `{"error":{"code":-32002,"message":"no owner"},"id":"c-1","jsonrpc":"2.0"}`},
			"deaf": {func(ctx context.Context, q *Request) (Value, error) { // answered in its place, once
				time.Sleep(5 * time.Second)
				return echo(ctx, q)
			}, `{"error":{"code":-32800,"data":{"reason":"enough"},"message":"request cancelled"},"id":"c-1","jsonrpc":"2.0"}`},
			"answered before": {echo, `{"id":"c-1","jsonrpc":"2.0","result":{"n":1}}`},
		} {
			t.Run("EXT04-CANCEL-014 "+name+" "+version, in(func(t *testing.T) {
				r := newServingRig(t, version, Options{Handle: c.handle, HandlerGrace: time.Second})
				r.send(ask, cancel, cancel)
				r.want(c.want)
				r.send(cancel)
				time.Sleep(time.Minute)
				r.silent()
				r.quiet()
			}))
		}
	}
}

func TestHostCancel_onLegacyTheWaiterIsDropped(t *testing.T) {
	t.Run("EXT01-CANCEL-002", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.1", Options{})
		ctx, stop := context.WithCancelCause(t.Context())
		k := r.call(ctx, toolCall)
		r.want(callFrame(1))
		stop(Reason("user"))
		k.fails(ErrUnsettled)
		if k.took != 0 {
			t.Errorf("the call waited %v for an answer that nobody asked for", k.took)
		}
		r.send(answerFrame(1))
		r.noted("late answer to an abandoned call absorbed")
		k = r.call(t.Context(), toolCall)
		r.want(callFrame(2)) // nothing was sent in between
		r.send(answerFrame(2))
		k.gives("2")
		r.quiet()
	}))
}

// A cancellation names a request of this host that is in flight, and nothing else, not even one of the
// extension under the same id: EXT03-ORDER-014.
func TestHostCancel_onlyItsOwnRequests(t *testing.T) {
	t.Run("EXT03-CANCEL-010", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{Handle: untilCancelled})
		r.conn.Install(Session{MaxConcurrent: 2})
		r.send(`{"id":2,"jsonrpc":"2.0","method":"theme/select","params":{}}`) // the extension's 2 is not ours
		ctx, stop := context.WithCancelCause(t.Context())
		answered := r.call(ctx, toolCall)
		r.want(callFrame(1))
		r.send(answerFrame(1))
		answered.gives("1")
		tooLong := r.call(ctx, Call{Method: "tool/call", Params: Raw(`"` + strings.Repeat("x", 1<<20) + `"`)}) // would be 2
		<-tooLong.done
		live, other := r.call(ctx, toolCall), r.call(t.Context(), toolCall)
		waiting := r.call(ctx, toolCall)
		r.want(callFrame(3), callFrame(4))
		stop(Reason("user"))
		waiting.fails(ErrNotSent)
		r.want(cancelFrame(3))
		r.send(`{"error":{"code":-32800,"message":"request cancelled"},"id":3,"jsonrpc":"2.0"}`)
		if <-live.done; !IsCancelled(live.err) {
			t.Errorf("the live call gives %v", live.err)
		}
		r.silent()
		r.send(answerFrame(4))
		other.gives("4")
		r.quiet()
	}))
}
