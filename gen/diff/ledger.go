package diff

import (
	"cmp"
	"slices"
)

// ledger gathers judgements and merges those that say the same thing of several messages and versions.
type ledger struct {
	entries map[entryKey]*entry
	order   []*entry
}

// entryKey names one change in one version for one role and direction.
type entryKey struct {
	wire, version string
	place         Place
	kind, reason  string
	role          Role
	direction     Direction
}

type entry struct {
	key     entryKey
	subject string
	frozen  bool
	verdict Verdict
	note    string
	witness *Witness
}

func newLedger() *ledger { return &ledger{entries: map[entryKey]*entry{}} }

// add keeps the worst of all verdicts on a change, and of several witnesses the shortest.
func (l *ledger) add(e entry) {
	known := l.entries[e.key]
	if known == nil {
		known = &e
		l.entries[e.key] = known
		l.order = append(l.order, known)
		return
	}
	better := e.verdict == Breaking && known.verdict == Breaking && shorter(e.witness.Text, known.witness.Text) < 0
	if e.verdict.worse(known.verdict) || better {
		known.verdict, known.note, known.witness = e.verdict, e.note, e.witness
	}
}

// knows reports whether any change of this kind was found at a place.
func (l *ledger) knows(version string, place Place, kind string) bool {
	return slices.ContainsFunc(l.order, func(e *entry) bool {
		return e.key.version == version && e.key.place == place && e.key.kind == kind
	})
}

// changes returns what was gathered, versions with the same verdict merged, ordered by wire, place, kind,
// role and direction.
func (l *ledger) changes(wires []string) []Change {
	type mergeKey struct {
		entryKey
		verdict Verdict
		frozen  bool
	}
	merged := map[mergeKey]*Change{}
	var list []*Change
	for _, e := range l.order {
		key := mergeKey{e.key, e.verdict, e.frozen}
		key.version = ""
		c := merged[key]
		if c == nil {
			c = &Change{
				Wire: e.key.wire, Place: e.key.place, Subject: e.subject, Kind: e.key.kind, Reason: e.key.reason,
				Role: e.key.role, Direction: e.key.direction, Verdict: e.verdict, Note: e.note, Frozen: e.frozen, Witness: e.witness,
			}
			merged[key] = c
			list = append(list, c)
		}
		if e.key.version != "" && !slices.Contains(c.Versions, e.key.version) {
			c.Versions = append(c.Versions, e.key.version)
		}
	}
	slices.SortStableFunc(list, func(a, b *Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(wires, a.Wire), slices.Index(wires, b.Wire)),
			cmp.Compare(a.Place.File, b.Place.File),
			cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Place.Pointer, b.Place.Pointer),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Reason, b.Reason),
			slices.Compare(a.Versions, b.Versions),
			cmp.Compare(a.Role, b.Role),
			cmp.Compare(a.Direction, b.Direction),
		)
	})
	changes := make([]Change, len(list))
	for i, c := range list {
		changes[i] = *c
	}
	return changes
}
