package event

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/ledger"
)

func stored(e ledger.Event) ledger.Stored { return ledger.Stored{Event: e, Seq: 7, Number: 3} }

func TestEnvelope_getsItsPosition(t *testing.T) {
	payload := oupwire.AssistantDeltaPayload{Data: oupwire.AssistantDeltaData{Text: "a\"\n\u2028", AssistantSegmentID: "s"}}
	for session, topic := range map[string]string{"k": "", "k#t": "t"} {
		e := Envelope{Thread: "T", Turn: "T", ClientMessageID: "c", Payload: payload}.Event(session, Turn, ledger.Begins)
		for _, word := range []string{"cursor", "seq", "session_id"} {
			if strings.Contains(string(e.Body), word) {
				t.Errorf("%s is stored: %s", word, e.Body)
			}
		}
		params, err := Params(stored(e))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := params.(oupwire.EnvelopeV2)
		cursor, _ := got.Cursor.Get()
		if !ok || got.SessionID != session || got.Topic.Or("") != topic || got.Seq != 3 || cursor.Seq != 7 || cursor.Stream != session ||
			got.ThreadID != "T" || got.ClientMessageID.Or("") != "c" || got.Validate() != nil {
			t.Errorf("%s: %s", session, params.AppendJSON(nil))
		}
		if d := got.Payload.(oupwire.AssistantDeltaPayload); d.Data.Text != payload.Data.Text {
			t.Errorf("the text is %q", d.Data.Text)
		}
	}
}

func TestOpened_keepsNothingOfAConnection(t *testing.T) {
	e := Opened(oupwire.SessionOpened{
		SessionID: "k", WorkspaceRoot: wirejson.Some("/w"), Cursor: wirejson.Some(oupwire.Cursor{Stream: "k", Seq: 1}),
		Capabilities: oupwire.ServerCapabilities{SupportedMethods: []string{"secret"}},
	})
	if strings.Contains(string(e.Body), "secret") || strings.Contains(string(e.Body), "cursor") {
		t.Errorf("stored is %s", e.Body)
	}
	params, err := Params(stored(e))
	if err != nil {
		t.Fatal(err)
	}
	opened := params.(oupwire.SessionOpened)
	if cursor, _ := opened.Cursor.Get(); cursor.Seq != 7 || opened.WorkspaceRoot.Or("") != "/w" {
		t.Errorf("%+v", opened)
	}
}

func TestParams_refuses(t *testing.T) {
	for _, e := range []ledger.Event{
		{Stream: "k", Method: oupwire.MethodProjectionEnvelope, Body: []byte("{")},
		{Stream: "k", Method: oupwire.MethodProjectionEnvelope, Body: []byte(`{"payload":{"type":"nothing"},"thread_id":"T","turn_id":"T"}`)},
		{Stream: "k", Method: oupwire.MethodTurnStarted, Body: []byte("{}")},
		{Stream: "k", Method: oupwire.MethodSessionOpen, Body: []byte("{}")},
		{Stream: "k", Method: "no/such", Body: []byte("{}")},
	} {
		if params, err := Params(stored(e)); err == nil {
			t.Errorf("%s is %s", e.Body, params.AppendJSON(nil))
		}
	}
}

func TestNewID(t *testing.T) {
	at := time.UnixMilli(0x0123456789ab)
	id := NewID(at)
	if !regexp.MustCompile(`^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || id == NewID(at) {
		t.Errorf("made %s", id)
	}
}
