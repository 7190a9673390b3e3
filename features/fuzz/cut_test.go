package fuzz

import (
	"testing"

	"github.com/octet-dev/octet/features/verdict"
)

// A conversation that the clock cuts off is judged by what was written in it, never by what did not come.
func TestWritten(t *testing.T) {
	framed := verdict.Finding{Rule: "EXT04-ENV-004", Frame: 2}
	should := verdict.Finding{Rule: "EXT04-FRAME-010", Frame: 1}
	late := verdict.Finding{Rule: "EXT04-SHUT-001", Frame: -1, Silent: true}
	ended := verdict.Finding{Rule: "EXT04-PROC-001", Frame: -1}
	s := &search{}
	if r := s.written(&Result{Findings: []verdict.Finding{late, framed, ended}}); r == nil || len(r.Findings) != 1 || r.Findings[0].Rule != framed.Rule {
		t.Errorf("got %+v, want what was written", r)
	}
	if r := s.written(&Result{Findings: []verdict.Finding{late, ended, should}}); r != nil {
		t.Errorf("got %+v, want nothing: no must was broken by a frame", r.Findings)
	}
	if s.written(nil) != nil {
		t.Error("a conversation that was not had is judged")
	}
}
