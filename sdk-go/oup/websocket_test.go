package oup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
)

// serve plays a WebSocket server: hello is answered, then the function has the connection.
func serve(t *testing.T, then func(ctx context.Context, socket *websocket.Conn, r *http.Request)) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
		if err != nil {
			return
		}
		defer socket.CloseNow()
		_, frame, err := socket.Read(r.Context())
		if err != nil {
			return
		}
		var hello request
		if err := json.Unmarshal(frame, &hello); err != nil {
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"type":"server_hello","transport":"websocket","client_transport":null,"client":null,"capabilities":%s}}`, hello.ID, caps)
		if err := socket.Write(r.Context(), websocket.MessageText, []byte(answer)); err != nil {
			return
		}
		then(r.Context(), socket, r)
	}))
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, rawConnection{}, c)
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestWebSocket_asksAsAgreed(t *testing.T) {
	seen := make(chan *http.Request, 1)
	url := serve(t, func(ctx context.Context, socket *websocket.Conn, r *http.Request) {
		seen <- r
		_, _, _ = socket.Read(ctx)
	})
	client, err := WebSocket(t.Context(), url, Options{Token: "secret", Features: []string{"a.v1", "b.v1"}, Header: http.Header{"X-More": {"1"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := <-seen
	if r.URL.Path != "/api/ui-protocol/ws" || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get(featureHeader) != "a.v1,b.v1" || r.Header.Get("X-More") != "1" {
		t.Errorf("asked for %s with %v", r.URL, r.Header)
	}
	before := time.Now()
	if err := client.Close(); err != nil || time.Since(before) > 5*time.Second {
		t.Errorf("close: %v after %s", err, time.Since(before))
	}
}

func TestWebSocket_notLetIn(t *testing.T) {
	for _, status := range []int{401, 403, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		_, err := WebSocket(t.Context(), server.URL, Options{Token: "secret"})
		server.Close()
		var locked *AuthError
		if is := errors.As(err, &locked); err == nil || is != (status < 500) || is && locked.Status != status {
			t.Errorf("%d: %v", status, err)
		}
		if strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("the error tells the token: %v", err)
		}
	}
	if _, err := WebSocket(t.Context(), "http://[", Options{}); err == nil {
		t.Error("an address that is none")
	}
}

// TestWebSocket_closeCodes: how a server closes says whether coming again is of use.
func TestWebSocket_closeCodes(t *testing.T) {
	for code, comesAgain := range map[websocket.StatusCode]bool{websocket.StatusServiceRestart: true, websocket.StatusNormalClosure: true, websocket.StatusPolicyViolation: false} {
		var connections atomic.Int32
		again := make(chan struct{})
		url := serve(t, func(ctx context.Context, socket *websocket.Conn, _ *http.Request) {
			switch connections.Add(1) {
			case 1:
				_ = socket.Write(ctx, websocket.MessageBinary, []byte(`{"jsonrpc":"2.0","method":"counts/for_nothing","params":{}}`))
				_ = socket.Close(code, "why")
				return
			case 2:
				close(again)
			}
			_, _, _ = socket.Read(ctx)
		})
		client, err := WebSocket(t.Context(), url, Options{
			Reconnect: Backoff{First: time.Millisecond}, OnEvent: func(ev Event) { t.Errorf("a binary frame is told as %s", ev.Method) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if comesAgain {
			select {
			case <-again:
			case <-client.Done():
				t.Errorf("%d: %v", code, client.Err())
			}
		} else {
			<-client.Done()
			var locked *AuthError
			if !errors.As(client.Err(), &locked) || locked.Status != int(code) || locked.Reason != "why" {
				t.Errorf("%d: %v", code, client.Err())
			}
		}
		_ = client.Close()
	}
}

// TestWebSocket_lostInTheMiddleOfAFrame is a lost connection, and no frame that is none.
func TestWebSocket_lostInTheMiddleOfAFrame(t *testing.T) {
	connections := make(chan struct{}, 8)
	url := serve(t, func(ctx context.Context, socket *websocket.Conn, r *http.Request) {
		connections <- struct{}{}
		if len(connections) > 1 {
			_, _, _ = socket.Read(ctx)
			return
		}
		raw, is := r.Context().Value(rawConnection{}).(net.Conn)
		if !is {
			t.Error("the test does not have its connection")
			return
		}
		_, _ = raw.Write([]byte{0x81, 40}) // a text of 40 bytes, and none of them
		_ = raw.Close()
	})
	client, err := WebSocket(t.Context(), url, Options{Reconnect: Backoff{First: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for len(connections) < 2 && client.Err() == nil {
		if _, err := client.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if client.Err() != nil {
		t.Error(client.Err())
	}
}

// rawConnection is where the context of a request has its connection.
type rawConnection struct{}

// TestWebSocket_frameOverTheBound is not read, and not asked for again.
func TestWebSocket_frameOverTheBound(t *testing.T) {
	connections, again := make(chan struct{}, 1), make(chan struct{}, 1)
	url := serve(t, func(ctx context.Context, socket *websocket.Conn, _ *http.Request) {
		select {
		case connections <- struct{}{}:
			_ = socket.Write(ctx, websocket.MessageText, []byte(`"`+strings.Repeat("x", oupwire.MaxTextFrameBytes)+`"`))
		default:
			again <- struct{}{}
		}
		_, _, _ = socket.Read(ctx)
	})
	client, err := WebSocket(t.Context(), url, Options{Reconnect: Backoff{First: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-again:
		t.Error("the client asks again for the frame that it cannot have")
	case <-client.Done():
		if !isProtocol(client.Err()) {
			t.Errorf("the client ends with %v", client.Err())
		}
	}
	_ = client.Close()
}
