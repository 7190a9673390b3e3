package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
)

// serving is a server on a real socket whose connections are handed to the test.
type serving struct {
	*WebSocket
	url   string
	conns chan Conn
	done  chan struct{} // one for each connection, ends it
}

func serve(t *testing.T, ws *WebSocket) *serving {
	t.Helper()
	s := &serving{WebSocket: ws, conns: make(chan Conn, 8), done: make(chan struct{}, 8)}
	ws.Serve = func(ctx context.Context, c Conn) {
		s.conns <- c
		select {
		case <-s.done:
		case <-ctx.Done():
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+WebSocketPath, ws)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { ws.Close(Ended) })
	s.url = server.URL + WebSocketPath
	return s
}

// dial connects; status is that of a refusal, or 101.
func (s *serving) dial(t *testing.T, query string, header http.Header, protocols ...string) (conn *websocket.Conn, response *http.Response) {
	t.Helper()
	conn, response, err := websocket.Dial(t.Context(), s.url+query, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
	if err != nil && response == nil {
		t.Fatal(err)
	}
	if conn != nil {
		conn.SetReadLimit(-1)
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, response
}

func token(want string) func(string) (Identity, bool) {
	return func(got string) (Identity, bool) { return Identity{Name: "someone"}, got == want }
}

// TestWebSocket_looksForTheCredentialInOrder: OUP-SOCKET-002, OUP-SOCKET-005, OUP-SOCKET-006,
// OUP-SOCKET-007 and OUP-SOCKET-008.
func TestWebSocket_looksForTheCredentialInOrder(t *testing.T) {
	s := serve(t, &WebSocket{Authenticate: token("a+b/c=")})
	bearer := func(value string) http.Header { return http.Header{"Authorization": {value}} }
	for name, c := range map[string]struct {
		query     string
		header    http.Header
		protocols []string
		status    int
		selected  string
	}{
		"none":                     {"", nil, nil, 401, ""},
		"header":                   {"", bearer("Bearer a+b/c="), nil, 101, ""},
		"header, other case":       {"", bearer("bearer a+b/c="), nil, 101, ""},
		"header wrong, query good": {"?token=a%2Bb%2Fc%3D", bearer("Bearer x"), nil, 401, ""},
		"header of another scheme": {"?token=a%2Bb%2Fc%3D", bearer("Basic a+b/c="), nil, 401, ""},
		"header good, query wrong": {"?token=x", bearer("Bearer a+b/c="), nil, 101, ""},
		"query":                    {"?token=a%2Bb%2Fc%3D", nil, nil, 101, ""},
		"query, plus as it is":     {"?token=a+b/c=", nil, nil, 101, ""},
		"query, older name":        {"?x=1&_token=a%2Bb%2Fc%3D", nil, nil, 101, ""},
		"query, first decides":     {"?token=x&token=a%2Bb%2Fc%3D", nil, nil, 401, ""},
		"query, broken":            {"?token=a%2", nil, nil, 401, ""},
		"query, empty":             {"?token=", nil, nil, 401, ""},
		"subprotocol":              {"?token=x", nil, []string{"octos-ui", "octos.bearer.good"}, 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, response := s.dial(t, c.query, c.header, c.protocols...)
			if response.StatusCode != c.status {
				t.Fatalf("status %d, want %d", response.StatusCode, c.status)
			}
			if conn == nil {
				body, _ := io.ReadAll(response.Body)
				if strings.Contains(string(body), "a+b") {
					t.Errorf("the refusal tells the token: %s", body)
				}
				return
			}
			if got := (<-s.conns).Info().Identity; !got.Known() {
				t.Error("the connection has no identity")
			}
			if conn.Subprotocol() != c.selected {
				t.Errorf("selected %q, want %q", conn.Subprotocol(), c.selected)
			}
		})
	}
	good := serve(t, &WebSocket{Authenticate: token("good")})
	conn, response := good.dial(t, "?token=x", nil, "octos.bearer.good", "octos-ui")
	if conn == nil || conn.Subprotocol() != "octos-ui" {
		t.Errorf("a credential as subprotocol: status %d", response.StatusCode)
	}
}

// TestWebSocket_judgesTheOrigin: OUP-SOCKET-003 and OUP-SOCKET-004.
func TestWebSocket_judgesTheOrigin(t *testing.T) {
	ws := &WebSocket{Authenticate: token(""), Origins: []string{"https://app.example"}}
	for name, c := range map[string]struct {
		host    string
		origins []string
		open    bool // no token is asked for
		want    bool
	}{
		"none":                     {"127.0.0.1:1", nil, false, true},
		"blank":                    {"127.0.0.1:1", []string{" "}, false, true},
		"listed":                   {"127.0.0.1:1", []string{"https://APP.example"}, false, true},
		"listed, other scheme":     {"127.0.0.1:1", []string{"http://app.example"}, false, false},
		"longer than listed":       {"127.0.0.1:1", []string{"https://app.example.evil"}, false, false},
		"foreign":                  {"127.0.0.1:1", []string{"https://evil.example"}, false, false},
		"null":                     {"127.0.0.1:1", []string{"null"}, false, false},
		"not ASCII":                {"127.0.0.1:1", []string{"https://\xff"}, false, false},
		"two":                      {"127.0.0.1:1", []string{"https://app.example", "https://app.example"}, false, false},
		"same":                     {"agent.lan:1", []string{"http://agent.lan:1"}, false, true},
		"same, other port":         {"agent.lan:1", []string{"http://agent.lan:2"}, false, false},
		"same, rebound, no token":  {"evil.example:1", []string{"http://evil.example:1"}, true, false},
		"same, loopback, no token": {"localhost:1", []string{"http://localhost:1"}, true, true},
		"same, IPv6, no token":     {"[::1]:1", []string{"http://[::1]:1"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, WebSocketPath, nil)
			r.Host = c.host
			if c.origins != nil {
				r.Header["Origin"] = c.origins
			}
			judge := &WebSocket{Authenticate: ws.Authenticate, Origins: ws.Origins}
			if c.open {
				judge.Authenticate = nil
			}
			if got := judge.mayOrigin(r); got != c.want {
				t.Errorf("may connect: %v, want %v", got, c.want)
			}
		})
	}
	s := serve(t, &WebSocket{Authenticate: token("good")})
	if _, response := s.dial(t, "", http.Header{"Origin": {"https://evil.example"}}); response.StatusCode != 403 {
		t.Errorf("a foreign origin without a token gives %d, want 403", response.StatusCode)
	}
}

