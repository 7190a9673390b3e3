package oupmonitor

import (
	"bytes"
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// FuzzMonitor judges lines that either side may write, beginning with "<" for those of the server. Nothing makes the
// monitor fall over, and every finding cites a rule that it says it judges.
func FuzzMonitor(f *testing.F) {
	envelope := `<{"jsonrpc":"2.0","method":"projection/envelope","params":{"session_id":"s","thread_id":"t","turn_id":"t","seq":1,"cursor":{"stream":"s","seq":1},"payload":{"type":"turn_started","data":{}}}}`
	for _, seed := range []string{
		"", "{}\n<{}", "[]\n<[]\n\xff\n<\xff", envelope + "\n" + envelope,
		`{"jsonrpc":"2.0","id":"1","method":"client_hello","params":{"supported_features":["x"]}}` + "\n" + `<{"jsonrpc":"2.0","id":"1","result":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":"1","method":"session/open","params":{"session_id":"s","after":{"stream":"s","seq":3}}}` + "\n" + `<{"jsonrpc":"2.0","id":"1","result":{"opened":{"session_id":"s","cursor":{"stream":"s","seq":9}}}}` + "\n" + envelope,
		`{"jsonrpc":"2.0","id":"1","method":"turn/start","params":{"session_id":"s","turn_id":"t"}}` + "\n" + `<{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"m","data":{"kind":7}}}`,
		`<{"jsonrpc":"2.0","method":"protocol/replay_lossy","params":{"session_id":"s","dropped_count":-1}}` + "\n" + `<{"jsonrpc":"2.0","method":"server/heartbeat","params":null}`,
	} {
		f.Add(true, []byte(seed))
		f.Add(false, []byte(seed))
	}
	rules := append(ServerRules(), ClientRules()...)
	f.Fuzz(func(t *testing.T, stdio bool, text []byte) {
		transport := oupwire.TransportWebsocket
		if stdio {
			transport = oupwire.TransportStdio
		}
		m := New(string(transport), []string{"plan.todos.v1"})
		m.Keep("a secret")
		for i, line := range bytes.Split(text, []byte("\n")) {
			if rest, server := bytes.CutPrefix(line, []byte("<")); server {
				m.FromServer(i, rest)
			} else {
				m.ToServer(i, line)
			}
		}
		for _, found := range m.Findings() {
			if !slices.Contains(rules, found.Rule) {
				t.Errorf("%s is found and not among the rules: %+v", found.Rule, found)
			}
		}
	})
}
