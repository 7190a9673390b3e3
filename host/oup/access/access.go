// Package access decides which requests a connection may send, and what a request is about: its session with the
// topic folded in, and its profile. It goes by the tables of the protocol and names no method but one.
//
// Sheet: OUP core 2.2, 2.4, 6.1, 6.2; settled S76, S78.
package access

import (
	"context"
	"errors"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Gate judges the requests of all connections of a server. Do not change its fields once it is in use.
type Gate struct {
	// Local says that the server is one for this machine: a client on it may end it.
	Local bool
	// Stored says whether a profile exists; nil: only the default one does.
	Stored func(profile string) bool
	// Owner says which profile a session belongs to whose key names none; nil: none is known.
	Owner func(ctx context.Context, session key.Key) (profile string, found bool, err error)

	mu    sync.Mutex
	bound map[*rpc.Connection]string
}

// reach is what the tables say of a request.
type reach struct{ topic, scope, ingress string }

var reaches = func() map[string]reach {
	rows := map[string]reach{}
	for _, r := range oupwire.TableMethodReach {
		rows[r.Method] = reach{r.Topic, r.Scope, r.Ingress}
	}
	for _, r := range oupwire.TableServiceMethodReach {
		rows[r.Method] = reach{r.Topic, r.Scope, r.Ingress}
	}
	return rows
}()

// The words of the tables that count here.
const (
	topicFolds   = "fold"
	ingressNo    = "no"
	ingressExact = "exact"
)

// Closed are the requests that a connection cannot reach, whatever it negotiates.
//
// Rules: OUP-INGRESS-007, OUP-INGRESS-010, OUP-SHUTDOWN-002, OUP-PROFILE-002, OUP-ONBOARD-001.
func (g *Gate) Closed(info transport.Info) map[string]negotiation.Refusal {
	closed := map[string]negotiation.Refusal{}
	if info.Transport == oupwire.TransportWebsocket && !(g.Local && info.Loopback) {
		closed[oupwire.MethodServerShutdown] = negotiation.Refusal{
			Error: oupwire.ErrMethodNotSupported, Reason: "is offered to clients on the machine of a server that listens there alone",
		}
	}
	if info.Transport == oupwire.TransportWebsocket && !g.Local {
		for _, method := range personal {
			closed[method] = negotiation.Refusal{
				Error: oupwire.ErrPermissionDenied, Reason: "is offered by a server that serves its own machine alone", Data: oupwire.ProfileLocalUnsupportedErrorData{RuntimeMode: oupwire.RuntimeModeMultiTenant},
			}
		}
	}
	if info.Identity.Session == "" {
		return closed
	}
	for method, r := range reaches {
		if r.ingress == ingressNo {
			closed[method] = negotiation.Refusal{
				Error: oupwire.ErrInvalidRequest, Reason: "is not for a credential that is held to one session; connect with the token of the server",
			}
		}
	}
	return closed
}

// personal are the requests of one person on their own machine: those that the table of errors refuses elsewhere.
var personal = func() (methods []string) {
	for _, row := range oupwire.TableServiceMethodErrors {
		if row.Kind == kindLocal {
			methods = append(methods, row.Method)
		}
	}
	return methods
}()

// kindLocal is the kind of the refusal of what is offered on the own machine alone.
var kindLocal = func() string {
	for _, row := range oupwire.TableServiceErrorKinds {
		if row.Data == "ProfileLocalUnsupportedErrorData" {
			return row.Kind
		}
	}
	panic("oup access: the table has no kind for what is offered on the own machine alone")
}()

// about are the members that say what a request is about.
type about struct {
	session, topic, profile          string
	hasSession, hasTopic, hasProfile bool
}

func aboutOf(params []byte) about {
	var a about
	document, err := wirejson.Parse(params, oupwire.MaxDepth)
	if err != nil {
		return a // a handler has decoded them before
	}
	defer document.Release()
	for _, m := range []struct {
		name string
		text *string
		has  *bool
	}{{"session_id", &a.session, &a.hasSession}, {"topic", &a.topic, &a.hasTopic}, {"profile_id", &a.profile, &a.hasProfile}} {
		if v := document.Root().Member(m.name); v.Kind() == wirejson.KindString {
			*m.text, *m.has = v.Text(), true
		}
	}
	return a
}

// Admit fills in the scope of a request whose params keep their model, or refuses it.
//
// Rules: OUP-KEY-004, OUP-KEY-007 to OUP-KEY-010, OUP-INGRESS-008, OUP-INGRESS-009, OUP-STDIO-013, OUP-SOCKET-020.
func (g *Gate) Admit(ctx context.Context, call *rpc.Call, params []byte) error {
	who, row, a := call.Info().Identity, reaches[call.Method], aboutOf(params)
	var session key.Key
	if a.hasSession {
		var err error
		pointer := "/session_id"
		if session, err = key.Parse(a.session); err == nil && row.topic == topicFolds {
			pointer = "/topic"
			session, err = session.Fold(a.topic)
		}
		if err != nil {
			return call.RefuseParams(&wirejson.Violation{Kind: wirejson.ByteCount, Pointer: pointer, Detail: err.Error()})
		}
	}
	if who.Session != "" {
		named := session.String()
		if row.ingress == ingressExact {
			named = a.session
		}
		if !a.hasSession {
			return rpc.Fail(oupwire.ErrInvalidParams, call.Method+": session_id is missing, which a credential of one session has to name")
		}
		if named != who.Session {
			return rpc.Fail(oupwire.ErrInvalidRequest, call.Method+": the credential belongs to another session")
		}
	}
	identity := key.Identity{Profile: who.Profile, Authenticated: who.Known(), Stored: g.Stored}
	if _, err := identity.Check(session, a.profile, a.hasProfile); err != nil {
		return g.refuse(call, err)
	}
	owned, err := g.owned(ctx, session)
	if err != nil {
		return err
	}
	profile, err := identity.Check(owned, a.profile, a.hasProfile)
	if err != nil {
		return g.refuse(call, err)
	}
	if a.profile == "" && owned.Profile == "" && who.Profile == "" {
		profile = g.profile(call.Connection)
	}
	call.Scope = rpc.Scope{Session: session, Profile: profile}
	return nil
}

// owned is a session key with the profile that its session belongs to, where it names none itself.
func (g *Gate) owned(ctx context.Context, session key.Key) (key.Key, error) {
	if session.Profile != "" || session.String() == "" || g.Owner == nil {
		return session, nil
	}
	profile, found, err := g.Owner(ctx, session)
	if found {
		session.Profile = profile
	}
	return session, err
}

// refuse spells what is out of scope. A choice of a model tells an unknown profile as a resource that is not there.
//
// Rule: OUP-LLM-010.
func (g *Gate) refuse(call *rpc.Call, err error) error {
	var scope *key.ScopeError
	if !errors.As(err, &scope) {
		return err
	}
	refusal := rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+scope.Error())
	switch {
	case scope.Kind == key.UnknownProfile && call.Method == oupwire.MethodProfileLlmSelect:
		refusal = rpc.Fail(oupwire.ErrResourceNotFound, call.Method+": "+scope.Error())
		refusal.Data = oupwire.NotFoundErrorData{ResourceType: "profile", Identifier: scope.Actual}
	case scope.Kind == key.UnknownProfile:
		refusal.Data = oupwire.ProfileUnresolvedErrorData{
			ProfileID: scope.Actual, Recoverable: true, Recovery: "make the profile with " + oupwire.MethodProfileLocalCreate + ", or name another one",
		}
	case scope.Kind == key.ForeignProfile:
		data := oupwire.ProfileMismatchErrorData{ExpectedProfileID: scope.Expected, ActualProfileID: wirejson.Some(scope.Actual)}
		if scope.Violation {
			data.AuthScopeViolation = wirejson.Some(true)
			if call.Info().Transport == oupwire.TransportWebsocket {
				call.Leave(transport.AuthExpired)
			}
		}
		refusal.Data = data
	}
	return refusal
}

// Bind makes a profile that of the connection, behind a session that it opened.
//
// Rule: OUP-STDIO-014.
func (g *Gate) Bind(c *rpc.Connection, profile string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bound == nil {
		g.bound = map[*rpc.Connection]string{}
	}
	g.bound[c] = profile
}

// Forget drops what is kept of a connection.
func (g *Gate) Forget(c *rpc.Connection) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.bound, c)
}

func (g *Gate) profile(c *rpc.Connection) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if profile, has := g.bound[c]; has {
		return profile
	}
	return key.Default()
}
