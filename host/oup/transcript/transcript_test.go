package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/transcript"
	"github.com/octet-dev/octet/host/session"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func entry(id string, v session.Value) session.Stored {
	return session.Stored{ID: session.EntryID(id), Time: noon, Value: v}
}

func said(run string, role conversation.Role, parts ...conversation.Part) session.Message {
	return session.Message{Run: run, Message: conversation.Message{Role: role, Parts: parts}}
}

// TestRows shows one of everything.
func TestRows(t *testing.T) {
	text := conversation.TextPart
	branch := []session.Stored{
		entry("e0", session.ModelChange{Model: "m"}),
		entry("e1", session.Message{Run: "t1", Message: conversation.Say(conversation.User, "expanded"), Display: "typed"}),
		entry("e2", said("t1", conversation.Assistant, conversation.Part{Kind: conversation.Reasoning, Text: "why"}, text("look"),
			conversation.Part{Kind: conversation.ToolCall, CallID: "c1", Name: "read"}, conversation.Part{Kind: conversation.ToolCall, CallID: "c2", Name: "list"})),
		entry("e3", said("t1", conversation.Tool,
			conversation.Part{Kind: conversation.ToolResult, CallID: "c1", Name: "read", Content: []conversation.Part{text("one")}},
			conversation.Part{Kind: conversation.ToolResult, CallID: "c2", Name: "list", Content: []conversation.Part{text("two")}})),
		entry("e4", session.Compaction{Summary: "s", FirstKept: "e1"}),
		entry("e5", said("t2", conversation.Tool, conversation.Part{Kind: conversation.ToolResult, CallID: "c3", Name: "read", Content: []conversation.Part{text("three")}})),
		entry("e6", session.Injected{Source: "ext", Message: conversation.Say(conversation.System, "note")}),
		entry("e7", said("", conversation.User, text("alone"))),
	}
	rows := transcript.Rows(branch)
	want := []string{
		`{"content":"typed","message_id":"e1","persisted_at":"2030-01-02T12:00:00Z","role":"user","seq":0,"thread_id":"t1","turn_id":"t1"}`,
		`{"content":"look","message_id":"e2","persisted_at":"2030-01-02T12:00:00Z","reasoning_content":"why","role":"assistant","seq":1,"thread_id":"t1","tool_calls":[{"tool_call_id":"c1","tool_name":"read"},{"tool_call_id":"c2","tool_name":"list"}],"turn_id":"t1"}`,
		`{"content":"one\ntwo","message_id":"e3","persisted_at":"2030-01-02T12:00:00Z","role":"tool","seq":2,"thread_id":"t1","tool_results":[{"tool_call_id":"c1","tool_name":"read"},{"tool_call_id":"c2","tool_name":"list"}],"turn_id":"t1"}`,
		`{"content":"three","message_id":"e5","persisted_at":"2030-01-02T12:00:00Z","role":"tool","seq":3,"thread_id":"t2","tool_call_id":"c3","tool_name":"read","turn_id":"t2"}`,
		`{"content":"note","message_id":"e6","persisted_at":"2030-01-02T12:00:00Z","role":"system","seq":4,"source":"ext"}`,
		`{"content":"alone","message_id":"e7","persisted_at":"2030-01-02T12:00:00Z","role":"user","seq":5}`,
	}
	for i := range rows {
		got := string(rows[i].Hydrated(true).AppendJSON(nil))
		if got != want[i] {
			t.Errorf("row %d:\n got %s\nwant %s", i, got, want[i])
		}
		if _, err := oupwire.DecodeHydratedMessage([]byte(got)); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
		plain := rows[i].Hydrated(false)
		if !plain.MessageID.IsAbsent() || !plain.Source.IsAbsent() || !plain.ReasoningContent.IsAbsent() {
			t.Errorf("row %d shows older clients %s", i, plain.AppendJSON(nil))
		}
		if info, err := oupwire.DecodeMessageInfo(rows[i].Info().AppendJSON(nil)); err != nil || info.Content != rows[i].Text {
			t.Errorf("row %d: %s, %v", i, info.AppendJSON(nil), err)
		}
	}
	threads, orphans := transcript.Threads(rows, func(string) oupwire.ThreadStatus { return oupwire.ThreadStatusCompleted })
	if len(threads) != 2 || !slices.Equal(threads[0].MessageSeqs, []int64{0, 1, 2}) || threads[1].RootSeq != 3 || !slices.Equal(orphans, []int64{5}) {
		t.Errorf("streams %+v, orphans %v", threads, orphans)
	}
}

// TestFit shortens texts of any letters to any room.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.SampledFrom([]string{"a", "ä", "€", "𝄞", "\x01", `"`, "ab€"}).Draw(t, "letters"), rapid.IntRange(0, 50).Draw(t, "n"))
		room := rapid.IntRange(2, 200).Draw(t, "room")
		cut := transcript.Fit(text, room)
		if size := len(wirejson.AppendString(nil, cut)); size > room || !strings.HasPrefix(text, cut) || !utf8.ValidString(cut) {
			t.Fatalf("%q of %q has %d bytes in %d", cut, text, size, room)
		}
		if len(cut) < len(text) && len(cut) < (room-2)/12 {
			t.Fatalf("%q of %q could be longer in %d", cut, text, room)
		}
	})
}

// told makes the event of an envelope.
func told(seq, number int64, thread string, kind string, payload oupwire.EnvelopePayload) ledger.Stored {
	step := ledger.Within
	if kind == event.Child {
		step = ledger.Begins | ledger.Ends
	}
	if _, ends := payload.(oupwire.TurnTerminalPayload); ends {
		step = ledger.Ends
	}
	e := event.Envelope{Thread: thread, Turn: thread, Payload: payload}.Event("s", kind, step)
	return ledger.Stored{Event: e, Seq: seq, Number: number, Time: noon.Add(time.Duration(seq) * time.Second)}
}

