// Package web is the HTTP side of an OUP server: the two WebSocket paths, the status, and the files of a browser
// client.
//
// Sheet: OUP core 2.3, 2.4; settled S76.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/protocol"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Options make a Site.
type Options struct {
	Serve func(context.Context, transport.Conn) // carries one connection through
	// Token is what clients of every session show; empty lets everybody in.
	Token string
	// Origins are further origins that pages may connect from.
	Origins []string
	Grants  *access.Grants // of single sessions
	// Root are the files of a browser client; nil: there is none.
	Root    *os.Root
	Release string
	Now     func() time.Time // nil: time.Now
}

// Site answers HTTP. It is an http.Handler.
type Site struct {
	o       Options
	main    *transport.WebSocket
	ingress *transport.WebSocket
	started time.Time
	mux     *http.ServeMux
}

var (
	statusPath  = protocol.Text("status_path")
	ingressPath = protocol.Text("ingress_path")
	tokenQuery  = protocol.Text("token_query")
)

// New returns a site.
func New(o Options) *Site {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Site{o: o, started: o.Now(), mux: http.NewServeMux()}
	s.main = &transport.WebSocket{Origins: o.Origins, Serve: o.Serve}
	if o.Token != "" {
		s.main.Authenticate = func(token string) (transport.Identity, bool) {
			return transport.Identity{Name: "owner"}, access.Same(token, o.Token)
		}
	}
	s.ingress = &transport.WebSocket{Origins: o.Origins, Serve: o.Serve, Identify: s.granted}
	s.mux.Handle("GET "+transport.WebSocketPath, s.main)
	s.mux.Handle("GET "+ingressPath, s.ingress)
	s.mux.HandleFunc("GET "+statusPath, s.status)
	s.mux.HandleFunc("GET /", s.file)
	return s
}

// ServeHTTP answers one request. What a page of this site may do is narrow: its files are those of the operator,
// and nothing of it belongs into a page of somebody else.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Frame-Options", "DENY")
	if r.URL.Path == ingressPath || strings.HasPrefix(r.URL.EscapedPath(), ingressPath) {
		s.ingress.ServeHTTP(w, r) // a key may have what a mux would clean away
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close refuses new connections, closes all with the reason, and returns when nothing of them is left.
func (s *Site) Close(reason transport.Reason) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ingress.Close(reason)
	}()
	s.main.Close(reason)
	<-done
}

// Status is the answer to GET /api/status.
type Status struct {
	Status        string `json:"status"`
	Protocol      string `json:"protocol"`
	SchemaVersion int    `json:"schema_version"`
	Release       string `json:"release"`
	WebSocket     string `json:"websocket"`
	AuthRequired  bool   `json:"auth_required"`
	UptimeMs      int64  `json:"uptime_ms"`
}

// status says that the server is there, and how to connect. It has no secret, so it asks for no token.
func (s *Site) status(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(Status{ // a client that went away needs no answer
		Status: "ok", Protocol: protocol.Text("identifier"), SchemaVersion: oupwire.SchemaVersion, Release: s.o.Release,
		WebSocket: transport.WebSocketPath, AuthRequired: s.o.Token != "", UptimeMs: s.o.Now().Sub(s.started).Milliseconds(),
	})
}

var (
	errNoGrant  = errors.New("the token is missing, wrong, or no longer good for this session; ask for a new work secret")
	errOldQuery = errors.New("the token is looked for in the Authorization header, then in the query parameter " + tokenQuery + "; send it there")
)

// granted says who may connect to the one session of a path.
//
// Rules: OUP-INGRESS-001, OUP-INGRESS-002.
func (s *Site) granted(r *http.Request) (transport.Identity, error) {
	session, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), ingressPath))
	if err != nil || session == "" || s.o.Grants == nil {
		return transport.Identity{}, errNoGrant
	}
	token := ""
	query := r.URL.Query()
	switch {
	case len(r.Header.Values("Authorization")) > 0:
		token = transport.Bearer(r)
	case query.Get(tokenQuery) != "":
		token = query.Get(tokenQuery)
	case query.Has("_" + tokenQuery), query.Has("session_ingress_" + tokenQuery):
		return transport.Identity{}, errOldQuery
	}
	if who, ok := s.o.Grants.Identify(session, token); ok {
		return who, nil
	}
	return transport.Identity{}, errNoGrant
}
