package oupserver

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// served are the features that the server stands behind.
var served = []string{
	oupwire.FeatureApprovalTypedV1, oupwire.FeatureSessionWorkspaceCwdV1, oupwire.FeatureSessionSandboxV1,
	oupwire.FeatureStateSessionHydrateV1, oupwire.FeatureStateThreadGraphV1, oupwire.FeatureStateTurnStateGetV1,
	oupwire.FeatureProjectionEnvelopeV2, oupwire.FeatureAuxiliaryRestToWsV1, oupwire.FeatureContextLifecycleV1,
	oupwire.FeatureUserQuestionV1, oupwire.FeaturePlanTodosV1, oupwire.FeatureEventTurnSteerDroppedV1,
	oupwire.FeatureCodingAutonomyV1, oupwire.FeatureCodingAgentControlV1, oupwire.FeatureHarnessTaskControlV1, oupwire.FeatureHarnessTaskArtifactsV1,
	oupwire.FeatureEventBackgroundActivityV1,
	oupwire.FeaturePermissionProfileV1, oupwire.FeatureRuntimePolicyStampV1, oupwire.FeatureCodingToolContractV1,
	oupwire.FeatureOnboardingWorkspaceProbeV1, oupwire.FeatureOnboardingWorkspaceBrowseV1,
	oupwire.FeatureProfileLocalCreateV1, oupwire.FeatureProfileLocalCreateRequestedIDV1, oupwire.FeatureProfileLocalCreateDefaultV1,
}

// What is left of a server that serves little.
var (
	servedOfLittle  = []string{oupwire.FeatureApprovalTypedV1, oupwire.FeatureSessionWorkspaceCwdV1, oupwire.FeaturePermissionProfileV1, oupwire.FeatureRuntimePolicyStampV1, oupwire.FeatureProfileLocalCreateV1}
	methodsOfLittle = []string{
		oupwire.MethodClientHello, oupwire.MethodConfigCapabilitiesList, oupwire.MethodSessionOpen,
		oupwire.MethodTurnStart, oupwire.MethodTurnInterrupt, oupwire.MethodApprovalRespond,
		oupwire.MethodToolStatusList, oupwire.MethodRouterGetMetrics, oupwire.MethodRouterSetMode, oupwire.MethodProfileLocalCreate,
	}
)

// serves reports whether the server stands behind a feature.
func (s *Server) serves(feature string) bool {
	return slices.Contains(served, feature) && !(s.does(many) && slices.Contains(servedToOne, feature)) && (!s.does(little) || slices.Contains(servedOfLittle, feature))
}

// handles reports whether the server carries a method out.
func (s *Server) handles(method string) bool {
	return handlers[method] != nil && (!s.does(little) || slices.Contains(methodsOfLittle, method))
}

const (
	ofServer  = "server"
	ofRetired = "retired"
	setStdio  = "stdio"
	setNone   = "no_tokens"
)

// features are those in force on one connection.
type features struct {
	named bool
	list  []string // in force
	shown []string // advertised
}

func (f features) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(f.list, n) })
}

func (f features) open(names ...string) bool {
	if f.named {
		return f.has(names...)
	}
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(f.shown, n) })
}

// choose are the wanted features that the server has, and its own, in the order of the registry.
func (s *Server) choose(wanted func(wirejson.Feature) bool) []string {
	var registry, own []string
	for _, f := range oupwire.Features {
		switch {
		case f.Origin == ofRetired && s.does("advertises a retired feature") && wanted(f):
			registry = append(registry, f.Name)
		case !s.serves(f.Name) || f.Origin == ofRetired:
		case f.Origin == ofServer:
			own = append(own, f.Name)
		case wanted(f) || s.does("advertises what was not named"):
			registry = append(registry, f.Name)
		}
	}
	if !s.does("counts features without what they need") {
		registry = slices.DeleteFunc(registry, func(name string) bool {
			return slices.ContainsFunc(oupwire.LookupFeature(name).DependsOn, func(need string) bool { return !slices.Contains(registry, need) })
		})
	}
	if s.does("orders features as they please") {
		slices.Reverse(registry)
	}
	if s.does("hides its own features") {
		own = nil
	}
	return append(registry, own...)
}

func (s *Server) defaults(transport oupwire.Transport) features {
	if transport == oupwire.TransportStdio && !s.does("has no set for standard streams") {
		all := s.choose(func(f wirejson.Feature) bool { return slices.Contains(f.Sets, setStdio) })
		return features{named: true, list: all, shown: all}
	}
	shown := s.choose(func(f wirejson.Feature) bool {
		return slices.Contains(f.Sets, setNone) && (!opensStrictly(f.Name) || s.does("promises what needs to be named"))
	})
	return features{list: s.choose(func(wirejson.Feature) bool { return false }), shown: shown}
}