func delta(text string) oupwire.EnvelopePayload {
	return oupwire.AssistantDeltaPayload{Data: oupwire.AssistantDeltaData{Text: text, AssistantSegmentID: "seg"}}
}

func persisted(text string) oupwire.EnvelopePayload {
	return oupwire.AssistantPersistedPayload{Data: oupwire.AssistantPersistedData{
		Text: text, AssistantSegmentID: "seg", Meta: oupwire.MessageMeta{MessageID: "m", PersistedAt: "2030-01-02T12:00:00Z"},
	}}
}

func terminal(outcome oupwire.TurnOutcome) oupwire.EnvelopePayload {
	return oupwire.TurnTerminalPayload{Data: oupwire.TurnTerminalData{Outcome: outcome}}
}

// TestReplay covers OUP-HYDRATE-011 and OUP-HYDRATE-013: with less and less room streams lose their pieces, then all
// but their ends, the oldest first.
func TestReplay_losesTheOldestFirst(t *testing.T) {
	r := transcript.Replay{Gather: true}
	seq := int64(0)
	take := func(s ledger.Stored) {
		t.Helper()
		if err := r.Take(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, thread := range []string{"t1", "t2", "t3"} {
		number := int64(0)
		for _, p := range []oupwire.EnvelopePayload{
			oupwire.UserMessagePayload{Data: oupwire.UserMessageData{Text: "hello"}}, delta("an "), delta("answer"), persisted("an answer"), terminal(oupwire.TurnOutcomeCompleted),
		} {
			seq, number = seq+1, number+1
			take(told(seq, number, thread, event.Turn, p))
		}
	}
	child := oupwire.SpawnCompletePayload{Data: oupwire.SpawnCompleteData{ParentTurnID: "t1", TaskID: "k", Content: "late", MessageID: "m", Source: "background", PersistedAt: "2030-01-02T12:00:00Z"}}
	take(told(seq+1, 1, "t1:background:k", event.Child, child))
	if turn := r.Turn("t2"); turn == nil || turn.Outcome != oupwire.TurnOutcomeCompleted || !turn.Completed.After(turn.Started) || !slices.Equal(r.Turns(), []string{"t1", "t2", "t3"}) {
		t.Errorf("turn %+v of %v", turn, r.Turns())
	}
	alone := transcript.Replay{}
	for _, s := range []ledger.Stored{
		told(1, 1, "t", event.Turn, delta("x")), told(2, 2, "t", event.Turn, delta("y")), told(3, 3, "t", event.Turn, terminal(oupwire.TurnOutcomeErrored)),
	} {
		if err := alone.Take(s); err != nil {
			t.Fatal(err)
		}
	}
	if kept, _, _ := alone.Envelopes(func(string) bool { return false }, 20_000); len(kept) > 0 || alone.Turn("t").Outcome != oupwire.TurnOutcomeErrored || alone.Turn("t").Started.IsZero() {
		t.Errorf("the turns alone: %+v, %d envelopes", alone.Turn("t"), len(kept))
	}
	shapes := map[string]bool{}
	for room := 20_000; room >= 0; room -= 50 {
		kept, all, err := r.Envelopes(func(turn string) bool { return turn == "t2" }, room)
		if err != nil {
			t.Fatal(err)
		}
		var result oupwire.SessionHydrateResult
		empty := len(result.AppendJSON(nil))
		transcript.Show(&result, kept)
		if size := len(result.AppendJSON(nil)) - empty; size > room+1000 {
			t.Errorf("%d envelopes take %d bytes of %d", len(kept), size, room)
		}
		count := map[string]int{}
		for i, e := range kept {
			count[e.ThreadID]++
			if i > 0 && e.Cursor.Or(oupwire.Cursor{}).Seq <= kept[i-1].Cursor.Or(oupwire.Cursor{}).Seq {
				t.Errorf("not in order: %+v", kept)
			}
		}
		shapes[fmt.Sprint(count["t1"], count["t2"], count["t3"], count["t1:background:k"], all)] = true
	}
	for _, want := range []string{"5 0 5 1 true", "3 0 5 1 false", "1 0 5 1 false", "0 0 0 0 false"} {
		if !shapes[want] {
			t.Errorf("never %s among %v", want, shapes)
		}
	}
	child.Data.Content = strings.Repeat("x", 5000)
	r = transcript.Replay{Gather: true}
	take(told(1, 1, "t2:background:k", event.Child, child))
	for room, want := range map[int]int{18_000: 0, 22_000: 1} { // a child stream is shown four times
		if kept, _, _ := r.Envelopes(func(string) bool { return false }, room); len(kept) != want {
			t.Errorf("%d bytes hold %d", room, len(kept))
		}
	}
	if kept, _, _ := r.Envelopes(func(turn string) bool { return turn == "t2" }, 22_000); len(kept) != 0 {
		t.Error("the child of a turn that was taken out is shown")
	}
	r = transcript.Replay{Gather: true, After: 8}
	for n := int64(6); n <= 10; n++ {
		take(told(n, n-5, "t", event.Turn, delta("x")))
	}
	if kept, _, _ := r.Envelopes(func(string) bool { return false }, 20_000); len(kept) != 2 || transcript.Sequences(kept)["t"] != 5 {
		t.Errorf("behind the cursor: %+v", kept)
	}
}