// TestWebSocket_joinsFeatures: OUP-SOCKET-010, and OUP-FEATURE-002 blank ones count as none.
func TestWebSocket_joinsFeatures(t *testing.T) {
	s := serve(t, &WebSocket{})
	s.dial(t, "?ui_feature=c,d&ui_features=e%20a&x-octos-ui-features=f", http.Header{"X-Octos-Ui-Features": {"a, b", "b"}})
	if got := (<-s.conns).Info(); !slices.Equal(got.Features, []string{"a", "b", "c", "d", "e", "f"}) || !got.Loopback {
		t.Errorf("info is %+v", got)
	}
	s.dial(t, "?ui_feature=%20,&other=x", nil)
	if got := (<-s.conns).Info().Features; len(got) != 0 {
		t.Errorf("blank features give %q", got)
	}
}

// TestWebSocket_carriesTextFrames: OUP-SOCKET-001 binary messages are passed over, OUP-SOCKET-013 a Ping gets a Pong.
func TestWebSocket_carriesTextFrames(t *testing.T) {
	s := serve(t, &WebSocket{})
	client, _ := s.dial(t, "", nil)
	server := <-s.conns
	frames := make(chan string, 8)
	ended := make(chan error, 1)
	go func() {
		for {
			frame, err := server.Read()
			if err != nil {
				ended <- err
				return
			}
			frames <- string(frame)
		}
	}()
	full := strings.Repeat("x", oupwire.MaxTextFrameBytes)
	for _, m := range []struct {
		kind websocket.MessageType
		text string
	}{{websocket.MessageBinary, "binary"}, {websocket.MessageText, "{}"}, {websocket.MessageText, full}} {
		if err := client.Write(t.Context(), m.kind, []byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-frames; got != "{}" {
		t.Errorf("first frame is %q", got)
	}
	if got := <-frames; len(got) != len(full) {
		t.Errorf("a frame of exactly the bound arrived with %d bytes", len(got))
	}
	reading := client.CloseRead(t.Context())
	if err := client.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	if err := server.Write([]byte("a\n")); err == nil {
		t.Error("a frame with a line break was written")
	}
	_ = client.Close(websocket.StatusNormalClosure, "")
	<-reading.Done()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the end by the client gives %v, want io.EOF", err)
	}
}

func TestWebSocket_answersAFrameOverTheBoundBeforeItCloses(t *testing.T) {
	s := serve(t, &WebSocket{})
	client, _ := s.dial(t, "", nil)
	server := <-s.conns
	result := make(chan error, 1)
	go func() {
		_, err := server.Read()
		var tooLarge *TooLargeError
		if !errors.As(err, &tooLarge) {
			result <- err
			return
		}
		if _, err := server.Read(); !errors.As(err, &tooLarge) {
			result <- err
			return
		}
		if err := server.Write([]byte(`{"too":"large"}`)); err != nil {
			result <- err
			return
		}
		result <- server.Close(TooLarge)
	}()
	go func() {
		_ = client.Write(t.Context(), websocket.MessageText, make([]byte, oupwire.MaxTextFrameBytes+1))
	}()
	if _, frame, err := client.Read(t.Context()); err != nil || string(frame) != `{"too":"large"}` {
		t.Errorf("the answer is %q, %v", frame, err)
	}
	_, _, err := client.Read(t.Context())
	if got := websocket.CloseStatus(err); got != 1009 {
		t.Errorf("closed with %d, want 1009: %v", got, err)
	}
	if err := <-result; err != nil {
		t.Errorf("the server saw %v", err)
	}
}

// TestWebSocket_closesWithTheCodeOfTheReason: OUP-SOCKET-015 a withdrawn credential, OUP-SOCKET-016 a planned restart.
func TestWebSocket_closesWithTheCodeOfTheReason(t *testing.T) {
	revoked := make(chan struct{})
	s := serve(t, &WebSocket{Authenticate: func(string) (Identity, bool) { return Identity{Name: "x", Revoked: revoked}, true }})
	closedWith := func(client *websocket.Conn) (websocket.StatusCode, string) {
		_, _, err := client.Read(t.Context())
		var status websocket.CloseError
		errors.As(err, &status)
		return status.Code, status.Reason
	}
	client, _ := s.dial(t, "", nil)
	server := <-s.conns
	close(revoked)
	if code, reason := closedWith(client); code != 1008 || reason != "auth_expired" {
		t.Errorf("a withdrawn credential closes with %d %q", code, reason)
	}
	if _, err := server.Read(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read behind the close gives %v", err)
	}

	s = serve(t, &WebSocket{})
	client, _ = s.dial(t, "", nil)
	<-s.conns
	ended := make(chan struct{})
	go func() { s.Close(Restart); close(ended) }()
	if code, _ := closedWith(client); code != 1012 {
		t.Errorf("a restart closes with %d, want 1012", code)
	}
	<-ended
	if _, response := s.dial(t, "", nil); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a server that ends answers %d", response.StatusCode)
	}

	s = serve(t, &WebSocket{})
	client, _ = s.dial(t, "", nil)
	<-s.conns
	s.done <- struct{}{}
	if code, _ := closedWith(client); code != 1000 {
		t.Errorf("an ordinary end closes with %d, want 1000", code)
	}
}

