package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// definition is one tool as it is registered.
func definition(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"Does it.","parameters":{"type":"object"}}`, name)
}

func registering(definitions ...string) string {
	return `{"tools":[` + strings.Join(definitions, ",") + `]}`
}

func start(t *testing.T, s *Service, setup extensiontest.Setup) *extensiontest.Rig {
	t.Helper()
	setup.Options.Bindings = append(setup.Options.Bindings, s.Bindings()...)
	return extensiontest.Start(t, setup)
}

// jsonText is JSON as it stands.
type jsonText = json.RawMessage

// bound are options with the services alone.
func bound(s *Service) extension.Options { return extension.Options{Bindings: s.Bindings()} }

func (c *Catalog) text() string { return fmt.Sprint(c.Revision, " ", strings.Join(c.names(), ",")) }

// Definitions are added or replaced whole, names that are not there are ignored, and every accepted change
// raises the epoch by one and is answered with the whole set.
//
// EXT04-DYN-006, EXT04-DYN-007, EXT04-DYN-008, EXT04-DYN-009, EXT04-DYN-011.
func TestService_changes(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		s := New(Options{})
		rig := start(t, s, extensiontest.Setup{API: api, Initialize: func(result map[string]any) {
			result["tools"] = []any{map[string]any{"name": "other", "description": "Not that of the manifest.", "parameters": map[string]any{"type": "object"}}}
		}})
		if got := s.Catalog(rig.X).text(); got != "0 other" {
			t.Errorf("API %s: epoch 0 is %q", api, got)
		}
		rig.Ask(featurewire.MethodToolsRegister, registering(definition("b"), definition("a"))).OK(t, `{"revision":1,"tools":["a","b","other"]}`)
		replaced := `{"name":"a","description":"Another one.","parameters":{"type":"object"},"output_schema":{"type":"object"}}`
		before := s.Catalog(rig.X)
		rig.Ask(featurewire.MethodToolsRegister, registering(replaced)).OK(t, `{"revision":2,"tools":["a","b","other"]}`)
		now := s.Catalog(rig.X)
		if now.Tools[0].Description != "Another one." || now.Tools[0].OutputSchema == nil {
			t.Errorf("API %s: the definition was not replaced: %+v", api, now.Tools[0])
		}
		if before.text() != "1 a,b,other" || before.Tools[0].Description != "Does it." {
			t.Errorf("API %s: a published catalog has changed: %s", api, before.text())
		}
		rig.Ask(featurewire.MethodToolsUnregister, `{"names":["b","missing"]}`).OK(t, `{"revision":3,"tools":["a","other"]}`)
		if now.text() != "2 a,b,other" {
			t.Errorf("API %s: a published catalog has changed: %s", api, now.text())
		}
		rig.Ask(featurewire.MethodToolsUnregister, `{"names":["missing"]}`).OK(t, `{"revision":4,"tools":["a","other"]}`)
	}
}

// A change that is wrong in one thing changes nothing, and takes no name.
//
// EXT04-DYN-012, EXT04-DYN-013, EXT04-TOOL-012.
func TestService_refusesWhole(t *testing.T) {
	names := NewNames("read")
	s := New(Options{Names: names})
	other := start(t, s, extensiontest.Setup{Name: "other", Contributes: `tools = ["theirs"]`})
	rig := start(t, s, extensiontest.Setup{
		Select:  func(name string) bool { return name != featurewire.FeatureToolPromptMetadataV1 },
		Options: extension.Options{Bindings: []extension.Binding{{Features: []string{featurewire.FeatureToolPromptMetadataV1}}}},
	})
	many := make([]string, featurewire.MaxTools)
	for i := range many {
		many[i] = definition(fmt.Sprint("t", i))
	}
	for name, params := range map[string]string{
		"a name of the host":               registering(definition("fine"), definition("read")),
		"a name of another extension":      registering(definition("fine"), definition("theirs")),
		"a duplicate":                      registering(definition("fine"), definition("fine")),
		"no description":                   registering(definition("fine"), `{"name":"x","description":"","parameters":{"type":"object"}}`),
		"parameters that are no object":    registering(definition("fine"), `{"name":"x","description":"x","parameters":{"type":"string"}}`),
		"a bad output schema":              registering(definition("fine"), `{"name":"x","description":"x","parameters":{"type":"object"},"output_schema":{"$ref":"#"}}`),
		"a name that is none":              registering(definition("fine"), definition("no name")),
		"prompt metadata unselected":       registering(definition("fine"), `{"name":"x","description":"x","parameters":{"type":"object"},"prompt_snippet":"Do."}`),
		"guidelines unselected":            registering(definition("fine"), `{"name":"x","description":"x","parameters":{"type":"object"},"prompt_guidelines":["Do."]}`),
		"more than 256 in one request":     registering(append(many, definition("fine"))...),
		"more than 256 with what is there": registering(many...),
		"no tools":                         `{}`,
		"something else":                   `{"tools":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			rig.Ask(featurewire.MethodToolsRegister, params).Refused(t, featurewire.CodeInvalidParams, "")
			if got := s.Catalog(rig.X).text(); got != "0 work" {
				t.Errorf("the catalog is now %q", got)
			}
			if names.taken["fine"] != nil {
				t.Error("a name of the refused change stays taken")
			}
		})
	}
	for _, params := range []string{`{}`, `{"names":["a","a"]}`, `{"names":["no name"]}`, `{"names":[7]}`} {
		rig.Ask(featurewire.MethodToolsUnregister, params).Refused(t, featurewire.CodeInvalidParams, "")
	}
	// At the bound it is accepted: 255 and the one of initialize.
	rig.Ask(featurewire.MethodToolsRegister, registering(many[1:]...)).OK(t, "")
	if got := len(s.Catalog(rig.X).Tools); got != featurewire.MaxTools {
		t.Errorf("%d tools, want %d", got, featurewire.MaxTools)
	}
	// A name that was given back is free for others.
	rig.Ask(featurewire.MethodToolsUnregister, `{"names":["t1"]}`).OK(t, "")
	other.Ask(featurewire.MethodToolsRegister, registering(definition("t1"))).OK(t, `{"revision":1,"tools":["t1","theirs"]}`)
}

