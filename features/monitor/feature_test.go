package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
)

// watch feeds a monitor with lines: those of the host start with "> ", those of the extension with "< ".
func watch(t testing.TB, api string, contributes dialect.Object, lines ...string) []string {
	t.Helper()
	return watchOf(t, api, dialect.Extension{Contributes: contributes}, lines...)
}

// watchOf is watch for any extension.
func watchOf(t testing.TB, api string, x dialect.Extension, lines ...string) []string {
	t.Helper()
	d, err := dialect.For(api)
	if err != nil {
		t.Fatal(err)
	}
	m := New(Setup{Dialect: d, Extension: x})
	see := func(lane wire.Lane, text string) {
		m.Observe(wire.Frame{Lane: lane, Bytes: []byte(text), Ended: true})
	}
	see(wire.ToSubject, string(d.Request("1", dialect.Initialize, d.Initialize(x))))
	for _, line := range lines {
		lane := wire.ToSubject
		if strings.HasPrefix(line, "< ") {
			lane = wire.FromSubject
		}
		see(lane, line[2:])
	}
	var rules []string
	for _, f := range m.Findings() {
		rules = append(rules, f.Rule)
	}
	return rules
}

const selected = `< {"id":1,"jsonrpc":"2.0","result":{"api_version":"0.4","commands":[],"protocol":{"features":["request_cancellation","content_parts"%s],"limits":{"max_concurrent_requests":8},"version":"0.4"},"tools":[]}}`

func TestMonitor_judgesSelectedNames(t *testing.T) {
	for _, test := range []struct {
		more string
		want []string
	}{
		{``, nil},
		{`,"request_progress","progress_decoration"`, nil},
		{`,"progress_decoration"`, []string{"EXT04-NEG-020"}},
		{`,"conform_telepathy_v9"`, []string{"EXT04-NEG-003", "EXT04-NEG-007"}},
	} {
		if got := watch(t, "0.4", nil, fmt.Sprintf(selected, test.more)); !slices.Equal(got, test.want) {
			t.Errorf("features and %s: %q, want %q", test.more, got, test.want)
		}
	}
}

func TestMonitor_knowsWhatTheManifestOpens(t *testing.T) {
	ready := fmt.Sprintf(selected, "")
	for _, test := range []struct {
		contributes dialect.Object
		line        string
		open        bool
	}{
		{dialect.Object{"confirmations": true}, `{"id":"c","jsonrpc":"2.0","method":"confirmation/request","params":{}}`, true},
		{dialect.Object{"confirmations": true}, `{"jsonrpc":"2.0","method":"log/message","params":{}}`, false},
		{dialect.Object{"context": true}, `{"jsonrpc":"2.0","method":"context/contribution","params":{}}`, true},
		{dialect.Object{"ui": []any{"header"}}, `{"jsonrpc":"2.0","method":"status/contribution","params":{}}`, true},
		{nil, `{"jsonrpc":"2.0","method":"status/contribution","params":{}}`, false},
		{nil, `{"id":"c","jsonrpc":"2.0","method":"input/request","params":{"parent_request_id":1}}`, true},
		{nil, `{"id":"c","jsonrpc":"2.0","method":"composer/get","params":{"parent_request_id":1}}`, false},
		{nil, `{"id":"c","jsonrpc":"2.0","method":"conform/other","params":{"parent_request_id":1}}`, false},
		{nil, `{"jsonrpc":"2.0","method":"presentation/update","params":{}}`, false},
		{dialect.Object{"presentation": true}, `{"jsonrpc":"2.0","method":"presentation/update","params":{}}`, true},
		{nil, `{"jsonrpc":"2.0","method":"initialized","params":{}}`, false},
		{nil, `{"jsonrpc":"2.0","method":"","params":{}}`, false},
	} {
		got := watch(t, "0.4", test.contributes, ready, "< "+test.line)
		if open := !slices.Contains(got, "EXT04-ORDER-005"); open != test.open {
			t.Errorf("%v opens %s: %t with %q, want %t", test.contributes, test.line, open, got, test.open)
		}
	}
}

