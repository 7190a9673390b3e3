package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/tool"
)

// leading is a tool that calls another one, and hides all but itself from the model.
func leading(d *desk) tool.Tool {
	lead := gadgetOf("lead", tool.None, true, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return c.Nested.Call(ctx, "look", json.RawMessage(`{"n":7}`))
	})
	d.options.Visible = func(tool.Snapshot) []tool.Tool { return []tool.Tool{lead} }
	return lead
}

// Tools that are not visible are reached on behalf of another call alone: the model neither sees them nor
// calls them, by whatever way.
//
// EXT04-NEST-007.
func TestVisible_restIsReachedNested(t *testing.T) {
	look := echo("look", tool.Read, true).(gadget)
	look.definition.Snippet = "look around"
	d := sit(t, calls("lead", `{}`, "look", `{}`), says("done"))
	d.tools(leading(d), look)
	d.run(context.Background(), "go")
	r := d.provider.requests[0]
	if got := names(r); got != "lead" || r.System != "" {
		t.Errorf("shown: %s; %q", got, r.System)
	}
	d.wantSaid("user: go", "assistant: lead#c1 | look#c2", `tool: c1=look {"n":7}`,
		`tool: c2!There is no tool "look". The tools are: lead.`, "assistant: done")
}

// The fixed interface leads to no more than that.
//
// EXT04-NEST-007.
func TestVisible_fixedInterface(t *testing.T) {
	d := sit(t, calls("discover_tools", `{}`, "run_tool", `{"name":"lead"}`, "run_tool", `{"name":"look"}`), says("done"))
	d.tools(leading(d), echo("look", tool.Read, true), echo("read", tool.Read, true))
	d.options.Interface = Fixed
	d.run(context.Background(), "go")
	if got := names(d.provider.requests[0]); got != "discover_tools run_tool" {
		t.Errorf("shown: %s", got)
	}
	said := strings.Split(d.journal.said(), "\n")
	for i, want := range []string{"tool: c1=lead: about lead", `tool: c2=look {"n":7}`, `tool: c3!There is no tool "look"`} {
		found := false
		for _, line := range said {
			found = found || strings.HasPrefix(line, want)
		}
		if !found {
			t.Errorf("call %d: the journal has no %q:\n%s", i+1, want, d.journal.said())
		}
	}
	if strings.Contains(d.journal.said(), "look: about look") {
		t.Errorf("a hidden tool is found: %s", d.journal.said())
	}
}
