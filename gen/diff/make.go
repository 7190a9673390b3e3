package diff

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// maker writes small values that are legal for a writer's shape. Where it can choose it writes what the
// reader accepts as well, so that a witness shows its own change and no other.
type maker struct {
	ready map[[2]any]string     // made before
	under map[*model.Model]bool // records being made: one that needs itself has no value this way
}

func newMaker() *maker {
	return &maker{ready: map[[2]any]string{}, under: map[*model.Model]bool{}}
}

func quote(s string) string { return string(wirejson.AppendString(nil, s)) }

// object writes members ascending by name.
func object(members map[string]string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(name) + ":" + members[name])
	}
	b.WriteByte('}')
	return b.String()
}

func array(items []string) string { return "[" + strings.Join(items, ",") + "]" }

// value returns a small value of from; to may be the zero spot.
func (k *maker) value(from, to spot) (string, state) {
	key := [2]any{from.key(), to.key()}
	if text, ok := k.ready[key]; ok {
		return text, found
	}
	text, st := k.fresh(from, to)
	if st == found {
		k.ready[key] = text
	}
	return text, st
}

func (k *maker) fresh(from, to spot) (string, state) {
	switch {
	case from.is(model.Record):
		return k.record(from, to, nil)
	case from.is(model.Union):
		return k.union(from, to)
	case from.is(model.Choice):
		words := from.tree.spotOf(from.mod.Word)
		if text, st := k.text(words, to); st == found {
			return text, st
		}
		return k.value(from.tree.spotOf(from.mod.Object), to)
	case from.is(model.Enum):
		return k.text(from, to)
	}
	switch from.typ.Kind {
	case model.String, model.Const:
		return k.text(from, to)
	case model.Boolean:
		return "true", found
	case model.Integer, model.Number:
		return number(from.typ, to), found
	case model.ID:
		return "1", found
	case model.JSON, model.Object:
		return k.opaque(from, to)
	case model.Array:
		items, st := k.items(from, to, nil, from.typ.MinItems)
		return array(items), st
	default:
		return "{}", found
	}
}

func (k *maker) text(from, to spot) (string, state) {
	set, ok := textsOf(from)
	if !ok {
		return "", none
	}
	var other *texts
	if to != (spot{}) {
		if also, ok := textsOf(to); ok {
			other = &also
		}
	}
	text, st := set.member(other)
	return quote(text), st
}

func (k *maker) opaque(from, to spot) (string, state) {
	if to != (spot{}) && !to.isType(model.JSON) && !to.isType(model.Object) {
		if text, st := k.value(to, spot{}); st == found && from.tree.accepts(from, text) {
			return text, found
		}
	}
	if b := from.typ.MaxEncodedBytes; b != nil && b.Value < 2 {
		if from.typ.Kind == model.JSON {
			return "0", found
		}
		return "", none
	}
	return "{}", found
}

// number returns a legal number near zero, one that to accepts as well if there is any.
func number(from *model.Type, to spot) string {
	candidates := []int64{0, 1}
	add := func(t *model.Type) {
		for _, bound := range []*int64{t.Minimum, t.Maximum} {
			if bound != nil {
				candidates = append(candidates, *bound)
			}
		}
	}
	add(from)
	fits := func(t *model.Type, i int64) bool {
		return (t.Minimum == nil || i >= *t.Minimum) && (t.Maximum == nil || i <= *t.Maximum)
	}
	if to.isType(model.Integer) || to.isType(model.Number) {
		add(to.typ)
		for _, i := range candidates {
			if fits(from, i) && fits(to.typ, i) {
				return strconv.FormatInt(i, 10)
			}
		}
	}
	for _, i := range candidates {
		if fits(from, i) {
			return strconv.FormatInt(i, 10)
		}
	}
	return "0"
}

// arm returns the variant of a union that a tag value selects, nil where none may be sent.
func arm(u spot, tag string) *model.Variant {
	for _, v := range u.mod.Variants {
		if v.TagValue == tag && !v.Deferred {
			return v
		}
	}
	return nil
}

func (k *maker) union(from, to spot) (string, state) {
	best, sure, shared := "", none, false
	for _, v := range from.mod.Variants {
		if v.Deferred {
			continue
		}
		text, st := k.value(from.tree.spotOf(v.Record), to.variant(v.TagValue))
		if st != found {
			if sure != found {
				sure = max(sure, st)
			}
			continue
		}
		common := to.is(model.Union) && arm(to, v.TagValue) != nil
		if sure != found || common && !shared || common == shared && len(text) < len(best) {
			best, sure, shared = text, found, common
		}
	}
	return best, sure
}

// variant returns the record that a tag value selects in a union, the spot itself if it is a record, and
// the zero spot otherwise.
func (s spot) variant(tag string) spot {
	switch {
	case s.is(model.Record):
		return s
	case s.is(model.Union):
		if v := arm(s, tag); v != nil {
			return s.tree.spotOf(v.Record)
		}
	}
	return spot{}
}

// shorter orders texts for display.
func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
