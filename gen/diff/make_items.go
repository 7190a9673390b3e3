package diff

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

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
