package negotiation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/negotiation"
)

const (
	stdio  = oupwire.TransportStdio
	socket = oupwire.TransportWebsocket
)

// everything is a server that has all features and methods of the protocol.
func everything() *negotiation.Server {
	s := &negotiation.Server{}
	for _, f := range oupwire.Features {
		s.Features = append(s.Features, f.Name)
	}
	s.Methods = requests()
	return s
}

func requests() []string {
	var names []string
	for _, m := range oupwire.Methods {
		if !m.Notification && m.Direction == wirejson.ClientToServer {
			names = append(names, m.Name)
		}
	}
	return names
}

// anything draws a server, a transport, and a set that it negotiated there, with the tokens that the client named.
func anything(t *rapid.T) (s *negotiation.Server, transport oupwire.Transport, set negotiation.Set, tokens []string) {
	var names []string
	for _, f := range oupwire.Features {
		names = append(names, f.Name)
	}
	subset := func(of []string, label string) []string {
		return rapid.SliceOfDistinct(rapid.SampledFrom(of), rapid.ID).Draw(t, label)
	}
	s = &negotiation.Server{Features: subset(names, "features"), Methods: subset(requests(), "methods"), Reasons: map[string]string{}}
	if rapid.Bool().Draw(t, "whole server") {
		s = everything()
	}
	transport = rapid.SampledFrom([]oupwire.Transport{stdio, socket}).Draw(t, "transport")
	tokens = subset(append(names, "no.such.v9", " ", ""), "tokens")
	set = s.Connect(transport, tokens)
	if rapid.Bool().Draw(t, "by hello") {
		set = s.Hello(s.Default(transport), &oupwire.ClientHelloParams{RequestedFeatures: wirejson.Some(tokens)})
	}
	return s, transport, set, tokens
}

func named(tokens []string) bool {
	return slices.ContainsFunc(tokens, func(t string) bool { return strings.TrimSpace(t) != "" })
}

// TestCapabilities_areWhatCanBeCalled: OUP-CAPABILITY-001 what is listed can be called, OUP-CAPABILITY-002 the rest has
// a reason, OUP-CAPABILITY-003 and OUP-CAPABILITY-004, OUP-FEATURE-006 a method without its features is not listed.
func TestCapabilities_areWhatCanBeCalled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, transport, set, _ := anything(t)
		c := s.Capabilities(set, transport)
		unsupported := map[string]string{}
		for _, row := range c.Unsupported.Or(nil) {
			unsupported[row.Method] = row.Reason.Or("")
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(c.SupportedMethods)+len(unsupported) != len(requests()) {
			t.Fatalf("%d methods supported and %d not, of %d", len(c.SupportedMethods), len(unsupported), len(requests()))
		}
		for _, name := range requests() {
			refusal, listed := s.Judge(set, transport, name), slices.Contains(c.SupportedMethods, name)
			if listed != (refusal == nil) || listed == (unsupported[name] != "") {
				t.Fatalf("%s: listed %v, refused %+v, reason %q", name, listed, refusal, unsupported[name])
			}
			row := oupwire.LookupRequest(name)
			if !listed || row.Gate == "-" {
				continue
			}
			for _, gate := range strings.Split(row.Gate, "+") {
				if set.Named() && !slices.Contains(set.Features(), gate) || row.GateStrict && !set.Has(gate) {
					t.Fatalf("%s is listed without %s", name, gate)
				}
			}
		}
		for _, name := range []string{oupwire.MethodClientHello, oupwire.MethodConfigCapabilitiesList} {
			if !slices.Contains(c.SupportedMethods, name) {
				t.Fatalf("%s is not listed", name)
			}
		}
		for _, m := range oupwire.Methods {
			if m.Notification && m.Direction == wirejson.ServerToClient && !slices.Contains(c.SupportedNotifications, m.Name) {
				t.Fatalf("the notification %s is not listed", m.Name)
			}
		}
	})
}

