package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

func TestRun_isNamedForItsFirstEntryAndSettledOnce(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	receipt, err := s.Commit(t.Context(), session.Batch{Start: session.RunOfFirst, Entries: []session.Entry{said(conversation.User, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "run", receipt.Run, "run:"+string(receipt.Entries[0]))
	if _, err := s.Commit(t.Context(), session.Batch{Start: "another"}); err == nil {
		t.Error("a second run started beside the first")
	}
	if _, err := s.Commit(t.Context(), session.Batch{Settle: &session.Settlement{Run: "another", Outcome: session.Completed}}); err == nil {
		t.Error("a run was settled that is not going on")
	}
	settle := session.Batch{Settle: &session.Settlement{Run: receipt.Run, Outcome: session.Completed}}
	if _, err := s.Commit(t.Context(), settle); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), settle); err == nil {
		t.Error("a run was settled twice")
	}
	if _, err := s.Commit(t.Context(), session.Batch{Start: session.RunOfFirst}); err == nil {
		t.Error("a run without an entry was named for its first")
	}
	_ = s.Close()
	if orphan := take(t, store, s.ID()).Orphan(); orphan != nil {
		t.Errorf("a settled run is an orphan: %+v", orphan)
	}
}

func TestOrphan_hasExactlyOneDurableTerminal(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	receipt, err := s.Commit(t.Context(), session.Batch{Start: session.RunOfFirst, Entries: []session.Entry{said(conversation.User, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.Running != receipt.Run {
		t.Errorf("running: got %q, %v", info.Running, err)
	}
	_ = s.Close() // as a killed process leaves it
	again := take(t, store, s.ID())
	if again.Orphan() == nil || again.Orphan().Run != receipt.Run || again.Orphan().Code != session.CodeOrphaned {
		t.Errorf("orphan: got %+v", again.Orphan())
	}
	_ = again.Close()
	if third := take(t, store, s.ID()); third.Orphan() != nil {
		t.Errorf("a second terminal: %+v", third.Orphan())
	}
	want(t, "terminals", strings.Count(export(t, store, s.ID(), session.JSONL), `"state":"settled"`), 1)
}

func export(t *testing.T, store *session.Store, id string, format session.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := store.Export(t.Context(), id, &out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestUsage_isSummedAndUncertainForGood(t *testing.T) {
	// MAN-STORE-005, MAN-STORE-007.
	store := open(t)
	s := begin(t, store)
	child := create(t, store, session.New{Parent: s.ID()})
	cost := int64(30)
	run, err := s.Commit(t.Context(), session.Batch{
		Start: session.RunOfFirst, Entries: []session.Entry{said(conversation.User, "go")},
		Usage: []session.UsageRecord{{Kind: session.UsageTurn, Usage: conversation.Usage{Input: 10, Output: 5, CostMicrodollars: &cost}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	totals, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "tokens", totals.Usage.Tokens(), 15)
	want(t, "uncertain", totals.Uncertain, false)
	delegated := session.UsageRecord{Kind: session.UsageDelegatedAgent, Child: child.ID, Usage: conversation.Usage{Input: 100}}
	_, err = s.Commit(t.Context(), session.Batch{
		Usage:       []session.UsageRecord{delegated},
		Uncertainty: []session.Uncertainty{{Reason: "the stream broke"}},
		Settle:      &session.Settlement{Run: run.Run, Outcome: session.Completed},
	})
	if err != nil {
		t.Fatal(err)
	}
	totals, err = s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "tokens", totals.Usage.Tokens(), 115)
	want(t, "delegated", totals.Delegated.Tokens(), 100)
	want(t, "cost", *totals.Usage.CostMicrodollars, 30)
	want(t, "uncertain", totals.Uncertain, true)
	if _, err := s.Commit(t.Context(), session.Batch{Usage: []session.UsageRecord{delegated}}); err == nil {
		t.Error("a child has two usage records")
	}
	if _, err := s.Commit(t.Context(), session.Batch{Usage: []session.UsageRecord{{Kind: session.UsageDelegatedAgent}}}); err == nil {
		t.Error("delegated usage without a child was accepted")
	}
	// The record of the child stands before the checkpoint that owns it, and the schema is what it was.
	lines := export(t, store, s.ID(), session.JSONL)
	usage, checkpoint := strings.Index(lines, `"kind":"delegated_agent"`), strings.Index(lines, `"state":"settled"`)
	if usage < 0 || checkpoint < usage || !strings.Contains(lines, `"record":"usage_uncertainty"`) || !strings.Contains(lines, `"schema":1`) {
		t.Errorf("export: %s", lines)
	}
	if text := export(t, store, s.ID(), session.Markdown); !strings.Contains(text, "known subtotals") {
		t.Errorf("the markdown does not say that figures are subtotals: %s", text)
	}
	children, err := s.Children(t.Context())
	if err != nil || len(children) != 1 || children[0].ID != child.ID {
		t.Errorf("children: got %v, %v", children, err)
	}
}

func TestCompose_followsTheBranch(t *testing.T) {
	s := begin(t, open(t))
	set := func(tool, key, value string, remove ...string) {
		t.Helper()
		if err := s.Compose(t.Context(), tool, map[string]json.RawMessage{key: json.RawMessage(value)}, remove); err != nil {
			t.Fatal(err)
		}
	}
	check := func(tool, values string) {
		t.Helper()
		got, err := s.Composed(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "values of "+tool, string(text), values)
	}
	base := appendTexts(t, s, "a")[0]
	set("t", "x", ` {"a": 1} `)
	set("u", "x", "9")
	fork := s.Head()
	set("t", "y", "2", "x")
	check("t", `{"y":2}`)
	check("u", `{"x":9}`)
	if err := s.SetHead(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	check("t", `{"x":{"a":1}}`)
	if err := s.SetHead(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	check("t", `{}`)
}

func TestCompose_atEachBoundAndOneOver(t *testing.T) {
	s := begin(t, open(t))
	keys := func(count, length int) map[string]json.RawMessage {
		set := map[string]json.RawMessage{}
		for i := range count {
			set[fmt.Sprintf("%0*d", length, i)] = json.RawMessage("1")
		}
		return set
	}
	value := func(length int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("v", length-2) + `"`) }
	four := func(last int) map[string]json.RawMessage { // 1 byte a key, 256 KiB a value, the last one shorter
		return map[string]json.RawMessage{"a": value(1 << 18), "b": value(1 << 18), "c": value(1 << 18), "d": value(last)}
	}
	for _, c := range []struct {
		name   string
		set    map[string]json.RawMessage
		remove []string
		ok     bool
	}{
		{"4096 keys", keys(4095, 8), []string{"x"}, true},
		{"4097 keys", keys(4096, 8), []string{"x"}, false},
		{"a key of 1024 bytes", keys(1, 1024), nil, true},
		{"a key of 1025 bytes", keys(1, 1025), nil, false},
		{"a key of 1025 bytes to delete", nil, []string{strings.Repeat("k", 1025)}, false},
		{"a value of 256 KiB", map[string]json.RawMessage{"v": value(1 << 18)}, nil, true},
		{"a value of 256 KiB and a byte", map[string]json.RawMessage{"v": value(1<<18 + 1)}, nil, false},
		{"1 MiB", four(1<<18 - 4), nil, true},
		{"1 MiB and a byte", four(1<<18 - 3), nil, false},
		{"no JSON", map[string]json.RawMessage{"v": json.RawMessage("{")}, nil, false},
	} {
		err := s.Compose(t.Context(), c.name, c.set, c.remove)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
		values, readErr := s.Composed(t.Context(), c.name)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if !c.ok && len(values) > 0 || c.ok && len(values) != len(c.set) {
			t.Errorf("%s: %d values are stored", c.name, len(values))
		}
	}
	// What is there counts too.
	if err := s.Compose(t.Context(), "1 MiB", map[string]json.RawMessage{"e": json.RawMessage("1")}, nil); err == nil {
		t.Error("a full store took one more")
	}
	if err := s.Compose(t.Context(), "1 MiB", map[string]json.RawMessage{"e": json.RawMessage("1")}, []string{"a"}); err != nil {
		t.Errorf("behind a deletion in the same batch: %v", err)
	}
}

func TestExport_hasThePublicProjectionAlone(t *testing.T) {
	// MAN-STORE-003.
	store := open(t)
	s := begin(t, store)
	var m session.Metadata
	for namespace, v := range map[string]session.MetadataValue{
		"private.one": {Value: json.RawMessage(`"SECRET-1"`)},
		"public.one":  {Value: json.RawMessage(`"shown"`), Public: true, Generation: 3},
	} {
		if err := m.Add(namespace, v); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := s.Append(t.Context(),
		session.Entry{Value: session.Message{Message: conversation.Say(conversation.User, "hello")}, Metadata: m},
		session.Entry{Value: session.Extension{Extension: "notes", Kind: "note", Data: json.RawMessage(`"SECRET-2"`)}},
		session.Entry{Value: session.Composition{Tool: "t", Set: map[string]json.RawMessage{"SECRET-3": json.RawMessage(`1`)}}},
		session.Entry{Value: session.Injected{Source: "notes", Message: conversation.Say(conversation.System, "added")}},
		session.Entry{Value: session.ModelChange{Provider: "p", Model: "m"}},
		session.Entry{Value: session.Compaction{Summary: "short", FirstKept: "e-1"}},
		session.Entry{Value: session.Message{Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
			{Kind: conversation.Reasoning, Text: "think\nmore"},
			{Kind: conversation.ToolCall, CallID: "c", Name: "grep", Arguments: json.RawMessage(`{"z":1,"a":12345678901234567890}`)},
			{Kind: conversation.Image, MediaType: "image/png", Data: []byte{1}, Text: "a picture"},
		}}}},
		session.Entry{Value: session.Message{Message: conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{
			{Kind: conversation.ToolResult, CallID: "c", Name: "grep", IsError: true, Content: []conversation.Part{conversation.TextPart("```\nno\n```")}},
		}}}},
		session.Entry{Value: session.Message{Message: conversation.Say(conversation.User, "long text"), Display: "short form"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Label(t.Context(), ids[0], "a label"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetHead(t.Context(), ids[8]); err != nil {
		t.Fatal(err)
	}
	lines := export(t, store, s.ID(), session.JSONL)
	kinds := map[string]int{}
	for line := range strings.Lines(lines) {
		var record struct{ Record string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds[record.Record]++
	}
	want(t, "records", fmt.Sprint(kinds), "map[entry:9 head:1 session:1]")
	markdown := export(t, store, s.ID(), session.Markdown)
	for name, text := range map[string]string{"jsonl": lines, "markdown": markdown} {
		if strings.Contains(text, "SECRET") {
			t.Errorf("%s shows what is private: %s", name, text)
		}
	}
	for _, part := range []string{`"metadata":{"public.one":{"value":"shown","public":true,"generation":3}}`, `"label":"a label"`, `"id":"e-1"`, `"parent":"e-1"`} {
		if !strings.Contains(lines, part) {
			t.Errorf("the lines have no %s: %s", part, lines)
		}
	}
	for _, part := range []string{
		"# hello\n", "## User\n\nhello\n", "*Label: a label*", "Added by notes", "> think\n> more", "**Calls `grep`**", "12345678901234567890",
		"**`grep` fails**", "````\n```\nno", "The model is `p:m`", "> short", "[image image/png, 1 bytes: a picture]", "short form",
	} {
		if !strings.Contains(markdown, part) {
			t.Errorf("the markdown has no %q:\n%s", part, markdown)
		}
	}
	if strings.Contains(markdown, "long text") {
		t.Error("the markdown shows what the user was not shown")
	}
	if err := store.Export(t.Context(), s.ID(), &bytes.Buffer{}, "pdf"); err == nil || !strings.Contains(err.Error(), "jsonl or markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestExtensionEntry_atItsBoundsAndOneOver(t *testing.T) {
	s := begin(t, open(t))
	data := func(length int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("d", length-2) + `"`) }
	for _, c := range []struct {
		kind string
		data json.RawMessage
		ok   bool
	}{
		{strings.Repeat("k", 128), data(65536), true},
		{strings.Repeat("k", 129), data(10), false},
		{"k", data(65537), false},
		{"", data(10), false},
	} {
		_, err := s.Append(t.Context(), session.Entry{Value: session.Extension{Extension: "x", Kind: c.kind, Data: c.data}})
		if (err == nil) != c.ok {
			t.Errorf("type of %d bytes, data of %d: got %v", len(c.kind), len(c.data), err)
		}
	}
	if _, err := s.Append(t.Context(), session.Entry{}); err == nil {
		t.Error("an entry without a value was accepted")
	}
}

func TestTitle_isTheFirstThingSaid(t *testing.T) {
	store := open(t)
	for _, c := range [][2]string{
		{" first   line \nsecond", "first line"},
		{strings.Repeat("ä", 80), strings.Repeat("ä", 80)},
		{strings.Repeat("ä", 81), strings.Repeat("ä", 79) + "…"},
	} {
		s := begin(t, store)
		appendTexts(t, s, c[0], "later")
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want(t, "title", info.Title, c[1])
	}
}
