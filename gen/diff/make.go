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
	ready map[[2]any]string // made before
	under map[any]bool      // being made: a shape that needs itself has no value this way
}

func newMaker() *maker {
	return &maker{ready: map[[2]any]string{}, under: map[any]bool{}}
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
	if from.mod != nil {
		if k.under[from.mod] {
			return "", none
		}
		k.under[from.mod] = true
		defer delete(k.under, from.mod)
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

// given fixes members of a record: a JSON text, or "" for an absent one.
type given map[string]string

// record writes a record with the given members, those it needs, and those that to needs.
func (k *maker) record(from, to spot, fixed given) (string, state) {
	if to.is(model.Union) {
		to = to.variant(tagOf(from, to.mod.Tag))
	}
	if !to.is(model.Record) {
		to = spot{}
	}
	members := map[string]string{}
	for name, text := range fixed {
		if text != "" {
			members[name] = text
		}
	}
	for _, f := range from.tree.fields(from.mod) {
		if _, ok := fixed[f.Name]; ok {
			continue
		}
		var other *model.Field
		if to != (spot{}) {
			other = to.tree.field(to.mod, f.Name)
		}
		if !f.Required && (other == nil || !other.Required) {
			continue
		}
		text, st := k.member(from, to, f, other)
		switch {
		case st == found:
			members[f.Name] = text
		case f.Required:
			return "", st
		}
	}
	if !k.together(from, to, members, fixed) {
		return "", lost
	}
	return object(members), found
}

func tagOf(record spot, tag string) string {
	if f := record.tree.field(record.mod, tag); f != nil && f.Type.Kind == model.Const {
		return f.Type.Const
	}
	return ""
}

// member returns a value of a member, which may be null; other is the reader's member or nil.
func (k *maker) member(from, to spot, f, other *model.Field) (string, state) {
	if f.Nullable && (other == nil || other.Nullable) {
		return "null", found
	}
	var inner spot
	if other != nil {
		inner = to.field(other)
	}
	text, st := k.value(from.field(f), inner)
	if st != found && f.Nullable {
		return "null", found
	}
	return text, st
}

// together adds a member where exactly one of several must be there, and takes out what excludes another.
func (k *maker) together(from, to spot, members map[string]string, fixed given) bool {
	there := func(name string) bool { return members[name] != "" && members[name] != "null" }
	for _, group := range [][]string{from.mod.ExactlyOne, from.mod.AtMostOne} {
		kept := ""
		for _, name := range group {
			if _, ok := fixed[name]; ok && there(name) {
				kept = name
			}
		}
		for _, name := range group {
			if _, ok := fixed[name]; ok || !there(name) || name == kept {
				continue
			}
			if kept == "" {
				kept = name
				continue
			}
			f := from.tree.field(from.mod, name)
			if f.Required {
				members[name] = "null"
			} else {
				delete(members, name)
			}
		}
	}
	if len(from.mod.ExactlyOne) == 0 || slices.ContainsFunc(from.mod.ExactlyOne, there) {
		return true
	}
	for _, name := range from.mod.ExactlyOne {
		f := from.tree.field(from.mod, name)
		if _, ok := fixed[name]; ok || f == nil || slices.Contains(from.mod.AtMostOne, name) && slices.ContainsFunc(from.mod.AtMostOne, there) {
			continue
		}
		var inner spot
		if to != (spot{}) {
			if other := to.tree.field(to.mod, name); other != nil {
				inner = to.field(other)
			}
		}
		if text, st := k.value(from.field(f), inner); st == found {
			members[name] = text
			return true
		}
	}
	return false
}

// items returns n elements of an array, the fixed ones first; the others differ from them and from each
// other as far as the array demands it.
func (k *maker) items(from, to spot, fixed []string, n int) ([]string, state) {
	items := slices.Clone(fixed)
	if len(items) >= n {
		return items, found
	}
	var inner spot
	if to.isType(model.Array) {
		inner = to.elem()
	}
	elem := from.elem()
	switch {
	case from.typ.UniqueBy != "":
		return k.distinctRecords(elem, inner, from.typ.UniqueBy, items, n)
	case from.typ.Unique:
		if set, ok := textsOf(elem); ok && !elem.is(model.Choice) && !elem.isType(model.JSON) && !elem.isType(model.ID) {
			return distinctTexts(&set, items, n)
		}
	}
	text, st := k.value(elem, inner)
	for len(items) < n && st == found {
		items = append(items, text)
	}
	return items, st
}

func distinctTexts(set *texts, items []string, n int) ([]string, state) {
	members, all := set.members(n + len(items))
	for _, m := range members {
		if text := quote(m); len(items) < n && !slices.Contains(items, text) {
			items = append(items, text)
		}
	}
	return items, enough(len(items) >= n, all)
}

func enough(ok, all bool) state {
	switch {
	case ok:
		return found
	case all:
		return none
	default:
		return lost
	}
}

// distinctRecords makes records that differ in one member.
func (k *maker) distinctRecords(elem, to spot, by string, items []string, n int) ([]string, state) {
	record, f := memberOf(elem, by)
	if f == nil {
		text, st := k.value(elem, to)
		if len(items)+1 < n {
			st = max(st, lost)
		}
		return append(items, text), st
	}
	set, ok := textsOf(record.field(f))
	if !ok {
		return items, lost
	}
	members, _ := set.members(n + len(items))
	for _, m := range members {
		if len(items) >= n {
			break
		}
		if slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, quote(by)+":"+quote(m)) }) {
			continue
		}
		text, st := k.record(record, to.variant(tagOf(record, unionTag(elem))), given{by: quote(m)})
		if st != found {
			return items, st
		}
		items = append(items, text)
	}
	return items, enough(len(items) >= n, false)
}

func unionTag(s spot) string {
	if s.is(model.Union) {
		return s.mod.Tag
	}
	return ""
}

// memberOf returns the record behind s that has a member of this name whose text can vary, and the member.
func memberOf(s spot, name string) (spot, *model.Field) {
	switch {
	case s.is(model.Record):
		if f := s.tree.field(s.mod, name); f != nil && f.Type.Kind != model.Const {
			return s, f
		}
	case s.is(model.Union):
		for _, v := range s.mod.Variants {
			if !v.Deferred {
				if r, f := memberOf(s.tree.spotOf(v.Record), name); f != nil {
					return r, f
				}
			}
		}
	case s.is(model.Choice):
		return memberOf(s.tree.spotOf(s.mod.Object), name)
	}
	return s, nil
}

// shorter orders texts for display.
func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
