package oupreferee

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/generated/oupwire"
)

func stagePhrases() []phrase {
	return []phrase{
		{`a server(?: that (.+))?`, (*stage).plays},
		{`the client runs a turn that (says something|uses a tool|needs an approval|asks two questions|fails)(?:, and (approve|deny))?`, (*stage).runTurn},
		{`the client ends well`, (*stage).endsWell},
		{`the client reports a failure`, (*stage).reportsFailure},
		{`the client (has|has not) said "([^"]+)"`, (*stage).hasSaid},
		{`the client calls (\S+) (once|never|twice|again)(?: with (\{.*\}))?`, (*stage).calledTimes},
		{`the client calls (\S+) before (\S+)`, (*stage).calledBefore},
		{`the session is opened again behind the last cursor that was shown`, (*stage).opensBehind},
		{`the client goes back`, (*stage).goesBack},
		{`no refused cursor is tried again`, (*stage).triesOnce},
		{`no two turns have one id`, (*stage).turnIDs},
		{`a token among the subprotocols has company`, (*stage).company},
		{`no frame breaks a rule of this scenario`, (*stage).nothingHeard},
	}
}

type stageKey struct{}

var stagePatterns = sync.OnceValue(func() []*regexp.Regexp { return compiled(stagePhrases()) })

// registerStage binds every phrase to the stage of the scenario.
func registerStage(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *stage { return ctx.Value(stageKey{}).(*stage) }
	for i, p := range stagePhrases() {
		expr := stagePatterns()[i]
		switch do := p.do.(type) {
		case func(*stage) error:
			sc.Step(expr, func(ctx context.Context) error { return do(of(ctx)) })
		case func(*stage, string) error:
			sc.Step(expr, func(ctx context.Context, a string) error { return do(of(ctx), a) })
		case func(*stage, string, string) error:
			sc.Step(expr, func(ctx context.Context, a, b string) error { return do(of(ctx), a, b) })
		case func(*stage, string, string, string) error:
			sc.Step(expr, func(ctx context.Context, a, b, c string) error { return do(of(ctx), a, b, c) })
		}
	}
}

func (s *stage) endsWell() error {
	switch {
	case s.hung:
		return noAnswer("the client does not end within %s", s.setup.Wait)
	case s.code != 0:
		return failed("the client ended with code %d, want 0: %.300q", s.code, strings.TrimSpace(s.output))
	}
	return nil
}

func (s *stage) reportsFailure() error {
	switch {
	case s.hung:
		return noAnswer("the client does not end within %s", s.setup.Wait)
	case s.code == 0:
		return failed("the client ended with code 0, as if all had gone well: %.300q", strings.TrimSpace(s.output))
	case strings.TrimSpace(s.output) == "":
		return failed("the client failed and said nothing")
	}
	return nil
}

func (s *stage) hasSaid(whether, text string) error {
	said := strings.Contains(s.output, text)
	switch {
	case said && whether == "has not":
		return failed("the client has said %q: %.300q", text, s.output)
	case !said && whether == "has":
		return failed("the client has not said %q; it said %.300q", text, s.output)
	}
	return nil
}

// made are the calls of a method.
func (s *stage) made(method string) []called {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c called) bool { return c.method != method })
}

func (s *stage) calledTimes(method, times, text string) error {
	calls := s.made(method)
	n := len(calls)
	if want := map[string]int{"once": 1, "never": 0, "twice": 2}; times != "again" && n != want[times] || times == "again" && n < 2 {
		return failed("%s is called %d times, want %s", method, n, times)
	}
	if text == "" || n == 0 {
		return nil
	}
	w := &world{vars: map[string]any{"session": s.shown("session_id"), "approval": s.shown("approval_id")}}
	want, err := w.value(text)
	if err != nil {
		return errored("%v", err)
	}
	if d := differs(want, any(calls[n-1].params), ""); d != "" {
		return failed("the params of %s: %s", method, d)
	}
	return nil
}

// shown is the newest value of a member that an event showed.
func (s *stage) shown(member string) any {
	frames, _ := s.rec.Frames()
	var found any
	for _, f := range frames {
		root, _ := decode(f.Bytes)
		o, _ := root.(object)
		params, _ := o["params"].(object)
		if method, _ := o["method"].(string); method == oupwire.MethodApprovalRequested && params[member] != nil {
			found = params[member]
		}
	}
	return found
}

func (s *stage) calledBefore(first, second string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(method string) int {
		return slices.IndexFunc(s.calls, func(c called) bool { return c.method == method })
	}
	switch {
	case at(second) < 0:
		return failed("%s is not called", second)
	case at(first) < 0 || at(first) > at(second):
		return failed("%s is called before %s", second, first)
	}
	return nil
}

// opensBehind looks at the first open of every connection but the first: it has the last cursor that an event showed
// on any connection before.
func (s *stage) opensBehind() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, opens := map[int]bool{}, 0
	for _, c := range s.calls {
		if c.method != oupwire.MethodSessionOpen || seen[c.conn] {
			continue
		}
		seen[c.conn] = true
		opens++
		if c.conn == 0 {
			continue
		}
		var last any
		for conn := range c.conn {
			if shown := s.cursors[conn]; len(shown) > 0 {
				last = shown[len(shown)-1]
			}
		}
		if !reflect.DeepEqual(last, c.params["after"]) {
			return failed("connection %d opens the session behind %s, want %s", c.conn, short(c.params["after"]), short(last))
		}
	}
	if opens < 2 {
		return failed("the client does not open the session again")
	}
	return nil
}

// goesBack looks for a hydrate, or for another open.
func (s *stage) goesBack() error {
	if len(s.made(oupwire.MethodSessionHydrate)) == 0 && len(s.made(oupwire.MethodSessionOpen)) < 2 {
		return failed("the client neither hydrates nor opens the session again")
	}
	return nil
}

func (s *stage) triesOnce() error {
	var tried []string
	for _, c := range s.made(oupwire.MethodSessionOpen) {
		if after := c.params["after"]; after != nil {
			text := fmt.Sprint(c.conn, short(after))
			if slices.Contains(tried, text) {
				return failed("the cursor %s is tried again on its connection", short(after))
			}
			tried = append(tried, text)
		}
	}
	return nil
}

func (s *stage) turnIDs() error {
	seen := map[any]bool{}
	calls := s.made(oupwire.MethodTurnStart)
	if len(calls) < s.runs {
		return failed("%d turns were started, want %d", len(calls), s.runs)
	}
	for _, c := range calls {
		id := c.params["turn_id"]
		if seen[id] {
			return failed("two turns have the id %s", short(id))
		}
		seen[id] = true
	}
	return nil
}

func (s *stage) company() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.offers) == 0 {
		return notApplicable("the client connects over standard streams")
	}
	for _, h := range s.offers {
		offers := strings.Join(h.Values("Sec-Websocket-Protocol"), ",")
		alone := strings.Contains(offers, protocol("bearer_subprotocol"))
		for offer := range strings.SplitSeq(offers, ",") {
			alone = alone && strings.TrimSpace(offer) != protocol("subprotocol")
		}
		if alone {
			return failed("the credential is offered as a subprotocol without %s", protocol("subprotocol"))
		}
	}
	return nil
}

func (s *stage) nothingHeard() error { return nil }