// opensStrictly reports whether a feature opens a request only to those who name it.
func opensStrictly(feature string) bool {
	return slices.ContainsFunc(oupwire.Methods, func(m wirejson.Method) bool { return m.GateStrict && slices.Contains(gates(&m), feature) })
}

// named reads the features that a client names; false where it names none.
func (s *Server) named(tokens []string) (features, bool) {
	var wanted []string
	for _, t := range tokens {
		if t = strings.TrimSpace(t); t != "" || s.does("counts blank features") {
			wanted = append(wanted, t)
		}
	}
	if len(wanted) == 0 {
		return features{}, false
	}
	if s.does("counts known features alone") && !slices.ContainsFunc(wanted, func(t string) bool { return oupwire.LookupFeature(t) != nil }) {
		return features{}, false
	}
	all := s.choose(func(f wirejson.Feature) bool { return slices.Contains(wanted, f.Name) })
	return features{named: true, list: all, shown: all}, true
}

func gates(m *wirejson.Method) []string {
	if m.Gate == "-" {
		return nil
	}
	return strings.Split(m.Gate, "+")
}

// needsIdentity reports whether a method is refused to those without an identity.
func needsIdentity(method string) bool {
	return slices.ContainsFunc(oupwire.TableServiceMethodErrors, func(r oupwire.ServiceMethodErrorsRow) bool {
		return r.Method == method && r.Kind == "auth_unavailable"
	})
}

// judge refuses what cannot be called on a connection; nil for all else.
func (s *Server) judge(c *conn, method string) *failure {
	row := oupwire.LookupRequest(method)
	if row == nil || row.Direction != wirejson.ClientToServer {
		name := method
		if s.does("names no method") {
			return fail(oupwire.ErrMethodNotFound, "", nil)
		}
		if s.does("refuses what is outside like what is not offered") {
			return fail(oupwire.ErrMethodNotSupported, "unknown", object{"method": name, "reason": "unknown"})
		}
		return fail(oupwire.ErrMethodNotFound, "no method "+name, nil)
	}
	if c.outside(method) && !s.does("lets a work secret call everything") {
		return fail(oupwire.ErrInvalidRequest, notGranted, nil)
	}
	if reason, kind := s.closed(c, row); reason != "" {
		if s.handles(method) && row.Gate != "-" && s.does("calls what it lists as closed") {
			return nil
		}
		if kind == kindForOne {
			return s.refuseOthers()
		}
		if kind != "" {
			return failKind(oupwire.ErrPermissionDenied, kind, reason, object{"recoverable": true, "recovery": "connect over WebSocket"})
		}
		if s.does("gives no reason") {
			return fail(oupwire.ErrMethodNotSupported, reason, object{"method": method})
		}
		if s.does("does not know what it does not offer") {
			return fail(oupwire.ErrMethodNotFound, reason, nil)
		}
		return fail(oupwire.ErrMethodNotSupported, reason, object{"method": method, "reason": reason})
	}
	return nil
}

// closed is why a method cannot be called on a connection; empty where it can.
func (s *Server) closed(c *conn, row *wirejson.Method) (reason, kind string) {
	always := row.Name == oupwire.MethodClientHello || row.Name == oupwire.MethodConfigCapabilitiesList
	handled := s.handles(row.Name)
	switch {
	case !slices.Contains(row.Transports, string(c.transport)):
		if needsIdentity(row.Name) {
			switch {
			case row.Name == oupwire.MethodAuthMe && s.does("tells everybody who they are"):
				return "", ""
			case s.does("does not say who is needed"):
				return "needs an identity", ""
			}
			return "needs an identity", "auth_unavailable"
		}
		if row.Name == oupwire.MethodServerShutdown && s.does("is ended over standard streams") {
			return "", ""
		}
		return "is not offered over " + string(c.transport), ""
	case always:
		return "", ""
	case handled && s.does(many) && forOne(row.Name):
		return s.closedToMany(row.Name)
	case !handled && s.does("makes up what it does not serve"):
		return "", ""
	case !handled:
		return protocolText("default_unsupported_reason"), ""
	}
	needs := gates(row)
	open := c.features.open(needs...)
	if row.GateStrict {
		open = c.features.has(needs...)
	}
	if !c.features.named && row.GateStrict && s.does("opens strict gates to those who name nothing") {
		open = true
	}
	if !open && c.features.named && !row.GateStrict && s.does("never closes an open gate") {
		open = true
	}
	if !open {
		return "needs the feature " + strings.Join(needs, " and "), ""
	}
	return "", ""
}

