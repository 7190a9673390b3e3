package peer

import (
	"context"
	"errors"
	"testing"

	"github.com/octet-dev/octet/runtime/frame"
)

// A request that is called off is cancelled on the wire and never answered, whatever its handler returns.
func TestRequest_callOff(t *testing.T) {
	for _, version := range []string{"0.1", "0.2", "0.4"} {
		t.Run(version, in(func(t *testing.T) {
			var served *Request
			var cause error
			var behind []bool
			taken, release := make(chan struct{}), make(chan struct{})
			r := newRig(t, frame.Host, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				served = q
				close(taken)
				<-ctx.Done()
				cause = context.Cause(ctx)
				<-release
				return Raw(`{}`), nil
			}})
			r.conn.Install(Session{Open: []string{"confirmation/request"}})
			r.send(`{"id":"c","jsonrpc":"2.0","method":"confirmation/request","params":{}}`)
			<-taken
			served.Behind(func(result bool) { behind = append(behind, result) })
			served.CallOff("settled")
			served.CallOff("again")
			if version != "0.1" {
				r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c","reason":"settled"}}`)
			}
			close(release)
			r.quiet()
			var cancelled *CancelledError
			if !errors.As(cause, &cancelled) || cancelled.Reason != "settled" {
				t.Errorf("the handler was told %v", cause)
			}
			if len(behind) != 1 || behind[0] {
				t.Errorf("behind the end %v was told, want one false", behind)
			}
		}))
	}
	t.Run("answered before", in(func(t *testing.T) {
		var served *Request
		r := newRig(t, frame.Host, "0.4", Options{Handle: func(_ context.Context, q *Request) (Value, error) {
			served = q
			return Raw(`{}`), nil
		}})
		r.conn.Install(Session{Open: []string{"confirmation/request"}})
		r.send(`{"id":"c","jsonrpc":"2.0","method":"confirmation/request","params":{}}`)
		r.want(`{"id":"c","jsonrpc":"2.0","result":{}}`)
		served.CallOff("late")
		r.quiet()
	}))
}
