package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/protocol"
)

// WebSocket serves connections at the path of the protocol. It is an http.Handler.
type WebSocket struct {
	// Authenticate tells who a token stands for, or refuses it. It compares in constant time. Nil lets everybody in.
	Authenticate func(token string) (Identity, bool)
	// Identify tells it of the whole request, instead of Authenticate. The error says what is wrong, without the token.
	Identify func(*http.Request) (Identity, error)
	// Origins are further origins that pages may connect from, as scheme://host:port. A page of the same origin
	// always may.
	Origins []string
	// Serve carries one connection through; the connection is closed when it returns.
	Serve func(context.Context, Conn)
	// CloseWait is how long a client may take to answer a close; 5 s if zero.
	CloseWait time.Duration

	mu       sync.Mutex
	conns    map[*socket]bool
	draining bool
	serving  sync.WaitGroup
}

// The texts of a handshake.
var (
	subprotocol       = protocol.Text("subprotocol")
	bearerSubprotocol = protocol.Text("bearer_subprotocol")
	featureHeader     = protocol.Text("feature_header")
	tokenQueries      = []string{protocol.Text("token_query"), protocol.Text("token_query_older")}
)

// WebSocketPath is where clients connect.
var WebSocketPath = protocol.Text("websocket_path")

// ServeHTTP refuses a foreign origin with 403 and a wrong token with 401, and serves the connection otherwise.
func (ws *WebSocket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !ws.mayOrigin(r) {
		http.Error(w, "pages of this origin may not connect; add it to the allowed origins", http.StatusForbidden)
		return
	}
	who, err := ws.identify(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if !ws.enter() {
		http.Error(w, "the server is ending; connect again", http.StatusServiceUnavailable)
		return
	}
	defer ws.serving.Done()
	kept := &keeper{ResponseWriter: w}
	conn, err := websocket.Accept(kept, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true, // the origin was judged above
	})
	if err != nil {
		return // Accept answered the request
	}
	conn.SetReadLimit(-1) // Read has its own bound, so that the error can be answered before the close
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &socket{
		conn: conn, stream: kept.stream, ctx: ctx, cancel: cancel, wait: ws.CloseWait,
		info: Info{Transport: oupwire.TransportWebsocket, Features: features(r), Identity: who, Loopback: IsLoopback(r.RemoteAddr)},
	}
	if s.wait == 0 {
		s.wait = defaultGrace
	}
	ws.carry(s)
}

var errToken = errors.New("the token is missing or wrong; send it as a bearer token")

func (ws *WebSocket) identify(r *http.Request) (Identity, error) {
	switch {
	case ws.Identify != nil:
		return ws.Identify(r)
	case ws.Authenticate == nil:
		return Identity{}, nil
	}
	who, known := ws.Authenticate(credential(r))
	if !known {
		return Identity{}, errToken
	}
	return who, nil
}

func (ws *WebSocket) enter() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.draining {
		return false
	}
	ws.serving.Add(1)
	return true
}

// carry serves one connection and returns when nothing of it is left.
func (ws *WebSocket) carry(s *socket) {
	ws.mu.Lock()
	if ws.conns == nil {
		ws.conns = map[*socket]bool{}
	}
	ws.conns[s] = true
	late := ws.draining
	ws.mu.Unlock()
	defer func() {
		ws.mu.Lock()
		delete(ws.conns, s)
		ws.mu.Unlock()
	}()

	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer s.cancel()
	watcher.Go(func() {
		select {
		case <-s.info.Identity.Revoked:
			_ = s.Close(AuthExpired) // Serve sees the end of the connection
		case <-s.ctx.Done():
		}
	})
	if late {
		_ = s.Close(Restart) // the client connects again and says no more
		return
	}
	ws.Serve(s.ctx, s)
	_ = s.Close(Ended) // the ordinary end has nobody to tell
}

// Close refuses new connections, closes all with the reason, and returns when each Serve has.
func (ws *WebSocket) Close(reason Reason) {
	ws.mu.Lock()
	ws.draining = true
	var closers sync.WaitGroup
	for s := range ws.conns {
		closers.Go(func() { _ = s.Close(reason) }) // a connection that cannot be told is gone anyway
	}
	ws.mu.Unlock()
	closers.Wait()
	ws.serving.Wait()
}

// keeper keeps the stream below a WebSocket, whose own close waits without a bound for the rest of a message that a
// client began.
type keeper struct {
	http.ResponseWriter
	stream net.Conn
}

