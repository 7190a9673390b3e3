package monitor

import (
	"bytes"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// features judges the names of a selection on their own: that they exist, and that each comes with what
// it depends on.
func (m *Monitor) features(f wire.Frame, selected []string) {
	for _, name := range selected {
		i := slices.IndexFunc(featurewire.Features, func(known wirejson.Feature) bool {
			return known.Name == name && slices.Contains(known.Versions, m.setup.Dialect.API())
		})
		if i < 0 {
			m.report(m.rules.featureUnknown, f, -1, "features has %q, which this API version does not know", name)
			continue
		}
		if miss := without(featurewire.Features[i].DependsOn, selected); len(miss) > 0 {
			m.report(m.rules.featureAlone, f, -1, "features has %q without %s", name, named(miss))
		}
	}
}

// opened reports whether the manifest opens a method that the spec does not describe yet: the namespace
// of such a method is the name of the contribution in the singular, or a surface. Requests that hang on a
// running request of the host are left to the rules of their services.
func (m *Monitor) opened(method string, params tree) bool {
	space, _, spaced := strings.Cut(method, "/")
	if !spaced {
		return false
	}
	contributes := m.offer.get("contributes")
	for _, name := range []string{space, space + "s"} {
		if contributes.get(name).truth() {
			return true
		}
	}
	if featurewire.UiSurface(space).Known() && len(contributes.get("ui").items()) > 0 {
		return true
	}
	return m.setup.Dialect.Negotiates() && !params.get("parent_request_id").absent()
}

// unreadable reports whether a line of the host has an id that nobody can read, so that its answer may
// carry null. A notification has none to read.
func unreadable(line []byte, t tree) bool {
	if t.kind() != object {
		return len(bytes.TrimSpace(line)) > 0
	}
	switch t.get("id").kind() {
	case number, text:
		return false
	case none:
		return t.get("method").kind() != text || t.get("jsonrpc").text() != dialect.RPCVersion
	default:
		return true
	}
}
