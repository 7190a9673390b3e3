package agent

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// The agent and the store keep the same rules: what is checked with a conversation in memory elsewhere holds
// on disk, also behind the end of the process.
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
	d.options.Session = held
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
	if r := d.provider.requests[0]; len(r.Messages) != 3 || line(r.Messages[1]) != "assistant: done" {
		t.Errorf("sent: %+v", r.Messages)
	}
	if totals, err := held.Usage(ctx); err != nil || totals.Usage.Tokens() != 60 || totals.Uncertain {
		t.Errorf("%+v %v", totals, err)
	}
}
