package diff

import (
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// longer makes a value of from whose encoding is longer than to allows.
func (w *walker) longer(from, to spot, d way) outcome {
	bound := to.typ.MaxEncodedBytes
	if bound == nil {
		return harmless
	}
	want := int(bound.Value) + 1
	if from.typ != nil && from.typ.MaxEncodedBytes != nil && from.typ.MaxEncodedBytes.Value < int64(want) {
		return harmless
	}
	if want > maxWitness {
		return unsure(noteLost)
	}
	if set, ok := textsOf(from); ok && from.mod == nil && set.max >= 0 && 2+maxEscape*set.max < int64(want) {
		return harmless
	}
	for _, text := range w.long(from, to, d, want) {
		if from.tree.accepts(from, text) && refused(to, text, "") {
			return broken(text, "")
		}
	}
	return unsure(noteLost)
}

// maxEscape is the length of the longest spelling of one byte in a JSON string.
const maxEscape = 6

// long proposes values of at least the wanted encoded length.
func (w *walker) long(from, to spot, d way, want int) []string {
	switch {
	case from.isType(model.Const), from.is(model.Enum):
		set, _ := textsOf(from)
		list := []string{quote(strings.Repeat("a", max(want-2, 0)))}
		for _, v := range set.values {
			list = append(list, quote(v))
		}
		return list
	case from.isType(model.Array):
		return w.longArrays(from, to, d, want)
	}
	if e, ok := w.elastic(from, to, d, 0); ok && e.least <= want && want <= e.most {
		return []string{e.make(want)}
	}
	return nil
}

// elastic is a shape that has values of every encoded length in a range.
type elastic struct {
	least, most int
	make        func(length int) string // "" where it gives up after all
}

// maxElastic bounds how deep the part that stretches may lie.
const maxElastic = 4

// elastic finds the part of a shape that stretches furthest.
func (w *walker) elastic(from, to spot, d way, level int) (elastic, bool) {
	most := maxWitness
	if from.typ != nil && from.typ.MaxEncodedBytes != nil {
		most = int(from.typ.MaxEncodedBytes.Value)
	}
	fill := func(n int) string { return quote(strings.Repeat("a", max(n, 0))) }
	switch {
	case from.isType(model.JSON):
		return elastic{2, most, func(n int) string { return fill(n - 2) }}, true
	case from.isType(model.Object):
		return elastic{8, most, func(n int) string { return `{"a":` + fill(n-8) + `}` }}, true
	case from.isType(model.String):
		set, _ := textsOf(from)
		if set.max >= 0 {
			most = min(most, int(set.max)+2)
		}
		return elastic{set.min + 2, most, func(n int) string {
			text, ok := set.stretch(int64(n-2), set.contains)
			return either(ok, quote(text), "")
		}}, true
	case from.is(model.Record) && level < maxElastic:
		return w.elasticRecord(from, to, d, level)
	default:
		return elastic{}, false
	}
}

func (w *walker) elasticRecord(from, to spot, d way, level int) (best elastic, ok bool) {
	for _, f := range from.tree.fields(from.mod) {
		inner, stretches := w.elastic(from.field(f), spot{}, d, level+1)
		if !stretches {
			continue
		}
		around := func(n int) string {
			text, st := w.make[d].record(from, to, given{f.Name: inner.make(n)})
			return either(st == found, text, "")
		}
		shortest := around(inner.least)
		if shortest == "" {
			continue
		}
		frame := len(shortest) - inner.least
		if e := (elastic{inner.least + frame, inner.most + frame, func(n int) string { return around(n - frame) }}); !ok || e.most > best.most {
			best, ok = e, true
		}
	}
	return best, ok
}

// longArrays proposes arrays of exactly the wanted length, of few long elements, and one of many short ones.
func (w *walker) longArrays(from, to spot, d way, want int) []string {
	var list []string
	elem := from.elem()
	if e, ok := w.elastic(elem, to.elem(), d, 0); ok {
		list = append(list, stretched(e, from.typ, want))
	}
	one, st := w.make[d].value(elem, to.elem())
	if n := (want-1)/(len(one)+1) + 1; st == found && n <= maxItems {
		if items, st := w.make[d].items(from, to, nil, n); st == found {
			list = append(list, array(items))
		}
	}
	return list
}

// stretched makes an array of the wanted encoded length from elements that stretch; "" if it cannot.
func stretched(e elastic, t *model.Type, want int) string {
	for n := max(t.MinItems, 1); n <= maxItems && (t.MaxItems == nil || int64(n) <= t.MaxItems.Value); n++ {
		// Two brackets, and a comma between two elements.
		left := want - 2 - (n - 1)
		switch {
		case left < n*e.least:
			return ""
		case left > n*e.most:
			continue
		}
		var items []string
		for i := range n {
			length := min(e.most, left-(n-1-i)*e.least)
			left -= length
			items = append(items, e.make(length))
		}
		return array(items)
	}
	return ""
}
