package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/model"
)

// handClock stands still until somebody moves it.
type handClock struct {
	mu   sync.Mutex
	now  time.Time
	read chan struct{}       // closed when the time is looked at; nil: nobody cares
	asks chan chan time.Time // one for every wait that begins
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read != nil {
		close(c.read)
		c.read = nil
	}
	return c.now
}

// looked is closed when somebody looks at the time.
func (c *handClock) looked() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = make(chan struct{})
	return c.read
}

func (c *handClock) After(time.Duration) <-chan time.Time {
	due := make(chan time.Time, 1)
	c.asks <- due
	return due
}

// pass waits for a wait to begin, and lets the time pass.
func (c *handClock) pass(d time.Duration) {
	due := <-c.asks
	c.mu.Lock()
	c.now = c.now.Add(d)
	now := c.now
	c.mu.Unlock()
	due <- now
}

// priced is a model that costs something, and tells of every request.
type priced struct {
	*brain
	asked chan model.Request
}

func (p *priced) Open(context.Context, string) (model.Provider, model.Info, error) {
	return p, model.Info{
		Provider: "brain", Model: "one", Price: &model.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000},
	}, nil
}

func (p *priced) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Response, error) {
	p.asked <- r
	answer := said("fine")
	answer.Usage.CacheWrite, answer.Usage.Output = 100_000, 1
	return answer, nil
}

const wait = 4 * time.Minute

// warmStage is a stage whose conversations are kept warm.
func warmStage(t *testing.T, s script) (*stage, *priced, *handClock) {
	clock := &handClock{now: time.Unix(1e9, 0), asks: make(chan chan time.Time, 8)}
	served := &priced{brain: &brain{name: "brain"}, asked: make(chan model.Request, 8)}
	g := onStage(t, "0.4", `hooks = ["cache_warming_decision"]`, s, func(c *Config) {
		c.Models, c.Clock, c.Warming = served, clock, agent.Warming{Every: wait, Most: 2}
	})
	return g, served, clock
}

// While a conversation waits, its cache is refreshed as often as it may be, and again behind the next run.
func TestWarm_whileTheConversationWaits(t *testing.T) {
	g, served, clock := warmStage(t, script{})
	for range 2 {
		g.say(t, "go")
		if r := <-served.asked; r.MaxOutputTokens == 1 {
			t.Error("the run is a refresh")
		}
		for range 2 {
			clock.pass(wait)
			if r := <-served.asked; r.MaxOutputTokens != 1 {
				t.Errorf("a refresh asks for %d tokens", r.MaxOutputTokens)
			}
		}
		clock.pass(wait) // and no more
	}
	if err := g.c.Close(); err != nil {
		t.Error(err)
	}
	if len(served.asked) != 0 || len(clock.asks) != 0 {
		t.Error("it is refreshed beyond its bound")
	}
	if n := len(g.of(featurewire.MethodHookRun)); n != 4 {
		t.Errorf("the hook was asked %d times, want 4", n)
	}
}

// A hook has the last word. On a machine where its answer comes too late it is asked again, from the beginning.
func TestWarm_hookStops(t *testing.T) {
	for tries := 1; !hookStops(t); tries++ {
		if tries == 10 {
			t.Fatal("the hook never answers in time")
		}
	}
}

// hookStops reports whether the hook has answered in time.
func hookStops(t *testing.T) bool {
	t.Helper()
	const hook = "hook/run:cache_warming_decision"
	g, served, clock := warmStage(t, script{
		Answers: map[string]json.RawMessage{hook: json.RawMessage(`{"cache_warming_decision":"stop"}`)},
	})
	g.say(t, "go")
	<-served.asked
	begun := clock.looked()
	clock.pass(wait)
	<-begun        // it is being decided
	g.say(t, "on") // this waits for the end of it
	if slices.ContainsFunc(g.said(demo), func(text string) bool { return strings.Contains(text, "counts as no opinion") }) {
		return false
	}
	if r := <-served.asked; r.MaxOutputTokens == 1 || len(r.Messages) != 3 {
		t.Errorf("a request of %d tokens with %d messages follows", r.MaxOutputTokens, len(r.Messages))
	}
	if list := g.of(featurewire.MethodHookRun); len(list) != 1 || !strings.Contains(list[0], `"phase":"idle"`) || !strings.Contains(list[0], `"warm"`) {
		t.Errorf("the hook saw %q", list)
	}
	if err := g.c.Close(); err != nil || len(served.asked) != 0 {
		t.Errorf("it is refreshed against the hook: %v", err)
	}
	return true
}

// Nothing is refreshed where nobody switched that on.
func TestWarm_isOffByDefault(t *testing.T) {
	clock := &handClock{now: time.Unix(1e9, 0), asks: make(chan chan time.Time, 8)}
	s := open(t, func(c *Config) { c.Clock = clock })
	c := begin(t, s)
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil || len(clock.asks) > 0 {
		t.Errorf("somebody waits for the time: %v", err)
	}
}