// Policy takes tools out, and they are not in the answer.
//
// EXT04-DYN-010.
func TestService_policyLeavesToolsOut(t *testing.T) {
	s := New(Options{Allow: func(_ string, tool *extension.Tool) bool { return tool.Name != "banned" }})
	rig := start(t, s, extensiontest.Setup{})
	rig.Ask(featurewire.MethodToolsRegister, registering(definition("banned"), definition("fine"))).OK(t, `{"revision":1,"tools":["fine","work"]}`)
	if got := s.Catalog(rig.X).text(); got != "1 fine,work" {
		t.Errorf("published %q", got)
	}
}

// Each step of a change finds what the one before it has left.
//
// EXT04-DYN-014.
func TestService_orderOfAChange(t *testing.T) {
	var steps []string
	var s *Service
	var rig *extensiontest.Rig
	names := NewNames()
	note := func(step string) { steps = append(steps, step) }
	s = New(Options{
		Names: names,
		Allow: func(_ string, tool *extension.Tool) bool {
			if tool.Name == "late" {
				names.mu.Lock()
				note(fmt.Sprintf("policy: reserved %t, published %s", names.taken["late"] != nil, s.Catalog(rig.X).text()))
				names.mu.Unlock()
			}
			return true
		},
		Published: func(x *extension.Extension, c *Catalog) {
			if c != nil && c.Revision == 1 {
				note("published " + s.Catalog(x).text())
			}
		},
	})
	rig = start(t, s, extensiontest.Setup{})
	rig.Ask(featurewire.MethodToolsRegister, registering(`{"name":"late","description":"","parameters":{"type":"object"}}`)).Refused(t, featurewire.CodeInvalidParams, "")
	if steps != nil {
		t.Errorf("a change that is not valid went on: %q", steps)
	}
	rig.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).OK(t, "")
	note("answered")
	want := []string{"policy: reserved true, published 0 work", "published 1 late,work", "answered"}
	if !slices.Equal(steps, want) {
		t.Errorf("%q, want %q", steps, want)
	}
}

