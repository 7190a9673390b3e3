package diff

import (
	"fmt"

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

// loose returns the models that nothing names: no method and no hook of any version, no other model.
func (t *tree) loose() []*model.Model {
	named := map[*model.Model]bool{}
	var follow func(m *model.Model)
	var inType func(ty *model.Type)
	follow = func(m *model.Model) {
		if m == nil || named[m] {
			return
		}
		named[m] = true
		t.contents(m, follow, inType)
	}
	inType = func(ty *model.Type) {
		for ; ty != nil; ty = ty.Elem {
			if ty.Kind == model.Ref {
				follow(ty.Ref)
			}
		}
	}
	for _, m := range t.wire.Methods {
		for _, shape := range m.Shapes {
			follow(shape.Params)
			inType(shape.Result)
		}
	}
	for _, h := range t.wire.Hooks {
		follow(h.Payload)
		follow(h.Result)
	}
	// What is left names each other; the ones that are named by none of them go first.
	var left []*model.Model
	inner := map[*model.Model]bool{}
	for _, m := range t.wire.Models {
		if named[m] || !t.has(m.Versions) {
			continue
		}
		left = append(left, m)
		t.contents(m, func(other *model.Model) {
			if other != m {
				inner[other] = true
			}
		}, func(ty *model.Type) {
			for ; ty != nil; ty = ty.Elem {
				if ty.Kind == model.Ref && ty.Ref != m {
					inner[ty.Ref] = true
				}
			}
		})
	}
	var loose []*model.Model
	for _, m := range left {
		if !inner[m] {
			loose = append(loose, m)
		}
	}
	return loose
}

// contents calls back for every model and type that a model names.
func (t *tree) contents(m *model.Model, model func(*model.Model), inType func(*model.Type)) {
	for _, f := range t.fields(m) {
		inType(f.Type)
	}
	for _, v := range m.Variants {
		model(v.Record)
	}
	if m.Word != nil {
		model(m.Word)
	}
	if m.Object != nil {
		model(m.Object)
	}
	if m.Type != nil {
		inType(m.Type)
	}
}

func paramsOf(method string) string { return fmt.Sprintf("params of %s", method) }

func resultOf(method string) string { return fmt.Sprintf("result of %s", method) }