// Hijack takes the stream over.
func (k *keeper) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	stream, buffered, err := http.NewResponseController(k.ResponseWriter).Hijack()
	k.stream = stream
	return stream, buffered, err
}

// socket is one connection over WebSocket.
type socket struct {
	conn   *websocket.Conn
	stream net.Conn // below it
	ctx    context.Context
	cancel context.CancelFunc
	info   Info
	wait   time.Duration

	once    sync.Once
	closing atomic.Bool
	over    bool // a frame over the bound was read; Read alone uses it
}

func (s *socket) Info() Info { return s.info }

// Read returns the next text message and passes over binary ones.
func (s *socket) Read() ([]byte, error) {
	if s.over {
		return nil, &TooLargeError{Limit: bound}
	}
	for {
		kind, message, err := s.conn.Reader(s.ctx)
		if err != nil {
			return nil, s.ended(err)
		}
		if kind != websocket.MessageText {
			if _, err := io.Copy(io.Discard, message); err != nil {
				return nil, s.ended(err)
			}
			continue
		}
		frame, err := io.ReadAll(io.LimitReader(message, bound+1))
		switch {
		case err != nil:
			return nil, s.ended(err)
		case len(frame) > bound:
			s.over = true
			return nil, &TooLargeError{Limit: bound}
		}
		return frame, nil
	}
}

// ended tells the end by the client and the end by this side from a failure.
func (s *socket) ended(err error) error {
	switch {
	case s.closing.Load(), errors.Is(err, net.ErrClosed):
		return net.ErrClosed
	case websocket.CloseStatus(err) != -1, errors.Is(err, io.EOF):
		return io.EOF
	}
	return err
}

func (s *socket) Write(frame []byte) error {
	if err := mayWrite(frame); err != nil {
		return err
	}
	if err := s.conn.Write(s.ctx, websocket.MessageText, frame); err != nil {
		if s.closing.Load() {
			return net.ErrClosed
		}
		return err
	}
	return nil
}

var closeCodes = map[Reason]websocket.StatusCode{
	Ended:       websocket.StatusNormalClosure,
	AuthExpired: websocket.StatusPolicyViolation,
	TooLarge:    websocket.StatusMessageTooBig,
	Restart:     websocket.StatusServiceRestart,
}

// Close sends the code of the reason and waits for the client's answer, within the bound. A connection that is
// given up ends at once and without a word, also while another close waits. There is no error: a client that went
// away without a close, as one whose program ends does, has nothing left to be told.
func (s *socket) Close(reason Reason) error {
	s.closing.Store(true)
	if reason == GivenUp {
		s.sever()
		return nil
	}
	s.once.Do(func() {
		defer s.cancel()
		if s.ctx.Err() != nil {
			_ = s.conn.CloseNow()
			return
		}
		late := time.AfterFunc(s.wait, s.sever)
		defer late.Stop()
		code := closeCodes[reason]
		_ = s.conn.Close(code, protocol.CloseReason(int(code)))
	})
	return nil
}

// sever ends the connection whatever its client does.
func (s *socket) sever() {
	s.cancel()
	_ = s.stream.Close()
}

// Bearer returns the token of the Authorization header, or "" where it has none.
func Bearer(r *http.Request) string {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(headers[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// credential returns the token of a request, or "". The first place that has one decides alone: the header, a
// subprotocol, the query.
func credential(r *http.Request) string {
	if len(r.Header.Values("Authorization")) > 0 {
		return Bearer(r)
	}
	for _, offer := range list(r.Header.Values("Sec-WebSocket-Protocol"), ",") {
		if token, found := strings.CutPrefix(offer, bearerSubprotocol); found {
			return token
		}
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(tokenQueries, name) {
			return unescape(value)
		}
	}
	return ""
}

// features returns the tokens of the header and of the query, joined.
func features(r *http.Request) []string {
	values := slices.Clone(r.Header.Values(featureHeader))
	query := r.URL.Query()
	for _, name := range oupwire.TableFeatureQueryNames {
		values = append(values, query[name]...)
	}
	var named []string
	for _, token := range list(values, ", \t") {
		if !slices.Contains(named, token) {
			named = append(named, token)
		}
	}
	return named
}

// list splits values at any of the separators and leaves blank parts out.
func list(values []string, separators string) []string {
	var parts []string
	for _, value := range values {
		for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// IsLoopback reports whether an address, with or without a port, is one of this machine.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