// capabilities are those of a connection.
func (s *Server) capabilities(c *conn) object {
	var methods, notifications, rest []any
	for i := range oupwire.Methods {
		m := &oupwire.Methods[i]
		switch {
		case m.Notification && m.Direction != wirejson.ClientToServer:
			if m.Name == oupwire.MethodQueueState && s.does("lists what it sends alone") {
				continue
			}
			if m.Status == ofRetired && s.does(little) {
				continue
			}
			notifications = append(notifications, m.Name)
		case m.Notification || m.Direction != wirejson.ClientToServer:
		default:
			reason, _ := s.closed(c, m)
			hello := m.Name == oupwire.MethodClientHello || m.Name == oupwire.MethodConfigCapabilitiesList
			switch {
			case c.outside(m.Name) && !s.does("lists everything to a work secret"):
				rest = append(rest, object{"method": m.Name, "reason": notGranted})
			case hello && s.does("does not list the handshake"):
				rest = append(rest, object{"method": m.Name, "reason": "part of the handshake"})
			case m.Name == oupwire.MethodServerShutdown && s.does("lists its end everywhere"):
				methods = append(methods, m.Name)
			case reason == "" || m.Name == oupwire.MethodAgentList && s.does("lists what it does not serve") || m.GateStrict && s.does("lists what a gate closes"):
				methods = append(methods, m.Name)
			case m.Name == oupwire.MethodMemoryLoad && s.does("keeps silent about a method"):
			case needsIdentity(m.Name) && s.does("keeps silent about what needs an identity"):
			default:
				row := object{"method": m.Name, "reason": reason}
				if s.does("lists no reason") {
					delete(row, "reason")
				}
				rest = append(rest, row)
			}
		}
	}
	out := object{
		"version":                     object{"protocol": protocolText("identifier"), "schema_version": oupwire.SchemaVersion, "jsonrpc": version},
		"capabilities_schema_version": oupwire.CapabilitiesSchemaVersion,
		"supported_methods":           methods, "supported_notifications": notifications, "unsupported": rest,
	}
	if len(c.features.shown) > 0 {
		out["supported_features"] = c.features.shown
	}
	if s.does("tells the token with its features") {
		out["token"] = s.token
	}
	return out
}

// hello says who the client is and which features it wants.
func (s *Server) hello(c *conn, p object) (object, *failure, []func()) {
	_, isObject := p["client"].(object)
	switch {
	case c.greeted && s.does("takes one hello"):
		return nil, fail(oupwire.ErrInvalidRequest, "hello again", nil), nil
	case p["client"] != nil && !isObject && s.does("refuses clients it does not know"):
		return nil, fail(oupwire.ErrInvalidRequest, "an unknown client", nil), nil
	}
	c.greeted = true
	for _, name := range []string{"supported_features", "features", "requested_features"} {
		if s.does("reads one spelling of features") && name != "supported_features" {
			continue
		}
		var tokens []string
		for _, t := range list(p, name) {
			word, _ := t.(string)
			tokens = append(tokens, word)
			if oupwire.LookupFeature(word) == nil && s.does("refuses unknown features") {
				return nil, fail(oupwire.ErrInvalidParams, "an unknown feature", nil), nil
			}
		}
		if set, named := s.named(tokens); named {
			if !s.does("keeps the features of the first hello") || len(c.hello) == 0 {
				c.hello = tokens
				c.features = set
			}
			break
		}
		if _, there := p[name]; there && s.does("takes an empty list for no features") {
			c.features = features{named: true, list: s.choose(func(wirejson.Feature) bool { return false })}
			c.features.shown = c.features.list
		}
	}
	if s.does("shares features among connections") {
		for other := range s.conns {
			other.features = c.features
		}
	}
	result := object{
		"type": "server_hello", "transport": string(c.transport), "client_transport": p["transport"], "client": p["client"],
		"capabilities": s.capabilities(c),
	}
	return result, nil, nil
}

func (s *Server) capabilitiesList(c *conn, p object) (object, *failure, []func()) {
	if s.does("lists capabilities behind an open alone") && len(c.opened) == 0 {
		return nil, fail(oupwire.ErrInvalidRequest, "open a session first", nil), nil
	}
	return object{"capabilities": s.capabilities(c)}, nil, nil
}