// TestSet_isWhatWasNamed: OUP-FEATURE-003 in the order of the registry and the server's own behind, OUP-FEATURE-004
// unknown ones vanish, OUP-FEATURE-005 nothing else is advertised, OUP-FEATURE-007 dependencies hold, OUP-FEATURE-010
// retired ones have no effect, OUP-FEATURE-002 blank ones count as none.
func TestSet_isWhatWasNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, transport, set, tokens := anything(t)
		if want := named(tokens) || transport == stdio; set.Named() != want {
			t.Fatalf("named is %v, want %v", set.Named(), want)
		}
		at := -1
		for _, name := range set.Features() {
			row := oupwire.LookupFeature(name)
			if row == nil || row.Origin == "retired" || !slices.Contains(s.Features, name) {
				t.Fatalf("%s is advertised", name)
			}
			i := slices.IndexFunc(oupwire.Features, func(f wirejson.Feature) bool { return f.Name == name })
			if row.Origin == "server" {
				i += len(oupwire.Features)
			}
			if i <= at {
				t.Fatalf("%s stands in the wrong place: %q", name, set.Features())
			}
			at = i
			if named(tokens) && row.Origin == "registry" && !slices.Contains(tokens, name) {
				t.Fatalf("%s was not named", name)
			}
			for _, need := range row.DependsOn {
				if !slices.Contains(set.Features(), need) {
					t.Fatalf("%s is advertised without %s", name, need)
				}
			}
		}
	})
}

// TestConnect_withoutTokens: OUP-FEATURE-001 and OUP-FEATURE-017 over WebSocket, OUP-STDIO-010 over standard streams.
func TestConnect_withoutTokens(t *testing.T) {
	s := everything()
	for _, f := range oupwire.Features {
		if f.Origin != "registry" {
			continue
		}
		if got, want := s.Connect(stdio, nil).Has(f.Name), slices.Contains(f.Sets, "stdio"); got != want {
			t.Errorf("%s over stdio: %v, want %v", f.Name, got, want)
		}
		if s.Connect(socket, nil).Has(f.Name) {
			t.Errorf("%s is in force over WebSocket, and nobody named it", f.Name)
		}
	}
	open, some := s.Connect(socket, nil), s.Connect(socket, []string{"no.such.v9"})
	for method, want := range map[string][3]bool{ // without tokens, with others, over stdio
		oupwire.MethodSessionHydrate:      {true, false, true},
		oupwire.MethodTurnStateGet:        {true, false, true},
		oupwire.MethodSessionList:         {false, false, true},
		oupwire.MethodUserQuestionRespond: {false, false, true},
		oupwire.MethodAgentList:           {true, false, true},
		oupwire.MethodTurnStart:           {true, true, true},
		oupwire.MethodServerShutdown:      {true, true, false},
	} {
		got := [3]bool{
			s.Judge(open, socket, method) == nil, s.Judge(some, socket, method) == nil, s.Judge(s.Connect(stdio, nil), stdio, method) == nil,
		}
		if got != want {
			t.Errorf("%s: callable %v, want %v", method, got, want)
		}
	}
	if slices.Contains(open.Features(), oupwire.FeatureUserQuestionV1) {
		t.Error("a feature that opens nothing without being named is advertised")
	}
}

