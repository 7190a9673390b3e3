package permission

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/tool"
)

func settings(effect policy.Effect, change ...func(*policy.Settings)) policy.Settings {
	s := policy.Settings{Effect: effect, AllowProcess: true, AllowShell: true, AllowExternalPaths: true}
	for _, c := range change {
		c(&s)
	}
	return s
}

func request(effect tool.Effect, subject string) Request {
	return Request{Run: "run:e-2", Tool: tool.Definition{Name: string(effect), Effect: effect}, Summary: tool.Summary{Subject: subject}}
}

func TestPolicy_judge(t *testing.T) {
	unsafe, controlled := settings(policy.UnsafeHost), settings(policy.Controlled)
	approval, safe := settings(policy.ControlledBashApproval), settings(policy.UnsafeHost).Safe()
	for _, c := range []struct {
		effect  tool.Effect
		subject string
		want    [4]Decision // unsafe, controlled, bash approval, safe mode
	}{
		{tool.None, "", [4]Decision{Allow, Allow, Allow, Allow}},
		{tool.Read, "a.txt", [4]Decision{Allow, Allow, Allow, Allow}},
		{tool.Write, "a.txt", [4]Decision{Allow, Ask, Ask, Ask}},
		{tool.Command, "rm -rf .", [4]Decision{Allow, Ask, Ask, Ask}},
		{tool.Command, "ls -la", [4]Decision{Allow, Allow, Ask, Ask}},
		{tool.External, "", [4]Decision{Allow, Ask, Ask, Ask}},
		{"odd", "", [4]Decision{Allow, Ask, Ask, Ask}},
	} {
		for i, s := range []policy.Settings{unsafe, controlled, approval, safe} {
			if got := New(Options{Settings: s}).Judge(request(c.effect, c.subject)); got.Decision != c.want[i] {
				t.Errorf("%s %q under %s: %s, want %s", c.effect, c.subject, s.Name(), got.Decision, c.want[i])
			}
		}
	}
}

func TestPolicy_gates(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*policy.Settings)
		r      Request
		word   string
	}{
		{"no shell", func(s *policy.Settings) { s.AllowShell = false }, request(tool.Command, "ls"), "allow_shell"},
		{"no process", func(s *policy.Settings) { s.AllowProcess = false }, request(tool.Command, "ls"), "allow_process"},
		{"external", func(s *policy.Settings) { s.AllowExternalPaths = false }, func() Request {
			r := request(tool.Read, "/etc/passwd")
			r.Summary.External = true
			return r
		}(), "/etc/passwd"},
	} {
		gate := New(Options{Settings: settings(policy.UnsafeHost, c.change), Granted: []tool.Effect{tool.Command, tool.Read}})
		got := gate.Judge(c.r)
		if got.Decision != Deny || !strings.Contains(got.Reason, c.word) {
			t.Errorf("%s: %+v, want a denial that names %q", c.name, got, c.word)
		}
		if open := New(Options{Settings: settings(policy.UnsafeHost)}).Judge(c.r); open.Decision != Allow {
			t.Errorf("%s with the gate open: %+v", c.name, open)
		}
	}
	if got := New(Options{Settings: settings(policy.Controlled), Granted: []tool.Effect{tool.Write}}).Judge(request(tool.Write, "a")); got.Decision != Allow {
		t.Errorf("a granted effect: %+v", got)
	}
}

// What a tool never does is neither asked about nor let through, whatever was granted.
func TestPolicy_refused(t *testing.T) {
	r := request(tool.Write, "a")
	r.Summary.Refused = "it is the data of somebody"
	for _, s := range []policy.Settings{settings(policy.UnsafeHost), settings(policy.Controlled)} {
		if got := New(Options{Settings: s, Granted: []tool.Effect{tool.Write}}).Judge(r); got.Decision != Deny || got.Reason != r.Summary.Refused {
			t.Errorf("under %s: %+v", s.Name(), got)
		}
	}
}

