package diff

import (
	"fmt"
	"strconv"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// unions compares two unions with the same tag, arm by arm.
func (w *walker) unions(p pair) {
	status := func(s spot, tag string) string {
		for _, v := range s.mod.Variants {
			if v.TagValue == tag {
				return either(v.Deferred, "deferred", "legal")
			}
		}
		return "unknown"
	}
	report := func(place Place, tag string) {
		before, after := status(p.old, tag), status(p.new, tag)
		if before == after {
			return
		}
		w.emit(place, p.new.subject+" "+strconv.Quote(tag), KindVariant, fmt.Sprintf("the variant was %s, is %s", before, after), func(d way) outcome {
			from, to := p.sides(d)
			v := arm(from, tag)
			if v == nil || arm(to, tag) != nil {
				return harmless
			}
			text, st := w.make[d].value(from.tree.spotOf(v.Record), spot{})
			return fromState(text, "/"+wirejson.EscapePointer(from.mod.Tag), st)
		})
	}
	for i, v := range p.new.mod.Variants {
		report(p.new.item("oneOf", i), v.TagValue)
		if a, b := arm(p.old, v.TagValue), arm(p.new, v.TagValue); a != nil && b != nil {
			w.same(pair{p.old.tree.spotOf(a.Record), p.new.tree.spotOf(b.Record)})
		}
	}
	for i, v := range p.old.mod.Variants {
		if status(p.new, v.TagValue) == "unknown" {
			report(p.old.item("oneOf", i), v.TagValue)
		}
	}
}

// arms splits a shape by JSON type. A choice has two; what accepts several types and is no choice stays
// whole.
func arms(s spot) []spot {
	if s.is(model.Choice) {
		return []spot{s.tree.spotOf(s.mod.Word), s.tree.spotOf(s.mod.Object)}
	}
	return []spot{s}
}

// subset judges two shapes of different kinds: can a legal value of the writer's be refused by the
// reader's?
func (w *walker) subset(p pair, d way) outcome {
	worst := harmless
	from, to := p.sides(d)
	for _, a := range arms(from) {
		if o := w.armLoss(a, to, d); o.verdict.worse(worst.verdict) {
			worst = o
		}
	}
	return worst
}

// armLoss judges one arm of the writer's shape.
func (w *walker) armLoss(from, to spot, d way) outcome {
	if to.isType(model.JSON) {
		return w.longer(from, to, d)
	}
	text, st := w.make[d].value(from, to)
	switch {
	case st == none:
		return harmless
	case st == lost:
		return unsure(noteLost)
	case !to.tree.accepts(to, text):
		return firstRefusal(to, text)
	}
	switch jsonType(from) {
	case "string":
		return textLoss(from, to)
	case "number":
		return numberLoss(from, to)
	case "boolean":
		return harmless // the reader accepts a boolean
	case "object":
		return w.objectLoss(from, to, d)
	default:
		return tryOut(from, to)
	}
}

// firstRefusal makes an outcome of a text that is known to be refused.
func firstRefusal(to spot, text string) outcome {
	faults, err := to.tree.refusals(to, text, 1)
	if err != nil || len(faults) == 0 {
		return unsure(noteLost)
	}
	return broken(text, faults[0].Pointer)
}

// jsonType names the one JSON type of a shape's values; "" where they have several.
func jsonType(s spot) string {
	switch {
	case s.is(model.Record), s.is(model.Union), s.isType(model.Object), s.isType(model.Map):
		return "object"
	case s.is(model.Enum), s.isType(model.String), s.isType(model.Const):
		return "string"
	case s.isType(model.Integer), s.isType(model.Number):
		return "number"
	case s.isType(model.Boolean):
		return "boolean"
	default:
		return ""
	}
}

func textLoss(from, to spot) outcome {
	a, okA := textsOf(from)
	b, okB := textsOf(to)
	if !okA || !okB {
		return unsure(noteLost)
	}
	return fromText(a.escape(&b, ""))
}

func numberLoss(from, to spot) outcome {
	var tried []string
	if from.isType(model.Number) {
		tried = append(tried, number(from.typ, spot{})+".0")
	}
	tried = append(tried, below(from.typ, to.typ).text, above(from.typ, to.typ).text)
	for _, text := range append(tried, "-0") {
		if text != "" && from.tree.accepts(from, text) && !to.tree.accepts(to, text) {
			return broken(text, "")
		}
	}
	if from.isType(model.Integer) && (to.isType(model.Number) || to.isType(model.ID)) {
		return harmless // both ends of the range were looked at
	}
	return unsure(noteLost)
}

// objectLoss judges an object whose writer and reader describe it in different ways.
func (w *walker) objectLoss(from, to spot, d way) outcome {
	if to.is(model.Choice) {
		to = to.tree.spotOf(to.mod.Object)
	}
	switch {
	case to.isType(model.Object):
		return w.longer(from, to, d)
	case from.is(model.Record) && to.is(model.Record):
		return w.foldSides(from, to, d)
	case from.is(model.Record) && to.is(model.Union):
		if f := from.tree.field(from.mod, to.mod.Tag); f != nil && f.Required && !f.Nullable && f.Type.Kind == model.Const {
			if v := arm(to, f.Type.Const); v != nil {
				return w.foldSides(from, to.tree.spotOf(v.Record), d)
			}
		}
	case from.is(model.Union) && to.is(model.Record):
		return w.eachVariant(from, to, d, func(spot) spot { return to })
	case from.is(model.Union) && to.is(model.Union):
		return w.eachVariant(from, to, d, func(record spot) spot { return to.variant(tagOf(record, to.mod.Tag)) })
	}
	return tryOut(from, to)
}

// eachVariant judges every variant of a union against the record that target names for it.
func (w *walker) eachVariant(from, to spot, d way, target func(spot) spot) outcome {
	worst := harmless
	for _, v := range from.mod.Variants {
		if v.Deferred {
			continue
		}
		record := from.tree.spotOf(v.Record)
		var o outcome
		if other := target(record); other != (spot{}) {
			o = w.foldSides(record, other, d)
		} else {
			o = tryOut(record, to)
		}
		if o.verdict.worse(worst.verdict) {
			worst = o
		}
	}
	return worst
}

func (w *walker) foldSides(from, to spot, d way) outcome {
	if d == backward {
		return w.fold(pair{to, from}, d)
	}
	return w.fold(pair{from, to}, d)
}

// tryOut looks for a refused value among a few legal ones and never says that there is none.
func tryOut(from, to spot) outcome {
	tried := []string{`{}`, `0`, `"a"`, `true`, `[]`, `0.5`, `{"other":0}`, `[0]`, `[[]]`, `-1`, `""`}
	if to.is(model.Record) {
		for _, f := range to.tree.fields(to.mod) {
			for _, text := range []string{`0`, `"a"`, `{}`} {
				tried = append(tried, object(map[string]string{f.Name: text}))
			}
		}
	}
	k := newMaker()
	if text, st := k.value(from, spot{}); st == found {
		tried = append(tried, text)
	}
	if from.is(model.Record) {
		for _, f := range from.tree.fields(from.mod) {
			inner, st := k.value(from.field(f), spot{})
			if st != found {
				continue
			}
			if text, st := k.record(from, spot{}, given{f.Name: inner}); st == found {
				tried = append(tried, text)
			}
		}
	}
	for _, text := range tried {
		if from.tree.accepts(from, text) && !to.tree.accepts(to, text) {
			return firstRefusal(to, text)
		}
	}
	return unsure(noteLost)
}
