package diff

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

// position is a shape that travels as a whole.
type position struct {
	of      string // "params of tool/call"
	pair    pair
	parties []party
	method  *call // the method of OLD whose params these are; nil for anything else
}

// walked is a position with all the pairs of shapes inside it.
type walked struct {
	position
	walker *walker
}

// position compares one shape that travels as a whole.
func (c *comparison) position(p position) {
	w := newWalker(map[foldKey]struct{}{})
	for _, diff := range w.walk(p.pair) {
		for _, d := range ways {
			o := w.judge(diff, p.pair, d)
			r := row{place: diff.place, subject: diff.subject, kind: diff.kind, reason: diff.reason}
			for _, who := range p.parties {
				c.judge(r, who, d, o.verdict, o.note, c.witness(p, d, o))
			}
		}
	}
	c.walked = append(c.walked, walked{p, w})
}

// witness turns a breaking outcome into what is shown of it.
func (c *comparison) witness(p position, d way, o outcome) *Witness {
	if o.verdict != Breaking {
		return nil
	}
	_, to := p.pair.sides(d)
	witness := &Witness{Of: p.of, Text: o.text, Pointer: o.at}
	faults, err := to.tree.refusals(to, o.text, 1000)
	if err != nil {
		witness.Refusal = err.Error()
	}
	for _, v := range faults {
		if v.Pointer == o.at {
			witness.Refusal = v.Detail
			break
		}
	}
	return witness
}

// nullable compares whether a result may be null.
func (c *comparison) nullable(of, subject string, place Place, old, new bool, parties []party) {
	if old == new {
		return
	}
	r := row{place: place, subject: subject, kind: KindNullable, reason: either(new, "may be null now", "may not be null any more")}
	for _, p := range parties {
		for _, d := range ways {
			if d == forward && old || d == backward && new {
				c.judge(r, p, d, Breaking, "", &Witness{Of: of, Text: "null", Refusal: "null is not legal here"})
			} else {
				c.judge(r, p, d, Compatible, "", nil)
			}
		}
	}
}

// looseModels compares the shapes that no method and no hook names: envelopes, and the whole of a document.
func (c *comparison) looseModels() {
	parties := everyone
	if len(c.old.wire.Methods)+len(c.new.wire.Methods) == 0 {
		parties = []party{fromExtension} // a document: its author writes it
	}
	a, b := c.old.loose(), c.new.loose()
	for _, m := range b {
		before := c.old.modelOf(m.Name)
		if before == nil {
			r := row{place: Place{New, m.File, m.Pointer}, subject: m.Name, kind: KindModel, reason: "the shape is new, and no message names it"}
			c.each(r, parties, Compatible, "")
			continue
		}
		c.position(position{of: m.Name, pair: pair{c.old.spotOf(before), c.new.spotOf(m)}, parties: parties})
	}
	for _, m := range a {
		after := c.new.modelOf(m.Name)
		switch {
		case after == nil:
			r := row{place: Place{Old, m.File, m.Pointer}, subject: m.Name, kind: KindModel, reason: "the shape is gone, and no message named it"}
			c.each(r, parties, Unknown, "where it was used is prose")
		case !c.covers(after):
			c.position(position{of: m.Name, pair: pair{c.old.spotOf(m), c.new.spotOf(after)}, parties: parties})
		}
	}
}

// each records the same verdict for some.
func (c *comparison) each(r row, parties []party, verdict Verdict, note string) {
	for _, p := range parties {
		for _, d := range ways {
			c.judge(r, p, d, verdict, note, nil)
		}
	}
}

// covers reports whether a shape of NEW was compared as a whole already.
func (c *comparison) covers(m *model.Model) bool {
	for _, w := range c.walked {
		if w.pair.new.mod == m && w.method == nil && w.of == m.Name {
			return true
		}
	}
	return false
}

func (t *tree) modelOf(name string) *model.Model {
	for _, m := range t.wire.Models {
		if m.Name == name && t.has(m.Versions) {
			return m
		}
	}
	return nil
}

// loose returns the models that no method and no hook of any version leads to, and no other of these.
func (t *tree) loose() []*model.Model {
	led := map[*model.Model]bool{}
	for _, m := range t.wire.Methods {
		for _, shape := range m.Shapes {
			t.follow(led, shape.Params)
			inType(shape.Result, func(m *model.Model) { t.follow(led, m) })
		}
	}
	for _, h := range t.wire.Hooks {
		t.follow(led, h.Payload)
		t.follow(led, h.Result)
	}
	// Of the rest, those that no other one names go first; what is left then names each other in circles,
	// and the first of a circle stands for it.
	var rest []*model.Model
	named := map[*model.Model]bool{}
	for _, m := range t.wire.Models {
		if led[m] || !t.has(m.Versions) {
			continue
		}
		rest = append(rest, m)
		t.contents(m, func(other *model.Model) { named[other] = named[other] || other != m })
	}
	var loose []*model.Model
	for _, round := range []bool{false, true} {
		for _, m := range rest {
			if !led[m] && named[m] == round {
				loose = append(loose, m)
				t.follow(led, m)
			}
		}
	}
	slices.SortStableFunc(loose, func(a, b *model.Model) int {
		return slices.Index(t.wire.Models, a) - slices.Index(t.wire.Models, b)
	})
	return loose
}

// follow marks a model and everything it leads to.
func (t *tree) follow(led map[*model.Model]bool, m *model.Model) {
	if m != nil && !led[m] {
		led[m] = true
		t.contents(m, func(other *model.Model) { t.follow(led, other) })
	}
}

// contents calls back for every model that a model names.
func (t *tree) contents(m *model.Model, named func(*model.Model)) {
	for _, f := range t.fields(m) {
		inType(f.Type, named)
	}
	for _, v := range m.Variants {
		named(v.Record)
	}
	for _, arm := range []*model.Model{m.Word, m.Object} {
		if arm != nil {
			named(arm)
		}
	}
	inType(m.Type, named)
}

// inType calls back for the model that a type names.
func inType(ty *model.Type, named func(*model.Model)) {
	for ; ty != nil; ty = ty.Elem {
		if ty.Kind == model.Ref {
			named(ty.Ref)
		}
	}
}

func paramsOf(method string) string { return fmt.Sprintf("params of %s", method) }

func resultOf(method string) string { return fmt.Sprintf("the result of %s", method) }
