package peer

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
)

// Nothing behind a request is looked at before it has been taken in, and what comes of that serves it.
func TestArrived_inOrder(t *testing.T) {
	in(func(t *testing.T) {
		take := make(chan struct{})
		r := newRig(t, frame.Host, "0.4", Options{Arrived: func(*Request) Handler {
			<-take
			return func(context.Context) (Value, error) { return Raw(`{"served":true}`), nil }
		}})
		r.conn.Install(Session{Open: []string{"tool/call", "confirmation/request"}})
		called := make(chan error, 1)
		go func() {
			_, err := r.conn.Call(t.Context(), "tool/call", Raw(`{}`))
			called <- err
		}()
		r.want(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{}}`)
		r.send(`{"id":"c","jsonrpc":"2.0","method":"confirmation/request","params":{}}`, `{"id":1,"jsonrpc":"2.0","result":{}}`)
		synctest.Wait()
		if !r.conn.InFlight(envelope.IntID(1)) {
			t.Error("the answer behind a request is taken in before the request")
		}
		close(take)
		r.want(`{"id":"c","jsonrpc":"2.0","result":{"served":true}}`)
		if err := <-called; err != nil {
			t.Error(err)
		}
	})(t)
}

func TestArrived_panicIsAnInternalError(t *testing.T) {
	in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{Arrived: func(*Request) Handler { panic("no idea") }})
		r.conn.Install(Session{Open: []string{"confirmation/request"}})
		r.send(`{"id":"c","jsonrpc":"2.0","method":"confirmation/request","params":{}}`)
		r.want(`{"error":{"code":-32603,"message":"Internal error"},"id":"c","jsonrpc":"2.0"}`)
		r.noted("panic: no idea")
	})(t)
}
