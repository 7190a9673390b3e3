package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// The agent and the store keep the same rules: what is checked with a conversation in memory elsewhere holds
// on disk, also behind the end of the process.
//
// EXT04-HOOK-048: what before_persistence adds is durable, exported where it is public, and told to no model.
func TestAgent_onDisk(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "sessions.db")
	store, err := session.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.Create(ctx, session.New{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	held, err := store.Begin(ctx, info.ID)
	if err != nil {
		t.Fatal(err)
	}
	d := sit(t, calls("echo", `{}`), says("done"), says("sum")).tools(echo("echo", tool.None, true))
	d.options.Session, d.options.Hooks = held, annotating{t: t}
	o := d.run(ctx, "go")
	if o.Status != Completed || o.Usage.Tokens() != 30 {
		t.Fatalf("%+v", o)
	}
	if _, err := d.agent.Compact(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	if store, err = session.Open(ctx, path); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if held, err = store.Begin(ctx, info.ID); err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if held.Orphan() != nil {
		t.Errorf("a run that was settled is an orphan: %+v", held.Orphan())
	}
	branch, err := held.Branch(ctx)
	if err != nil || len(branch) != 5 || o.Run != "run:"+string(branch[0].ID) {
		t.Fatalf("%d entries, run %s: %v", len(branch), o.Run, err)
	}
	d = sit(t, says("again"))
	d.options.Session = held
	if o := d.run(ctx, "more"); o.Status != Completed {
		t.Errorf("%+v", o)
	}
	if v, found := branch[1].Metadata.Get("hidden"); !found || string(v.Value) != `"private-value"` {
		t.Errorf("metadata: %+v", branch[1].Metadata)
	}
	var exported strings.Builder
	if err := store.Export(ctx, info.ID, &exported, session.JSONL); err != nil {
		t.Fatal(err)
	}
	if text := exported.String(); !strings.Contains(text, "public-value") || strings.Contains(text, "private-value") {
		t.Errorf("exported:\n%s", text)
	}
	if text := fmt.Sprintf("%+v", d.provider.requests[0]); strings.Contains(text, "public-value") || strings.Contains(text, "private-value") {
		t.Errorf("the model is told metadata: %s", text)
	}
	if r := d.provider.requests[0]; len(r.Messages) != 3 || line(r.Messages[1]) != "assistant: done" {
		t.Errorf("sent: %+v", r.Messages)
	}
	if totals, err := held.Usage(ctx); err != nil || totals.Usage.Tokens() != 60 || totals.Uncertain {
		t.Errorf("%+v %v", totals, err)
	}
}

// annotating is hooks that add metadata to answers.
type annotating struct {
	NoHooks
	t *testing.T
}

func (a annotating) BeforePersistence(context.Context, Scope, Persistence) (m session.Metadata) {
	err := errors.Join(
		m.Add("hidden", session.MetadataValue{Value: json.RawMessage(`"private-value"`)}),
		m.Add("shown", session.MetadataValue{Value: json.RawMessage(`"public-value"`), Public: true}))
	if err != nil {
		a.t.Error(err)
	}
	return m
}
