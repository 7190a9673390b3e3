package live

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/tool"
)

// TestApproval: whatever the tool, what is asked is enough to decide by. Rule: OUP-APPROVAL-002.
func TestApproval(t *testing.T) {
	shown := ""
	s := New(Options{Key: "k", Workspace: "/w", Preview: func(_ string, changes []tool.Change) string {
		shown = changes[0].Diff
		return "00000000-0000-4000-8000-000000000001"
	}})
	ask := func(effect tool.Effect, provider string, summary tool.Summary, arguments string) permission.Question {
		return permission.Question{
			Request: permission.Request{CallID: "c", Tool: tool.Definition{Name: "x", Effect: effect, Provider: provider}, Summary: summary, Arguments: []byte(arguments)},
			Reason:  "because", Scopes: []permission.Scope{permission.Once, permission.Run},
		}
	}
	for _, c := range []struct {
		name, title, body string
		kind              oupwire.ApprovalKind
		q                 permission.Question
	}{
		{"command", "Run a command", "ls", oupwire.ApprovalKindCommand, ask(tool.Command, "", tool.Summary{Subject: "ls"}, `{}`)},
		{"new file", "Change a file", "a.txt", oupwire.ApprovalKindFilesystem, ask(tool.Write, "", tool.Summary{Subject: "a.txt"}, `{}`)},
		{"change", "Change a file", "a.txt", oupwire.ApprovalKindDiff, ask(tool.Write, "", tool.Summary{Subject: "a.txt", Detail: "--- a\n+++ b\n-x\n+y\n+z\n"}, `{}`)},
		{"outside", "Change a file outside of the workspace", "/a (outside of the workspace)", oupwire.ApprovalKindFilesystem, ask(tool.Write, "", tool.Summary{Subject: "/a", Detail: "+x", External: true}, `{}`)},
		{"link", "Change a file outside of the workspace", "in/a (outside of the workspace: it leads to /out/a)", oupwire.ApprovalKindFilesystem, ask(tool.Write, "", tool.Summary{Subject: "in/a", Detail: "+x", External: true, Target: "/out/a"}, `{}`)},
		{"read behind a link", "Read a file outside of the workspace", "in/a (outside of the workspace: it leads to /out/a)", oupwire.ApprovalKindFilesystem, ask(tool.Read, "", tool.Summary{Subject: "in/a", External: true, Target: "/out/a"}, `{}`)},
		{"read", "Read a file outside of the workspace", "/a (outside of the workspace)", oupwire.ApprovalKindFilesystem, ask(tool.Read, "", tool.Summary{Subject: "/a", External: true}, `{}`)},
		{"extension", "Run the tool x of the extension e", `{"a":1}`, "", ask(tool.External, "e", tool.Summary{}, `{"a":1}`)},
		{"nothing", "Run the tool x", "because", "", ask(tool.External, "", tool.Summary{}, ``)},
		{"long", "Run the tool x", strings.Repeat("a", 2048), "", ask(tool.External, "", tool.Summary{}, strings.Repeat("a", 5000))},
	} {
		a := s.approval("t", c.q)
		if a.Title != c.title || a.Body != c.body || a.Kind != c.kind || a.Once || (a.Details != nil) != (c.kind != "") {
			t.Errorf("%s: %+v", c.name, a)
		}
		if c.kind != "" && (a.Details.Kind != c.kind || a.Details.Validate() != nil) {
			t.Errorf("%s: %+v", c.name, a.Details)
		}
		if c.q.Summary.Target != "" {
			if on, _ := a.Details.Filesystem.Get(); !on.OutsideWorkspace || strings.Join(on.Paths.Or(nil), " ") != c.q.Summary.Target {
				t.Errorf("%s: %+v", c.name, on)
			}
		}
		if diff, has := (oupwire.ApprovalDiffDetails{}), c.kind == oupwire.ApprovalKindDiff; has {
			diff, _ = a.Details.Diff.Get()
			if diff.Additions.Or(0) != 2 || diff.Deletions.Or(0) != 1 || !strings.Contains(shown, "+y") {
				t.Errorf("%s: %+v, kept %q", c.name, diff, shown)
			}
		}
	}
	q := ask(tool.Command, "", tool.Summary{Subject: "ls"}, `{}`)
	q.Scopes = []permission.Scope{permission.Once}
	if a := s.approval("t", q); !a.Once {
		t.Error("what is asked every time is remembered")
	}
}
