package story

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

var update = flag.Bool("update", false, "write what is told into the golden files")

const (
	key  = "_main:local:chat#build"
	turn = "00000000-0000-4000-8000-000000000001"
)

func world() World {
	return World{
		Now:  func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Size: func(path string) int64 { return int64(len(path)) },
		Preview: func(call string, change tool.Change) string {
			return "00000000-0000-4000-8000-0000000000ff"
		},
		Context: func() oupwire.ContextState {
			return oupwire.ContextState{SessionID: key, TranscriptHash: "abc", RecoveryState: oupwire.RecoveryStateExact, ItemCount: 9, TokenEstimate: 90}
		},
		Threshold: func() int64 { return 1000 },
	}
}

func said(role conversation.Role, text string) conversation.Message {
	return conversation.Say(role, text)
}

func output(text string) agent.ToolResult {
	return agent.ToolResult{Content: []conversation.Part{conversation.TextPart(text)}}
}

func number(n int64) *int64 { return &n }

// TestTeller holds, for whole turns, every byte that is stored.
func TestTeller(t *testing.T) {
	for name, events := range map[string][]agent.Event{
		"plain": {
			agent.RunStarted{},
			agent.TurnStarted{},
			agent.ReasoningDelta{Text: "think"},
			agent.ReasoningDelta{Text: "ing"},
			agent.TextDelta{Text: "Hel"},
			agent.TextDelta{Text: "lo"},
			agent.Message{Entry: "e-2", Message: said(conversation.Assistant, "Hello")},
			agent.Usage{Usage: conversation.Usage{Input: 4, Output: 2}},
			agent.TurnFinished{},
			agent.RunSettled{},
		},
		"discarded": {
			agent.TextDelta{Text: strings.Repeat("a", Batch)},
			agent.AnswerDiscarded{},
			agent.TextDelta{Text: "never told"},
			agent.ReasoningDelta{Text: "kept"},
			agent.AnswerDiscarded{},
			agent.TextDelta{Text: "good"},
			agent.Message{Entry: "e-2", Message: said(conversation.Assistant, "good")},
		},
		"stopped": {
			agent.TextDelta{Text: "void"},
			agent.AnswerDiscarded{},
			agent.TextDelta{Text: "Half an"},
			agent.ReasoningDelta{Text: "think"},
			agent.TextDelta{Text: " answer"},
		},
		"tools": {
			agent.Message{Entry: "e-2", Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{{Kind: conversation.ToolCall, CallID: "c1"}}}},
			agent.ToolStarted{CallID: "c1", Name: "write", Arguments: []byte(`{"path":"a.txt"}`)},
			agent.ToolProgress{CallID: "c1", Message: "half", Current: number(1), Total: number(2), Unit: "files"},
			agent.ToolProgress{CallID: "c1", Stream: "stdout", Data: "line\n"},
			agent.ToolProgress{CallID: "c1", Label: "Phase", Detail: "two"},
			agent.ToolProgress{CallID: "c1"},
			agent.ToolProgress{CallID: "unknown", Message: "dropped"},
			agent.ToolFinished{CallID: "c1", Name: "write", Status: agent.ToolCompleted, Result: output("done"), Millis: 7, Changes: []tool.Change{
				{Path: "a.txt", Kind: tool.Created}, {Path: "b.zzz", Kind: tool.Created}, {Path: "c.txt", Kind: tool.Changed}, {Path: "d.txt", Kind: tool.Deleted},
			}},
			agent.ToolStarted{CallID: "c2", Name: "shell"},
			agent.ToolFinished{CallID: "c2", Name: "shell", Status: agent.ToolFailed, Result: output("no such thing")},
			agent.ToolFinished{CallID: "c3", Name: "shell", Status: agent.ToolDenied, Result: output("the user does not want it")},
			agent.ToolFinished{CallID: "c4", Name: "shell", Status: agent.ToolCancelled, Result: output("stopped")},
			agent.Message{Entry: "e-3", Message: said(conversation.Tool, "results")},
		},
		"aside": {
			agent.RetryScheduled{Attempt: 2, MaxAttempts: 5, Millis: 1500, Reason: "busy"},
			agent.WaitingForNetwork{Reason: "no route"},
			agent.NetworkBack{Waited: 1500},
			agent.Notified{Notification: agent.Notification{Source: "ext", Level: "info", Title: "News", Message: "all is well"}},
			agent.Notified{Notification: agent.Notification{Source: "ext", Level: "warning", Message: "careful"}},
			agent.InputDelivered{Kind: agent.KindFollowUp, Text: "not shown as a steer"},
			agent.InputDelivered{Kind: agent.KindSteer, Text: "be quick"},
		},
	} {
		teller := New(key, turn, world())
		list := teller.Begun("hello", "client-1", []oupwire.FileRef{{Path: "p.png", Mime: "image/png", SizeBytes: 3}})
		for _, e := range events {
			list = append(list, teller.Take(e)...)
		}
		if name == "stopped" {
			teller.Keep()
			list = append(list, teller.Take(agent.AnswerDiscarded{})...)
		}
		if teller.Waiting() {
			list = append(list, teller.Rest()...)
		}
		list = append(list, Dropped(key, turn, []oupwire.InputItem{{Kind: oupwire.InputKindText}}, oupwire.SteerDropReasonTurnEnded),
			Terminal(key, turn, Settled(agent.Outcome{Status: agent.Completed, Usage: conversation.Usage{Input: 4, Output: 2, Reasoning: 1}}, false)))
		golden(t, name, list)
	}
}

