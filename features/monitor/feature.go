package monitor

import (
	"bytes"
	"slices"

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
