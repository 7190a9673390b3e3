package live

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/tool"
)

// frontend is the session as its conversation sees it.
type frontend struct{ s *Session }

// Show tells clients what happens.
func (f frontend) Show(e agent.Event) { f.s.show(e) }

// Ask asks clients for leave to run a tool.
func (f frontend) Ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	turn := f.s.Running()
	if turn == "" {
		return permission.Answer{}, errNoTurn
	}
	verdict, err := f.s.book.Ask(ctx, f.s.approval(turn, q))
	if err != nil {
		return permission.Answer{}, err
	}
	return permission.Answer{Allow: verdict.Allow, Scope: permission.Once, Note: verdict.Note}, nil
}

// approval is how a question of the gate is told.
//
// Rule: OUP-APPROVAL-002.
func (s *Session) approval(turn string, q permission.Question) pending.Approval {
	a := pending.Approval{
		Turn: turn, Tool: q.Tool.Name, Title: "Run the tool " + q.Tool.Name, Body: q.Summary.Words(),
		Once: len(q.Scopes) == 1 && q.Scopes[0] == permission.Once,
	}
	call := wirejson.Some(q.CallID)
	paths := []string{cmp.Or(q.Summary.Target, q.Summary.Subject)}
	switch q.Tool.Effect {
	case tool.Command:
		a.Title, a.Kind = "Run a command", oupwire.ApprovalKindCommand
		a.Details = &oupwire.ApprovalTypedDetails{Kind: a.Kind, Command: wirejson.Some(oupwire.ApprovalCommandDetails{
			CommandLine: wirejson.Some(q.Summary.Subject), Cwd: wirejson.Some(s.o.Workspace), ToolCallID: call,
		})}
	case tool.Write:
		a.Title, a.Kind = "Change a file", oupwire.ApprovalKindFilesystem
		a.Details = &oupwire.ApprovalTypedDetails{Kind: a.Kind, Filesystem: wirejson.Some(oupwire.ApprovalFilesystemDetails{
			Operation: q.Tool.Name, Paths: wirejson.Some(paths), OutsideWorkspace: q.Summary.External,
			WritableRoots: wirejson.Some([]string{s.o.Workspace}),
		})}
		s.offered(&a, q)
	case tool.Read:
		a.Title, a.Kind = "Read a file", oupwire.ApprovalKindFilesystem
		a.Details = &oupwire.ApprovalTypedDetails{Kind: a.Kind, Filesystem: wirejson.Some(oupwire.ApprovalFilesystemDetails{
			Operation: q.Tool.Name, Paths: wirejson.Some(paths), OutsideWorkspace: q.Summary.External,
		})}
	}
	if q.Summary.External {
		a.Title += " outside of the workspace"
	}
	if q.Tool.Provider != "" {
		a.Title += " of the extension " + q.Tool.Provider
	}
	if a.Body == "" { // the tool cannot say what it is about: its arguments do
		a.Body = story.Cut(cmp.Or(string(q.Arguments), q.Reason), oupwire.MaxOutputPreviewCharacters)
	}
	return a
}

// offered shows the change that a file is to get, where there is a preview of it.
func (s *Session) offered(a *pending.Approval, q permission.Question) {
	if s.o.Preview == nil || q.Summary.Detail == "" || q.Summary.External {
		return
	}
	change := tool.Change{Path: q.Summary.Subject, Kind: tool.Changed, Diff: q.Summary.Detail}
	for line := range strings.Lines(q.Summary.Detail) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			change.Added++
		case strings.HasPrefix(line, "-"):
			change.Removed++
		}
	}
	id := s.o.Preview(s.o.Key, []tool.Change{change})
	if id == "" {
		return
	}
	a.Kind = oupwire.ApprovalKindDiff
	a.Details = &oupwire.ApprovalTypedDetails{Kind: a.Kind, Diff: wirejson.Some(oupwire.ApprovalDiffDetails{
		PreviewID: id, Operation: wirejson.Some(q.Tool.Name), FileCount: wirejson.Some(int64(1)),
		Additions: wirejson.Some(int64(change.Added)), Deletions: wirejson.Some(int64(change.Removed)),
	})}
}

// Words of a question that is answered with yes or no.
const (
	yes = "Yes"
	no  = "No"
)

// Confirm asks clients a question of an extension.
func (f frontend) Confirm(ctx context.Context, q dialog.Question) (bool, error) {
	options := []oupwire.UserQuestionOption{{Label: yes, Description: "go on"}, {Label: no, Description: "leave it"}}
	answer, err := f.question(ctx, q.Extension, q.Prompt, q.Detail, options)
	if err != nil {
		return false, err
	}
	labels, _ := answer.SelectedLabels.Get()
	text, _ := answer.FreeText.Get()
	return len(labels) == 1 && labels[0] == yes || len(labels) == 0 && strings.EqualFold(strings.TrimSpace(text), yes), nil
}

// Input asks clients for a text on behalf of an extension. A secret is asked of nobody: what is answered would be
// in frames and logs.
func (f frontend) Input(ctx context.Context, i dialog.Input) (string, bool, error) {
	if i.Secret {
		return "", false, errors.New("secrets are not asked for over this protocol; set them where the extension reads them")
	}
	options := []oupwire.UserQuestionOption{{Label: answerInWords, Description: "write the answer"}, {Label: noAnswer, Description: "give none"}}
	answer, err := f.question(ctx, i.Extension, i.Prompt, "", options)
	if err != nil {
		return "", false, err
	}
	text, given := answer.FreeText.Get()
	return text, given, nil
}

const (
	answerInWords = "Answer in words"
	noAnswer      = "No answer"
)

// question asks one question.
func (f frontend) question(ctx context.Context, who, prompt, detail string, options []oupwire.UserQuestionOption) (oupwire.UserQuestionAnswer, error) {
	answers, err := f.s.ask(ctx, who+" asks", detail, []oupwire.UserQuestion{{Header: who, Question: prompt, Options: options}})
	if err != nil {
		return oupwire.UserQuestionAnswer{}, err
	}
	return answers[0], nil
}

// errNoTurn says that something is asked outside of any turn.
var errNoTurn = errors.New("no turn runs that could ask")