// golden compares events with a file, and holds every one of them against its model.
func golden(t *testing.T, name string, list []ledger.Event) {
	t.Helper()
	var text bytes.Buffer
	numbers := map[ledger.Subject]int64{}
	for i, e := range list {
		numbers[e.Subject]++
		params, err := event.Params(ledger.Stored{Event: e, Seq: int64(i + 1), Number: numbers[e.Subject]})
		if err != nil {
			t.Fatal(err)
		}
		if err := params.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		body := string(e.Body)
		if len(body) > 2000 {
			body = body[:100] + "..."
		}
		fmt.Fprintf(&text, "%s %d %s\n", e.Method, e.Step, body)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, text.Bytes()) {
		t.Errorf("%s: told was\n%s\nwant\n%s", name, text.Bytes(), want)
	}
}

// TestCompaction: one that failed is told as completed.
func TestCompaction(t *testing.T) {
	w := world()
	for _, last := range []agent.Event{
		agent.CompactionSettled{Trigger: "manual", Compaction: agent.Compaction{Entry: "e-9"}}, agent.CompactionFailed{Trigger: "manual", Reason: "no model"},
	} {
		c := NewCompactions(key, w)
		if news := c.Take(agent.TextDelta{Text: "x"}); news != nil {
			t.Errorf("a piece is told as %v", news)
		}
		began := c.Take(agent.CompactionStarted{Trigger: "manual", TokensBefore: 80, Entries: 5})
		ended := c.Take(last)
		if len(began) != 1 || len(ended) != 1 || began[0].Method != oupwire.MethodContextCompactionStarted {
			t.Fatalf("%v, %v", began, ended)
		}
		told, err := oupwire.DecodeContextCompactionCompletedEvent(ended[0].Body)
		if err != nil {
			t.Fatal(err)
		}
		record := told.Compaction
		_, failed := last.(agent.CompactionFailed)
		if failed != (record.Status == oupwire.CompactionStatusFailed) || failed != (record.Error.Or("") == "no model") ||
			record.TokenEstimateBefore != 80 || record.DroppedCount != 5 || record.RetainedCount != 4 || record.Trigger != "manual" {
			t.Errorf("%+v", record)
		}
	}
}

