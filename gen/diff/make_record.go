package diff

import (
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

// given fixes members of a record: a JSON text, or "" for an absent one.
type given map[string]string

// record writes a record with the given members, those it needs, and those that to needs.
func (k *maker) record(from, to spot, fixed given) (string, state) {
	if k.under[from.mod] {
		return "", none
	}
	k.under[from.mod] = true
	defer delete(k.under, from.mod)
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