// A cancellation may cross the answer to the question it withdraws. Once the extension has answered a
// request that was sent behind that answer, it must have read it.
func TestMonitor_letsCancellationsCross(t *testing.T) {
	crossing := []string{
		fmt.Sprintf(selected, ""),
		`> {"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"name":"a"}}`,
		`< {"id":"c-1","jsonrpc":"2.0","method":"confirmation/request","params":{"default":false,"destructive":false,"parent_request_id":7,"prompt":"Go on?"}}`,
		`> {"error":{"code":-32601,"message":"unsupported_feature"},"id":"c-1","jsonrpc":"2.0"}`,
		`< {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1"}}`,
	}
	contributes := dialect.Object{"confirmations": true}
	if got := watch(t, "0.4", contributes, crossing...); len(got) > 0 {
		t.Errorf("a crossing cancellation: %q, want nothing", got)
	}
	late := slices.Insert(crossing, 4,
		`> {"id":2,"jsonrpc":"2.0","method":"conform/probe","params":{}}`,
		`< {"error":{"code":-32601,"message":"conform/probe"},"id":2,"jsonrpc":"2.0"}`)
	if got := watch(t, "0.4", contributes, late...); !slices.Equal(got, []string{"EXT04-CANCEL-008"}) {
		t.Errorf("a late cancellation: %q, want EXT04-CANCEL-008", got)
	}
}

// What is refused because its id is in use changes nothing: not even shutdown ends anything.
func TestMonitor_takesNothingFromARefusedID(t *testing.T) {
	const call = `> {"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"name":"a"}}`
	const refusal = `< {"error":{"code":-32600,"message":"Invalid Request"},"id":7,"jsonrpc":"2.0"}`
	const answer = `< {"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}],"is_error":false}}`
	for _, method := range []string{"tool/call", "shutdown"} {
		again := fmt.Sprintf(`> {"id":7,"jsonrpc":"2.0","method":%q,"params":{}}`, method)
		got := watch(t, "0.4", nil, fmt.Sprintf(selected, ""), call, again, refusal,
			`> {"id":8,"jsonrpc":"2.0","method":"conform/probe","params":{}}`,
			`< {"error":{"code":-32601,"message":"conform/probe"},"id":8,"jsonrpc":"2.0"}`, answer)
		if len(got) > 0 {
			t.Errorf("%s under an id that is in use: %q, want nothing", method, got)
		}
	}
}

func TestMonitor_allowsNullIDsOnlyBehindUnreadableLines(t *testing.T) {
	const answer = `< {"error":{"code":-32600,"message":"Invalid Request"},"id":null,"jsonrpc":"2.0"}`
	for _, test := range []struct {
		line    string
		allowed bool
	}{
		{`hello`, true},
		{`[]`, true},
		{`{}`, true},
		{`{"id":null,"jsonrpc":"2.0","method":"conform/probe"}`, true},
		{`{"id":{},"jsonrpc":"2.0","method":"conform/probe"}`, true},
		{`{"jsonrpc":"2.0","method":"conform/notice"}`, false},
		{`{"id":2,"jsonrpc":"2.0","method":7}`, false},
		{``, false},
	} {
		got := watch(t, "0.4", nil, fmt.Sprintf(selected, ""), "> "+test.line, answer)
		if allowed := len(got) == 0; allowed != test.allowed {
			t.Errorf("null answers %q: %q, want allowed %t", test.line, got, test.allowed)
		}
	}
}

func TestMonitor_leavesAloneWhatItCannotCompile(t *testing.T) {
	ready := strings.Replace(fmt.Sprintf(selected, ""), `"tools":[]`,
		`"tools":[{"name":"a","description":"A.","parameters":{"type":"object"},"output_schema":{"$schema":"https://schema.invalid/own","type":"object"}}]`, 1)
	got := watch(t, "0.4", dialect.Object{"tools": []any{"a"}}, ready,
		`> {"id":2,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"name":"a"}}`,
		`< {"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}],"is_error":false,"structured_content":{}}}`)
	if len(got) > 0 {
		t.Errorf("a schema of an unknown dialect: %q, want nothing", got)
	}
}

func TestTree_sizesInOnePass(t *testing.T) {
	for text, want := range map[string][2]int{
		`7`:                       {0, 1},
		`"a"`:                     {0, 1},
		`[]`:                      {1, 1},
		`{"a":"b","c":["d",{}]}`:  {3, 5},
		`{"a":{"b":{}},"c":null}`: {3, 4},
		`[[1],[2],"x"]`:           {2, 6},
		strings.Repeat("[", 9000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 9000): {9000, 9001},
	} {
		depth, nodes := value([]byte(text)).size()
		if got := [2]int{depth, nodes}; got != want {
			t.Errorf("size of %.40s: %d, want %d", text, got, want)
		}
	}
}

