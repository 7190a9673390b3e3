package hostmonitor_test

import (
	"bytes"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/hostmonitor"
	"github.com/octet-dev/octet/features/wire"
)

// FuzzMonitor judges lines that either side may write, beginning with "<" for those of the extension. Nothing makes the
// monitor fall over, and a finding that cites a rule cites one that it says it judges.
func FuzzMonitor(f *testing.F) {
	for _, seed := range []string{
		"", "{}\n<{}", `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{}}` + "\n" + `<{"id":1,"jsonrpc":"2.0","result":{}}`, "[]\n<[]\n\xff\n<\xff",
		`<{"id":"c-1","jsonrpc":"2.0","method":"input/request","params":{}}` + "\n" + `{"id":"c-1","jsonrpc":"2.0","result":{}}` + "\n" + `{"id":"c-1","jsonrpc":"2.0","error":{"code":1,"message":"m"}}`,
		`{"id":2,"jsonrpc":"2.0","method":"tool/call","params":{"name":"a","context":{"host":{}}}}` + "\n" + `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}` + "\n" + `{"id":3,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"x","payload":[]}}`,
		`{"jsonrpc":"2.0","method":"bus/event","params":{"binding_id":7}}` + "\n" + `{"jsonrpc":"2.0","method":"shutdown","id":9}`,
	} {
		for api := range dialect.Versions() {
			f.Add(uint8(api), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, api uint8, text []byte) {
		versions := dialect.Versions()
		d, err := dialect.For(versions[int(api)%len(versions)])
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, rule := range hostmonitor.Rules(d) {
			known[rule] = true
		}
		m := hostmonitor.New(d)
		for i, line := range bytes.Split(text, []byte("\n")) {
			frame := wire.Frame{Index: i, Lane: wire.ToSubject, Ended: true}
			if rest, heard := bytes.CutPrefix(line, []byte("<")); heard {
				frame.Lane, line = wire.FromSubject, rest
			}
			frame.Bytes, frame.Size = line, len(line)
			m.Observe(frame)
		}
		for _, found := range m.Findings() {
			if found.Rule != "" && !known[found.Rule] || found.Message == "" {
				t.Errorf("%s is found and not among the rules: %s", found.Rule, found.Message)
			}
		}
	})
}
