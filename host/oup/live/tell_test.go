package live

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// TestShow_tellsOfExtensions: what is worth a warning is one, and what is not is told of nobody.
func TestShow_tellsOfExtensions(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s := New(Options{Key: "k#t", Ledger: l, Failed: func(err error) { t.Error(err) }})
	for _, e := range []agent.Event{
		engine.Diagnosed{Diagnostic: diagnostic.Diagnostic{Level: diagnostic.Info, Message: "nothing"}},
		engine.Diagnosed{Diagnostic: diagnostic.Diagnostic{Level: diagnostic.Error, Rule: "MAN-X", Message: "broken", Remedy: "mend it"}},
		engine.ExtensionChanged{Name: "e", State: supervise.Ready},
		engine.ExtensionChanged{Name: "e", State: supervise.Parked, Reason: "it crashed"},
		engine.StatusShown{},
		engine.Presented{},
		engine.SessionOpened{},
		engine.Rendered{},
		agent.ModelChanged{},
		agent.Notified{Notification: agent.Notification{Source: "e", Level: "warning", Message: "careful"}},
	} {
		s.show(e)
	}
	var told []string
	if _, err := l.Replay(t.Context(), "k#t", nil, func(stored ledger.Stored) error {
		w, err := oupwire.DecodeWarningEvent(stored.Body)
		told = append(told, w.Code+" "+w.Message+" "+w.Topic.Or(""))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(told, "\n"), "MAN-X broken; mend it t\nextension_parked extension \"e\" is parked: it crashed t\ne careful t"; got != want {
		t.Errorf("told was\n%s", got)
	}
}

// TestRoots: a turn begins with what was said first in its run, whatever gave the run its name.
func TestRoots(t *testing.T) {
	said := func(id, role, run string) session.Stored {
		m := session.Message{Run: run}
		m.Message.Role = "user"
		if role != "" {
			m.Message.Role = "assistant"
		}
		return session.Stored{ID: session.EntryID(id), Value: m}
	}
	branch := []session.Stored{
		said("e-1", "", ""), said("e-2", "a", "run:e-1"), said("e-3", "", "run:e-1"), // a steer
		{ID: "e-4", Value: session.ModelChange{}}, said("e-5", "", "T"), said("e-6", "", "T"), said("e-7", "", ""),
	}
	roots := Roots(branch)
	if len(roots) != 3 || roots[0] != 0 || roots[1] != 4 || roots[2] != 6 {
		t.Errorf("roots are %v", roots)
	}
	if rows := Rows(branch); len(rows) != 6 {
		t.Errorf("rows are %v", rows)
	}
}