// TestSettled walks the ways in which runs end. Rule: OUP-TURN-014.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		outcome agent.Outcome
		stopped bool
		want    oupwire.TurnOutcome
		code    string
	}{
		{agent.Outcome{Status: agent.Completed}, false, "completed", ""},
		{agent.Outcome{Status: agent.Completed}, true, "interrupted", "interrupted"},
		{agent.Outcome{Status: agent.Interrupted}, true, "interrupted", "interrupted"},
		{agent.Outcome{Status: agent.Cancelled}, false, "interrupted", "interrupted"},
		{agent.Outcome{Status: agent.Shutdown}, false, "interrupted", "interrupted"},
		{agent.Outcome{Status: agent.Disconnected}, false, "errored", "connection_closed"},
		{agent.Outcome{Status: agent.Failed, Code: agent.CodeProvider}, false, "errored", "runtime_error"},
		{agent.Outcome{Status: agent.Failed}, true, "interrupted", "interrupted"},
		{agent.Outcome{Status: agent.LimitReached, Code: agent.CodeTurns}, false, "errored", "runtime_error"},
		{agent.Outcome{Status: agent.LimitReached, Code: agent.CodeLength}, false, "errored", "output_truncated"},
		{agent.Outcome{Status: agent.Denied}, false, "errored", "permission_denied"},
	} {
		end := Settled(c.outcome, c.stopped)
		if end.Outcome != c.want || end.Code != c.code || end.Usage == nil {
			t.Errorf("%+v, stopped %v, is %+v", c.outcome, c.stopped, end)
		}
	}
	if end := Settled(agent.Outcome{Status: agent.Completed, Uncertain: true}, false); end.Usage != nil {
		t.Error("usage that nobody knows is told")
	}
	for outcome, want := range map[session.Outcome]oupwire.TurnOutcome{
		session.Completed: "completed", session.Cancelled: "interrupted", session.Interrupted: "interrupted", session.Errored: "errored",
	} {
		if end := Stored(session.Settlement{Outcome: outcome}); end.Outcome != want {
			t.Errorf("%s is %s", outcome, end.Outcome)
		}
	}
}

// TestTerminal_ofACutAnswer: what was stored of it is named, and null says that nothing was. Rule: OUP-STREAM-016.
func TestTerminal_ofACutAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"":    `"data":{"partial_result":{"session_result":null}}`,
		"e-7": `"data":{"partial_result":{"session_result":{"committed_seq":3,"message_id":"e-7"}}}`,
	} {
		e := Terminal(key, turn, End{Outcome: oupwire.TurnOutcomeErrored, Code: CodeTruncated, Partial: true, Answer: answer, Row: 3})
		if !strings.Contains(string(e.Body), want) {
			t.Errorf("%q: %s", answer, e.Body)
		}
	}
}

// TestLongTexts: nothing is too large for a frame, whatever is in it. Settled: S67.
func TestLongTexts(t *testing.T) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("a", 2<<20), "control": strings.Repeat("\x01", 2<<20), "wide": strings.Repeat("\u20ac", 1<<20), "short": "x",
	} {
		teller := New(key, turn, world())
		list := teller.Begun(text, "", nil)
		list = append(list, teller.Take(agent.TextDelta{Text: text})...)
		list = append(list, teller.Take(agent.Message{Entry: "e", Message: said(conversation.Assistant, text)})...)
		whole := ""
		for i, e := range list {
			if len(e.Body) > oupwire.MaxTextFrameBytes-1024 {
				t.Errorf("%s: %s has %d bytes", name, e.Method, len(e.Body))
			}
			params, err := event.Params(ledger.Stored{Event: e, Seq: int64(i + 1), Number: int64(i + 1)})
			if err != nil {
				t.Fatal(err)
			}
			envelope, ok := params.(oupwire.EnvelopeV2)
			if !ok {
				continue
			}
			switch p := envelope.Payload.(type) {
			case oupwire.AssistantDeltaPayload:
				whole += p.Data.Text
			case oupwire.AssistantPersistedPayload:
				if cut := len(p.Data.Unknown) == 1 && p.Data.Unknown[0].Name == "truncated"; cut != (name != "short") || !strings.HasPrefix(text, p.Data.Text) {
					t.Errorf("%s: %d bytes are told, marked %v", name, len(p.Data.Text), cut)
				}
			}
		}
		if whole != text {
			t.Errorf("%s: the pieces have %d bytes of %d", name, len(whole), len(text))
		}
	}
	for _, text := range []string{strings.Repeat("\u20ac", 800), strings.Repeat("a", 800), ""} {
		if got := Cut(text, 700); utf8.RuneCountInString(got) != min(700, utf8.RuneCountInString(text)) || !utf8.ValidString(got) {
			t.Errorf("cut to %d characters", utf8.RuneCountInString(got))
		}
	}
}
