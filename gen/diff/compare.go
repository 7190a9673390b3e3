package diff

import (
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

// Compare returns every difference between two specs, ordered by wire and place. Both specs are as the
// loader made them; Compare changes neither.
func Compare(old, new *model.Spec) []Change {
	l := newLedger()
	var names []string
	for _, b := range new.Wires {
		names = append(names, b.Name)
		if a := wireOf(old, b.Name); a != nil {
			compareWires(l, a, b)
		} else {
			for _, v := range versionsOf(b) {
				addVersion(l, b, v, KindWire, "the wire is new")
			}
		}
	}
	for _, a := range old.Wires {
		if wireOf(new, a.Name) == nil {
			names = append(names, a.Name)
			for _, v := range versionsOf(a) {
				removeVersion(l, a, v, KindWire, "the wire is gone")
			}
		}
	}
	return l.changes(names)
}

func wireOf(s *model.Spec, name string) *model.Wire {
	for _, w := range s.Wires {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// versionsOf returns the versions of a wire, or the one without a name.
func versionsOf(w *model.Wire) []string {
	if len(w.Versions) == 0 {
		return []string{""}
	}
	return w.Versions
}

func compareWires(l *ledger, a, b *model.Wire) {
	for _, v := range versionsOf(b) {
		if !slices.Contains(versionsOf(a), v) {
			addVersion(l, b, v, KindVersion, "the API version is new")
			continue
		}
		c := &comparison{
			ledger: l, old: newTree(Old, a, v), new: newTree(New, b, v),
			grown: slices.ContainsFunc(b.Versions, func(v string) bool { return !slices.Contains(a.Versions, v) }),
		}
		c.run()
	}
	for _, v := range versionsOf(a) {
		if !slices.Contains(versionsOf(b), v) {
			removeVersion(l, a, v, KindVersion, "the API version is gone")
		}
	}
}

// comparison compares one API version of one wire.
type comparison struct {
	ledger   *ledger
	old, new *tree
	grown    bool // NEW has API versions that OLD has not
	walked   []walked
}

// run compares part by part; limits come last, because shapes say which of them they explain.
func (c *comparison) run() {
	c.methods()
	c.hooks()
	c.looseModels()
	if len(c.old.wire.Capabilities)+len(c.new.wire.Capabilities) > 0 {
		c.contract()
	}
	c.features()
	c.errors()
	c.violations()
	c.tables()
	c.limits()
}

// sides returns the trees of writer and reader.
func (c *comparison) sides(d way) (from, to *tree) {
	if d == forward {
		return c.old, c.new
	}
	return c.new, c.old
}

// row is a difference between two rows of a table.
type row struct {
	place         Place
	subject, kind string
	reason        string
	added         bool // NEW alone has the row, and rows of the table name no versions
}

// judge records the verdict on a row for the peer that changes: the writer's role is from, the reader's to.
// A breaking outcome carries its witness.
func (c *comparison) judge(r row, p party, d way, verdict Verdict, note string, witness *Witness) {
	role := p.reader
	if d == backward {
		role = p.writer
	}
	if witness != nil {
		witness.Writer = d.writer()
	}
	c.ledger.add(entry{
		key:     entryKey{c.new.wire.Name, c.new.version, r.place, r.kind, r.reason, c.new.role(role), d.direction()},
		subject: r.subject, verdict: verdict, note: note, witness: witness,
		frozen: c.new.version != "" && !(r.added && c.grown),
	})
}

// role returns who takes a part on this wire. What is asked to serve is the extension, or the server.
func (t *tree) role(r Role) Role {
	if t.wire.Family != model.ServerFamily {
		return r
	}
	return map[Role]Role{Host: Client, Extension: Server}[r]
}

// party is who writes a message and who reads it, in the roles of a host and an extension.
type party struct{ writer, reader Role }

var (
	fromHost      = party{writer: Host, reader: Extension}
	fromExtension = party{writer: Extension, reader: Host}
	everyone      = []party{fromHost, fromExtension}
)

// answers returns who writes and reads the answers to messages of these parties.
func answers(list []party) []party {
	var out []party
	for _, p := range list {
		out = append(out, party{writer: p.reader, reader: p.writer})
	}
	return out
}

// all records the same verdict for everybody.
func (c *comparison) all(r row, verdict Verdict, note string) {
	for _, p := range everyone {
		for _, d := range ways {
			c.judge(r, p, d, verdict, note, nil)
		}
	}
}

// rowPlace returns the place of a row on a side.
func rowPlace(side Side, at model.Place) Place {
	return Place{side, at.File, at.Pointer}
}
