package peer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

func TestNotify_writesLiteralFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{})
		if err := r.conn.Notify(t.Context(), "notification", Raw(`{"message":"hi"}`)); err != nil {
			t.Fatal(err)
		}
		r.want(`{"jsonrpc":"2.0","method":"notification","params":{"message":"hi"}}`)
		var p *ProtocolError
		if err := r.conn.Notify(t.Context(), "$/progres", Raw(`{}`)); !errors.As(err, &p) || p.Rule != "EXT04-ORDER-005" {
			t.Errorf("an unknown notification: %v", err)
		}
		r.quiet()
	})
}

// TestNotify_blocksWhileTheQueueIsFull: EXT04-LIMIT-007. Both sides have the same queue.
func TestNotify_blocksWhileTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		results := make(chan error, 200)
		// The first fills the pipe and stays in the middle of its frame; 128 wait behind it.
		for n := range 200 {
			size := 10
			if n == 0 {
				size = 100 << 10
			}
			go func() {
				results <- r.conn.Notify(ctx, "notification", Raw(`{"message":"`+strings.Repeat("x", size)+`"}`))
			}()
			synctest.Wait()
		}
		if n := len(results); n != 128 {
			t.Errorf("%d notifications were taken, want 128", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(results); n != 199 {
			t.Errorf("%d calls of Notify returned, want all but the one that writes", n)
		}
		for range 129 {
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		failed := 0
		for range 200 {
			if err := <-results; errors.Is(err, context.DeadlineExceeded) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != 71 {
			t.Errorf("%d calls of Notify failed by their context, want 71", failed)
		}
		r.quiet()
	})
}

// full fills the pipe and the queue behind it, and returns what n further notifications give.
func (r *rig) full(n int) chan error {
	r.t.Helper()
	results := make(chan error, 1+128+n)
	for i := range 1 + 128 + n {
		size := 10
		if i == 0 {
			size = 100 << 10
		}
		go func() {
			results <- r.conn.Notify(r.t.Context(), "notification", Raw(`{"message":"`+strings.Repeat("x", size)+`"}`))
		}()
		synctest.Wait()
	}
	for range 128 {
		if err := <-results; err != nil {
			r.t.Fatal(err)
		}
	}
	return results
}

func TestNotify_goesOnWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{})
		results := r.full(3)
		for range 1 + 128 + 3 {
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 1 + 3 {
			if err := <-results; err != nil {
				t.Errorf("Notify = %v, want nil once there is room", err)
			}
		}
		r.quiet()
	})
}

func TestNotify_returnsWhenTheConnectionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{})
		results := r.full(3)
		if err := r.conn.Close(); err != nil {
			t.Error(err)
		}
		failed := 0
		for range 1 + 3 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed < 3 {
			t.Errorf("%d of 3 waiting notifications failed at the end", failed)
		}
	})
}
