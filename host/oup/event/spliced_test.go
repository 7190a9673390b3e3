package event_test

import (
	"encoding/json"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// TestSpliced_hasTheBytesOfParams: also where texts look like members.
func TestSpliced_hasTheBytesOfParams(t *testing.T) {
	for _, session := range []string{"lab", `_main:local:"a"#b\u00e9`, "x#"} {
		for _, text := range []string{"", `,"thread_id":"x","turn_id":"y"}`, "\"payload\":{}\n\u2028"} {
			for _, e := range []event.Envelope{
				{Thread: "t", Turn: "u", Payload: oupwire.UserMessagePayload{Data: oupwire.UserMessageData{Text: text}}},
				{Thread: text + "t", Turn: "u" + text, ClientMessageID: `"payload":` + text, Payload: oupwire.ToolStartPayload{Data: oupwire.ToolStartData{
					ToolCallID: "c", Name: text, ArgumentsPreview: wirejson.Some(`{"thread_id":"z","turn_id":"z"}`),
				}}},
				{Thread: "t", Turn: "u", Payload: oupwire.TurnTerminalPayload{Data: oupwire.TurnTerminalData{
					Outcome: oupwire.TurnOutcomeErrored, Error: wirejson.Some(oupwire.TurnFailure{Code: "x", Message: text, Data: wirejson.Some(json.RawMessage(`{"a":0,"thread_id":"q","turn_id":"q"}`))}),
				}}},
			} {
				stored := ledger.Stored{Event: e.Event(session, event.Turn, ledger.Begins), Seq: 12, Number: 3}
				params, err := event.Params(stored)
				if err != nil {
					t.Fatal(err)
				}
				got, err := event.Spliced(stored)
				if want := string(params.AppendJSON(nil)); err != nil || string(got) != want {
					t.Errorf("spliced %s, %v\nwant    %s", got, err, want)
				}
			}
		}
	}
	if _, err := event.Spliced(ledger.Stored{Event: ledger.Event{Body: []byte(`{"turn_id":"x"}`)}}); err == nil {
		t.Error("something else is spliced")
	}
}