// Nothing that either side writes makes a monitor fall over.
func FuzzMonitor(f *testing.F) {
	f.Add("0.4", `{"id":2,"jsonrpc":"2.0","method":"tool/call","params":{"name":"a"}}`, `{"id":2,"jsonrpc":"2.0","result":{"content":[{"type":"text"}]}}`)
	f.Add("0.1", `{"id":2,"jsonrpc":"2.0","method":"shutdown"}`, `{"id":"2","error":{"code":-32800}}`)
	f.Add("0.2", `[]`, `{"jsonrpc":"2.0","method":"$/progress","params":{"request_id":1,"event":{"type":"output","encoding":"base64"}}}`)
	f.Add("0.3", `{"id":2}`, `{"id":1,"jsonrpc":"2.0","result":{"contract":{"limits":{"max_frame_bytes":-1}},"tools":[{}]}}`)
	f.Add("0.4", `{"id":2,"jsonrpc":"2.0","method":"menu/collect","params":{}}`, `{"id":2,"jsonrpc":"2.0","result":{"items":[{"id":"a","items":[{"id":"a","command":7}]}]}}`)
	f.Add("0.4", `{"id":2,"jsonrpc":"2.0","method":"ui/autocomplete/complete","params":{"text":"é","cursor":9007199254740991}}`,
		`{"id":2,"jsonrpc":"2.0","result":{"prefix":"","items":[{"value":"é","replace_after_bytes":1,"cursor_offset_bytes":1}]}}`)
	f.Add("0.4", `{"id":"p","jsonrpc":"2.0","result":{}}`, `{"id":"p","jsonrpc":"2.0","method":"presentation/update","params":{"snapshot":{"revision":1,"collection":{"kind":"tree","nodes":[{"id":"a","parent_id":"a"}]}}}}`)
	f.Add("0.2", `{"id":2,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"before_persistence","payload":{}}}`, `{"id":2,"jsonrpc":"2.0","result":{"persistence_metadata":{"value":[[["\u0000"]]]}}}`)
	f.Fuzz(func(t *testing.T, api, host, extension string) {
		if !slices.Contains(dialect.Versions(), api) {
			t.Skip()
		}
		all := dialect.Object{"commands": []any{"a"}, "presentation": true, "menu": true, "context": true, "ui": []any{"status"}, "hooks": []any{"before_persistence"}}
		everything := strings.Replace(fmt.Sprintf(selected, ""), `"content_parts"`, `"content_parts","composer","artifacts","autocomplete","remote_ui","bulk_objects_v1","tool_composition_v1"`, 1)
		watch(t, api, all, everything, "< "+extension, "> "+host, "< "+extension, "> "+extension, "< "+host)
	})
}

// A host may ask for a completion at a place that no text has; the answer is judged all the same.
func TestMonitor_completesAtNoPlace(t *testing.T) {
	for _, cursor := range []string{"-1", "9007199254740991", `"x"`, "null"} {
		watch(t, "0.4", dialect.Object{},
			`< {"id":1,"jsonrpc":"2.0","result":{"api_version":"0.4","commands":[],"protocol":{"features":["request_cancellation","content_parts","ui_autocomplete_v1"],"limits":{"max_concurrent_requests":4},"version":"0.4"},"tools":[]}}`,
			`> {"id":2,"jsonrpc":"2.0","method":"ui/autocomplete/complete","params":{"cursor":`+cursor+`,"text":"/he"}}`,
			`< {"id":2,"jsonrpc":"2.0","result":{"items":[],"prefix":""}}`)
	}
}

// A host that stops in the middle of a line has written one that nobody can read: its refusal carries null.
func TestMonitor_takesHalfALineForUnreadable(t *testing.T) {
	const refusal = `{"error":{"code":-32700,"message":"Parse error"},"id":null,"jsonrpc":"2.0"}`
	for _, test := range []struct {
		api, half string
		want      []string
	}{
		{"0.1", "{\"jsonrpc\":\"2.0\",\"method\":\"conform/\xc3", nil},
		{"0.4", "{\"jsonrpc\":\"2.0\",\"method\":\"conform/\xc3", nil},
		{"0.4", `{"id":2,"jsonrpc":"2.0","method":"conform/probe"}`, nil},
		{"0.4", "\r", []string{"EXT04-ENV-003"}},
		{"0.4", "", []string{"EXT04-ENV-003"}},
		{dialect.CanonicalAPI, `{"jsonrpc":"2.0","met`, []string{"EXT03-ENV-006"}},
	} {
		d, err := dialect.For(test.api)
		if err != nil {
			t.Fatal(err)
		}
		m := New(Setup{Dialect: d})
		m.phase = serving
		if test.half != "" {
			m.Observe(wire.Frame{Lane: wire.ToSubject, Bytes: []byte(test.half)})
		}
		m.InputEnded()
		m.Observe(wire.Frame{Lane: wire.FromSubject, Bytes: []byte(refusal), Size: len(refusal), Ended: true})
		var rules []string
		for _, f := range m.Findings() {
			if strings.Contains(f.Message, "the id null") {
				rules = append(rules, f.Rule)
			}
		}
		if !slices.Equal(rules, test.want) {
			t.Errorf("API %s, %q and the end: %q, want %q", test.api, test.half, rules, test.want)
		}
	}
}
