package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
)

// contractSelected is an initialize result that selects everything of some capabilities.
func contractSelected(t *testing.T, capabilities ...string) string {
	t.Helper()
	d, err := dialect.For(dialect.CanonicalAPI)
	if err != nil {
		t.Fatal(err)
	}
	contract := d.Initialize(dialect.Extension{Name: "peer"})["contract"].(dialect.Object)
	names := slices.Clone(contract["required_capabilities"].([]any))
	methods := slices.Clone(contract["required_methods"].([]any))
	for _, c := range capabilities {
		names = append(names, c)
	}
	for _, m := range contract["optional_methods"].([]any) {
		if slices.Contains(capabilities, d.Owner(m.(string))) {
			methods = append(methods, m)
		}
	}
	return "< " + string(dialect.Encode(dialect.Object{"id": 1, "jsonrpc": "2.0", "result": dialect.Object{
		"api_version": "0.3", "tools": []any{},
		"contract": dialect.Object{
			"schema": contract["schema"], "encoding": contract["encoding"], "limits": contract["limits"], "capabilities": names, "methods": methods,
		},
	}}))
}

// judged runs a conversation behind initialize on the canonical wire and wants findings of these rules.
func judged(t *testing.T, name string, capabilities []string, lines []string, want ...string) {
	t.Helper()
	got := watchOf(t, dialect.CanonicalAPI, dialect.Extension{Name: "peer"}, append([]string{contractSelected(t, capabilities...)}, lines...)...)
	if !slices.Equal(got, want) {
		t.Errorf("%s: broken are %q, want %q", name, got, want)
	}
}

// own is a request of the extension.
func own(id, method, params string) string {
	return fmt.Sprintf(`< {"id":%q,"jsonrpc":"2.0","method":%q,"params":%s}`, id, method, params)
}

