package oupserver

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The codes with which a socket is closed.
const (
	closeTooLarge = int(websocket.StatusMessageTooBig)
	closeRestart  = int(websocket.StatusServiceRestart)
	closePolicy   = int(websocket.StatusPolicyViolation)
)

// Path is where clients connect.
var Path = protocolText("websocket_path")

// ServeHTTP serves one client over WebSocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session, ingress := s.ingress(r)
	if r.URL.Path != Path && !ingress {
		http.NotFound(w, r)
		return
	}
	if s.Upgrade != nil {
		s.Upgrade(r.Header, r.URL.Query())
	}
	if !s.mayOrigin(r) && !(ingress && s.does("lets every origin in with a work secret")) {
		http.Error(w, "foreign origin", http.StatusForbidden)
		return
	}
	var shown *granted
	if ingress {
		who, refusal := s.admits(r, session)
		if refusal != "" {
			http.Error(w, refusal, http.StatusUnauthorized)
			return
		}
		shown = &who
	} else if !s.knows(r) {
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		return
	}
	accept := &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: []string{protocolText("subprotocol")}}
	switch {
	case s.does("selects no subprotocol"):
		accept.Subprotocols = nil
	case s.does("echoes the credential"):
		accept.Subprotocols = []string{protocolText("bearer_subprotocol") + s.token}
	}
	if s.does("needs a subprotocol") && r.Header.Get("Sec-WebSocket-Protocol") == "" {
		http.Error(w, "a subprotocol is needed", http.StatusBadRequest)
		return
	}
	socket, err := websocket.Accept(w, r, accept)
	if err != nil {
		return // it was answered
	}
	socket.SetReadLimit(-1)
	c := s.connect(oupwire.TransportWebsocket, s.tokens(r))
	c.granted = shown // nobody else looks at it
	s.carry(r.Context(), c, socket)
}

// carry serves one socket.
func (s *Server) carry(ctx context.Context, c *conn, socket *websocket.Conn) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var working sync.WaitGroup
	working.Go(func() {
		c.write(func(frame []byte) error { return socket.Write(ctx, websocket.MessageText, frame) })
		s.mu.Lock()
		code := c.code
		s.mu.Unlock()
		if code != 0 {
			reason := ""
			if code == closePolicy {
				reason = closeReason(code)
			}
			_ = socket.Close(websocket.StatusCode(code), reason)
		} else {
			_ = socket.CloseNow()
		}
		cancel()
	})
	working.Go(func() { s.beat(ctx, c) })
	s.readMessages(ctx, c, socket)
	s.leave(c)
	c.end()
	working.Wait()
}

func closeReason(code int) string {
	for _, row := range oupwire.TableCloseCodes {
		if row.Code == "1008" && code == closePolicy {
			return row.Reason
		}
	}
	return ""
}

func (s *Server) readMessages(ctx context.Context, c *conn, socket *websocket.Conn) {
	for {
		kind, r, err := socket.Reader(ctx)
		if err != nil {
			return
		}
		frame, err := io.ReadAll(io.LimitReader(r, oupwire.MaxTextFrameBytes+1))
		if err != nil {
			return
		}
		if kind != websocket.MessageText && !s.does("reads binary messages") {
			_, _ = io.Copy(io.Discard, r)
			continue
		}
		s.receive(c, frame, len(frame) > oupwire.MaxTextFrameBytes)
		if s.over(c) {
			<-ctx.Done()
			return
		}
	}
}

// beat sends a heartbeat at every interval.
func (s *Server) beat(ctx context.Context, c *conn) {
	if s.does("never beats") {
		return
	}
	ticker := time.NewTicker(s.rest)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.mu.Lock()
			params := object{}
			if s.does("tells the time with its heart") {
				params["ts"] = 1
			}
			c.send("event", object{"jsonrpc": version, "method": oupwire.MethodServerHeartbeat, "params": params})
			s.mu.Unlock()
		}
	}
}

// mayOrigin judges the origin of a page.
func (s *Server) mayOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if strings.TrimSpace(origin) == "" {
		return !s.does("needs an origin")
	}
	if s.does("lets every origin in") {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// knows judges the credential: the first place that has one decides alone.
func (s *Server) knows(r *http.Request) bool {
	if s.does("lets everybody in") {
		return true
	}
	if header := r.Header.Get("Authorization"); header != "" {
		if header == "Bearer "+s.token {
			return true
		}
		if !s.does("takes any place that has the token") {
			return false
		}
	}
	for _, offer := range r.Header.Values("Sec-WebSocket-Protocol") {
		for part := range strings.SplitSeq(offer, ",") {
			if token, found := strings.CutPrefix(strings.TrimSpace(part), protocolText("bearer_subprotocol")); found {
				return token == s.token
			}
		}
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == protocolText("token_query") || name == protocolText("token_query_older") {
			if s.does("does not decode the query") {
				return value == s.token
			}
			plain, err := url.QueryUnescape(value)
			return err == nil && plain == s.token
		}
	}
	return false
}

// tokens are the features that came with a connection: of the header and of the query.
func (s *Server) tokens(r *http.Request) []string {
	values := slices.Clone(r.Header.Values(protocolText("feature_header")))
	if !s.does("reads features of the header alone") || len(values) == 0 {
		for _, name := range oupwire.TableFeatureQueryNames {
			values = append(values, r.URL.Query()[name]...)
		}
	}
	var tokens []string
	for _, v := range values {
		tokens = append(tokens, strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ' ' })...)
	}
	return tokens
}
