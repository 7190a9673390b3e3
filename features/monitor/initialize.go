package monitor

import (
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// initialized judges the result of initialize.
func (m *Monitor) initialized(f wire.Frame) {
	r := m.result
	if r.kind() != object {
		m.report(m.rules.initShape, f, -1, "the result of initialize is %s, want an object", r.kind())
		return
	}
	if offered := m.offer.get("api_version"); r.get("api_version").text() != offered.text() {
		m.report(m.rules.initVersion, f, -1, "api_version is %s, where the host asked for %s", orNothing(r.get("api_version")), orNothing(offered))
	}
	if m.setup.Dialect.Canonical() {
		m.exact(f, m.rules.initShape, "the result of initialize", r, []string{"api_version", "contract", "tools"})
		m.canonicalCatalog(f, r.get("tools"))
		m.contract(f, r.get("contract"))
		return
	}
	for _, name := range []string{"tools", "commands"} {
		if r.get(name).kind() != array {
			m.report(m.rules.initShape, f, -1, "%s is %s, want an array", name, r.get(name).kind())
		}
	}
	m.names(f, "tools", featurewire.FeatureDynamicTools)
	m.names(f, "commands", featurewire.FeatureRuntimeCommands)
	m.held.publish(0, r.get("tools").items(), nil)
	for _, t := range r.get("tools").items() {
		m.tool(f, t)
	}
	for _, c := range r.get("commands").items() {
		m.command(f, c)
	}
	m.selection(f, r.get("protocol"))
}

// exact judges that an object has all of some members and no other.
func (m *Monitor) exact(f wire.Frame, rule, what string, t tree, members []string) {
	m.within(f, rule, what, t, members, nil)
}

// within judges that an object has all of some members and no other, except optional ones.
func (m *Monitor) within(f wire.Frame, rule, what string, t tree, members, optional []string) {
	if t.kind() != object {
		m.report(rule, f, -1, "%s is %s, want an object", what, t.kind())
		return
	}
	if miss := lacking(t, members); len(miss) > 0 {
		m.report(rule, f, -1, "%s has no %s", what, named(miss))
	}
	if more := unlisted(t, append(slices.Clone(members), optional...)); len(more) > 0 {
		m.report(rule, f, -1, "%s has the unlisted member %s", what, named(more))
	}
}

// names judges that a static catalog repeats the names of the manifest.
func (m *Monitor) names(f wire.Frame, what, unless string) {
	var got []string
	for _, item := range m.result.get(what).items() {
		got = append(got, item.get("name").text())
	}
	if twice := repeated(got); len(twice) > 0 {
		m.report(m.rules.initNames, f, -1, "%s has %s twice", what, named(twice))
		return
	}
	if m.selected(unless) {
		return
	}
	want := m.offer.at("/contributes/" + what).texts()
	if miss := without(want, got); len(miss) > 0 {
		m.report(m.rules.initNames, f, -1, "%s lacks %s, which the manifest declares", what, named(miss))
	}
	if more := without(got, want); len(more) > 0 {
		m.report(m.rules.initNames, f, -1, "%s has %s, which the manifest does not declare", what, named(more))
	}
}

// repeated returns the values that stand more than once, sorted.
func repeated(list []string) []string {
	seen := map[string]int{}
	for _, v := range list {
		seen[v]++
	}
	maps.DeleteFunc(seen, func(_ string, n int) bool { return n < 2 })
	return slices.Sorted(maps.Keys(seen))
}

// without returns the values of a that b does not have.
func without(a, b []string) []string {
	var out []string
	for _, v := range a {
		if !slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// tool judges a tool definition of the feature wire.
func (m *Monitor) tool(f wire.Frame, t tree) {
	name := t.get("name").text()
	m.later(f, t)
	if t.get("description").text() == "" {
		m.report(m.rules.toolDescription, f, -1, "the description of tool %q is %s, want a string that is not empty", name, orNothing(t.get("description")))
	}
	if p := t.get("parameters"); p.kind() != object || p.get("type").text() != "object" {
		m.report(m.rules.toolParameters, f, -1, "the parameters of tool %q are no schema of type object", name)
	}
	schema := t.get("output_schema")
	if schema.absent() {
		return
	}
	if m.rules.frozenSchema != "" {
		m.report(m.rules.frozenSchema, f, -1, "tool %q has an output_schema", name)
		return
	}
	if schema.kind() == null {
		return
	}
	if fault := schemaSize(schema); fault != "" {
		m.report(m.rules.outputSchemaSize, f, -1, "the output_schema of tool %q: %s", name, fault)
		return
	}
	if fault := schemaFault(schema); fault != "" {
		m.report(m.rules.outputSchema, f, -1, "the output_schema of tool %q: %s", name, fault)
	}
}

// command judges a command definition.
func (m *Monitor) command(f wire.Frame, c tree) {
	name, usage := c.get("name"), c.get("usage")
	if name.kind() != text || name.text() == "" || strings.Contains(name.text(), "/") || c.get("description").kind() != text ||
		!usage.absent() && usage.kind() != null && usage.kind() != text {
		m.report(m.rules.command, f, -1, "a command of the wrong shape: %s", orNothing(c))
	}
}

// selection judges the protocol member of an initialize result.
func (m *Monitor) selection(f wire.Frame, p tree) {
	if m.rules.frozenProtocol != "" {
		if !p.absent() {
			m.report(m.rules.frozenProtocol, f, -1, "the result carries protocol")
		}
		return
	}
	offer := m.offer.get("protocol")
	if p.kind() != object || p.get("version").text() != offer.get("version").text() {
		m.report(m.rules.protocolVersion, f, -1, "protocol is %s, want an object with the version that the host asked for, which is %s", orNothing(p), orNothing(offer.get("version")))
		if p.kind() != object {
			return
		}
	}
	got := p.get("features").texts()
	required, optional := offer.get("required_features").texts(), offer.get("optional_features").texts()
	if miss := without(required, got); len(miss) > 0 {
		m.report(m.rules.featuresMissing, f, -1, "features lacks the required %s", named(miss))
	}
	if more := without(got, append(slices.Clone(required), optional...)); len(more) > 0 {
		m.report(m.rules.featuresUnoffered, f, -1, "features has %s, which was not offered", named(more))
	}
	if twice := repeated(got); len(twice) > 0 {
		m.report(m.rules.featuresTwice, f, -1, "features has %s twice", named(twice))
	}
	m.features(f, got)
	m.hooked(f)
	if len(m.held.shortcuts) > 0 && !m.selected(featurewire.FeatureShortcuts) {
		m.report(m.rules.notOpen, f, -1, "shortcuts were registered and %q is not selected", featurewire.FeatureShortcuts)
	}
	if n, ok := p.at("/limits/max_concurrent_requests").integer(); !ok || n < 1 {
		m.report(m.rules.concurrency, f, -1, "max_concurrent_requests is %s, want an integer from 1", orNothing(p.at("/limits/max_concurrent_requests")))
	}
	if len(p.get("lifecycle_events").items()) > 0 && !slices.Contains(got, featurewire.FeatureLifecycleEvents) {
		m.report(m.rules.lifecycleEvents, f, -1, "lifecycle_events without the feature")
	}
}

// canonicalCatalog judges the tools of the canonical wire.
func (m *Monitor) canonicalCatalog(f wire.Frame, tools tree) {
	limit := int64(canonicalwire.MaxTools)
	if n, ok := m.result.at("/contract/limits/max_tools").integer(); ok && n > 0 {
		limit = n
	}
	if tools.kind() != array || int64(len(tools.items())) > limit {
		m.report(m.rules.catalog, f, -1, "tools is %s of %d, want an array of at most %d", tools.kind(), len(tools.items()), limit)
	}
	var names []string
	for _, t := range tools.items() {
		m.within(f, m.rules.toolMembers, "a tool definition", t, []string{"name", "description", "parameters"}, []string{"output_schema"})
		name := t.get("name").text()
		names = append(names, name)
		if name == "" || len(name) > canonicalwire.MaxToolNameBytes {
			m.report(m.rules.toolName, f, -1, "the tool name %s", orNothing(t.get("name")))
		}
		if d := t.get("description"); d.kind() != text || len(d.text()) > canonicalwire.MaxToolDescriptionBytes ||
			t.get("parameters").kind() == null || t.get("output_schema").kind() == null {
			m.report(m.rules.toolDescription, f, -1, "description, parameters or output_schema of tool %q", name)
		}
	}
	if twice := repeated(names); len(twice) > 0 {
		m.report(m.rules.toolTwice, f, -1, "the catalog has %s twice", named(twice))
	}
	declared := m.offer.at("/contributes/tools").texts()
	if len(without(names, declared)) > 0 || len(without(declared, names)) > 0 {
		m.report(m.rules.initNames, f, -1, "the catalog names %s, the manifest declares %s", named(names), named(declared))
	}
}

// contract judges a selection of the canonical wire.
func (m *Monitor) contract(f wire.Frame, c tree) {
	m.exact(f, m.rules.contractMembers, "the contract", c, []string{"capabilities", "encoding", "limits", "methods", "schema"})
	offer := m.offer.get("contract")
	for _, name := range []string{"schema", "encoding"} {
		if c.get(name).text() != offer.get(name).text() {
			m.report(m.rules.contractIdentity, f, -1, "the %s is %s, want %s", name, orNothing(c.get(name)), orNothing(offer.get(name)))
		}
	}
	for _, list := range []struct{ name, missing, unoffered string }{
		{"capabilities", m.rules.capabilityMissing, m.rules.capabilityUnoffered},
		{"methods", m.rules.methodMissing, m.rules.methodUnoffered},
	} {
		got := c.get(list.name).texts()
		required, optional := offer.get("required_"+list.name).texts(), offer.get("optional_"+list.name).texts()
		if miss := without(required, got); len(miss) > 0 {
			m.report(list.missing, f, -1, "%s lacks %s", list.name, named(miss))
		}
		if more := without(got, append(slices.Clone(required), optional...)); len(more) > 0 {
			m.report(list.unoffered, f, -1, "%s has %s, which was not offered", list.name, named(more))
		}
		if twice := repeated(got); len(twice) > 0 {
			m.report(m.rules.selectedTwice, f, -1, "%s has %s twice", list.name, named(twice))
		}
	}
	m.owners(f, c)
	m.contractLimits(f, c.get("limits"), offer.get("limits"))
}

// owners judges that capabilities and methods of a selection belong together.
func (m *Monitor) owners(f wire.Frame, c tree) {
	capabilities, methods := c.get("capabilities").texts(), c.get("methods").texts()
	for _, method := range methods {
		if owner := m.setup.Dialect.Owner(method); owner != "" && !slices.Contains(capabilities, owner) {
			m.report(m.rules.methodOwner, f, -1, "the method %q without its capability %q", method, owner)
		}
	}
	hooks, events := slices.Contains(methods, canonicalwire.MethodHookRun), slices.Contains(capabilities, canonicalwire.CapabilityLifecycleEvents)
	if hooks != events {
		m.report(m.rules.hookPair, f, -1, "%q and %q are selected apart", canonicalwire.CapabilityLifecycleEvents, canonicalwire.MethodHookRun)
	}
	m.busPair(f, capabilities, methods)
	offered := slices.Contains(m.offer.at("/contract/optional_methods").texts(), canonicalwire.MethodHookRun)
	declared := len(m.offer.at("/contributes/hooks").items()) > 0
	switch {
	case declared && offered && !(hooks && events):
		m.report(m.rules.hooksWanted, f, -1, "the manifest declares session hooks, and they are not selected")
	case !declared && (hooks || events):
		m.report(m.rules.hooksUnwanted, f, -1, "session hooks are selected, and the manifest declares none")
	}
}

func (m *Monitor) contractLimits(f wire.Frame, got, offered tree) {
	members := []string{"max_concurrent_requests", "max_frame_bytes", "max_tools"}
	m.exact(f, m.rules.limits, "limits", got, members)
	for _, name := range members {
		n, ok := got.get(name).natural()
		if !got.get(name).absent() && (!ok || n < 1) {
			m.report(m.rules.limits, f, -1, "%s is %s, want an integer from 1", name, orNothing(got.get(name)))
		}
		if top, given := offered.get(name).natural(); given && ok && n > top {
			m.report(m.rules.limitOver, f, -1, "%s is %d; %d was offered", name, n, top)
		}
	}
}
