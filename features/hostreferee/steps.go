package hostreferee

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/launch"
)

// phrase is one step: how it reads and what it does.
type phrase struct {
	expr string
	do   any // a method expression of world
}

func vocabulary() []phrase { return slices.Concat(phrases(), schedulePhrases()) }

func phrases() []phrase {
	return []phrase{
		{`a sound extension`, (*world).givenSound},
		{`an extension that (.+)`, (*world).given},
		{`the host calls the tool "([^"]+)"(?: with (.+))?`, (*world).calls},
		{`the host is interrupted during a call of "([^"]+)"`, (*world).interrupted},
		{`the host is interrupted as it asks for the end of "([^"]+)"`, (*world).interruptedAtTheEnd},
		{`the host offers the feature "([^"]+)"`, (*world).offers},
		{`the host says what the tool said`, (*world).says},
		{`the host reports a failure`, (*world).reportsFailure},
		{`the host gives the extension up`, (*world).givesUp},
		{`the tool was (not called|called once)`, (*world).toolCalled},
		{`(the call was cancelled once|no call was cancelled|at most one cancellation was sent)`, (*world).cancelled},
		{`the extension was (asked|not asked) to shut down`, (*world).askedToEnd},
		{`the extension was started once, with its environment`, (*world).startedWell},
		{`nothing of the extension is left`, (*world).nothingLeft},
	}
}

type worldKey struct{}

// register binds every phrase to the world of the scenario.
func register(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
	for _, p := range vocabulary() {
		switch do := p.do.(type) {
		case func(*world) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context) error { return of(ctx).each(do) })
		case func(*world, context.Context) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context) error {
				return of(ctx).each(func(w *world) error { return do(w, ctx) })
			})
		case func(*world, string) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, a string) error {
				return of(ctx).each(func(w *world) error { return do(w, a) })
			})
		case func(*world, context.Context, string) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, a string) error {
				return of(ctx).each(func(w *world) error { return do(w, ctx, a) })
			})
		case func(*world, context.Context, string, string) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, a, b string) error {
				return of(ctx).each(func(w *world) error { return do(w, ctx, a, b) })
			})
		case func(*world, context.Context, string, string, *godog.Table) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, a, b string, table *godog.Table) error {
				return of(ctx).each(func(w *world) error { return do(w, ctx, a, b, table) })
			})
		case func(*world, string, string, string) error:
			sc.Step("^"+p.expr+"$", func(ctx context.Context, a, b, c string) error {
				return of(ctx).each(func(w *world) error { return do(w, a, b, c) })
			})
		case func(*world, string, string) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, a, b string) error {
				return of(ctx).each(func(w *world) error { return do(w, a, b) })
			})
		case func(*world, *godog.DocString) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, text *godog.DocString) error { return do(of(ctx), text) })
		case func(*world, context.Context, *godog.Table) error:
			sc.Step(pattern("^"+p.expr+"$"), func(ctx context.Context, table *godog.Table) error {
				return of(ctx).each(func(w *world) error { return do(w, ctx, table) })
			})
		}
	}
}

func (w *world) givenSound() error { return w.given("") }

func (w *world) calls(ctx context.Context, tool, arguments string) error {
	text, err := steps.Expand(arguments)
	if err != nil {
		return errored("%v", err)
	}
	switch arguments = text; {
	case arguments != "":
	case tool == faultypeer.ToolEcho:
		arguments = string(dialect.Encode(dialect.Object{"text": w.token}))
	default:
		arguments = "{}"
	}
	return w.run(ctx, tool, arguments, nil)
}

// interrupted interrupts the host once the call has reached the extension.
func (w *world) interrupted(ctx context.Context, tool string) error {
	return w.run(ctx, tool, "{}", func(f wire.Frame) bool { return hostMethod(f) == dialect.ToolCall })
}

// interruptedAtTheEnd interrupts the host once it has sent shutdown.
func (w *world) interruptedAtTheEnd(ctx context.Context, tool string) error {
	return w.run(ctx, tool, "{}", func(f wire.Frame) bool { return hostMethod(f) == dialect.Shutdown })
}

// hostMethod is the method of a frame of the host; empty for every other frame.
func hostMethod(f wire.Frame) string {
	var m struct {
		Method string `json:"method"`
	}
	if f.Lane != wire.ToSubject || json.Unmarshal(f.Bytes, &m) != nil {
		return ""
	}
	return m.Method
}

// count is how often the host sent a method, over all starts.
func (w *world) count(method string) int {
	n := 0
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) == method {
				n++
			}
		}
	}
	return n
}

