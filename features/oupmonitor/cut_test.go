package oupmonitor

import (
	"fmt"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// A text that is too long for a frame is cut there and marked; one that is cut without a mark, or says something else, is
// not that of its segment.
func TestPersisted_mayBeCutWhereItIsMarked(t *testing.T) {
	for data, clean := range map[string]bool{
		`"text":"one two"`:                 true,
		`"text":"one","truncated":true`:    true,
		`"text":""`:                        true, // it is taken back
		`"text":"one"`:                     false,
		`"text":"one","truncated":false`:   false,
		`"text":"other","truncated":true`:  false,
		`"text":"one two three"`:           false,
		`"text":"one two","truncated":"x"`: true,
	} {
		m := New(string(oupwire.TransportStdio), nil)
		m.ToServer(0, []byte(`{"jsonrpc":"2.0","id":"1","method":"session/open","params":{"session_id":"s"}}`))
		m.FromServer(1, []byte(`{"jsonrpc":"2.0","id":"1","result":{"opened":{"session_id":"s","cursor":{"stream":"s","seq":1}}}}`))
		m.ToServer(2, []byte(`{"jsonrpc":"2.0","id":"2","method":"turn/start","params":{"session_id":"s","turn_id":"t","input":[{"kind":"text","text":"go"}]}}`))
		m.FromServer(3, []byte(`{"jsonrpc":"2.0","id":"2","result":{"accepted":true}}`))
		for i, payload := range []string{
			`{"type":"user_message","data":{"text":"go"}}`,
			`{"type":"assistant_delta","data":{"assistant_segment_id":"a","text":"one two"}}`,
			`{"type":"assistant_persisted","data":{"assistant_segment_id":"a","meta":{"message_id":"m","persisted_at":"2030-01-01T00:00:00Z"},` + data + `}}`,
		} {
			m.FromServer(4+i, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"projection/envelope","params":{"session_id":"s","thread_id":"t","turn_id":"t","seq":%d,"cursor":{"stream":"s","seq":%d},"payload":%s}}`, i+1, i+2, payload))
		}
		found := ""
		for _, f := range m.Findings() {
			if f.Rule == "OUP-STREAM-008" {
				found = f.Message
			}
		}
		if clean != (found == "") {
			t.Errorf("%s: found is %q", data, found)
		}
	}
}
