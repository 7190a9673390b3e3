package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/tool"
)

func TestFixed_listNeverChanges(t *testing.T) {
	base := []tool.Tool{echo("edit", tool.Write, false), echo("read", tool.Read, true), echo("shell", tool.Command, false), echo("write", tool.Write, false), echo("grep", tool.Read, true)}
	weather := echo("weather_report", tool.External, true).(gadget)
	weather.definition.Snippet = "ask for the weather"
	d := sit(t,
		calls("discover_tools", `{}`, "discover_tools", `{"query":"Weather"}`, "discover_tools", `{"query":"nothing like it"}`),
		calls("run_tool", `{"name":"weather_report","arguments":{"n":1}}`, "run_tool", `{"name":"weather_repot"}`, "run_tool", `{"name":"weather_report","arguments":{"n":"x"}}`,
			"run_tool", `{"name":"run_tool","arguments":{"name":"read"}}`, "run_tool", `{"name":"grep"}`, "weather_report", `{}`, "run_tool", `{}`),
		calls("run_tool", `{"name":"weather_report","arguments":{}}`),
		says("done"))
	with := of(t, append([]tool.Tool{weather}, base...)...)
	d.options.Tools = &changing{[]tool.Snapshot{of(t, base...), with, of(t, base...)}}
	d.options.Interface = Fixed
	h := &recorder{}
	d.options.Hooks = h
	d.run(context.Background(), "go")
	for i, r := range d.provider.requests {
		if got := names(r); got != "discover_tools edit read run_tool shell write" {
			t.Errorf("request %d offers %s", i, got)
		}
		if r.System != d.provider.requests[0].System || strings.Contains(r.System, "weather") {
			t.Errorf("request %d: %s", i, r.System)
		}
	}
	results := func(request int) []string {
		var texts []string
		messages := d.provider.requests[request].Messages
		for _, p := range messages[len(messages)-1].Parts {
			texts = append(texts, fmt.Sprintf("%v %s", p.IsError, p.PlainText()))
		}
		return texts
	}
	for i, want := range []string{"false grep: about grep\n", "false No tool matches", "false No tool matches"} {
		if got := results(1)[i]; !strings.HasPrefix(got, want) {
			t.Errorf("discovered: %q, want %q", got, want)
		}
	}
	for i, want := range []string{
		`false weather_report {"n":1}`, `true There is no tool "weather_repot". Did you mean "weather_report"?`,
		`true The arguments of weather_report do not fit`, `true run_tool cannot be called on behalf of another call`,
		`false grep {}`, `false weather_report {}`, `true The arguments of run_tool do not fit`,
	} {
		if got := results(2)[i]; !strings.HasPrefix(got, want) {
			t.Errorf("run: %q, want %q", got, want)
		}
	}
	if got := results(3)[0]; !strings.HasPrefix(got, `true There is no tool "weather_report"`) {
		t.Errorf("a tool that is gone: %q", got)
	}
	if text := strings.Join(h.log, "\n"); !strings.Contains(text, `before weather_report {"n":1} c1_1/1`) || strings.Contains(text, "before run_tool") || strings.Contains(text, "before discover_tools") {
		t.Errorf("hooks:\n%s", text)
	}
}

func TestFixed_discovers(t *testing.T) {
	d := sit(t, calls("discover_tools", `{"query":"report weather"}`), says("done"))
	weather, stocks := echo("weather_report", tool.External, true), echo("stock_report", tool.External, true)
	hidden := echo("weather_shell", tool.Command, true)
	d.tools(weather, stocks, hidden, echo("read", tool.Read, true))
	d.options.Interface, d.options.Permission = Fixed, never{}
	d.run(context.Background(), "go")
	text := line(d.provider.requests[1].Messages[2])
	if !strings.HasPrefix(text, "tool: c1=weather_report: about weather_report\nparameters: {") || !strings.Contains(text, "\n\nstock_report: ") || strings.Contains(text, "weather_shell") {
		t.Errorf("%s", text)
	}
}

func TestFixed_bounds(t *testing.T) {
	var found []tool.Definition
	for i := range mostListed + 1 {
		found = append(found, tool.Definition{Name: fmt.Sprintf("tool_%03d", i), Description: "one\ntwo"})
	}
	if text := listTools(found); strings.Count(text, "\n") != mostListed+1 || !strings.Contains(text, "and 1 more") || strings.Contains(text, "two") {
		t.Errorf("%s", text)
	}
	if text := listTools(found[:mostListed]); strings.Contains(text, "more") {
		t.Errorf("%s", text)
	}
	if text := matchTools(found, []string{"tool"}); strings.Count(text, "parameters:") != mostFound || !strings.Contains(text, "more words") {
		t.Errorf("%s", text)
	}
	if text := listTools(nil); text != "There are no further tools." {
		t.Error(text)
	}
}

// run_tool is as exclusive as the tool that it runs.
func TestFixed_exclusive(t *testing.T) {
	d := sit(t).tools(echo("change", tool.Write, false), echo("look", tool.Read, true))
	d.options.Interface = Fixed
	r := d.start().begin(context.Background())
	o, err := r.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	b := &batch{run: r, offer: o}
	for arguments, want := range map[string]bool{`{"name":"change"}`: false, `{"name":"look"}`: true, `{"name":"nobody"}`: true, `[`: true} {
		call := conversation.Part{Kind: conversation.ToolCall, Name: "run_tool", Arguments: json.RawMessage(arguments)}
		if got := b.mayOverlap(call); got != want {
			t.Errorf("%s may overlap: %v", arguments, got)
		}
	}
	if _, arguments, err := runArguments(json.RawMessage(`{"name":"x"}`)); err != nil || string(arguments) != "{}" {
		t.Errorf("no arguments are %s %v", arguments, err)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"read", "raed", 2}, {"edit", "edits", 1}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("distance(%q, %q) = %d", c.a, c.b, got)
		}
	}
}