func toldOf(method, params string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// answered is a request of the host and its refusal, which shows that everything in front of it was read.
func answered(id int) []string {
	return []string{
		fmt.Sprintf(`> {"id":%d,"jsonrpc":"2.0","method":"conform/probe","params":{}}`, id),
		fmt.Sprintf(`< {"error":{"code":-32601,"data":{"method":"conform/probe"},"message":"unknown or unnegotiated method"},"id":%d,"jsonrpc":"2.0"}`, id),
	}
}

func TestMonitor_judgesTheBus(t *testing.T) {
	bus := []string{"event_bus"}
	bound := func(id string, revision int) string {
		return toldOf("bus/lifecycle", fmt.Sprintf(`{"binding_id":%q,"binding_revision":%d,"kind":"binding"}`, id, revision))
	}
	declare := func(id, binding string) string {
		return own(id, "bus/declare", `{"binding_id":"`+binding+`","fields":[],"topic":"bus.peer.news"}`)
	}
	publish := func(id, binding string) string {
		return own(id, "bus/publish", `{"binding_id":"`+binding+`","payload":{},"topic":"bus.peer.news"}`)
	}
	refused := `> {"error":{"code":-32012,"message":"extension resource exhausted"},"id":"d","jsonrpc":"2.0"}`
	read := answered(2)

	judged(t, "a request behind a binding", bus, []string{bound("b", 1), declare("d", "b"), publish("p", "b")})
	judged(t, "a request without a binding", bus, []string{declare("d", "b")}, "EXT03-BUS-002")
	judged(t, "a request that crosses a new binding", bus, []string{bound("b", 1), bound("c", 2), declare("d", "b")})
	judged(t, "a request under a former binding", bus, slices.Concat([]string{bound("b", 1), bound("c", 2)}, read, []string{declare("d", "b")}), "EXT03-BUS-003")
	judged(t, "a topic of a former binding", bus, []string{bound("b", 1), declare("d", "b"), bound("c", 2), publish("p", "c")}, "EXT03-BUS-006")
	judged(t, "a refusal that crosses", bus, []string{bound("b", 1), declare("d", "b"), refused, publish("p", "b")})
	judged(t, "a refusal that was read", bus, slices.Concat([]string{bound("b", 1), declare("d", "b"), refused}, read, []string{publish("p", "b")}), "EXT03-BUS-006")
	judged(t, "behind a notice that is none", bus,
		slices.Concat([]string{bound("b", 1), toldOf("bus/lifecycle", `{"kind":"weather"}`)}, read, []string{declare("d", "b")}), "EXT03-BUS-009")
}

func TestMonitor_judgesStreams(t *testing.T) {
	streams := []string{"provider_stream"}
	asked := `> {"id":2,"jsonrpc":"2.0","method":"provider/stream","params":{"model_id":"m","provider_id":"p","request":{},"stream_id":"s"}}`
	taken := `< {"id":2,"jsonrpc":"2.0","result":{"accepted":true,"stream_id":"s"}}`
	declined := `< {"id":2,"jsonrpc":"2.0","result":{"accepted":false,"stream_id":"s"}}`
	event := func(sequence int, kind string) string {
		return fmt.Sprintf(`< {"jsonrpc":"2.0","method":"provider/event","params":{"kind":%q,"payload":{},"sequence":%d,"stream_id":"s"}}`, kind, sequence)
	}
	cancelled := toldOf("provider/cancel", `{"stream_id":"s"}`)

	judged(t, "a whole stream", streams, []string{asked, taken, event(0, "started"), event(1, "text_delta"), event(2, "finished")})
	judged(t, "a declined stream", streams, []string{asked, declined, event(0, "started")}, "EXT03-STREAM-007")
	judged(t, "a gap", streams, []string{asked, taken, event(0, "started"), event(2, "finished")}, "EXT03-STREAM-003")
	judged(t, "no beginning", streams, []string{asked, taken, event(0, "finished")}, "EXT03-STREAM-004")
	judged(t, "an event behind the end", streams, []string{asked, taken, event(0, "started"), event(1, "error"), event(2, "usage")}, "EXT03-STREAM-005")
	judged(t, "an event that crosses a cancellation", streams, []string{asked, taken, event(0, "started"), cancelled, event(1, "usage")})
	judged(t, "an event behind a cancellation", streams,
		slices.Concat([]string{asked, taken, event(0, "started"), cancelled}, answered(3), []string{event(1, "usage")}), "EXT03-STREAM-008")
	judged(t, "the end behind a cancellation", streams,
		slices.Concat([]string{asked, taken, event(0, "started"), cancelled}, answered(3), []string{event(1, "error")}))
}

func TestScreened(t *testing.T) {
	field := value([]byte(`{"max_bytes":40}`))
	for s, clean := range map[string]bool{
		"octet": true, "": true, "a/b": true, "skate": true, "sk-short": true, "12345678": true, "1.2.3": true, "bearer": true, "Bearers of news": true,
		"C: drive": true, "é": true,
		strings.Repeat("x", 41): false, "tab\there": false, "\u0085": false, " /etc": false, "~/x": false, `~\x`: false, `C:\x`: false, "d:/x": false,
		"SK-12345678": false, "github_pat_12345678": false, "+47 22 33 44": false, "(22) 334455": true, "22-33-44-55": false, "me@home": false,
		"-----BEGIN x": false, "Bearer x": false,
	} {
		if fault := screened(s, field); (fault == "") != clean {
			t.Errorf("%q: %q, want clean %v", s, fault, clean)
		}
	}
}

func TestTopicOwner(t *testing.T) {
	for topic, want := range map[string]string{
		"bus.peer.news": "peer", "bus.0a_-.b": "0a_-", "bus.peer": "", "bus.peer.a.b": "", "Bus.peer.news": "", "bus.Peer.news": "", "bus..news": "",
		"bus.peer.": "", "bus._a.news": "", "bus.peer." + strings.Repeat("n", 64): "peer", "bus.peer." + strings.Repeat("n", 65): "",
		"bus." + strings.Repeat("p", 64) + "." + strings.Repeat("n", 28): "",
	} {
		got, well := topicOwner(topic)
		if !well {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got the owner %q, want %q", topic, got, want)
		}
	}
}

func TestInside(t *testing.T) {
	for path, want := range map[string]bool{
		"a": true, "a/b.json": true, "..a/b..": true, ".a": true,
		"": false, "/a": false, "a//b": false, "a/": false, "./a": false, "a/../b": false, `a\b`: false, "c:a": false, "a\x00": false,
	} {
		if got := inside(path); got != want {
			t.Errorf("%q: got %v, want %v", path, got, want)
		}
	}
}

// The name of a command without a manifest is a guess, and nobody is held to it.
func TestMonitor_holdsNobodyToAGuessedName(t *testing.T) {
	x := dialect.Extension{Name: "octet-conform", Guessed: true}
	if got := watchOf(t, dialect.CanonicalAPI, x,
		contractSelected(t, "theme_selection", "event_bus"),
		toldOf("bus/lifecycle", `{"binding_id":"b","binding_revision":1,"kind":"binding"}`),
		own("d", "bus/declare", `{"binding_id":"b","fields":[],"topic":"bus.peer.news"}`),
		own("t", "theme/select", `{"namespace":"peer","role":"accent","scope":"extension","theme_id":"dark"}`),
	); got != nil {
		t.Errorf("broken are %q, want none", got)
	}
}

// A request under an id that the wire does not have is not answered, and nothing is owed to it when the end comes.
func TestMonitor_owesNothingToIllegalIDs(t *testing.T) {
	asks := func(id string) string {
		return fmt.Sprintf(`> {"id":%s,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":{},"name":"peer"}}`, id)
	}
	end := []string{`> {"id":9,"jsonrpc":"2.0","method":"shutdown","params":{}}`, `< {"id":9,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`}
	for _, id := range []string{"-1", "null", `""`, "true", "1.5", "{}", "9007199254740992", `"` + strings.Repeat("é", 129) + `"`} {
		judged(t, "the id "+id, nil, append([]string{asks(id)}, end...))
	}
	refused := `< {"error":{"code":-32600,"message":"invalid request"},"id":-1,"jsonrpc":"2.0"}`
	judged(t, "an answer to the id -1", nil, append([]string{asks("-1"), refused}, end...), "EXT03-ORDER-007")
	for _, id := range []string{"0", "9007199254740991", `"x"`, `"` + strings.Repeat("é", 128) + `"`} {
		judged(t, "the id "+id, nil, append([]string{asks(id)}, end...), "EXT03-SHUT-004")
	}
}