// TestHello_replacesTheSet: OUP-HELLO-002 three names of the list, OUP-HELLO-003 an empty list changes nothing,
// OUP-HELLO-005 the answer tells the true transport and echoes, OUP-FEATURE-009 the server's own stay.
func TestHello_replacesTheSet(t *testing.T) {
	s := everything()
	old := s.Connect(socket, []string{oupwire.FeaturePlanTodosV1})
	list := wirejson.Some([]string{oupwire.FeatureUserQuestionV1})
	for name, p := range map[string]oupwire.ClientHelloParams{
		"supported_features": {SupportedFeatures: list}, "features": {Features: list}, "requested_features": {RequestedFeatures: list},
	} {
		set := s.Hello(old, &p)
		if !set.Has(oupwire.FeatureUserQuestionV1) || set.Has(oupwire.FeaturePlanTodosV1) {
			t.Errorf("%s: %q are in force", name, set.Features())
		}
		if !set.Has(oupwire.FeaturePermissionProfileV1, oupwire.FeatureRuntimePolicyStampV1) {
			t.Errorf("%s: the server's own features are missing", name)
		}
	}
	for name, p := range map[string]oupwire.ClientHelloParams{
		"absent": {}, "null": {Features: wirejson.Null[[]string]()}, "empty": {Features: wirejson.Some([]string{})},
		"blank": {Features: wirejson.Some([]string{" "})},
	} {
		if got := s.Hello(old, &p); !slices.Equal(got.Features(), old.Features()) {
			t.Errorf("%s list: %q are in force", name, got.Features())
		}
	}
	p := oupwire.ClientHelloParams{Transport: wirejson.Some("carrier pigeon"), Client: wirejson.Some(json.RawMessage(`{"a":1}`))}
	for want, p := range map[string]*oupwire.ClientHelloParams{
		`"client":{"a":1}`:                    &p,
		`"client_transport":"carrier pigeon"`: &p,
		`"transport":"stdio"`:                 &p,
		`"client_transport":null`:             {},
		`"client":null`:                       {},
	} {
		hello := s.Greet(old, stdio, p)
		if text, err := json.Marshal(hello); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the answer lacks %s: %v", want, err)
		}
	}
}

// TestJudge_saysWhyNot: a name outside the protocol, what is not offered, OUP-STDIO-012 what needs an identity, and
// OUP-CAPABILITY-006 what is not offered over a transport.
func TestJudge_saysWhyNot(t *testing.T) {
	s := everything()
	s.Methods = slices.DeleteFunc(s.Methods, func(m string) bool { return m == oupwire.MethodReviewStart })
	s.Reasons = map[string]string{oupwire.MethodReviewStart: "no reviewer is set up"}
	set := s.Connect(stdio, nil)
	for method, want := range map[string]struct {
		code   int64
		reason string
	}{
		"no/such":                    {oupwire.CodeMethodNotFound, `"no/such"`},
		oupwire.MethodTurnStarted:    {oupwire.CodeMethodNotFound, oupwire.MethodTurnStarted},
		oupwire.MethodPing:           {oupwire.CodeMethodNotFound, "ping"},
		oupwire.MethodServerShutdown: {oupwire.CodeMethodNotSupported, "stdio"},
		oupwire.MethodAuthMe:         {oupwire.CodePermissionDenied, "identity"},
		oupwire.MethodMemoryOverview: {oupwire.CodePermissionDenied, "identity"},
		oupwire.MethodReviewStart:    {oupwire.CodeMethodNotSupported, "no reviewer is set up"},
	} {
		got := s.Judge(set, stdio, method)
		if got == nil || got.Error.Code != want.code || !strings.Contains(got.Reason, want.reason) {
			t.Errorf("%s: %+v, want %d with %q", method, got, want.code, want.reason)
		}
	}
}

// TestSet_belongsToOneConnection: OUP-FEATURE-008.
func TestSet_belongsToOneConnection(t *testing.T) {
	s := everything()
	first := s.Connect(socket, []string{oupwire.FeaturePlanTodosV1})
	first.Features()[0] = "spoiled"
	if second := s.Connect(socket, []string{oupwire.FeatureUserQuestionV1}); second.Has(oupwire.FeaturePlanTodosV1) || !first.Has(oupwire.FeaturePlanTodosV1) {
		t.Errorf("sets are shared: %q and %q", first.Features(), second.Features())
	}
}

// TestDefault_addsTheWordBesideAgentControl: it is the server's, and nobody has to name it.
func TestDefault_addsTheWordBesideAgentControl(t *testing.T) {
	s := everything()
	word := oupwire.FeatureHarnessTaskSupervisionInspectionV1
	if !s.Connect(stdio, nil).Has(word) {
		t.Error("agent control alone")
	}
	if s.Connect(socket, []string{oupwire.FeaturePlanTodosV1}).Has(word) {
		t.Error("the word is there without agent control")
	}
	if !s.Connect(socket, []string{word}).Has(word) {
		t.Error("the word was named and is not there")
	}
}
