package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/host/tool"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		"  ":                     nil,
		"one two":                {"one", "two"},
		" one\t two\n":           {"one", "two"},
		`"one two" three`:        {"one two", "three"},
		`one'two three'four`:     {"onetwo threefour"},
		`"a \"b\" c" 'd "e" \f'`: {`a "b" c`, `d "e" \f`},
		`back\ slash end\`:       {"back slash", "end"},
		`"" ''`:                  {"", ""},
		"ünï 日本":                 {"ünï", "日本"},
	} {
		if got, err := split(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("split(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`"open`, `it's`} {
		if _, err := split(text); err == nil {
			t.Errorf("split(%q) is no error", text)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"alpha.go", "alps/peak", ".hidden", "beta", "st\x1beer"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for partial, want := range map[string][]string{
		"":                       nil,
		"al":                     {"alpha.go", "alps/"},
		"alps/":                  {"alps/peak"},
		".":                      {".hidden"},
		"st":                     nil,
		"none/x":                 nil,
		filepath.Join(dir, "be"): {filepath.Join(dir, "beta")},
	} {
		if got := files(dir, partial); !slices.Equal(got, want) {
			t.Errorf("files(%q) = %q, want %q", partial, got, want)
		}
	}
}

// shown is what a front writes about events where no terminal is.
func shown(o Options, events ...agent.Event) (out, notes string) {
	var o1, o2 bytes.Buffer
	o.Editor, o.Out, o.Notes = edit.New(edit.Options{In: strings.NewReader(""), Out: &o1}), &o1, &o2
	f := NewFront(o)
	for _, e := range events {
		f.Show(e)
	}
	return o1.String(), o2.String()
}

func TestShow_anAnswer(t *testing.T) {
	answer := agent.Message{Message: conversation.Say(conversation.Assistant, "all of it")}
	for what, c := range map[string]struct {
		options    Options
		events     []agent.Event
		out, notes string
	}{
		"as it grows":            {Options{}, []agent.Event{agent.TextDelta{Text: "all "}, agent.TextDelta{Text: "of it"}, answer}, "all of it\n", ""},
		"as a whole":             {Options{}, []agent.Event{answer}, "all of it\n", ""},
		"to somebody else":       {Options{Quiet: true}, []agent.Event{agent.TextDelta{Text: "all "}, answer}, "", ""},
		"a line ends for a note": {Options{}, []agent.Event{agent.TextDelta{Text: "all"}, agent.ToolStarted{Name: "read", Summary: tool.Summary{Subject: "a\nb"}}}, "all\n", "* read a b\n"},
		"void": {
			Options{},
			[]agent.Event{agent.TextDelta{Text: "half"}, agent.AnswerDiscarded{Reason: "broken"}, answer},
			"half\nall of it\n", "  that answer is void: broken\n",
		},
		"bytes as they are":         {Options{}, []agent.Event{agent.TextDelta{Text: "\x1b[2J"}}, "\x1b[2J", ""},
		"nothing is told of a user": {Options{}, []agent.Event{agent.Message{Message: conversation.Say(conversation.User, "me")}}, "", ""},
	} {
		if out, notes := shown(c.options, c.events...); out != c.out || notes != c.notes {
			t.Errorf("%s: %q and %q, want %q and %q", what, out, notes, c.out, c.notes)
		}
	}
}

func TestShow_news(t *testing.T) {
	for what, c := range map[string]struct {
		options Options
		events  []agent.Event
		notes   string
	}{
		"a failure":        {Options{}, []agent.Event{agent.ToolFinished{Name: "read", Status: agent.ToolFailed, Result: agent.ToolResult{Content: []conversation.Part{conversation.TextPart("no\x1b file")}}}}, "  read failed: no\\x1b file\n"},
		"a denial once":    {Options{}, []agent.Event{agent.PermissionDecided{CallID: "c", Name: "write", Decision: permission.Deny, Reason: "no"}, agent.ToolFinished{CallID: "c", Name: "write", Status: agent.ToolDenied}}, "  write may not run: no\n"},
		"a change":         {Options{}, []agent.Event{agent.ToolFinished{Status: agent.ToolCompleted, Changes: []tool.Change{{Path: "a", Kind: tool.Changed, Added: 1, Removed: 2}}}}, "  changed a +1 -2\n"},
		"output":           {Options{}, []agent.Event{agent.ToolProgress{Stream: "stdout", Data: "one\ntwo\n"}}, "  | one\n  | two\n"},
		"a notification":   {Options{}, []agent.Event{agent.Notified{Notification: agent.Notification{Source: "x", Level: "info", Title: "t", Message: "m\a"}}}, "info from x: t: m\\x07\n"},
		"the network once": {Options{}, []agent.Event{agent.WaitingForNetwork{Waited: 1}, agent.WaitingForNetwork{Waited: 2}, agent.NetworkBack{}}, "waiting for the network\n"},
		"uncertainty once": {Options{}, []agent.Event{agent.UsageUncertain{Reason: "r"}, agent.UsageUncertain{Reason: "r"}}, "  some usage was not counted (r): figures are known subtotals from here on\n"},
		"a retry":          {Options{}, []agent.Event{agent.RetryScheduled{Reason: "busy", Attempt: 2, Millis: 1500}}, "  the model failed: busy; attempt 2 comes in 1.5s\n"},
		"a crash": {Options{}, []agent.Event{
			engine.ExtensionChanged{Name: "x", State: supervise.Crashed, Generation: 1},
			engine.ExtensionChanged{Name: "x", State: supervise.Backoff, Generation: 1, Reason: "exit code 3"},
		}, "extension x has gone and is started again: exit code 3\n"},
		"no step":      {Options{}, []agent.Event{engine.ExtensionChanged{Name: "x", State: supervise.Ready}}, ""},
		"each step":    {Options{Verbose: true}, []agent.Event{engine.ExtensionChanged{Name: "x", State: supervise.Ready}}, "extension x: ready\n"},
		"a drawing":    {Options{}, []agent.Event{engine.Rendered{Text: "one\ntwo"}}, "  one\n  two\n"},
		"a compaction": {Options{}, []agent.Event{agent.CompactionStarted{Entries: 3}, agent.CompactionSettled{Compaction: agent.Compaction{TokensBefore: 9}}}, "  the conversation was summed up (9 tokens before)\n"},
		"a failed one": {Options{}, []agent.Event{agent.CompactionFailed{Reason: "why"}}, "  the conversation was not summed up: why\n"},
	} {
		if out, notes := shown(c.options, c.events...); out != "" || notes != c.notes {
			t.Errorf("%s: %q and %q, want %q", what, out, notes, c.notes)
		}
	}
}

