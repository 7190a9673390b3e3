package server_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/server"
	"github.com/octet-dev/octet/host/oup/transport"
)

func open(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := server.Options{Gate: &access.Gate{Local: true}, Lanes: &lane.Book{}, Log: func(err error) { t.Errorf("logged: %v", err) }}
	if change != nil {
		change(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve connects over a transport; the result of Serve comes on the channel.
func serve(t *testing.T, s *server.Server, info transport.Info) (*transport.Memory, <-chan error) {
	t.Helper()
	near, far := transport.Pipe(info)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), near) }()
	return far, ended
}

var socket = transport.Info{Transport: oupwire.TransportWebsocket, Loopback: true}

// TestServer_beatsOverWebSocketAlone: OUP-SOCKET-012, OUP-STDIO-007.
func TestServer_beatsOverWebSocketAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil)
		far, ended := serve(t, s, socket)
		quiet, quietEnded := serve(t, s, transport.Info{Transport: oupwire.TransportStdio})
		begun := time.Now()
		for i := range 3 {
			frame, err := far.Read()
			if err != nil || string(frame) != `{"jsonrpc":"2.0","method":"server/heartbeat","params":{}}` {
				t.Fatalf("told %s, %v", frame, err)
			}
			if waited, want := time.Since(begun), time.Duration(i+1)*oupwire.HeartbeatIntervalMs*time.Millisecond; waited != want {
				t.Errorf("beat %d comes after %s, want %s", i, waited, want)
			}
		}
		go s.Close(transport.Restart)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := <-quietEnded; err != nil {
			t.Error(err)
		}
		if frame, err := quiet.Read(); err == nil {
			t.Errorf("over standard streams comes %s", frame)
		}
		if reason, closed := far.Closed(); !closed || reason != transport.Restart {
			t.Errorf("closed %v with %v", closed, reason)
		}
	})
}

// TestServer_sendsAwayWhoOnlyListens: OUP-SOCKET-015 for a client that asks for nothing once its credential is withdrawn.
func TestServer_sendsAwayWhoOnlyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var withdrawn atomic.Bool
		s := open(t, nil)
		info := socket
		info.Identity = transport.Identity{Name: "session", Session: "s", Holds: func() bool { return !withdrawn.Load() }}
		far, ended := serve(t, s, info)
		if _, err := far.Read(); err != nil {
			t.Fatal(err)
		}
		withdrawn.Store(true)
		since := time.Now()
		if frame, err := far.Read(); err == nil {
			t.Errorf("told %s", frame)
		}
		if late := time.Since(since); late > time.Second {
			t.Errorf("it hears of its session for %s more", late)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if reason, closed := far.Closed(); !closed || reason != transport.AuthExpired {
			t.Errorf("closed %v with %v", closed, reason)
		}
	})
}

// TestServer_endsWhenAClientSaysSo: OUP-SHUTDOWN-001, OUP-SHUTDOWN-003.
func TestServer_endsWhenAClientSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Int32
		s := open(t, func(o *server.Options) { o.Shutdown = func() { stopped.Add(1) } })
		far, ended := serve(t, s, socket)
		for range 2 {
			if err := far.Send([]byte(`{"jsonrpc":"2.0","id":"s","method":"server/shutdown","params":{}}`)); err != nil {
				t.Fatal(err)
			}
			if frame, err := far.Read(); err != nil || string(frame) != `{"id":"s","jsonrpc":"2.0","result":{"stopping":true}}` {
				t.Errorf("answered %s, %v", frame, err)
			}
		}
		synctest.Wait()
		if stopped.Load() != 0 {
			t.Error("it ends at once")
		}
		time.Sleep(oupwire.ShutdownDelayMs * time.Millisecond)
		synctest.Wait()
		if n := stopped.Load(); n != 1 {
			t.Errorf("it ends %d times", n)
		}
		_ = far.Close(transport.Ended)
		<-ended
	})
}

func TestServer_boundsItsConnections(t *testing.T) {
	left := make(chan *rpc.Connection, 8)
	s := open(t, func(o *server.Options) { o.Connections, o.Left = 1, func(c *rpc.Connection) { left <- c } })
	first, ended := serve(t, s, socket)
	if err := first.Send([]byte(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{}}`)); err != nil {
		t.Fatal(err)
	}
	if frame, err := first.Read(); err != nil || !strings.Contains(string(frame), "server_hello") {
		t.Fatalf("answered %s, %v", frame, err)
	}
	second, refused := serve(t, s, socket)
	if err := <-refused; !errors.Is(err, server.ErrFull) {
		t.Errorf("a second connection ends with %v", err)
	}
	if reason, closed := second.Closed(); !closed || reason != transport.Restart {
		t.Errorf("closed %v with %v", closed, reason)
	}
	_ = first.Close(transport.Ended)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-left
	_, again := serve(t, s, socket)
	s.Close(transport.Ended)
	if err := <-again; err != nil && !errors.Is(err, server.ErrClosed) {
		t.Error(err)
	}
	_, late := serve(t, s, socket)
	if err := <-late; !errors.Is(err, server.ErrClosed) {
		t.Errorf("behind the end a connection gets %v", err)
	}
}

// TestServer_servesTheProgramThatEmbedsIt: the frames are those of any client.
func TestServer_servesTheProgramThatEmbedsIt(t *testing.T) {
	s := open(t, nil)
	client, done := s.Connect(context.Background(), oupwire.FeatureApprovalTypedV1)
	if err := client.Send([]byte(`not JSON`)); err != nil {
		t.Fatal(err)
	}
	if frame, err := client.Read(); err != nil || !strings.Contains(string(frame), `"code":-32700`) {
		t.Errorf("answered %s, %v", frame, err)
	}
	_ = client.Close(transport.Ended)
	<-done
	s.Close(transport.Ended)
}

func TestNew_refusesWhatIsMissing(t *testing.T) {
	if _, err := server.New(server.Options{}); err == nil {
		t.Error("a server of nothing is made")
	}
	if _, err := server.New(server.Options{Gate: &access.Gate{}, Lanes: &lane.Book{}, Handlers: map[string]rpc.Handler{"no/such": nil}}); err == nil {
		t.Error("a handler of no method is taken")
	}
}