// TestWebSocket_endsWithAClientThatStoppedInAMessage: the rest of a message over the bound never comes, and no close
// waits for it.
func TestWebSocket_endsWithAClientThatStoppedInAMessage(t *testing.T) {
	s := serve(t, &WebSocket{CloseWait: time.Millisecond})
	stream, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(s.url, WebSocketPath), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	handshake := "GET " + WebSocketPath + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	header := []byte{0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0} // 2 MiB of text, masked with zeros
	begun := append(append([]byte(handshake), header...), make([]byte, oupwire.MaxTextFrameBytes+1)...)
	if _, err := stream.Write(begun); err != nil {
		t.Fatal(err)
	}
	server := <-s.conns
	var tooLarge *TooLargeError
	if _, err := server.Read(); !errors.As(err, &tooLarge) {
		t.Fatalf("read %v", err)
	}
	if err := server.Close(TooLarge); err != nil {
		t.Error(err)
	}
}

// TestWebSocket_givesUpAClientThatDoesNotRead: the queue fills, answers cannot be sent, and nothing waits for it.
func TestWebSocket_givesUpAClientThatDoesNotRead(t *testing.T) {
	s := serve(t, &WebSocket{})
	s.dial(t, "", nil)
	o := NewOutbox(<-s.conns, OutboxOptions{Frames: 4})
	frame := []byte(strings.Repeat("x", oupwire.MaxTextFrameBytes))
	for o.Send(Frame{Data: frame, Class: Lifecycle}) != Gone {
	}
	<-o.Ended()
	if !errors.Is(o.Err(), ErrGivenUp) {
		t.Errorf("ended with %v", o.Err())
	}
}