// However many notifications an extension sends in a run, a bounded number is shown, and the rest is counted.
func TestShow_boundsNotifications(t *testing.T) {
	var events []agent.Event
	for range maxNotified + 280 {
		events = append(events, agent.Notified{Notification: agent.Notification{Source: "x", Level: "info", Message: "m"}})
	}
	one := strings.Repeat("info from x: m\n", maxNotified) + "  20 notifications of x are shown; further ones are counted\n  280 more notifications of x were not shown\n"
	events = append(events, agent.RunSettled{})
	if _, notes := shown(Options{}, append(events, events...)...); notes != one+one {
		t.Errorf("got %q", notes)
	}
}

// asking is a front whose person gives answers, one a question.
func asking(t *testing.T, answers ...answer) *Front {
	t.Helper()
	var out bytes.Buffer
	f := NewFront(Options{Editor: edit.New(edit.Options{In: strings.NewReader(""), Out: &out}), Out: &out, Notes: &out, Ask: true})
	go func() {
		for _, given := range answers {
			a := <-f.asks
			a.answers <- given
		}
	}()
	return f
}

func TestFront_ask(t *testing.T) {
	all := []permission.Scope{permission.Once, permission.Run, permission.Session}
	broken := errors.New("broken")
	for _, c := range []struct {
		typed  []string
		err    error
		scopes []permission.Scope
		want   permission.Answer
	}{
		{[]string{"y"}, nil, all, permission.Answer{Allow: true, Scope: permission.Once}},
		{[]string{" YES "}, nil, nil, permission.Answer{Allow: true, Scope: permission.Once}},
		{[]string{"r"}, nil, all, permission.Answer{Allow: true, Scope: permission.Run}},
		{[]string{"session"}, nil, all, permission.Answer{Allow: true, Scope: permission.Session}},
		{[]string{"n"}, nil, all, permission.Answer{}},
		{[]string{"", "x", "s", "n"}, nil, []permission.Scope{permission.Once}, permission.Answer{}},
		{[]string{"use the other file"}, nil, all, permission.Answer{Note: "use the other file"}},
		{[]string{""}, io.EOF, all, permission.Answer{}},
		{[]string{"y"}, edit.ErrInterrupted, all, permission.Answer{}},
		{[]string{"y"}, broken, all, permission.Answer{}},
	} {
		var answers []answer
		for _, text := range c.typed {
			answers = append(answers, answer{text, c.err})
		}
		got, err := asking(t, answers...).Ask(t.Context(), permission.Question{Scopes: c.scopes})
		if got != c.want || (err != nil) != errors.Is(c.err, broken) {
			t.Errorf("%q, %v: %+v, %v, want %+v", c.typed, c.err, got, err, c.want)
		}
	}
}

// Who is asked about a path that a link leads out of the workspace sees where to.
func TestFront_askNamesWhereALinkLeads(t *testing.T) {
	f, shown := asking(t), make(chan string, 1)
	go func() {
		a := <-f.asks
		shown <- a.text
		a.answers <- answer{"n", nil}
	}()
	q := permission.Question{Request: permission.Request{
		Tool: tool.Definition{Name: "write", Effect: tool.Write}, Summary: tool.Summary{Subject: "inner/a", External: true, Target: "/far/a"},
	}}
	if _, err := f.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if got := <-shown; !strings.HasPrefix(got, "write wants to run (write): inner/a (outside of the workspace: it leads to /far/a)\n") {
		t.Errorf("shown was %q", got)
	}
}

func TestFront_confirmAndInput(t *testing.T) {
	for typed, want := range map[string]bool{"y": true, " Yes": true, "": false, "n": false, "yess": false} {
		if got, err := asking(t, answer{typed, nil}).Confirm(t.Context(), dialog.Question{Suggested: true}); got != want || err != nil {
			t.Errorf("%q confirms %v, %v", typed, got, err)
		}
	}
	if text, given, err := asking(t, answer{"", nil}).Input(t.Context(), dialog.Input{}); text != "" || !given || err != nil {
		t.Errorf("an empty text is %q, %v, %v", text, given, err)
	}
	if _, given, err := asking(t, answer{"x", io.EOF}).Input(t.Context(), dialog.Input{}); given || err != nil {
		t.Errorf("the end of input is %v, %v", given, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := asking(t).Confirm(ctx, dialog.Question{}); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("a question that is taken back is %v, %v", yes, err)
	}
	if yes, err := NewFront(Options{}).Confirm(t.Context(), dialog.Question{}); yes || !errors.Is(err, errNobody) {
		t.Errorf("nobody answers %v, %v", yes, err)
	}
}
