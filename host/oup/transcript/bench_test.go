package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/transcript"
)

// BenchmarkReplay tells what session/hydrate takes for a session of which 100,000 events are kept: all are looked at, and
// as many as fit are answered.
func BenchmarkReplay(b *testing.B) {
	const turns, pieces = 100, 998
	l, err := ledger.Options{Retain: 1 << 20}.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for turn := range turns {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", turn)
		envelope := func(payload oupwire.EnvelopePayload, step ledger.Step) ledger.Event {
			return event.Envelope{Thread: id, Turn: id, Payload: payload}.Event("s", event.Turn, step)
		}
		events := []ledger.Event{envelope(oupwire.UserMessagePayload{Data: oupwire.UserMessageData{Text: "go"}}, ledger.Begins)}
		for range pieces {
			events = append(events, envelope(oupwire.AssistantDeltaPayload{
				Data: oupwire.AssistantDeltaData{Text: strings.Repeat("word ", 20), AssistantSegmentID: id + ":assistant:1"},
			}, ledger.Within))
		}
		events = append(events, envelope(oupwire.TurnTerminalPayload{Data: oupwire.TurnTerminalData{Outcome: oupwire.TurnOutcomeCompleted}}, ledger.Ends))
		if _, err := l.Append(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		replay := &transcript.Replay{Gather: true}
		if _, err := l.Replay(b.Context(), "s", nil, replay.Take); err != nil {
			b.Fatal(err)
		}
		kept, whole, err := replay.Envelopes(func(string) bool { return false }, transcript.Room)
		if err != nil || whole || len(kept) == 0 || len(replay.Turns()) != turns {
			b.Fatal(len(kept), whole, err)
		}
		transcript.Show(&oupwire.SessionHydrateResult{}, kept)
	}
}
