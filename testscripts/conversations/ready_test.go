package conversations

import (
	"fmt"
	"maps"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// expectReady takes the answer to initialize: the declared catalog, and everything that was offered is selected.
func (h *held) expectReady() error {
	got, err := h.next()
	if err != nil {
		return err
	}
	result, _ := got["result"].(dialect.Object)
	if result == nil || show(got["id"]) != show(initializeID) {
		return fmt.Errorf("want the answer to initialize, got %s", show(got))
	}
	if err := h.expectCatalog(result); err != nil {
		return err
	}
	if h.offer == nil {
		return nil
	}
	offer := []byte(show(h.offer))
	if h.api == dialect.CanonicalAPI {
		if _, err := negotiation.NegotiateJSON(offer, []byte(show(result["contract"]))); err != nil {
			return err
		}
		selection, _ := result["contract"].(dialect.Object)
		return selected(h.talk.offer, selection["capabilities"])
	}
	if _, err := negotiation.NegotiateFeaturesJSON(h.api, offer, []byte(show(result["protocol"]))); err != nil {
		return err
	}
	protocol, _ := result["protocol"].(dialect.Object)
	return selected(h.talk.offer, protocol["features"])
}

// selected demands that everything that was offered is among what was selected.
func selected(offered []string, among any) error {
	names, _ := among.([]any)
	for _, name := range offered {
		if !slices.Contains(names, any(name)) {
			return fmt.Errorf("%s was offered and not selected", name)
		}
	}
	return nil
}

// expectCatalog demands the tools and commands of the showcase, each with its description.
func (h *held) expectCatalog(result dialect.Object) error {
	h.tools = dialect.Object{}
	contributes := contributions(h.api, nil)
	definitions, _ := result["tools"].([]any)
	for _, d := range definitions {
		definition, _ := d.(dialect.Object)
		name, _ := definition["name"].(string)
		if _, twice := h.tools[name]; twice {
			return fmt.Errorf("the tool %q is there twice", name)
		}
		if want := "Showcase: " + name + "."; definition["description"] != want {
			return fmt.Errorf("the tool %q is described as %s, want %q", name, show(definition["description"]), want)
		}
		h.tools[name] = definition
	}
	if got, want := slices.Sorted(maps.Keys(h.tools)), sorted(contributes["tools"]); !slices.Equal(got, want) {
		return fmt.Errorf("the tools are %q, want %q", got, want)
	}
	if h.api == dialect.CanonicalAPI {
		return nil
	}
	var commands []any
	definitions, _ = result["commands"].([]any)
	for _, d := range definitions {
		command, _ := d.(dialect.Object)
		commands = append(commands, command["name"])
	}
	if got, want := sorted(commands), sorted(contributes["commands"]); !slices.Equal(got, want) {
		return fmt.Errorf("the commands are %q, want %q", got, want)
	}
	return nil
}

func sorted(names any) []string {
	var all []string
	for _, name := range names.([]any) {
		text, _ := name.(string)
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// expectDefinition looks at what the definition of a tool has beside its name, description and parameters.
func (h *held) expectDefinition(l line) error {
	definition, there := h.tools[l.id.(string)].(dialect.Object)
	if !there {
		return fmt.Errorf("there is no tool %s", l.id)
	}
	members := maps.Clone(definition)
	for _, usual := range []string{"name", "description", "parameters"} {
		delete(members, usual)
	}
	if differs := h.bound.match(l.value, members, ""); differs != "" {
		return fmt.Errorf("tool %s: %s", l.id, differs)
	}
	return nil
}
