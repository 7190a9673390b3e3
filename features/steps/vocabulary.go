package steps

import (
	"context"
	"regexp"
	"sync"

	"github.com/cucumber/godog"
)

// Phrase is one step: how it reads and what it does. The expression has no anchors of its own.
type Phrase struct {
	Expr string
	Do   any // a method expression of World
}

// Matches reports whether a step reads like the phrase.
func (p Phrase) Matches(text string) bool {
	return regexp.MustCompile("^" + p.Expr + "$").MatchString(text)
}

// Vocabulary is every step there is, in the order in which a conversation meets them. It stays at no
// more than thirty phrases: a feature that needs another one most often needs another table row.
func Vocabulary() []Phrase {
	return []Phrase{
		{`the host offers (\S+) = (.+)`, (*World).offers},
		{`the host answers (\S+) with (.+)`, (*World).hostAnswers},
		{`the extension (?:declares|selects|uses) (.+)`, (*World).declares},
		{`the variable (\S+) is (?:not set|set to (\S+))`, (*World).variable},
		{`the working directory is not its own`, (*World).elsewhere},
		{`the extension has been started`, (*World).started},
		{`the extension is ready`, (*World).ready},
		{`a call is running( that waits for the host)?`, (*World).callRuns},

		{`the host sends initialize(?: with (\S+) = (.+))?`, (*World).sendsInitialize},
		{`the host sends the (line|bytes) (.+)`, (*World).sendsText},
		{`the host makes (the (?:sample|slow|failing|large|misfit|former) call|as many calls at once as the bound allows|calls and cancels some|every call under a cancelled id)`, (*World).makes},
		{`the host (writes byte by byte|writes in pieces|writes together|reads late)`, (*World).paces},
		{`the host cancels (the call|the running call|the next call)`, (*World).cancelsCall},
		{`the host asks for (shutdown|the commands|the hooks|the context|the status|the menu|renderings|completions|terminal input|the disposal|bare status|bare renderings|the session hooks|the setup|a stream)`, (*World).asksFor},
		{`the host tells what happens`, (*World).tellsEvents},
		{`the host (closes the input|stops reading)`, (*World).hangsUp},
		{`the host has an ordinary conversation`, (*World).ordinaryConversation},

		{`the extension sends (\S+)(?: with (\S+) = (.+))?`, (*World).sends},
		{`the extension answers (in time )?with (a result|an error|a result or an error|(?:a result or )?the error \S+(?: or \S+)*)`, (*World).answersWith},
		{`each of these lines is (answered with an error|answered with the error \S+(?: or \S+)*|met with silence)`, (*World).eachLine},
		{`the answer has (\S+) (=|~) (.+)`, (*World).answerHas},
		{`the extension (stays silent and )?goes on serving( or ends)?`, (*World).serves},
		{`the running call is (answered|undisturbed)`, (*World).runningCall},
		{`every call is answered( before the last request)?`, (*World).callsAnswered},
		{`the extension ends without a word`, (*World).endsSilently},
		{`the extension exits( and has written nothing more)?`, (*World).exitsAfter},
		{`the exit status is (not )?(\d+)`, (*World).exitStatus},
		{`the extension has complained on stderr`, (*World).complains},
		{`no process is left`, (*World).nothingLeft},
		{`no frame breaks a rule of this scenario`, (*World).keepsRules},
	}
}

type worldKey struct{}

// Enter puts a world into a scenario's context.
func Enter(ctx context.Context, w *World) context.Context {
	return context.WithValue(ctx, worldKey{}, w)
}

// Of returns the world of a scenario, or nil.
func Of(ctx context.Context) *World {
	w, _ := ctx.Value(worldKey{}).(*World)
	return w
}

// Register makes the vocabulary known to a scenario.
func Register(sc *godog.ScenarioContext) {
	for _, p := range compiled() {
		sc.Step(p.expr, p.do)
	}
}

type compiledPhrase struct {
	expr *regexp.Regexp
	do   any
}

// compiled is the vocabulary as it is registered for every scenario.
var compiled = sync.OnceValue(func() []compiledPhrase {
	var out []compiledPhrase
	for _, p := range Vocabulary() {
		out = append(out, compiledPhrase{regexp.MustCompile("^" + p.Expr + "$"), bind(p.Do)})
	}
	return out
})

// bind turns a method expression into a handler that finds its world in the context.
func bind(do any) any {
	switch f := do.(type) {
	case func(*World) error:
		return func(ctx context.Context) error { return take(ctx, f) }
	case func(*World, string) error:
		return func(ctx context.Context, a string) error {
			return take(ctx, func(w *World) error { return f(w, a) })
		}
	case func(*World, string, string) error:
		return func(ctx context.Context, a, b string) error {
			return take(ctx, func(w *World) error { return f(w, a, b) })
		}
	case func(*World, string, string, string) error:
		return func(ctx context.Context, a, b, c string) error {
			return take(ctx, func(w *World) error { return f(w, a, b, c) })
		}
	case func(*World, string, *godog.Table) error:
		return func(ctx context.Context, a string, t *godog.Table) error {
			return take(ctx, func(w *World) error { return f(w, a, t) })
		}
	case func(*World, string, int) error:
		return func(ctx context.Context, a string, b int) error {
			return take(ctx, func(w *World) error { return f(w, a, b) })
		}
	}
	panic("steps: a phrase has a handler of another shape")
}

// take takes the next step of a scenario, unless enough are taken. One whose frame is left out has nothing to say.
func take(ctx context.Context, do func(*World) error) error {
	w := Of(ctx)
	if w.setup.Steps > 0 && w.sent.step == w.setup.Steps {
		return nil
	}
	w.sent.begin()
	return unlessOmitted(do(w))
}
