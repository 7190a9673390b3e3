package hostmonitor_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/hostmonitor"
	"github.com/octet-dev/octet/features/wire"
)

// talk plays frames: those that begin with < are the extension's, and one that ends in ~ has no line feed.
func talk(t *testing.T, api string, frames ...string) *hostmonitor.Monitor {
	t.Helper()
	d, err := dialect.For(api)
	if err != nil {
		t.Fatal(err)
	}
	m := hostmonitor.New(d)
	for i, text := range frames {
		f := wire.Frame{Index: i, Lane: wire.ToSubject, Ended: true}
		if rest, heard := strings.CutPrefix(text, "<"); heard {
			f.Lane, text = wire.FromSubject, rest
		}
		if rest, torn := strings.CutSuffix(text, "~"); torn {
			f.Ended, text = false, rest
		}
		f.Bytes, f.Size = []byte(text), len(text)
		m.Observe(f)
	}
	return m
}

// hello is a sound start of a version, with the id of initialize.
func hello(t *testing.T, api string) []string {
	t.Helper()
	d, err := dialect.For(api)
	if err != nil {
		t.Fatal(err)
	}
	params := d.Initialize(dialect.Extension{
		Name: "peer", Version: "1.0.0", ManifestPath: "/x/extension.toml", Workspace: "/w",
		Capabilities: dialect.Grants(nil), Contributes: dialect.Contributions(nil),
	})
	result := map[string]string{
		"0.1": `{"api_version":"0.1","commands":[],"tools":[]}`,
		"0.3": `{"api_version":"0.3","contract":{"capabilities":[],"encoding":"","limits":{},"methods":["tool/call","shutdown","$/cancelRequest"],"schema":""},"tools":[]}`,
		"0.4": `{"api_version":"0.4","commands":[],"tools":[],"protocol":{"version":"0.4","features":["request_cancellation","content_parts"],"limits":{"max_concurrent_requests":4}}}`,
	}[api]
	return []string{
		string(d.Request("1", dialect.Initialize, params)),
		`<{"id":1,"jsonrpc":"2.0","result":` + result + `}`,
	}
}

const cancelSix = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":6,"reason":"user"}}`

func call(id string) string {
	return `{"id":` + id + `,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":{"execution_scope":null,"host":{"active_skills":[],"model":null,"reasoning":null,"session_id":null,"session_name":null},"workspace":"/w"},"name":"echo"}}`
}

// soundFrames is a host that breaks nothing.
func soundFrames(t *testing.T, api string) []string {
	frames := append(hello(t, api), call("6"))
	if api != dialect.FrozenAPI {
		frames = append(frames, cancelSix)
	}
	return append(frames, `{"id":7,"jsonrpc":"2.0","method":"shutdown","params":{}}`)
}

func TestMonitor_soundHost(t *testing.T) {
	for _, api := range []string{"0.1", "0.3", "0.4"} {
		if found := talk(t, api, soundFrames(t, api)...).Findings(); found != nil {
			t.Errorf("API %s: got %+v, want nothing", api, found)
		}
	}
}

