package faultypeer

import "slices"

// Fault is one way to be wrong.
type Fault struct {
	Name string // unique, in kebab case
	Rule string // the rule it breaks
	API  string // the version it shows on
	Doc  string // what the peer does, as the end of "a peer that ..."
	// Process says that the fault needs a process of its own and cannot run inside the referee.
	Process bool

	quirk quirk
}

// Faults returns the table, in the order of the rules they break.
func Faults() []Fault {
	return slices.Concat(slices.Concat(featureAreas...), slices.Concat(canonicalAreas...))
}

// Find returns a fault or a variant by name.
func Find(name string) (Fault, bool) {
	all := slices.Concat(Faults(), Variants())
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// One list per area of the canonical wire.
var canonicalAreas = [][]Fault{canonicalFrameFaults, canonicalReadFaults, canonicalEnvelopeFaults, canonicalInitFaults, canonicalToolFaults, canonicalEndFaults, canonicalOwnFaults, canonicalProviderFaults, canonicalBusFaults, canonicalRaceFaults}
