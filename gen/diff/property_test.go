package diff

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/gen/model"
)

// pairOf draws a spec and one that differs from it in a few places or in everything.
func (d *draw) pairOf() (old, new *model.Spec) {
	old = d.spec()
	if d.yes(15) {
		return old, d.spec()
	}
	new = copySpec(old)
	for range 1 + d.n(3) {
		d.change(new)
	}
	return old, new
}

// worst returns the worst verdict for one direction.
func worst(changes []Change, direction Direction) Verdict {
	v := Compatible
	for _, c := range changes {
		if c.Direction == direction && c.Verdict.worse(v) {
			v = c.Verdict
		}
	}
	return v
}

// TestCompare_isNeverRefuted holds random verdicts against random values. Compatible means that no legal
// value of the writer is refused; breaking means that the witness is legal and refused.
func TestCompare_isNeverRefuted(t *testing.T) {
	verdicts := map[Verdict]int{}
	legal := 0
	for range 20 {
		t.Run("round", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { holdRandomPair(t, verdicts, &legal) }) })
	}
	t.Logf("%v, %d legal values", verdicts, legal)
	total := verdicts[Compatible] + verdicts[Unknown] + verdicts[Breaking]
	if total == 0 || verdicts[Compatible] == 0 || verdicts[Breaking] == 0 || verdicts[Unknown]*20 > total || legal == 0 {
		t.Errorf("of %d verdicts %v, %d values: the test looks at too little, or too much is unknown", total, verdicts, legal)
	}
}

func holdRandomPair(t *rapid.T, verdicts map[Verdict]int, legal *int) {
	d := &draw{t: t}
	old, new := d.pairOf()
	a, b := newTree(Old, old.Wires[0], ""), newTree(New, new.Wires[0], "")
	root := pair{a.spotOf(a.wire.Models[0]), b.spotOf(b.wire.Models[0])}
	c := &comparison{ledger: newLedger(), old: a, new: b}
	c.position(position{of: "Root", pair: root, parties: []party{fromExtension}})
	changes := c.ledger.changes([]string{"w"})
	for _, way := range ways {
		from, to := root.sides(way)
		verdict := worst(changes, way.direction())
		verdicts[verdict]++
		if verdict != Compatible {
			continue
		}
		for range 10 {
			text := d.value(from, 0)
			if !from.tree.accepts(from, text) {
				continue
			}
			*legal++
			if faults, err := to.tree.refusals(to, text, 1); err != nil || len(faults) > 0 {
				t.Fatalf("%s is called compatible, but %s is legal and refused: %v %v\nchanges %s\nold %s\nnew %s", way.direction(), text, faults, err, lines(changes), dump(old), dump(new))
			}
		}
	}
	for _, c := range changes {
		if c.Witness == nil {
			continue
		}
		writer, reader := root.sides(map[Side]way{Old: forward, New: backward}[c.Witness.Writer])
		if !writer.tree.accepts(writer, c.Witness.Text) {
			t.Fatalf("the witness %s of %s %s is not legal for its writer", c.Witness.Text, c.Subject, c.Kind)
		}
		if !refused(reader, c.Witness.Text, c.Witness.Pointer) {
			t.Fatalf("the witness %s of %s %s is not refused at %q", c.Witness.Text, c.Subject, c.Kind, c.Witness.Pointer)
		}
	}
}
