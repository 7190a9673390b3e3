package main

import (
	"testing"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func TestSessionLog(t *testing.T) {
	host := exttest.StartWith(t, logger(), &exttest.Options{SessionHooks: true})
	if got := host.Call("session_log", nil).Text; got != "nothing has happened yet" {
		t.Errorf("at first %q", got)
	}
	owner := extension.Owner{SessionID: "s1", ExtensionInstanceID: "i1", ProcessGeneration: 1}
	host.StartSession(extension.SessionStart{Owner: owner})
	host.EndSession(extension.SessionEnd{Owner: owner, Outcome: "completed", Reason: "shutdown", Duration: 90 * time.Second})
	if got := host.Call("session_log", nil).Text; got != "s1 started\ns1 ended after 1m30s: completed (shutdown)" {
		t.Errorf("then %q", got)
	}
}

// A host without session hooks still has the tool.
func TestSessionLog_withoutHooks(t *testing.T) {
	if got := exttest.Start(t, logger()).Call("session_log", nil).Text; got != "nothing has happened yet" {
		t.Errorf("got %q", got)
	}
}

func TestManifest(t *testing.T) { exttest.CheckManifest(t, logger(), ".") }