// offers leaves a scenario alone that is about a feature which the host does not offer.
func (w *world) offers(feature string) error {
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			var m struct {
				Params struct {
					Protocol struct {
						Features []string `json:"optional_features"`
					} `json:"protocol"`
					Contract struct {
						Capabilities []string `json:"optional_capabilities"`
					} `json:"contract"`
				} `json:"params"`
			}
			if hostMethod(f) == dialect.Initialize && json.Unmarshal(f.Bytes, &m) == nil && slices.Contains(append(m.Params.Protocol.Features, m.Params.Contract.Capabilities...), feature) {
				return nil
			}
		}
	}
	return &outcome{class: verdict.NotApplicable, text: "the host does not offer " + feature}
}

func (w *world) says() error {
	switch {
	case w.host.code != 0:
		return failed("the host ended with code %d: %s", w.host.code, w.complaint())
	case !strings.Contains(w.host.stdout, w.token):
		return failed("the host did not say what the tool said, %q; it said %q", w.token, wire.Printable([]byte(w.host.stdout), 200))
	}
	return nil
}

func (w *world) complaint() string {
	text := strings.TrimSpace(w.host.stderr)
	if text == "" {
		return "(nothing on standard error)"
	}
	return wire.Printable([]byte(text), 300)
}

func (w *world) reportsFailure() error {
	switch {
	case w.host.code == 0:
		return failed("the host ended with code 0, as if all had gone well; what it was told to do cannot be done, want another code")
	case strings.TrimSpace(w.host.stderr+w.host.stdout) == "":
		return failed("the host failed and said nothing")
	}
	return nil
}

func (w *world) givesUp() error {
	if err := w.reportsFailure(); err != nil {
		return err
	}
	return w.nothingLeft()
}

func (w *world) toolCalled(how string) error {
	want := 0
	if how == "called once" {
		want = 1
	}
	if err := w.started(); err != nil {
		return err
	}
	if n := w.count(dialect.ToolCall); n != want {
		return failed("the tool was called %d times, want %d", n, want)
	}
	return nil
}

func (w *world) cancelled(how string) error {
	want := 0
	if how != "no call was cancelled" {
		want = 1
	}
	most := "at most one cancellation was sent"
	if n := w.count(dialect.Cancel); n != want && (how != most || n > 1) {
		return failed("%d cancellations were sent, want %d", n, want)
	}
	return nil
}

func (w *world) askedToEnd(how string) error {
	want := 0
	if how == "asked" {
		want = 1
	}
	if n := w.count(dialect.Shutdown); n != want {
		return failed("shutdown was sent %d times, want %d", n, want)
	}
	return nil
}

// startedWell looks at what the extension found around it.
func (w *world) startedWell() error {
	all := w.peers.list()
	if len(all) != 1 {
		return failed("the extension was started %d times, want once", len(all))
	}
	env := map[string]string{}
	for _, entry := range all[0].facts.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	dir, scratch := filepath.Join(w.root, extensionName), env[faultypeer.ScratchVariable]
	want := launch.Wire{
		APIVersion: w.setup.Dialect.API(), Name: extensionName, Dir: dir, ManifestPath: filepath.Join(dir, manifest.FileName()),
		Workspace: all[0].facts.Directory, Scratch: scratch,
	}.Variables()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if env[name] != want[name] {
			return failed("%s is %q, want %q", name, env[name], want[name])
		}
	}
	switch {
	case env[canary] != "":
		return failed("the variable %s of the host reached the extension", canary)
	case !filepath.IsAbs(scratch):
		return failed("%s is %q, want the path of a directory", faultypeer.ScratchVariable, scratch)
	}
	return nil
}

// started keeps a host that starts nothing from keeping rules about what it starts.
func (w *world) started() error {
	if len(w.peers.list()) == 0 {
		return failed("the host did not start the extension; it ended with code %d: %s", w.host.code, w.complaint())
	}
	return nil
}

func (w *world) nothingLeft() error {
	if err := w.started(); err != nil {
		return err
	}
	for i, p := range w.peers.list() {
		if !p.gone {
			return failed("start %d of the extension still runs %s after the host has ended", i+1, w.setup.Grace)
		}
		at := slices.IndexFunc(p.facts.Env, func(entry string) bool { return strings.HasPrefix(entry, faultypeer.ScratchVariable+"=") })
		if at < 0 {
			continue
		}
		if n := leftovers(p.facts.Env[at]); n > 0 {
			return failed("%d processes that the extension started still run", n)
		}
	}
	return nil
}