// A published change that nobody can be told of takes the group and the generation along. The extension
// goes away between publication and answer.
//
// EXT04-DYN-015.
func TestService_undeliverableAnswer(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var rig *extensiontest.Rig
	published := make(chan struct{})
	s := New(Options{Published: func(x *extension.Extension, c *Catalog) {
		mu.Lock()
		defer mu.Unlock()
		if c == nil {
			seen = append(seen, "none")
			return
		}
		seen = append(seen, c.text())
		if c.Revision == 1 {
			rig.Exit(1) // its output is closed; the answer meets nobody
			<-x.Done()
			close(published)
		}
	}})
	rig = start(t, s, extensiontest.Setup{})
	pending := rig.Send(featurewire.MethodToolsRegister, registering(definition("late")))
	<-published
	pending.Wait()
	rig.X.Close()
	if s.Catalog(rig.X) != nil {
		t.Error("the group is still there")
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, []string{"0 work", "1 late,work", "none"}) {
		t.Errorf("published %q", seen)
	}
	if len(s.options.Names.taken) != 0 {
		t.Errorf("names stay taken: %v", s.options.Names.taken)
	}
}

// The same where the extension lives on: it cancelled the request, and was answered so before the change was
// done with being published.
//
// EXT04-DYN-015.
func TestService_answerThatLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rig *extensiontest.Rig
		s := New(Options{Published: func(_ *extension.Extension, c *Catalog) {
			if c != nil && c.Revision == 1 {
				rig.Cancel(&extensiontest.Pending{ID: `"late"`})
				time.Sleep(time.Minute) // the host does not wait that long with the answer
			}
		}})
		rig = start(t, s, extensiontest.Setup{})
		rig.SendAs(`"late"`, featurewire.MethodToolsRegister, registering(definition("late"))).Wait().Refused(t, featurewire.CodeRequestCancelled, "")
		<-rig.X.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.Catalog(rig.X) != nil {
			t.Error("the group is still there")
		}
		rig.X.Close()
		if !rig.Diagnosed("could not be delivered") {
			t.Errorf("diagnostics: %q", rig.Diagnostics())
		}
	})
}

// A change whose schemas cannot be read in time is refused, and one that is given up is not told from others
// that are.
func TestService_slowSchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		rig := start(t, s, extensiontest.Setup{})
		slow := func(ctx context.Context, _ *Catalog) ([]*extension.Tool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begun := time.Now()
		_, err := s.changed(t.Context(), &extension.Incoming{Extension: rig.X}, slow)
		var refusal *peer.Error
		if took := time.Since(begun); took != patience || !errors.As(err, &refusal) || refusal.Code != featurewire.CodeInvalidParams || refusal.Message != errSlow.Error() {
			t.Errorf("after %s: %v", took, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("given up"))
		if _, err := s.changed(ctx, &extension.Incoming{Extension: rig.X}, slow); err == nil || err.Error() != "given up" {
			t.Errorf("%v", err)
		}
		if got := s.Catalog(rig.X).text(); got != "0 work" {
			t.Errorf("the catalog is now %q", got)
		}
	})
}

