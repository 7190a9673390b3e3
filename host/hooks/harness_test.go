package hooks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/hooks"
)

// answer is what an extension does with one hook: the text is its result, unless it says error or silence.
type answer func(payload json.RawMessage) (any, error)

// says answers with a text, as it stands.
func says(text string) answer {
	return func(json.RawMessage) (any, error) { return json.RawMessage(text), nil }
}

// fails answers with an error.
func fails(json.RawMessage) (any, error) {
	return nil, &extensiontest.RefuseError{Code: featurewire.CodeInternalError, Message: "no idea"}
}

// silent never answers.
func silent(json.RawMessage) (any, error) { return nil, extensiontest.Silence }

// crew is some extensions and a Set that asks them.
type crew struct {
	*hooks.Set
	rigs []*extensiontest.Rig

	mu    sync.Mutex
	asked []string // names, in the order of arrival
	told  []string // diagnostics, with the name in front
	leafs []json.RawMessage
}

// options change how a crew is set up.
type options struct {
	api     string
	top     string
	more    hooks.Options
	declare string // further lines of contributes
}

// assemble starts one extension for each answer, named a, b, c, all of which run the hook.
func assemble(t *testing.T, hook string, o options, answers ...answer) *crew {
	t.Helper()
	c := &crew{}
	if o.api == "" {
		o.api = "0.4"
	}
	if o.declare == "" {
		o.declare = "context = true\nnotifications = true"
	}
	o.more.Ready = func() []*extension.Extension {
		var list []*extension.Extension
		for _, r := range c.rigs {
			list = append(list, r.X)
		}
		return list
	}
	o.more.Diagnose = func(x *extension.Extension, text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, x.Name()+": "+text)
	}
	c.Set = hooks.New(o.more)
	entries := extension.Binding{Features: []string{featurewire.FeatureSessionEntries}}
	for n, a := range answers {
		name := string(rune('a'+n%26)) + strings.Repeat("z", n/26)
		r := extensiontest.Start(t, extensiontest.Setup{
			API: o.api, Name: name, Top: o.top,
			Contributes: fmt.Sprintf("tools = [\"work\"]\nhooks = [%q]\n%s", hook, o.declare),
			Options:     extension.Options{Bindings: []extension.Binding{c.Set.Binding(), entries}, Generation: 5},
		})
		r.Serve(featurewire.MethodHookRun, func(_ int64, params json.RawMessage) (any, error) {
			var p struct {
				Hook    string          `json:"hook"`
				Payload json.RawMessage `json:"payload"`
				Leaf    json.RawMessage `json:"session_leaf"`
			}
			if err := json.Unmarshal(params, &p); err != nil || p.Hook != hook {
				return nil, fmt.Errorf("hook %q: %v", p.Hook, err)
			}
			c.mu.Lock()
			c.asked = append(c.asked, name)
			c.leafs = append(c.leafs, p.Leaf)
			c.mu.Unlock()
			return a(p.Payload)
		})
		c.rigs = append(c.rigs, r)
	}
	return c
}

// order is who was asked, and forgets it.
func (c *crew) order() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := strings.Join(c.asked, "")
	c.asked = nil
	return order
}

// diagnosed reports whether a diagnostic about an extension holds the words.
func (c *crew) diagnosed(name, words string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.told {
		if strings.HasPrefix(text, name+": ") && strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// close ends all extensions, for tests inside a bubble.
func (c *crew) close() {
	for _, r := range c.rigs {
		r.X.Close()
	}
}

var scope = agent.Scope{Session: "s1", Owner: "session-1", Run: "run:e1", Model: "m/x", Provider: "m", Reasoning: "high"}
