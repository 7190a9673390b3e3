package oupserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// ingressPath is where clients with a work secret connect, in front of their session.
var ingressPath = protocolText("ingress_path")

// grant lets whoever has a work secret into one session.
type grant struct {
	session, digest string
	ends            time.Time
}

// granted is what the client of a connection has shown.
type granted struct{ session, secret string }

// Issue makes a work secret of a session. The one that it had before ends.
func (s *Server) Issue(session string, lasts time.Duration) (secret string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret = rand.Text()
	if !s.does("replaces no work secret") {
		s.grants = slices.DeleteFunc(s.grants, func(g grant) bool { return g.session == session })
	}
	s.grants = append(s.grants, grant{session, digest(secret), time.Now().Add(lasts)})
	if s.Directory == "" {
		return secret, nil
	}
	kept := digest(secret)
	if s.does("keeps work secrets as they are") {
		kept = secret
	}
	return secret, os.WriteFile(filepath.Join(s.Directory, "grants.json"), encode(object{session: kept}), 0o600)
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (s *Server) holds(who granted) bool {
	return slices.ContainsFunc(s.grants, func(g grant) bool {
		same := g.session == who.session
		if s.does("takes the base of a session for all of it") {
			same = baseOf(g.session) == baseOf(who.session)
		}
		return same && g.digest == digest(who.secret) && (time.Now().Before(g.ends) || s.does("has work secrets that never end"))
	})
}

func baseOf(key string) string {
	base, _, _ := strings.Cut(key, "#")
	return base
}

// ingress is the session in a path; false where the path is another one.
func (s *Server) ingress(r *http.Request) (session string, is bool) {
	spelled, is := strings.CutPrefix(r.URL.EscapedPath(), ingressPath)
	if !is || s.does("does not decode the session of a path") {
		return spelled, is
	}
	session, err := url.PathUnescape(spelled)
	return session, err == nil
}

// admits judges the work secret of a request. A refusal says why.
func (s *Server) admits(r *http.Request, session string) (who granted, refusal string) {
	who.session = session
	name := protocolText("token_query")
	query := r.URL.Query()
	header, inHeader := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch older := query.Get(protocolText("token_query_older")) + query.Get(protocolText("ingress_token")); {
	case inHeader && (!s.does("looks for a work secret in the query first") || query.Get(name) == ""):
		who.secret = header
	case query.Get(name) != "":
		who.secret = query.Get(name)
	case older != "" && s.does("takes older parameters for a work secret"):
		who.secret = older
	case older != "" && !s.does("does not say where a work secret belongs"):
		return who, "send the secret in the Authorization header, or in the query parameter " + name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.holds(who) {
		return who, "no access"
	}
	return who, ""
}

// lapsed sends a client away whose work secret is good no longer.
func (c *conn) lapsed() bool {
	if c.granted == nil || c.s.holds(*c.granted) || c.s.does("asks for a work secret once") {
		return false
	}
	c.code, c.gone, c.failed = closePolicy, true, true
	c.s.changed.Broadcast()
	return true
}

// The words of the tables that count here.
const (
	ingressNo    = "no"
	ingressExact = "exact"
	topicFolds   = "fold"
)

// notGranted is why a method is closed to a client with a work secret.
const notGranted = "is not for a credential of one session"

// reachOf is what the tables say of a method.
func reachOf(method string) (topic, ingress string) {
	for _, row := range oupwire.TableMethodReach {
		if row.Method == method {
			return row.Topic, row.Ingress
		}
	}
	for _, row := range oupwire.TableServiceMethodReach {
		if row.Method == method {
			return row.Topic, row.Ingress
		}
	}
	return "", ""
}

// outside reports whether a method is closed to the work secret of a connection.
func (c *conn) outside(method string) bool {
	_, ingress := reachOf(method)
	if serviceHandlers()[method] != nil && c.s.does("lets a work secret call services") {
		return false
	}
	return c.granted != nil && ingress == ingressNo
}

// held refuses a request that is about another session than that of the work secret.
func (c *conn) held(method string, p object) *failure {
	s := c.s
	if c.granted == nil || method == oupwire.MethodClientHello && !s.does("looks for the session of a hello") {
		return nil
	}
	topic, ingress := reachOf(method)
	folds := topic == topicFolds && ingress != ingressExact && !s.does("folds no topic for a work secret") || s.does("folds every topic for a work secret")
	key := text(p, "session_id")
	if theme := strings.TrimSpace(text(p, "topic")); folds && theme != "" {
		key = baseOf(key) + "#" + theme
	}
	if key == c.granted.session || s.does("lets a work secret into every session") {
		return nil
	}
	f := fail(oupwire.ErrInvalidRequest, "the credential belongs to another session", nil)
	if s.does("tells the session of a work secret") {
		f.data = object{"session_id": c.granted.session}
	}
	return f
}

func ingressFaults() []Fault {
	faults := []Fault{
		act("OUP-INGRESS-001", "takes the base of a session for all of it"),
		act("OUP-INGRESS-001", "does not decode the session of a path"),
		act("OUP-INGRESS-002", "looks for a work secret in the query first"),
		act("OUP-INGRESS-002", "takes older parameters for a work secret"),
		act("OUP-INGRESS-002", "does not say where a work secret belongs"),
		act("OUP-INGRESS-003", "keeps work secrets as they are"),
		act("OUP-INGRESS-003", "has work secrets that never end"),
		act("OUP-INGRESS-003", "replaces no work secret"),
		act("OUP-INGRESS-004", "asks for a work secret once"),
		act("OUP-INGRESS-005", "lets every origin in with a work secret"),
		act("OUP-INGRESS-006", "looks for the session of a hello"),
		act("OUP-INGRESS-007", "lets a work secret call everything"),
		act("OUP-INGRESS-008", "lets a work secret into every session"),
		act("OUP-INGRESS-008", "tells the session of a work secret"),
		act("OUP-INGRESS-009", "folds no topic for a work secret"),
		act("OUP-INGRESS-009", "folds every topic for a work secret"),
		act("OUP-INGRESS-010", "lists everything to a work secret"),
	}
	for i := range faults {
		faults[i] = faults[i].over(sockets)
	}
	return faults
}
