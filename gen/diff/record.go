package diff

import (
	"fmt"
	"slices"
	"strings"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// records compares two records member by member.
func (w *walker) records(p pair) {
	o, n := p.old, p.new
	for _, f := range n.tree.fields(n.mod) {
		if before := o.tree.field(o.mod, f.Name); before != nil {
			w.members(p, before, f)
			continue
		}
		w.emit(n.memberPlace(f.Name), n.subject+"."+f.Name, KindMember, "the "+necessity(f)+" member is new", w.memberLoss(p, f.Name))
	}
	for _, f := range o.tree.fields(o.mod) {
		if n.tree.field(n.mod, f.Name) == nil {
			w.emit(o.memberPlace(f.Name), n.subject+"."+f.Name, KindMember, "the "+necessity(f)+" member is "+gone(n.mod, f.Name), w.memberLoss(p, f.Name))
		}
	}
	w.unlisted(p)
	w.groups(p)
}

func necessity(f *model.Field) string { return either(f.Required, "required", "optional") }

func gone(m *model.Model, name string) string {
	return either(slices.Contains(m.Forbidden, name), "gone and forbidden", "gone")
}

// members compares a member that both records list.
func (w *walker) members(p pair, a, b *model.Field) {
	place, subject := p.new.memberPlace(b.Name), p.new.subject+"."+b.Name
	at := "/" + wirejson.EscapePointer(b.Name)
	field := func(s spot) *model.Field { return s.tree.field(s.mod, b.Name) }
	if a.Required != b.Required {
		w.emit(place, subject, KindRequired, either(b.Required, "is required now", "is optional now"), func(d way) outcome {
			if from, to := p.sides(d); field(from).Required || !field(to).Required {
				return harmless
			}
			return w.built(p, d, given{b.Name: ""}, at)
		})
	}
	if a.Nullable != b.Nullable {
		w.emit(place, subject, KindNullable, either(b.Nullable, "may be null now", "may not be null any more"), func(d way) outcome {
			if from, to := p.sides(d); !field(from).Nullable || field(to).Nullable {
				return harmless
			}
			return w.built(p, d, given{b.Name: "null"}, at)
		})
	}
	w.inside(memberStep, b.Name, pair{p.old.field(a), p.new.field(b)})
}

// built makes a record with fixed members.
func (w *walker) built(p pair, d way, fixed given, at string) outcome {
	from, to := p.sides(d)
	text, st := w.make[d].record(from, to, fixed)
	return fromState(text, at, st)
}

// memberLoss judges a member that only one of two records lists.
func (w *walker) memberLoss(p pair, name string) func(way) outcome {
	at := "/" + wirejson.EscapePointer(name)
	return func(d way) outcome {
		from, to := p.sides(d)
		f := from.tree.field(from.mod, name)
		if f == nil {
			if to.tree.field(to.mod, name).Required {
				return w.built(p, d, given{name: ""}, at)
			}
			return harmless
		}
		if !to.mod.Closed && !slices.Contains(to.mod.Forbidden, name) {
			return harmless
		}
		text, st := w.make[d].value(from.field(f), spot{})
		if st == none && f.Nullable {
			text, st = "null", found
		}
		if st != found {
			return fromState("", "", st)
		}
		return w.built(p, d, given{name: text}, at)
	}
}

// unlisted compares what two records make of members they do not list.
func (w *walker) unlisted(p pair) {
	o, n := p.old.mod, p.new.mod
	if o.Closed != n.Closed {
		w.emit(p.new.place, p.new.subject, KindClosed, either(n.Closed, "unlisted members are refused now", "unlisted members are legal now"), func(d way) outcome {
			if from, to := p.sides(d); from.mod.Closed || !to.mod.Closed {
				return harmless
			}
			name := p.stranger()
			return w.built(p, d, given{name: "0"}, "/"+name)
		})
	}
	listed := func(name string) bool {
		return p.old.tree.field(o, name) != nil || p.new.tree.field(n, name) != nil
	}
	report := func(place Place, name, reason string) {
		w.emit(place, p.new.subject+"."+name, KindForbidden, reason, func(d way) outcome {
			if from, to := p.sides(d); from.mod.Closed || slices.Contains(from.mod.Forbidden, name) || !slices.Contains(to.mod.Forbidden, name) {
				return harmless
			}
			return w.built(p, d, given{name: "0"}, "/"+wirejson.EscapePointer(name))
		})
	}
	for i, name := range n.Forbidden {
		if !slices.Contains(o.Forbidden, name) && !listed(name) {
			report(p.new.item("x-forbidden", i), name, "the member is forbidden now")
		}
	}
	for i, name := range o.Forbidden {
		if !slices.Contains(n.Forbidden, name) && !listed(name) {
			report(p.old.item("x-forbidden", i), name, "the member is not forbidden any more")
		}
	}
}

// stranger returns the name of a member that neither record knows.
func (p pair) stranger() string {
	name := "other"
	for _, s := range []spot{p.old, p.new} {
		for slices.Contains(s.mod.Forbidden, name) || slices.ContainsFunc(s.mod.Fields, func(f *model.Field) bool { return f.Name == name }) {
			name += "_"
		}
	}
	return name
}

// group is one list of exclusive members.
type group struct {
	kind  string
	names []string
	least int
}

func groupsOf(m *model.Model) []group {
	return []group{{KindExactlyOne, m.ExactlyOne, 1}, {KindAtMostOne, m.AtMostOne, 0}}
}

// fault returns where a record with these members breaks the group, as the validator reports it.
func (g group) fault(there map[string]string) (pointer string, bad bool) {
	seen := 0
	for _, name := range g.names {
		if v := there[name]; v == "" || v == "null" {
			continue
		}
		if seen++; seen == 2 {
			return "/" + wirejson.EscapePointer(name), true
		}
	}
	if len(g.names) > 0 && seen < g.least {
		return "/" + wirejson.EscapePointer(g.names[0]), true
	}
	return "", false
}

// groups compares which members exclude each other.
func (w *walker) groups(p pair) {
	before := groupsOf(p.old.mod)
	for i, after := range groupsOf(p.new.mod) {
		if slices.Equal(slices.Sorted(slices.Values(before[i].names)), slices.Sorted(slices.Values(after.names))) {
			continue
		}
		words := either(after.least == 1, "exactly", "at most")
		reason := fmt.Sprintf("%s one of these: was %s, is %s", words,
			orNone(strings.Join(before[i].names, ", "), "nothing"), orNone(strings.Join(after.names, ", "), "nothing"))
		w.emit(p.new.place, p.new.subject, after.kind, reason, func(d way) outcome {
			_, to := p.sides(d)
			return w.breakGroup(p, d, groupsOf(to.mod)[i])
		})
	}
}

// maxGroup bounds the exclusive members whose presence is tried in every combination.
const maxGroup = 8

// breakGroup looks for a record of the writer that breaks a group of the reader.
func (w *walker) breakGroup(p pair, d way, demand group) outcome {
	from, to := p.sides(d)
	var names []string
	for _, g := range slices.Concat(groupsOf(from.mod), []group{demand}) {
		for _, name := range g.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > maxGroup {
		return unsure(noteLost)
	}
	sure := harmless
	for _, name := range names {
		if f := from.tree.field(from.mod, name); f != nil {
			if _, st := w.make[d].value(from.field(f), spot{}); st == lost {
				sure = unsure(noteLost)
			}
		}
	}
	w.combine(from, to, d, names, given{}, func(there given) bool {
		for _, g := range groupsOf(from.mod) {
			if _, bad := g.fault(there); bad {
				return true
			}
		}
		pointer, bad := demand.fault(there)
		if !bad {
			return true
		}
		o := w.built(p, d, there, pointer)
		if o.verdict.worse(sure.verdict) {
			sure = o
		}
		return sure.verdict != Breaking
	})
	return sure
}

// combine tries every presence of the named members that the writer's record allows, few members first,
// until try returns false.
func (w *walker) combine(from, to spot, d way, names []string, there given, try func(given) bool) bool {
	if len(names) == 0 {
		return try(there)
	}
	name := names[0]
	options := []string{""}
	if f := from.tree.field(from.mod, name); f != nil {
		if f.Required {
			options = nil
		}
		if f.Nullable {
			options = append(options, "null")
		}
		var inner spot
		if other := to.tree.field(to.mod, name); other != nil {
			inner = to.field(other)
		}
		if text, st := w.make[d].value(from.field(f), inner); st == found {
			options = append(options, text)
		}
	}
	for _, text := range options {
		there[name] = text
		if !w.combine(from, to, d, names[1:], there, try) {
			return false
		}
	}
	delete(there, name)
	return true
}
