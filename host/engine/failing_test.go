package engine

import (
	"errors"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/process"
)

// gathering is a frontend that keeps diagnostics.
type gathering struct {
	Frontend
	told []string
}

func (g *gathering) Show(event agent.Event) {
	if d, is := event.(Diagnosed); is {
		g.told = append(g.told, d.String())
	}
}

// EXT04-HOOK-029: a hook that fails opens; whoever trusts it is told, once for each hook.
func TestOpenedByFailure(t *testing.T) {
	x := extensiontest.Start(t, extensiontest.Setup{API: "0.4", Name: "guard", Contributes: "tools = [\"work\"]"}).X
	front := &gathering{}
	e := &Engine{config: Config{Frontend: front}}
	crash := &extension.Failure{
		Kind: extension.Closed, Message: "it ended with exit code 4", Ended: &process.Report{},
		Stderr: process.Tail{Lines: []process.Line{{Text: "first"}, {Text: "no such table"}}},
	}
	for range 2 {
		e.openedByFailure(x, featurewire.HookBeforeToolCall, crash)
		e.openedByFailure(x, featurewire.HookBeforePrompt, errors.New("a lie\nin two lines"))
		e.openedByFailure(x, featurewire.HookBeforeToolCall, &extension.Failure{Kind: extension.Cancelled})
		e.openedByFailure(x, featurewire.MethodContextCollect, crash)
	}
	want := []string{
		`warning: extension "guard": hook "before_tool_call" gave no answer that counts, and so holds nothing up: it ended with exit code 4; its last words: no such table`,
		`warning: extension "guard": hook "before_prompt" gave no answer that counts, and so holds nothing up: a lie in two lines`,
	}
	if len(front.told) != 2 || front.told[0] != want[0] || front.told[1] != want[1] {
		t.Errorf("told %q, want %q", front.told, want)
	}
}
