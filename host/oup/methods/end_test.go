package methods_test

import (
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/transport"
)

// deaf is a client that does not answer the close of its connection before it is told to.
type deaf struct {
	transport.Conn
	answer chan struct{}
}

func (d *deaf) Close(reason transport.Reason) error {
	<-d.answer
	return d.Conn.Close(reason)
}

// TestClose_interruptsTurnsWhileAClientDoesNotAnswer: what works for others is not kept going by one of them.
func TestClose_interruptsTurnsWhileAClientDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.stdio().hello().open(sessionA).start(sessionA, 1, "wait")
	<-w.reached
	near, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
	d := &deaf{Conn: near, answer: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- w.Server.Serve(t.Context(), d) }()
	if err := far.Send([]byte(`{"jsonrpc":"2.0","id":"1","method":"config/capabilities/list","params":{}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Read(); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- w.Close(transport.Restart, 10*time.Second) }()
	select {
	case <-w.stopped:
	case <-time.After(patience):
		t.Error("the turn goes on")
	}
	close(d.answer)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
