package rulebook

import (
	"sync"

	"github.com/octet-dev/octet/generated/rules"
)

var table = sync.OnceValue(func() []Rule {
	out := make([]Rule, len(rules.All))
	for i, r := range rules.All {
		out[i] = Rule{
			ID: r.ID, Wire: r.Wire, Area: r.Area, Level: string(r.Level), Role: r.Role, Wires: r.Versions,
			Text: r.Text, Source: r.Source, NoPeer: r.NoPeer, ProvenBy: r.ProvenBy,
		}
	}
	return out
})
