// Package negotiation decides which features are in force on one OUP connection, and with that which methods a
// client can call there: pure functions of what the server has, the transport, and the tokens that the client
// named.
package negotiation

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/protocol"
)

// Server is what one server has to offer, the same for all its connections. Do not change it once connections are
// negotiated.
type Server struct {
	// Features are those the server stands behind. Of the registry they are in force where a client names them; the
	// server's own are in force on every connection.
	Features []string
	// Methods are the requests that it carries out.
	Methods []string
	// Reasons say for requests it does not carry out why not; others get the customary reason.
	Reasons map[string]string
	// Closed are requests that this connection cannot reach whatever it negotiates, and how they are refused.
	Closed map[string]Refusal
}

// The default sets and the origins of features.
const (
	setNoTokens    = "no_tokens"
	setStdio       = "stdio"
	originRegistry = "registry"
	originServer   = "server"
)

// Set is the features in force on a connection. It is never changed, so it may be shared.
type Set struct {
	named    bool     // the client named a feature, or the transport counts as if it had
	features []string // in force, in the order of the registry, the server's own behind them
	shown    []string // advertised; the same as features but where nothing was named
}

// Named reports whether the client named any feature.
func (s Set) Named() bool { return s.named }

// Features returns what the capabilities advertise, in their order.
func (s Set) Features() []string { return slices.Clone(s.shown) }

// Has reports whether all the features are in force. A feature whose effect needs to be asked for goes by this.
func (s Set) Has(features ...string) bool {
	return !slices.ContainsFunc(features, func(f string) bool { return !slices.Contains(s.features, f) })
}

// Open reports whether the features are in force, or count as such because the client named none at all.
func (s Set) Open(features ...string) bool {
	if s.named {
		return s.Has(features...)
	}
	return !slices.ContainsFunc(features, func(f string) bool { return !slices.Contains(s.shown, f) })
}

// Default returns the set of a connection whose client named nothing yet.
func (s *Server) Default(transport oupwire.Transport) Set {
	if transport == oupwire.TransportStdio {
		return s.choose(func(f *wirejson.Feature) bool { return slices.Contains(f.Sets, setStdio) })
	}
	set := s.choose(func(*wirejson.Feature) bool { return false })
	set.named = false
	set.shown = s.choose(func(f *wirejson.Feature) bool {
		return slices.Contains(f.Sets, setNoTokens) && !opensStrictly(f.Name)
	}).features
	return set
}

// opensStrictly reports whether a feature opens a request only to clients that name it: advertising it to others
// would promise what cannot be called.
func opensStrictly(feature string) bool {
	return slices.ContainsFunc(oupwire.Methods, func(m wirejson.Method) bool {
		return m.GateStrict && slices.Contains(gates(&m), feature)
	})
}

// Connect returns the set of a new connection, from the tokens that came with it.
func (s *Server) Connect(transport oupwire.Transport, tokens []string) Set {
	if set, named := s.name(tokens); named {
		return set
	}
	return s.Default(transport)
}

// Hello returns the set behind a client_hello: a list with something in it replaces the old set, anything else
// leaves it.
func (s *Server) Hello(old Set, p *oupwire.ClientHelloParams) Set {
	for _, list := range []wirejson.Opt[[]string]{p.SupportedFeatures, p.Features, p.RequestedFeatures} {
		if set, named := s.name(list.Or(nil)); named {
			return set
		}
	}
	return old
}

// name returns the set for named tokens, and whether any was named: blank ones do not count, unknown ones do.
func (s *Server) name(tokens []string) (Set, bool) {
	var named []string
	for _, token := range tokens {
		if token = strings.TrimSpace(token); token != "" {
			named = append(named, token)
		}
	}
	if len(named) == 0 {
		return Set{}, false
	}
	return s.choose(func(f *wirejson.Feature) bool { return slices.Contains(named, f.Name) }), true
}

// choose returns the set of the wanted features that the server has, and of its own.
func (s *Server) choose(wanted func(*wirejson.Feature) bool) Set {
	chosen := map[string]bool{}
	for i := range oupwire.Features {
		f := &oupwire.Features[i]
		own := f.Origin == originServer && f.Name != oupwire.FeatureHarnessTaskSupervisionInspectionV1
		if slices.Contains(s.Features, f.Name) && f.Origin != "retired" && (own || wanted(f)) {
			chosen[f.Name] = true
		}
	}
	for i := range oupwire.Features {
		f := &oupwire.Features[i]
		if slices.ContainsFunc(f.DependsOn, func(need string) bool { return !chosen[need] }) {
			delete(chosen, f.Name)
		}
	}
	// The one word of its own that a server adds only beside another feature.
	if chosen[oupwire.FeatureCodingAgentControlV1] && slices.Contains(s.Features, oupwire.FeatureHarnessTaskSupervisionInspectionV1) {
		chosen[oupwire.FeatureHarnessTaskSupervisionInspectionV1] = true
	}
	var list []string
	for _, origin := range []string{originRegistry, originServer} {
		for i := range oupwire.Features {
			if f := &oupwire.Features[i]; f.Origin == origin && chosen[f.Name] {
				list = append(list, f.Name)
			}
		}
	}
	return Set{named: true, features: list, shown: list}
}