func TestOnlyLooks(t *testing.T) {
	for command, want := range map[string][2]bool{ // with external paths, without
		"ls -la":                {true, true},
		"pwd":                   {true, true},
		"cat go.mod":            {true, false},
		"cat /etc/passwd":       {true, false},
		"ls --color=auto":       {true, true},
		"ls -I/etc":             {true, false},
		"":                      {false, false},
		"ls > out":              {false, false},
		"ls; rm -rf .":          {false, false},
		"ls && rm x":            {false, false},
		"ls | sh":               {false, false},
		"echo $(rm x)":          {false, false},
		"echo `rm x`":           {false, false},
		"echo $HOME":            {false, false},
		"ls\nrm x":              {false, false},
		"ls\trm":                {false, false},
		"/tmp/ls":               {false, false},
		"FOO=1 ls":              {false, false},
		"find . -delete":        {false, false},
		"git log --output=x":    {false, false},
		"rm x":                  {false, false},
		"cat \"a b\"":           {false, false},
		"echo \u00e4":           {false, false},
		"wc -l --files0-from=x": {true, true},
	} {
		for i, external := range []bool{true, false} {
			if got := onlyLooks(command, external); got != want[i] {
				t.Errorf("onlyLooks(%q, external paths %v) = %v", command, external, got)
			}
		}
	}
}

// asker answers everything alike and counts.
type asker struct {
	answer Answer
	err    error
	asked  []Question
}

func (a *asker) Ask(_ context.Context, q Question) (Answer, error) {
	a.asked = append(a.asked, q)
	return a.answer, a.err
}

func TestPolicy_remembers(t *testing.T) {
	ctx := context.Background()
	other := func(r Request) Request { r.Run = "run:e-9"; return r }
	for _, c := range []struct {
		scope          Scope
		same, otherRun Decision
	}{{Once, Ask, Ask}, {"", Ask, Ask}, {"for ever", Ask, Ask}, {Run, Allow, Ask}, {Session, Allow, Allow}} {
		who := &asker{answer: Answer{Allow: true, Scope: c.scope}}
		gate := New(Options{Settings: settings(policy.Controlled), Asker: who})
		write := request(tool.Write, "a.txt")
		if got := gate.Ask(ctx, write); got.Decision != Allow {
			t.Fatalf("asked: %+v", got)
		}
		again := request(tool.Write, "b.txt")
		if got := gate.Judge(again); got.Decision != c.same {
			t.Errorf("%q, same run: %s, want %s", c.scope, got.Decision, c.same)
		}
		if got := gate.Judge(other(again)); got.Decision != c.otherRun {
			t.Errorf("%q, other run: %s, want %s", c.scope, got.Decision, c.otherRun)
		}
		gate.Settled(write.Run)
		if got := gate.Judge(again); got.Decision != c.otherRun {
			t.Errorf("%q, run settled: %s, want %s", c.scope, got.Decision, c.otherRun)
		}
	}
}

func TestPolicy_remembersCommandsExactly(t *testing.T) {
	gate := New(Options{Settings: settings(policy.ControlledBashApproval), Asker: &asker{answer: Answer{Allow: true, Scope: Session}}})
	gate.Ask(context.Background(), request(tool.Command, "make test"))
	if got := gate.Judge(request(tool.Command, "make test")); got.Decision != Allow || got.Remembered != Session {
		t.Errorf("the same command: %+v", got)
	}
	if got := gate.Judge(request(tool.Command, "make clean")); got.Decision != Ask {
		t.Errorf("another command: %+v", got)
	}
}

func TestPolicy_safeModeAsksEveryTime(t *testing.T) {
	who := &asker{answer: Answer{Allow: true, Scope: Session}}
	gate := New(Options{Settings: settings(policy.UnsafeHost).Safe(), Asker: who})
	for range 2 {
		if got := gate.Ask(context.Background(), request(tool.Write, "a")); got.Decision != Allow {
			t.Errorf("%+v", got)
		}
	}
	if len(who.asked) != 2 || len(who.asked[0].Scopes) != 1 {
		t.Errorf("asked %d times with scopes %v, want twice with once alone", len(who.asked), who.asked[0].Scopes)
	}
}

func TestPolicy_denies(t *testing.T) {
	ctx := context.Background()
	ended, end := context.WithCancel(ctx)
	end()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		asker Asker
		word  string
	}{
		{"nobody", ctx, nil, "nobody is there"},
		{"no", ctx, &asker{answer: Answer{Note: "use the other file"}}, "use the other file"},
		{"broken frontend", ctx, &asker{err: errors.New("no terminal")}, "no terminal"},
		{"withdrawn", ended, &asker{answer: Answer{Allow: true, Scope: Session}}, "withdrawn"},
	} {
		gate := New(Options{Settings: settings(policy.Controlled), Asker: c.asker})
		if got := gate.Ask(c.ctx, request(tool.Write, "a")); got.Decision != Deny || !strings.Contains(got.Reason, c.word) {
			t.Errorf("%s: %+v, want a denial that says %q", c.name, got, c.word)
		}
		if got := gate.Judge(request(tool.Write, "a")); got.Decision != Ask {
			t.Errorf("%s is remembered: %+v", c.name, got)
		}
	}
}
