package peer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

func TestTombstone_explainsOneAnswerForHalfAMinute(t *testing.T) {
	abandon := func(t *testing.T) *rig {
		r := newRig(t, frame.Host, "0.3", Options{})
		ctx, stop := context.WithCancel(t.Context())
		k := r.call(ctx, toolCall)
		r.want(firstCall)
		stop()
		r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"cancelled"}}`)
		k.fails(ErrUnsettled)
		return r
	}
	const late = `{"id":1,"jsonrpc":"2.0","result":{}}`
	t.Run("EXT03-ENV-021 twice", in(func(t *testing.T) {
		r := abandon(t)
		r.send(late, late)
		r.endedBy("EXT03-ORDER-007", Remote)
	}))
	t.Run("EXT03-ENV-021 just in time", in(func(t *testing.T) {
		r := abandon(t)
		time.Sleep(30*time.Second - time.Nanosecond)
		r.send(late)
		r.noted("EXT03-CANCEL-012")
		r.quiet()
	}))
	t.Run("EXT03-ENV-021 too late", in(func(t *testing.T) {
		r := abandon(t)
		time.Sleep(30 * time.Second)
		r.send(late)
		r.endedBy("EXT03-ORDER-007", Remote)
	}))
}

func TestTombstone_holdsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.1", Options{})
		r.conn.Install(Session{MaxConcurrent: 1})
		ctx, stop := context.WithCancel(t.Context())
		first := r.call(ctx, toolCall)
		r.want(firstCall)
		stop()
		first.fails(ErrUnsettled)
		second := r.call(t.Context(), toolCall)
		start := time.Now()
		r.want(secondCall)
		if waited := time.Since(start); waited != 30*time.Second {
			t.Errorf("the second call went out after %v, want 30 s: the first may still be running", waited)
		}
		third := r.call(t.Context(), toolCall)
		r.send(`{"jsonrpc":"2.0","id":2,"result":2}`)
		second.gives("2")
		r.want(strings.Replace(firstCall, "1", "3", 1))
		r.send(`{"jsonrpc":"2.0","id":3,"result":3}`)
		third.gives("3")
	})
}

func TestTombstone_atMost512(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.1", Options{})
		r.conn.Install(Session{MaxConcurrent: 1000})
		ctx, stop := context.WithCancel(t.Context())
		for range 513 {
			r.call(ctx, toolCall)
		}
		for range 513 {
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		synctest.Wait()
		r.conn.mu.Lock()
		n, taken := len(r.conn.calls.graves.list), r.conn.calls.taken
		r.conn.mu.Unlock()
		if n != 512 || taken != 512 {
			t.Errorf("%d tombstones holding %d permits, want 512", n, taken)
		}
	})
}

func TestTombstone_eachExpiresInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.1", Options{})
		r.conn.Install(Session{MaxConcurrent: 2})
		for n := range 2 {
			ctx, stop := context.WithCancel(t.Context())
			k := r.call(ctx, toolCall)
			r.want(strings.Replace(firstCall, "1", []string{"1", "2"}[n], 1))
			stop()
			k.fails(ErrUnsettled)
			time.Sleep(10 * time.Second)
		}
		start := time.Now()
		for n, waited := range []time.Duration{10 * time.Second, 20 * time.Second} {
			r.call(t.Context(), toolCall)
			r.want(strings.Replace(firstCall, "1", []string{"3", "4"}[n], 1))
			if took := time.Since(start); took != waited {
				t.Errorf("permit %d came free after %v, want %v", n, took, waited)
			}
		}
	})
}