// Refusal is why a request cannot be called on a connection.
type Refusal struct {
	Error  wirejson.ErrorCode
	Kind   string // of the detail, or ""
	Method string
	Reason string           // for people
	Data   wirejson.Encoder // the detail, where it is not the customary one
}

// kindAuthUnavailable is the kind of the refusal of a method that needs an identity.
var kindAuthUnavailable = func() string {
	for _, row := range oupwire.TableErrorKinds {
		if row.Data == "AuthUnavailableErrorData" {
			return row.Kind
		}
	}
	panic("oup negotiation: the table has no kind for a missing identity")
}()

var customaryReason = protocol.Text("default_unsupported_reason")

// Judge returns nil where a request can be called on a connection with the set. It looks at the name alone: what
// is refused here is refused whatever the params.
func (s *Server) Judge(set Set, transport oupwire.Transport, method string) *Refusal {
	row := oupwire.LookupRequest(method)
	if row == nil || row.Direction != wirejson.ClientToServer {
		return &Refusal{Error: oupwire.ErrMethodNotFound, Method: method, Reason: "the protocol has no request " + strconv.Quote(method)}
	}
	if closed, is := s.Closed[method]; is {
		closed.Method = method
		return &closed
	}
	refusal := &Refusal{Error: oupwire.ErrMethodNotSupported, Method: method}
	if !slices.Contains(row.Transports, string(transport)) {
		if needsIdentity(method) {
			refusal.Error, refusal.Kind = oupwire.ErrPermissionDenied, kindAuthUnavailable
			refusal.Reason = "needs an identity; connect over WebSocket with a token"
			return refusal
		}
		refusal.Reason = "is not offered over " + string(transport)
		return refusal
	}
	if method != oupwire.MethodClientHello && method != oupwire.MethodConfigCapabilitiesList && !slices.Contains(s.Methods, method) {
		if refusal.Reason = s.Reasons[method]; refusal.Reason == "" {
			refusal.Reason = customaryReason
		}
		return refusal
	}
	needs := gates(row)
	if row.GateStrict && !set.Has(needs...) || !row.GateStrict && !set.Open(needs...) {
		refusal.Reason = "needs the feature " + strings.Join(needs, " and ") + "; name it when you connect or in " + oupwire.MethodClientHello
		return refusal
	}
	return nil
}

// gates returns the features that open a method together.
func gates(m *wirejson.Method) []string {
	if m.Gate == "-" {
		return nil
	}
	return strings.Split(m.Gate, "+")
}

func needsIdentity(method string) bool {
	return slices.ContainsFunc(oupwire.TableServiceMethodErrors, func(row oupwire.ServiceMethodErrorsRow) bool {
		return row.Method == method && row.Kind == kindAuthUnavailable
	})
}

// Capabilities tells a client what it can call on a connection with the set, and why not the rest.
func (s *Server) Capabilities(set Set, transport oupwire.Transport) oupwire.ServerCapabilities {
	c := oupwire.ServerCapabilities{
		Version: oupwire.ProtocolVersion{
			Protocol: protocol.Text("identifier"), SchemaVersion: oupwire.SchemaVersion, JSONRPC: protocol.Text("jsonrpc"),
		},
		CapabilitiesSchemaVersion: oupwire.CapabilitiesSchemaVersion,
		SupportedMethods:          []string{},
	}
	var rest []oupwire.UnsupportedMethod
	for i := range oupwire.Methods {
		m := &oupwire.Methods[i]
		switch {
		case m.Notification && m.Direction != wirejson.ClientToServer:
			c.SupportedNotifications = append(c.SupportedNotifications, m.Name)
		case m.Notification || m.Direction != wirejson.ClientToServer:
		default:
			refusal := s.Judge(set, transport, m.Name)
			if refusal == nil {
				c.SupportedMethods = append(c.SupportedMethods, m.Name)
				continue
			}
			rest = append(rest, oupwire.UnsupportedMethod{Method: m.Name, Reason: wirejson.Some(refusal.Reason)})
		}
	}
	if shown := set.Features(); len(shown) > 0 {
		c.SupportedFeatures = wirejson.Some(shown)
	}
	if len(rest) > 0 {
		c.Unsupported = wirejson.Some(rest)
	}
	return c
}

// Greet answers a client_hello: set is the one behind it.
func (s *Server) Greet(set Set, transport oupwire.Transport, p *oupwire.ClientHelloParams) oupwire.ServerHelloResult {
	hello := oupwire.ServerHelloResult{
		Transport: transport, Capabilities: s.Capabilities(set, transport),
		ClientTransport: p.Transport, Client: p.Client,
	}
	if hello.ClientTransport.IsAbsent() {
		hello.ClientTransport = wirejson.Null[string]()
	}
	if _, said := hello.Client.Get(); !said {
		hello.Client = wirejson.Null[json.RawMessage]()
	}
	return hello
}
