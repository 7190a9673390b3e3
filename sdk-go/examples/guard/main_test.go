package main

import (
	"encoding/json"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func TestGuard(t *testing.T) {
	host := exttest.Start(t, guard())
	for command, denied := range map[string]bool{
		"rm -rf build": true, "rm -fr /": true, "cd x && rm -r -f y": true, "rm -r build": false, "rm file": false, "echo rm": false,
	} {
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		answer := host.Hook(featurewire.HookBeforeToolCall, featurewire.BeforeToolCallPayload{Name: "bash", Arguments: arguments})
		_, deny := answer.Disposition.Or(nil).(featurewire.DispositionDeny)
		if deny != denied {
			t.Errorf("%q: denied %t, want %t", command, deny, denied)
		}
	}
	for _, shell := range shells {
		answer := host.Hook(featurewire.HookBeforeToolCall, featurewire.BeforeToolCallPayload{Name: shell, Arguments: json.RawMessage(`{"command":"rm -rf x"}`)})
		if answer.Disposition.IsAbsent() {
			t.Errorf("%s is not judged", shell)
		}
	}
	other := host.Hook(featurewire.HookBeforeToolCall, featurewire.BeforeToolCallPayload{Name: "read", Arguments: json.RawMessage(`{"command":"rm -rf x"}`)})
	if !other.Disposition.IsAbsent() {
		t.Error("another tool is judged")
	}
	if got := host.Command("guard").Text; got != `{"denied":5}` {
		t.Errorf("the command says %s", got)
	}
}

func TestManifest(t *testing.T) { exttest.CheckManifest(t, guard(), ".") }