// Each line breaks one rule behind a sound start; a rule that no line breaks is not tested, and fails below.
var broken = []struct{ api, rule, frame string }{
	{"0.4", "EXT04-FRAME-011", `{"id":8}`},
	{"0.4", "EXT04-FRAME-011", `[]`},
	{"0.4", "EXT04-FRAME-011", call("8") + "~"},
	{"0.4", "EXT04-FRAME-012", `{"a":"` + strings.Repeat("x", 1<<20) + `"~`},
	{"0.4", "EXT04-ENV-014", call("1")},
	{"0.4", "EXT04-ENV-014", call(`"8"`)},
	{"0.4", "EXT04-ENV-015", `{"id":"c-1","jsonrpc":"2.0","result":{}}`},
	{"0.4", "EXT04-ORDER-011", `{"jsonrpc":"2.0","method":"shortcut/trigger","params":{"id":"x"}}`},
	{"0.4", "EXT04-ORDER-011", `{"id":8,"jsonrpc":"2.0","method":"no/such","params":{}}`},
	{"0.4", "EXT04-ORDER-011", `{"id":8,"jsonrpc":"2.0","method":"tools/register","params":{"tools":[]}}`},
	{"0.1", "EXT01-CANCEL-002", cancelSix},
	{"0.1", "EXT01-CALL-001", strings.Replace(call("8"), `"name":"echo"`, `"catalog_revision":1,"name":"echo"`, 1)},
	{"0.3", "EXT03-FRAME-009", call("8") + "~"},
	{"0.3", "EXT03-FRAME-016", `{"a":"` + strings.Repeat("x", 1<<20) + `"~`},
	{"0.3", "EXT03-CANON-013", " " + call("8")},
	{"0.3", "EXT03-ENV-022", call("1")},
	{"0.3", "EXT03-ENV-023", `{"jsonrpc":"2.0","method":"tool/call","params":{}}`},
	{"0.3", "EXT03-METHOD-008", `{"id":8,"jsonrpc":"2.0","method":"hook/run","params":{}}`},
	{"0.3", "EXT03-ORDER-015", `{"id":"c-1","jsonrpc":"2.0","result":{}}`},
	{"0.3", "EXT03-CANCEL-010", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99,"reason":"user"}}`},
}

// brokenStarts break a rule with the frames of a whole talk. %s is a sound initialize.
func brokenStarts(t *testing.T) []struct{ api, rule, frames string } {
	start := map[string]string{}
	for _, api := range []string{"0.1", "0.3", "0.4"} {
		start[api] = hello(t, api)[0]
	}
	bend := func(api, old, new string) string {
		t.Helper()
		if !strings.Contains(start[api], old) {
			t.Fatalf("%q is not in %s", old, start[api])
		}
		return strings.Replace(start[api], old, new, 1)
	}
	offers := func(old, new string) string { return bend("0.4", old, new) }
	sorted := `"flag_values":[{"name":"b","value":true},{"name":"a","value":true}]`
	return []struct{ api, rule, frames string }{
		{"0.4", "EXT04-INIT-008", call("1")},
		{"0.4", "EXT04-INIT-008", start["0.4"] + "\n" + call("2")},
		{"0.4", "EXT04-INIT-009", bend("0.4", `"octet_version":"0.8.0"`, `"octet_version":"0.9.0"`)},
		{"0.4", "EXT04-INIT-012", bend("0.4", `"context":false`, `"context":"no"`)},
		{"0.4", "EXT04-INIT-013", bend("0.4", `"host":`, sorted+`,"host":`)},
		{"0.4", "EXT04-CANCEL-010", strings.Join(append(soundFrames(t, "0.4"), cancelSix), "\n")},
		{"0.4", "EXT04-SHUT-007", strings.Join(append(soundFrames(t, "0.4"), call("8")), "\n")},
		{"0.4", "EXT04-INIT-010", offers(`"source":"explicit"`, `"source":"elsewhere"`)},
		{"0.4", "EXT04-INIT-010", offers(`"manifest_path":"/x`, `"manifest_path":"x`)},
		{"0.4", "EXT04-INIT-011", offers(`"process":false}`, `"process":false,"secrets":[]}`)},
		{"0.4", "EXT04-INIT-014", offers(`"required_features":["request_cancellation",`, `"required_features":[`)},
		{"0.4", "EXT04-INIT-016", offers(`"max_concurrent_requests":64`, `"max_concurrent_requests":65`)},
		{"0.4", "EXT04-INIT-019", offers(`"session_id":"conform"`, `"session_id":1`)},
		{"0.4", "EXT04-INIT-019", offers(`"workspace":"/w"`, `"workspace":"w"`)},
		{"0.4", "EXT04-NEG-027", offers(`"optional_features":[`, `"optional_features":["conform",`)},
		{"0.4", "EXT04-NEG-028", offers(`"optional_features":[`, `"optional_features":["editor_handoff",`)},
		{"0.4", "EXT04-ORDER-012", start["0.4"] + "\n" + `{"jsonrpc":"2.0","method":"ui/terminal-input","params":{}}`},
		{"0.4", "EXT04-BUS-002", start["0.4"] + "\n" + `{"jsonrpc":"2.0","method":"bus/event","params":{}}`},
		{"0.4", "EXT04-PROG-013", offers(`"progress_decoration",`, ``)},
		{"0.4", "EXT04-AGENT-009", offers(`"delegation_telemetry_v1",`, ``)},
		{"0.4", "EXT04-AGENT-010", offers(`"agent_sessions",`, ``)},
		{"0.4", "EXT04-COMPLETE-004", offers(`"autocomplete",`, ``)},
		{"0.4", "EXT04-UI-007", offers(`"remote_ui",`, ``)},
		{"0.4", "EXT04-POLICY-004", offers(`"policy_intents",`, ``)},
		{"0.4", "EXT04-RES-005", offers(`"max_records":256`, `"max_records":1`)},
		{"0.4", "EXT04-BULK-003", offers(`"optional_features":[`, `"optional_features":["bulk_objects_v1",`)},
		{"0.4", "EXT04-SECRET-002", offers(`"optional_features":[`, `"optional_features":["secrets",`)},
		{"0.1", "EXT01-INIT-003", bend("0.1", `"host":`, sorted+`,"host":`)},
		{"0.3", "EXT03-INIT-029", call("1")},
		{"0.3", "EXT03-INIT-037", bend("0.3", `"octet_version":"0.8.0"`, `"octet_version":"0.9.0"`)},
		{"0.3", "EXT03-INIT-031", bend("0.3", `"flag_values":[]`, sorted)},
		{"0.3", "EXT03-INIT-038", bend("0.3", `"contributes":{"`, `"contributes":{"aaa":0,"`)},
		{"0.3", "EXT03-ERR-012", strings.Join(append(hello(t, "0.3"), `<{"id":"c-1","jsonrpc":"2.0","method":"no/such","params":{}}`,
			`{"error":{"code":-32601,"message":"no such method"},"id":"c-1","jsonrpc":"2.0"}`), "\n")},
		{"0.3", "EXT03-SHUT-012", strings.Join(append(soundFrames(t, "0.3"), call("8")), "\n")},
	}
}

func TestMonitor_brokenRules(t *testing.T) {
	seen := map[string]bool{}
	check := func(api, rule string, frames ...string) {
		t.Helper()
		seen[rule] = true
		for _, f := range talk(t, api, frames...).Findings() {
			if f.Rule == rule {
				return
			}
		}
		t.Errorf("API %s: %s is not found in %.200q; found is %+v", api, rule, frames[len(frames)-1], talk(t, api, frames...).Findings())
	}
	for _, c := range broken {
		check(c.api, c.rule, append(hello(t, c.api), c.frame)...)
	}
	for _, c := range brokenStarts(t) {
		check(c.api, c.rule, strings.Split(c.frames, "\n")...)
	}
	for _, api := range []string{"0.1", "0.3", "0.4"} {
		d, err := dialect.For(api)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range hostmonitor.Rules(d) {
			if !seen[rule] {
				t.Errorf("no talk of this test breaks %s", rule)
			}
		}
	}
}
