package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

func (t *tree) hook(name string) *model.Hook {
	for _, h := range t.wire.Hooks {
		if h.Name == name && t.has(h.Versions) {
			return h
		}
	}
	return nil
}

// hooks compares the points at which a host asks extensions. An extension declares the hooks it answers.
func (c *comparison) hooks() {
	for _, b := range c.new.wire.Hooks {
		if !c.new.has(b.Versions) {
			continue
		}
		r := row{place: rowPlace(New, b.At), subject: "hook " + b.Name, kind: KindHook}
		if a := c.old.hook(b.Name); a != nil {
			c.hook(r, a, b)
		} else {
			r.reason = "the hook is new"
			c.declaration(r, b.Name)
		}
	}
	for _, a := range c.old.wire.Hooks {
		if c.old.has(a.Versions) && c.new.hook(a.Name) == nil {
			r := row{place: rowPlace(Old, a.At), subject: "hook " + a.Name, kind: KindHook, reason: "the hook is gone"}
			c.declaration(r, a.Name)
		}
	}
}

// declaration judges whether an extension may declare a hook.
func (c *comparison) declaration(r row, name string) {
	for _, d := range ways {
		c.judge(r, fromHost, d, Compatible, "", nil)
		from, to := c.sides(d)
		h := from.hook(name)
		if h == nil {
			c.judge(r, fromExtension, d, Compatible, "", nil)
			continue
		}
		if h.Feature != noGate && !to.negotiates(h.Feature) {
			c.judge(r, fromExtension, d, Compatible, fmt.Sprintf("%q is %s", h.Feature, noteUnselect), nil)
			continue
		}
		negotiated := from.selection(h.Feature)
		refusal := to.refuseHook(name, negotiated)
		if refusal == "" {
			c.judge(r, fromExtension, d, Compatible, "", nil)
			continue
		}
		c.judge(r, fromExtension, d, Breaking, "", &Witness{Of: "the declared hooks", Text: quotedList([]string{name}), Given: from.givenNames(negotiated), Refusal: refusal})
	}
}

func (t *tree) refuseHook(name string, negotiated []string) string {
	h := t.hook(name)
	switch {
	case h == nil:
		return "no hook " + strconv.Quote(name)
	case h.Feature != noGate && !slices.Contains(negotiated, h.Feature):
		return strconv.Quote(name) + " needs " + strconv.Quote(h.Feature) + ", which is not negotiated"
	default:
		return ""
	}
}

// hook compares a hook that both sides have.
func (c *comparison) hook(r row, a, b *model.Hook) {
	if a.Feature != b.Feature {
		gate := r
		gate.kind, gate.reason = KindGate, fmt.Sprintf("the gate was %q, is %q", a.Feature, b.Feature)
		c.declaration(gate, b.Name)
	}
	limit := func(l *model.Limit) string {
		if l == nil {
			return noGate
		}
		return l.Name
	}
	for _, rule := range []struct{ what, before, after string }{
		{"order", a.Order, b.Order},
		{"merge", a.Merge, b.Merge},
		{"failure", a.Failure, b.Failure},
		{"deny", a.Deny, b.Deny},
		{"deadline", limit(a.Deadline), limit(b.Deadline)},
		{"aggregate", limit(a.Aggregate), limit(b.Aggregate)},
	} {
		if rule.before != rule.after {
			prose := r
			prose.kind, prose.reason = KindHookRule, fmt.Sprintf("%s was %q, is %q", rule.what, rule.before, rule.after)
			c.all(prose, Unknown, "how hooks are ordered, merged and timed is prose")
		}
	}
	if a.Payload != nil && b.Payload != nil {
		c.position(position{of: "the payload of " + b.Name, pair: pair{c.old.spotOf(a.Payload), c.new.spotOf(b.Payload)}, parties: []party{fromHost}})
	}
	if a.Result != nil && b.Result != nil {
		c.position(position{of: resultOf(b.Name), pair: pair{c.old.spotOf(a.Result), c.new.spotOf(b.Result)}, parties: []party{fromExtension}})
	}
}
