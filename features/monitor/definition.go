package monitor

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// later judges the members of a tool definition that features of later versions bring.
func (m *Monitor) later(f wire.Frame, t tree) {
	name := t.get("name").text()
	if m.setup.Dialect.Negotiates() {
		m.modelled(f, "the tool "+name, "ToolDefinition", t, definitionPlaces)
	}
	snippet := t.get("prompt_snippet")
	prompted := !snippet.absent() && snippet.kind() != null || len(t.get("prompt_guidelines").items()) > 0
	if prompted && !m.selected(fw.FeatureToolPromptMetadataV1) {
		m.report("EXT04-TOOL-009", f, -1, "tool %q has prompt texts although %q was not selected", name, fw.FeatureToolPromptMetadataV1)
	}
	if !t.get("composition").absent() && !m.selected(fw.FeatureToolCompositionV1) {
		m.report("EXT04-NEST-001", f, -1, "tool %q has composition although %q was not selected", name, fw.FeatureToolCompositionV1)
	}
	if operation := t.get("operation"); operation.kind() == object {
		m.operation(f, name, t, operation)
	}
}

// operation judges what a tool says about its resources.
func (m *Monitor) operation(f wire.Frame, name string, t, operation tree) {
	inputs, outputs := operation.get("resource_inputs").items(), operation.get("resource_outputs").items()
	bearing := len(inputs)+len(outputs) > 0
	if !m.selected(fw.FeatureOperationDescriptorsV1) || bearing && !m.selected(fw.FeatureResourceRefsV1) {
		m.report("EXT04-RES-004", f, -1, "tool %q has an operation although what it needs was not selected", name)
		return
	}
	for _, side := range []struct {
		paths  []tree
		schema tree
	}{{inputs, t.get("parameters")}, {outputs, t.get("output_schema")}} {
		for _, p := range side.paths {
			if !describesReference(side.schema, p) {
				m.report("EXT04-RES-004", f, -1, "the operation of tool %q names %s, where its schema has no closed reference of that type", name, orNothing(p.get("path")))
			}
		}
	}
}

// describesReference reports whether a schema has, at the path of a resource, the closed shape of a reference of
// its type.
func describesReference(schema, resource tree) bool {
	path := resource.get("path").text()
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		schema = schema.get("properties").get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	if schema.get("type").text() != "object" || string(schema.get("additionalProperties").raw) != "false" {
		return false
	}
	properties := schema.get("properties")
	kind := properties.get("type")
	fixed := kind.get("const").text()
	if list := kind.get("enum").texts(); len(list) == 1 {
		fixed = list[0]
	}
	required := schema.get("required").texts()
	return len(properties.members()) == 2 && !properties.get("$resource").absent() && fixed == resource.get("type").text() &&
		slices.Contains(required, "$resource") && slices.Contains(required, "type")
}

// hooked judges that the features behind declared hooks are selected where they are offered.
func (m *Monitor) hooked(f wire.Frame) {
	offered := m.offer.at("/protocol/optional_features").texts()
	for _, hook := range m.offer.at("/contributes/hooks").texts() {
		row, known := m.setup.Dialect.Hook(hook)
		if known && slices.Contains(offered, row.Feature) && !m.selected(row.Feature) {
			m.report("EXT04-NEG-022", f, -1, "the manifest declares the hook %q and %q is offered but not selected", hook, row.Feature)
		}
	}
}
