package diff

import (
	"fmt"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// arrays compares elements, counts and uniqueness.
func (w *walker) arrays(p pair) {
	a, b, n := p.old.typ, p.new.typ, p.new
	w.inside(itemStep, "", pair{p.old.elem(), p.new.elem()})
	if a.MinItems != b.MinItems {
		w.emit(n.place, n.subject, KindMinItems, fmt.Sprintf("the least number of elements was %d, is %d", a.MinItems, b.MinItems), func(d way) outcome {
			from, to := p.sides(d)
			if from.typ.MinItems >= to.typ.MinItems {
				return harmless
			}
			return w.counted(from, to, d, from.typ.MinItems)
		})
	}
	w.bounds(p, KindMaxItems, "elements", a.MaxItems, b.MaxItems, func(d way) outcome {
		from, to := p.sides(d)
		if to.typ.MaxItems == nil || from.typ.MaxItems != nil && from.typ.MaxItems.Value <= to.typ.MaxItems.Value {
			return harmless
		}
		return w.counted(from, to, d, max(int(to.typ.MaxItems.Value)+1, from.typ.MinItems))
	})
	if a.Unique != b.Unique {
		w.emit(n.place, n.subject, KindUnique, either(b.Unique, "no element may come twice any more", "elements may come twice now"), func(d way) outcome {
			from, to := p.sides(d)
			return w.twice(from, to, d)
		})
	}
	if a.UniqueBy != b.UniqueBy {
		reason := fmt.Sprintf("elements had to differ in %s, must in %s", orNone(a.UniqueBy, "nothing"), orNone(b.UniqueBy, "nothing"))
		w.emit(n.place, n.subject, KindUniqueBy, reason, func(d way) outcome {
			from, to := p.sides(d)
			return w.alike(from, to, d)
		})
	}
	w.encoded(p)
}

// counted makes an array of exactly n elements.
func (w *walker) counted(from, to spot, d way, n int) outcome {
	if n > maxItems {
		return unsure(noteLost)
	}
	items, st := w.make[d].items(from, to, nil, n)
	return fromState(array(items), "", st)
}

// maxItems bounds the elements of a witness.
const maxItems = 100_000

// twice makes an array in which a string comes twice.
func (w *walker) twice(from, to spot, d way) outcome {
	if !to.typ.Unique || from.typ.Unique || from.typ.MaxItems != nil && from.typ.MaxItems.Value < 2 {
		return harmless
	}
	elem := from.elem()
	if _, ok := textsOf(elem); !ok {
		return harmless // only strings are compared
	}
	text, st := w.make[d].text(elem, to.elem())
	if st != found {
		return fromState("", "", st)
	}
	items, st := w.make[d].items(from, to, []string{text, text}, max(2, from.typ.MinItems))
	return fromState(array(items), "/1", st)
}

// alike makes an array of two records that share the member in which to wants them to differ.
func (w *walker) alike(from, to spot, d way) outcome {
	by := to.typ.UniqueBy
	if by == "" || from.typ.MaxItems != nil && from.typ.MaxItems.Value < 2 {
		return harmless
	}
	elem := from.elem()
	if elem.isType(model.JSON) || elem.isType(model.Object) || elem.isType(model.Map) {
		return unsure(noteLost)
	}
	record, f := memberOf(elem, by)
	if f == nil {
		if elem.typ != nil || elem.is(model.Enum) {
			return harmless // no element has such a member
		}
		return unsure(noteLost)
	}
	set, ok := textsOf(record.field(f))
	switch {
	case !ok && elem.is(model.Union):
		return unsure(noteLost)
	case !ok:
		return harmless // only strings are compared
	}
	shared, st := set.member(nil)
	if st != found {
		return fromState("", "", st)
	}
	other := to.elem().variant(tagOf(record, unionTag(to.elem())))
	var items []string
	for i := range 2 {
		fixed := given{by: quote(shared)}
		if own := from.typ.UniqueBy; own != "" {
			field := record.tree.field(record.mod, own)
			if field == nil {
				return unsure(noteLost)
			}
			differing, ok := textsOf(record.field(field))
			if !ok {
				return unsure(noteLost)
			}
			members, _ := differing.members(2)
			if len(members) < 2 {
				return unsure(noteLost)
			}
			fixed[own] = quote(members[i])
		}
		text, st := w.make[d].record(record, other, fixed)
		if st != found {
			return unsure(noteLost)
		}
		items = append(items, text)
	}
	items, st = w.make[d].items(from, to, items, max(2, from.typ.MinItems))
	return fromState(array(items), "/1", st)
}

// maps compares keys and values.
func (w *walker) maps(p pair) {
	w.inside(entryStep, "", pair{p.old.elem(), p.new.elem()})
	a, b := p.old.typ.KeyPattern, p.new.typ.KeyPattern
	if a == b {
		return
	}
	w.emit(p.new.place, p.new.subject, KindKeyPattern, "of keys "+patterns(a, b), func(d way) outcome {
		from, to := p.sides(d)
		keys, others := keysOf(from), keysOf(to)
		key, st := keys.escape(&others, KindPattern)
		if st != found {
			return fromState("", "", st)
		}
		text, st := w.make[d].value(from.elem(), to.elem())
		return fromState(object(map[string]string{key: text}), "/"+wirejson.EscapePointer(key), st)
	})
}
