package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// described is a definition with prompt metadata.
func described(name, members string) string {
	return fmt.Sprintf(`{"name":%q,"description":"Does it.","parameters":{"type":"object"}%s}`, name, members)
}

func lines(count, bytes int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf("%q", strings.Repeat("x", bytes))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// A host that builds prompts offers prompt metadata to API 0.4, and one that does not offers it to nobody.
//
// EXT04-TOOL-011.
func TestBindings_promptMetadata(t *testing.T) {
	for _, c := range []struct {
		api     string
		prompts bool
		want    bool
	}{{featurewire.Version04, true, true}, {featurewire.Version04, false, false}, {featurewire.Version02, true, false}} {
		rig := start(t, New(Options{Prompts: c.prompts}), extensiontest.Setup{API: c.api})
		if got := rig.X.Has(featurewire.FeatureToolPromptMetadataV1); got != c.want {
			t.Errorf("API %s, prompts %t: offered %t", c.api, c.prompts, got)
		}
	}
}

// Prompt metadata has the same bounds at initialize and in tools/register.
//
// EXT04-TOOL-013, EXT04-TOOL-015, EXT04-TOOL-021.
func TestService_promptMetadata(t *testing.T) {
	rig := start(t, New(Options{Prompts: true}), extensiontest.Setup{})
	for name, c := range map[string]struct {
		members string
		good    bool
	}{
		"a snippet at its bound":      {`,"prompt_snippet":"` + strings.Repeat("x", featurewire.MaxPromptTextBytes) + `"`, true},
		"a snippet over it":           {`,"prompt_snippet":"` + strings.Repeat("x", featurewire.MaxPromptTextBytes+1) + `"`, false},
		"guidelines at their bounds":  {`,"prompt_guidelines":` + lines(featurewire.MaxPromptGuidelines, featurewire.MaxPromptTextBytes), true},
		"too many guidelines":         {`,"prompt_guidelines":` + lines(featurewire.MaxPromptGuidelines+1, 1), false},
		"too long a guideline":        {`,"prompt_guidelines":` + lines(1, featurewire.MaxPromptTextBytes+1), false},
		"line feeds and tabs":         {`,"prompt_snippet":"a\n\tb","prompt_guidelines":["a\n\tb"]`, true},
		"a carriage return":           {`,"prompt_snippet":"a\rb"`, false},
		"an escape":                   {`,"prompt_guidelines":["a\u001b[0m"]`, false},
		"a C1 control":                {`,"prompt_guidelines":["a\u0085"]`, false},
		"guidelines without snippet":  {`,"prompt_guidelines":["Do."]`, true},
		"none at all":                 {`,"prompt_snippet":null,"prompt_guidelines":[]`, true},
		"a grammar that nobody reads": {`,"constrained_sampling":{"grammar":["anything",7]}`, true},
	} {
		answer := rig.Ask(featurewire.MethodToolsRegister, registering(described("late", c.members)))
		if c.good != (answer.Refusal == nil) {
			t.Errorf("registered with %s: %+v", name, answer)
		}
		_, err := extensiontest.TryStart(t, extensiontest.Setup{
			Options: bound(New(Options{Prompts: true})),
			Initialize: func(result map[string]any) {
				result["tools"] = []any{jsonText(described("work", c.members))}
			},
		})
		if c.good != (err == nil) {
			t.Errorf("initialized with %s: %v", name, err)
		}
	}
}

// What a catalog describes is bounded as a whole, prompt metadata included.
//
// EXT04-TOOL-014.
func TestService_budget(t *testing.T) {
	s := New(Options{Prompts: true})
	rig := start(t, s, extensiontest.Setup{})
	guidelines := `,"prompt_guidelines":` + lines(featurewire.MaxPromptGuidelines, featurewire.MaxPromptTextBytes)
	accepted := 0
	for accepted < featurewire.MaxTools {
		answer := rig.Ask(featurewire.MethodToolsRegister, registering(described(fmt.Sprint("t", accepted), guidelines)))
		if answer.Refusal != nil {
			answer.Refused(t, featurewire.CodeInvalidParams, "the catalog would have")
			break
		}
		accepted++
	}
	if now := size(s.Catalog(rig.X).Tools); accepted < 60 || accepted > 63 || now > maxCatalogBytes || now < maxCatalogBytes-20000 {
		t.Errorf("%d tools of %d bytes in all were accepted", accepted, now)
	}
	// To the byte.
	left := maxCatalogBytes - size(s.Catalog(rig.X).Tools)
	exact := fmt.Sprintf(`{"name":"fill","description":"%s","parameters":{"type":"object"}}`, strings.Repeat("x", left-len("fill")-len(noSchema)))
	rig.Ask(featurewire.MethodToolsRegister, registering(strings.Replace(exact, "xx", "xxx", 1))).Refused(t, featurewire.CodeInvalidParams, "the catalog would have")
	rig.Ask(featurewire.MethodToolsRegister, registering(exact)).OK(t, "")
}

// Prompt metadata is seen by prompts and by nothing else.
//
// EXT04-TOOL-020.
func TestDefinition(t *testing.T) {
	s := New(Options{Prompts: true})
	rig := start(t, s, extensiontest.Setup{})
	rig.Ask(featurewire.MethodToolsRegister, registering(described("a", ""), described("b", `,"prompt_snippet":"Use b.","prompt_guidelines":["Well."]`))).OK(t, "")
	list := s.Catalog(rig.X).Tools
	a, b := Definition("demo", list[0]), Definition("demo", list[1])
	if b.Snippet != "Use b." || len(b.Guidelines) != 1 || b.Provider != "demo" || b.Effect != "external" || string(b.Parameters) != `{"type":"object"}` {
		t.Errorf("%+v", b)
	}
	b.Name, b.Snippet, b.Guidelines = a.Name, "", nil
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v differs from %+v", a, b)
	}
}
