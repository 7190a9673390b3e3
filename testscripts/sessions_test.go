package testscripts

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// sessions DIR makes a store of sessions in a data directory: $FIRST with a conversation, $CHILD that
// works for it, and $SECOND, the latest, which has a name. All of them are of 1 January 2030.
func sessions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sessions DIR")
	}
	ctx := context.Background()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	clock := session.Options{Now: func() time.Time { now = now.Add(time.Minute); return now }}
	store, err := clock.Open(ctx, filepath.Join(ts.MkAbs(args[0]), "sessions.db"))
	ts.Check(err)
	defer func() { ts.Check(store.Close()) }()
	cost := int64(12_300)
	var metadata session.Metadata
	ts.Check(metadata.Add("notes", session.MetadataValue{Value: json.RawMessage(`"SECRET"`)}))
	first := fill(ts, store, session.New{Workspace: ts.MkAbs("."), Model: "scripted/one"}, session.Batch{
		Entries: []session.Entry{
			{Value: session.Message{Message: conversation.Say(conversation.User, "How many words\nare in README.md?")}, Metadata: metadata},
			{Value: session.Message{Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.ToolCall, CallID: "c1", Name: "count", Arguments: json.RawMessage(`{"path":"README.md"}`)},
			}}}},
			{Value: session.Message{Message: conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{
				{Kind: conversation.ToolResult, CallID: "c1", Name: "count", Content: []conversation.Part{conversation.TextPart("412")}},
			}}}},
			{Value: session.Extension{Extension: "notes", Kind: "note", Data: json.RawMessage(`"SECRET"`)}},
			{Value: session.Message{Message: conversation.Say(conversation.Assistant, "There are 412 words.\x1b[2J")}},
		},
		Usage:       []session.UsageRecord{{Kind: session.UsageTurn, Usage: conversation.Usage{Input: 100, Output: 20, CostMicrodollars: &cost}}},
		Uncertainty: []session.Uncertainty{{Reason: "the stream broke"}},
	})
	child := fill(ts, store, session.New{Workspace: ts.MkAbs("."), Parent: first}, session.Batch{
		Entries: []session.Entry{{Value: session.Message{Message: conversation.Say(conversation.User, "Count for me")}}},
	})
	second := fill(ts, store, session.New{Workspace: "/elsewhere", Name: "Weekly report"}, session.Batch{})
	ts.Setenv("FIRST", first)
	ts.Setenv("CHILD", child)
	ts.Setenv("SECOND", second)
	ts.Setenv("STORE", store.Path())
}

func fill(ts *testscript.TestScript, store *session.Store, n session.New, batch session.Batch) string {
	ctx := context.Background()
	info, err := store.Create(ctx, n)
	ts.Check(err)
	held, err := store.Begin(ctx, info.ID)
	ts.Check(err)
	_, err = held.Commit(ctx, batch)
	ts.Check(err)
	ts.Check(held.Close())
	return info.ID
}

// damage KIND FILE makes something go wrong with a store: record changes a stored record behind our back,
// page overwrites a page, cut takes its end away, empty all of it, text overwrites the beginning, newer makes it
// one of a later octet.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage record|page|cut|empty|text|newer FILE")
	}
	path := ts.MkAbs(args[1])
	queries := map[string]string{
		"record": "UPDATE records SET payload = replace(payload, 'There are 412', 'There are 999')",
		"newer":  "PRAGMA user_version = 99",
	}
	if query, found := queries[args[0]]; found {
		db, err := sql.Open("sqlite", path)
		ts.Check(err)
		_, err = db.Exec(query)
		ts.Check(err)
		ts.Check(db.Close())
		return
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	switch args[0] {
	case "page":
		at := bytes.Index(data, []byte("There are 412")) / 4096 * 4096
		copy(data[at:], bytes.Repeat([]byte{0xff}, 4096))
	case "cut":
		data = data[:len(data)-100]
	case "empty":
		data = nil
	case "text":
		copy(data, "these are my notes")
	default:
		ts.Fatalf("unknown damage %q", args[0])
	}
	ts.Check(os.WriteFile(path, data, 0o600))
}

// sessionid ID sets $START to the beginning of an id, and $TYPO to the id with a mistake in it.
func sessionid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sessionid ID")
	}
	id := args[0]
	ts.Setenv("START", id[:12])
	wrong := "0"
	if id[8] == '0' {
		wrong = "1"
	}
	ts.Setenv("TYPO", id[:8]+wrong+id[9:])
}

// hold ID takes a session of $STORE until the script ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold ID")
	}
	store, err := session.Open(context.Background(), ts.Getenv("STORE"))
	ts.Check(err)
	held, err := store.Begin(context.Background(), args[0])
	ts.Check(err)
	ts.Defer(func() { _ = held.Close(); _ = store.Close() })
}