// Whoever took a snapshot before a change calls what it saw, with its revision; the next snapshot has the
// change, whether or not anybody was at rest in between.
//
// EXT04-DYN-016, EXT04-DYN-017.
func TestService_callsCarryTheirEpoch(t *testing.T) {
	s := New(Options{})
	rig := start(t, s, extensiontest.Setup{})
	frozen := s.Catalog(rig.X)
	call := func(c *Catalog, name string) (revision json.RawMessage) {
		at := slices.IndexFunc(c.Tools, func(tool *extension.Tool) bool { return tool.Name == name })
		if at < 0 {
			t.Fatalf("catalog %s has no %q", c.text(), name)
		}
		rig.Serve(featurewire.MethodToolCall, func(_ int64, params json.RawMessage) (any, error) {
			var p map[string]json.RawMessage
			err := json.Unmarshal(params, &p)
			revision = p["catalog_revision"]
			return rig.ToolText("done"), err
		})
		if _, err := rig.X.Call(t.Context(), extension.Request{Definition: c.Tools[at], Revision: c.Revision}); err != nil {
			t.Errorf("call of %q: %v", name, err)
		}
		return revision
	}
	rig.DuringCall(extension.Request{Definition: frozen.Tools[0]}, func(int64) { // a request is at work
		rig.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).OK(t, "")
	})
	if got := call(frozen, "work"); string(got) != "0" {
		t.Errorf("a call of the old snapshot carries %s", got)
	}
	if got := call(s.Catalog(rig.X), "late"); string(got) != "1" {
		t.Errorf("a call of the new snapshot carries %s", got)
	}
}

// A new generation begins at epoch 0, may take over the names of the one before, and what goes leaves
// nothing behind.
//
// EXT04-DYN-011.
func TestService_generations(t *testing.T) {
	s := New(Options{})
	first := start(t, s, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 1}})
	first.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).OK(t, "")
	second := start(t, s, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 2}})
	if got := s.Catalog(second.X).text(); got != "0 work" {
		t.Errorf("the new generation begins with %q", got)
	}
	second.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).OK(t, `{"revision":1,"tools":["late","work"]}`)
	first.X.Close()
	if s.Catalog(first.X) != nil || s.Catalog(second.X).text() != "1 late,work" {
		t.Error("the end of a generation reaches further")
	}
	third := start(t, s, extensiontest.Setup{Name: "third", Contributes: `tools = ["own"]`})
	third.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).Refused(t, featurewire.CodeInvalidParams, `tool "late" is one of the extension "demo"`)
	second.X.Close()
	third.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).OK(t, `{"revision":1,"tools":["late","own"]}`)
}

// Names of initialize that are taken are left out, with a diagnostic.
func TestService_initialNamesThatAreTaken(t *testing.T) {
	s := New(Options{Names: NewNames("work")})
	rig := start(t, s, extensiontest.Setup{Contributes: `tools = ["work", "fine"]`})
	if got := s.Catalog(rig.X).text(); got != "0 fine" {
		t.Errorf("published %q", got)
	}
	rig.X.Close()
	if !rig.Diagnosed(`tool "work" is left out: tool "work" is one of the host`) {
		t.Errorf("diagnostics: %q", rig.Diagnostics())
	}
}

// Without the feature the methods are closed.
func TestService_unselected(t *testing.T) {
	s := New(Options{})
	rig := start(t, s, extensiontest.Setup{Select: func(string) bool { return false }})
	rig.Ask(featurewire.MethodToolsRegister, registering(definition("late"))).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
	if got := s.Catalog(rig.X).text(); got != "0 work" {
		t.Errorf("published %q", got)
	}
}

// With runtime_commands the commands of initialize count, whatever the manifest says; nothing registers
// one later.
//
// EXT04-DYN-018, EXT04-DYN-019.
func TestBindings_runtimeCommands(t *testing.T) {
	rig := start(t, New(Options{}), extensiontest.Setup{Initialize: func(result map[string]any) {
		result["commands"] = []any{map[string]any{"name": "own", "description": "Its own."}}
	}})
	if got := rig.X.Agreement().Commands; len(got) != 1 || got[0].Name != "own" {
		t.Errorf("commands %+v", got)
	}
	if _, err := rig.X.Execute(t.Context(), extension.Execution{Command: "do"}); err == nil {
		t.Error("a command of the manifest alone is run")
	}
	for _, m := range featurewire.Methods {
		if strings.HasPrefix(m.Name, "command") && m.Name != featurewire.MethodCommandExecute {
			t.Errorf("%s is a method on commands", m.Name)
		}
	}
}
