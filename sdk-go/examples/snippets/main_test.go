package main

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func TestSnippets_becomeTools(t *testing.T) {
	host := exttest.Start(t, tools())
	if got := host.Call("save_snippet", saveArgs{"motto", "be kind"}).Text; got != "epoch 1: drop_snippet, motto, save_snippet" {
		t.Errorf("saved: %q", got)
	}
	if got := host.Call("motto", nil).Text; got != "be kind" {
		t.Errorf("the new tool answers %q", got)
	}
	if got := host.Call("drop_snippet", dropArgs{"motto"}).Text; got != "epoch 2: drop_snippet, save_snippet" {
		t.Errorf("dropped: %q", got)
	}
	if _, err := host.TryCall("motto", nil); err == nil {
		t.Error("the dropped tool still answers")
	}
}

func TestSnippets_refuse(t *testing.T) {
	for want, host := range map[string]*exttest.Host{
		"is taken": exttest.Start(t, tools()),
		"name conflict": exttest.StartWith(t, tools(), &exttest.Options{Services: map[string]exttest.Service{
			"tools.register": exttest.Refuse(featurewire.CodeInvalidParams, "name conflict"),
		}}),
	} {
		name := map[string]string{"is taken": "drop_snippet", "name conflict": "read"}[want]
		if r := host.Call("save_snippet", saveArgs{name, "x"}); !r.IsError || !strings.Contains(r.Text, want) {
			t.Errorf("saving %q gives %q", name, r.Text)
		}
	}
}

func TestManifest(t *testing.T) { exttest.CheckManifest(t, tools(), ".") }
