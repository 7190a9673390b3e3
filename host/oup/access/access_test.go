package access_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// asked is a connection whose handlers tell the scope that they got.
type asked struct {
	t *testing.T
	*transport.Memory
	gate *access.Gate
	done chan struct{}
}

func connect(t *testing.T, gate *access.Gate, info transport.Info) *asked {
	t.Helper()
	scope := func(call *rpc.Call) (wirejson.Encoder, error) {
		text, err := json.Marshal([]string{call.Scope.Session.String(), call.Scope.Profile})
		return wirejson.Raw(text), err
	}
	handlers := map[string]rpc.Handler{}
	for _, m := range oupwire.Methods {
		if !m.Notification && m.Direction == wirejson.ClientToServer && m.Name != oupwire.MethodClientHello && m.Name != oupwire.MethodConfigCapabilitiesList {
			model := m.Shapes[0].Params
			handlers[m.Name] = rpc.Handle(func(params []byte) (wirejson.Encoder, error) { return oupwire.DecodeAny(model, params) },
				func(_ context.Context, call *rpc.Call, _ wirejson.Encoder) (wirejson.Encoder, error) {
					return scope(call)
				})
		}
	}
	var all []string
	for _, f := range oupwire.Features {
		all = append(all, f.Name)
	}
	d, err := rpc.New(rpc.Options{Features: all, Handlers: handlers, Closed: gate.Closed, Admit: gate.Admit, Log: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	near, far := transport.Pipe(info)
	a := &asked{t: t, Memory: far, gate: gate, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		_ = d.Serve(t.Context(), near, nil)
	}()
	t.Cleanup(func() { _ = far.Close(transport.Ended) })
	return a
}

// ask returns the scope, or the name of the error and its kind.
func (a *asked) ask(method, params string) string {
	a.t.Helper()
	if err := a.Send([]byte(`{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`)); err != nil {
		a.t.Fatal(err)
	}
	text, err := a.Read()
	if err != nil {
		a.t.Fatal(err)
	}
	var answer struct {
		Result []string
		Error  *struct {
			Code    int
			Message string
			Data    *struct {
				Kind      string
				Method    string
				Pointer   string
				Broken    string `json:"violation"`
				Violation bool   `json:"auth_scope_violation"`
			}
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
	if answer.Error == nil {
		return strings.Join(answer.Result, " ")
	}
	name := "?"
	for _, e := range oupwire.Errors {
		if int(e.Code) == answer.Error.Code {
			name = e.Name
		}
	}
	if d := answer.Error.Data; d != nil {
		name += " " + d.Kind
		if d.Pointer != "" {
			name += d.Method + " " + d.Pointer + " " + d.Broken
		}
		if d.Violation {
			name += "violation"
		}
	}
	return name
}

// TestGate_foldsTopicsAndFindsProfiles: OUP-KEY-004, OUP-KEY-007 to OUP-KEY-010, OUP-STDIO-013.
func TestGate_foldsTopicsAndFindsProfiles(t *testing.T) {
	gate := &access.Gate{Stored: func(profile string) bool { return profile == "work" }}
	a := connect(t, gate, transport.Info{Transport: oupwire.TransportStdio})
	for _, c := range []struct{ method, params, want string }{
		{"session/open", `{"session_id":"web-1"}`, "web-1 _main"},
		{"session/open", `{"session_id":"web-1","topic":"build"}`, "web-1#build _main"},
		{"session/open", `{"session_id":"web-1#old","topic":"build"}`, "web-1#build _main"},
		{"session/open", `{"session_id":"web-1#old","topic":" "}`, "web-1#old _main"},
		{"session/open", `{"session_id":"work:local:a"}`, "work:local:a work"},
		{"session/open", `{"session_id":"web-1","profile_id":"work"}`, "web-1 work"},
		{"session/open", `{"session_id":"web-1","profile_id":""}`, "invalid_params"},
		{"session/open", `{"session_id":"work:local:a","profile_id":"_main"}`, "invalid_params "},
		{"session/open", `{"session_id":"other:local:a"}`, "invalid_params profile_unresolved"},
		{"session/open", `{"session_id":"` + strings.Repeat("x", 1025) + `"}`, "invalid_params session/open /session_id bytes"},
		{"turn/interrupt", `{"session_id":"` + strings.Repeat("x", 1025) + `","turn_id":"550e8400-e29b-41d4-a716-446655440000"}`, "invalid_params turn/interrupt /session_id bytes"},
		{"session/open", `{"session_id":"web-1","topic":"` + strings.Repeat("y", 1020) + `"}`, "invalid_params session/open /topic bytes"},
		{"turn/interrupt", `{"session_id":"web-1","turn_id":"550e8400-e29b-41d4-a716-446655440000","topic":"no"}`, "web-1 _main"},
		{"system/status.get", `{}`, " _main"},
	} {
		got := a.ask(c.method, c.params)
		if got != c.want {
			t.Errorf("%s %s gives %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// TestGate_asksWhoHasASession: where the key names no profile, that of the session is in force. OUP-KEY-009.
func TestGate_asksWhoHasASession(t *testing.T) {
	gate := &access.Gate{
		Stored: func(profile string) bool { return profile != "nobody" },
		Owner: func(_ context.Context, session key.Key) (string, bool, error) {
			return "work", session.Base == "web-1", nil
		},
	}
	a := connect(t, gate, transport.Info{Transport: oupwire.TransportStdio})
	for params, want := range map[string]string{
		`{"session_id":"web-1"}`:                           "web-1 work",
		`{"session_id":"web-1","profile_id":"work"}`:       "web-1 work",
		`{"session_id":"web-1","profile_id":"_main"}`:      "invalid_params ",
		`{"session_id":"web-1","profile_id":"nobody"}`:     "invalid_params profile_unresolved",
		`{"session_id":"web-2"}`:                           "web-2 _main",
		`{"session_id":"web-2","profile_id":"other"}`:      "web-2 other",
		`{"session_id":"_main:local:a"}`:                   "_main:local:a _main",
		`{"session_id":"web-1#x","profile_id":"somebody"}`: "invalid_params ",
	} {
		if got := a.ask("session/open", params); got != want {
			t.Errorf("%s gives %q, want %q", params, got, want)
		}
	}
	held := connect(t, gate, transport.Info{
		Transport: oupwire.TransportWebsocket, Identity: transport.Identity{Name: "somebody", Profile: "other"},
	})
	if got := held.ask("session/hydrate", `{"session_id":"web-1"}`); got != "invalid_params violation" {
		t.Fatalf("the session of another profile gives %q", got)
	}
	<-held.done
}

// TestGate_holdsAnIdentityToItsProfile: OUP-SOCKET-019, OUP-SOCKET-020.
func TestGate_holdsAnIdentityToItsProfile(t *testing.T) {
	gate := &access.Gate{Stored: func(string) bool { return true }}
	a := connect(t, gate, transport.Info{
		Transport: oupwire.TransportWebsocket, Identity: transport.Identity{Name: "somebody", Profile: "work"},
	})
	for _, params := range []string{`{"session_id":"web-1"}`, `{"session_id":"work:local:a"}`, `{"session_id":"web-1","profile_id":"work"}`} {
		if got := a.ask("session/open", params); !strings.HasSuffix(got, " work") {
			t.Errorf("%s gives %q", params, got)
		}
	}
	if got := a.ask("session/open", `{"session_id":"other:local:a"}`); got != "invalid_params violation" {
		t.Errorf("a foreign profile gives %q", got)
	}
	<-a.done
	if reason, closed := a.Closed(); !closed || reason != transport.AuthExpired {
		t.Errorf("closed %v with %v", closed, reason)
	}
}

// TestGate_holdsACredentialToItsSession: OUP-INGRESS-006 to OUP-INGRESS-010.
func TestGate_holdsACredentialToItsSession(t *testing.T) {
	holds := true
	info := transport.Info{Transport: oupwire.TransportWebsocket, Features: []string{oupwire.FeatureAuxiliaryRestToWsV1}, Loopback: true, Identity: transport.Identity{
		Name: "session", Session: "web-1#build", Holds: func() bool { return holds },
	}}
	a := connect(t, &access.Gate{Local: true}, info)
	for _, c := range []struct{ method, params, want string }{
		{"session/open", `{"session_id":"web-1","topic":"build"}`, "web-1#build _main"},
		{"session/open", `{"session_id":"web-1#build"}`, "web-1#build _main"},
		{"session/open", `{"session_id":"web-1"}`, "invalid_request"},
		{"session/open", `{"session_id":"web-2","topic":"build"}`, "invalid_request"},
		{"session/title.set", `{"session_id":"web-1#build","title":"t"}`, "web-1#build _main"},
		{"session/title.set", `{"session_id":"web-1","title":"t"}`, "invalid_request"},
		{"task/cancel", `{"task_id":"550e8400-e29b-41d4-a716-446655440000"}`, "method_not_supported "},
	} {
		if got := a.ask(c.method, c.params); got != c.want {
			t.Errorf("%s %s gives %q, want %q", c.method, c.params, got, c.want)
		}
	}
	refused := 0
	ingress := map[string]string{}
	for _, r := range oupwire.TableMethodReach {
		ingress[r.Method] = r.Ingress
	}
	for _, r := range oupwire.TableServiceMethodReach {
		ingress[r.Method] = r.Ingress
	}
	delete(ingress, oupwire.MethodClientHello) // asked below
	for method, word := range ingress {
		if got := a.ask(method, `{}`); (got == "invalid_request") != (word == "no") {
			t.Errorf("%s gives %q, and the table says %s", method, got, word)
		} else if word == "no" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing is refused")
	}
	if err := a.Send([]byte(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{}}`)); err != nil {
		t.Fatal(err)
	}
	text, err := a.Read()
	if err != nil || !strings.Contains(string(text), `"server_hello"`) || strings.Contains(string(text), `"supported_methods":["client_hello","config/capabilities/list"`) {
		t.Errorf("hello gives %s, %v", text, err)
	}
	holds = false
	if err := a.Send([]byte(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{}}`)); err != nil {
		t.Fatal(err)
	}
	<-a.done
	if reason, closed := a.Closed(); !closed || reason != transport.AuthExpired {
		t.Errorf("closed %v with %v", closed, reason)
	}
}

// TestGate_offersShutdownOnTheMachineAlone: OUP-SHUTDOWN-002.
func TestGate_offersShutdownOnTheMachineAlone(t *testing.T) {
	for _, c := range []struct {
		local    bool
		info     transport.Info
		callable bool
	}{
		{true, transport.Info{Transport: oupwire.TransportWebsocket, Loopback: true}, true},
		{false, transport.Info{Transport: oupwire.TransportWebsocket, Loopback: true}, false},
		{true, transport.Info{Transport: oupwire.TransportWebsocket}, false},
		{true, transport.Info{Transport: oupwire.TransportStdio, Loopback: true}, false},
	} {
		got := connect(t, &access.Gate{Local: c.local}, c.info).ask(oupwire.MethodServerShutdown, "{}")
		if (got == " _main") != c.callable || !c.callable && got != "method_not_supported " {
			t.Errorf("local %v, %+v gives %q", c.local, c.info, got)
		}
	}
}

// TestGate_keepsWhatIsPersonalToTheMachine: a server that listens elsewhere makes no profiles and shows no folders.
func TestGate_keepsWhatIsPersonalToTheMachine(t *testing.T) {
	over := transport.Info{Transport: oupwire.TransportWebsocket, Features: []string{oupwire.FeatureProfileLocalCreateV1, oupwire.FeatureOnboardingWorkspaceProbeV1}}
	for local, want := range map[bool]string{true: " _main", false: "permission_denied profile_local_unsupported"} {
		a := connect(t, &access.Gate{Local: local}, over)
		for method, params := range map[string]string{oupwire.MethodProfileLocalCreate: `{"name":"n"}`, oupwire.MethodOnboardingWorkspaceProbe: `{"path":"/tmp"}`} {
			if got := a.ask(method, params); got != want {
				t.Errorf("local %v: %s gives %q, want %q", local, method, got, want)
			}
		}
	}
}

func TestGrants_keepDigestsAlone(t *testing.T) {
	now := time.Now()
	g := &access.Grants{Directory: t.TempDir(), Now: func() time.Time { return now }}
	secret, err := g.Issue("web-1", "http://127.0.0.1:1", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	text, err := base64.RawURLEncoding.DecodeString(secret.String())
	if err != nil || !strings.Contains(string(text), secret.Token) || !strings.Contains(string(text), `"api_base_url":"http://127.0.0.1:1"`) {
		t.Errorf("the secret says %s, %v", text, err)
	}
	stored, err := os.ReadFile(filepath.Join(g.Directory, "grants.json"))
	if err != nil || strings.Contains(string(stored), secret.Token) {
		t.Errorf("stored is %s, %v", stored, err)
	}
	who, known := g.Identify("web-1", secret.Token)
	if !known || !who.Holds() {
		t.Error("the secret is not good")
	}
	if _, known := g.Identify("web-2", secret.Token); known {
		t.Error("it is good for another session")
	}
	if found, err := g.Revoke("web-1"); !found || err != nil || who.Holds() {
		t.Errorf("withdrawn %v, %v", found, err)
	}
	if found, _ := g.Revoke("web-1"); found {
		t.Error("it is withdrawn twice")
	}
	if _, err := g.Issue("", "", time.Minute); err == nil {
		t.Error("a secret of no session is issued")
	}
}
