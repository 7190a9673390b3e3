package transcript

import (
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// FuzzReplay takes rows of a ledger whose bodies say anything: they are refused, or can be shown within the bound.
func FuzzReplay(f *testing.F) {
	for _, seed := range []string{
		`{"session_id":"s","thread_id":"t","turn_id":"t","seq":1,"cursor":{"stream":"s","seq":1},"payload":{"type":"turn_started","data":{}}}`,
		`{"session_id":"s","thread_id":"t","turn_id":"t","payload":{"type":"user_message","data":{"text":"a","client_message_id":"c"}}}`,
		`{"turn_id":"t","payload":{"type":"turn_completed","data":{"outcome":"completed"}}}`, `{}`, `[]`, `null`, `{"payload":null}`, ``,
	} {
		f.Add([]byte(seed), []byte(`{}`), true, int64(0))
		f.Add([]byte(seed), []byte(seed), false, int64(1))
	}
	f.Fuzz(func(t *testing.T, first, second []byte, gather bool, after int64) {
		r := Replay{Gather: gather, After: after}
		for i, body := range [][]byte{first, second} {
			row := ledger.Stored{
				Event: ledger.Event{Stream: "s", Method: oupwire.MethodProjectionEnvelope, Subject: ledger.Subject{Kind: event.Turn, ID: "t"}, Step: ledger.Ends, Body: body},
				Seq:   int64(i + 1), Number: int64(i + 1),
			}
			if r.Take(row) != nil {
				return
			}
		}
		if kept, _, err := r.Envelopes(func(string) bool { return false }, 0); err == nil && !gather && len(kept) > 0 {
			t.Errorf("%d envelopes were not gathered and are shown", len(kept))
		}
		for _, id := range r.Turns() {
			if r.Turn(id) == nil {
				t.Errorf("there is no turn %q", id)
			}
		}
		r.Complete(nil, "t")
	})
}
