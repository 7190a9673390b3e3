package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// frameLimit names the row that bounds a frame.
const frameLimit = "max_frame_bytes"

const (
	limitsList   = "limits"
	noteNegotate = "each side keeps to the smaller one"
	noteLimit    = "what the limit bounds is prose"
)

func (t *tree) limit(name string) *model.Limit {
	for _, l := range t.wire.Limits {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// bounds returns the names of the limits that shapes refer to.
func (t *tree) bounds() map[string]bool {
	used := map[string]bool{}
	add := func(b *model.Bound) {
		if b != nil {
			used[b.Limit] = true
		}
	}
	all := func(ty *model.Type) {
		for ; ty != nil; ty = ty.Elem {
			add(ty.MaxBytes)
			add(ty.MaxItems)
			add(ty.MaxEncodedBytes)
			used[ty.MaximumLimit] = true
		}
	}
	for _, m := range t.wire.Models {
		all(m.Type)
		for _, f := range t.fields(m) {
			all(f.Type)
		}
	}
	return used
}

// limits compares the limit tables. What shapes make of a limit was judged with them.
func (c *comparison) limits() {
	before, after := c.old.bounds(), c.new.bounds()
	for _, b := range c.new.wire.Limits {
		r := row{place: rowPlace(New, b.At), subject: "limit " + b.Name, kind: KindLimit}
		a := c.old.limit(b.Name)
		if a == nil {
			r.reason, r.added = fmt.Sprintf("the limit %d is new", b.Value), true
			c.limitRow(r, b, after[b.Name])
			continue
		}
		if a.Unit != b.Unit {
			c.all(with(r, "the unit was "+a.Unit+", is "+b.Unit), Unknown, noteLimit)
		}
		if a.Negotiable != b.Negotiable {
			c.all(with(r, either(b.Negotiable, "is negotiable now", "is not negotiable any more")), Unknown, "how a limit is negotiated is prose")
		}
		if a.Value != b.Value && !c.ledger.knows(c.new.version, r.place, KindLimit) {
			c.limitValue(with(r, fmt.Sprintf("was %d, is %d", a.Value, b.Value)), a, b, before[b.Name] || after[b.Name])
		}
	}
	for _, a := range c.old.wire.Limits {
		if c.new.limit(a.Name) == nil {
			r := row{place: rowPlace(Old, a.At), subject: "limit " + a.Name, kind: KindLimit}
			c.limitRow(with(r, fmt.Sprintf("the limit %d is gone", a.Value)), a, before[a.Name])
		}
	}
	if c.old.wire.MaxDepth != c.new.wire.MaxDepth {
		c.depth()
	}
}

func with(r row, reason string) row {
	r.reason = reason
	return r
}

// limitRow judges a limit that only one side has.
func (c *comparison) limitRow(r row, l *model.Limit, used bool) {
	switch {
	case l.Name == depthLimit:
		return // its effect is a depth
	case used:
		c.all(r, Compatible, "the shapes that refer to it are judged themselves")
	default:
		c.all(r, Unknown, noteLimit)
	}
}

// limitValue judges a limit whose value changed and that no shape explains.
func (c *comparison) limitValue(r row, a, b *model.Limit, used bool) {
	switch {
	case a.Name == depthLimit:
		return // its effect is a depth
	case used:
		c.all(r, Compatible, "no message of this version holds a shape that refers to it")
	case a.Negotiable && b.Negotiable:
		c.all(r, Compatible, noteNegotate)
	case a.Name == frameLimit:
		c.frameBytes(r, a, b)
	default:
		c.all(r, Unknown, noteLimit)
	}
}

// depthLimit names the row that bounds nesting.
const depthLimit = "max_json_depth"

// depth judges another bound of nesting, with a frame that is one level too deep.
func (c *comparison) depth() {
	a, b := c.old.wire.MaxDepth, c.new.wire.MaxDepth
	place, subject := versionPlace(New, c.new.wire, c.new.version), "depth of "+c.new.wire.Name
	if i := slices.IndexFunc(c.new.wire.Limits, func(l *model.Limit) bool { return l.Name == depthLimit }); i >= 0 {
		place, subject = rowPlace(New, c.new.wire.Limits[i].At), "limit "+depthLimit
	}
	r := row{place: place, subject: subject, kind: KindLimit, reason: fmt.Sprintf("values could nest %d levels deep, can %d", a, b)}
	c.whole(r, func(d way) bool { from, to := c.sides(d); return from.wire.MaxDepth > to.wire.MaxDepth }, func(d way, build builder) string {
		_, to := c.sides(d)
		return build(func(level int) string {
			n := max(to.wire.MaxDepth+2-level, 1)
			return strings.Repeat("[", n) + strings.Repeat("]", n)
		})
	})
}

// frameBytes judges another bound of a frame, with a frame that is one byte too long.
func (c *comparison) frameBytes(r row, a, b *model.Limit) {
	most := int(min(a.Value, b.Value))
	if most+1 > maxWitness {
		c.all(r, Unknown, noteLost)
		return
	}
	larger := func(d way) bool { return d == forward && a.Value > b.Value || d == backward && b.Value > a.Value }
	c.whole(r, larger, func(_ way, build builder) string {
		empty := build(func(int) string { return `""` })
		return build(func(int) string { return quote(strings.Repeat("a", max(most+1-len(empty), 0))) })
	})
}

// builder puts a value into a message; the function makes it for the level at which it will stand.
type builder func(value func(level int) string) string

// whole judges a bound on whole messages for everybody: where a writer keeps to a larger one, make builds
// one around some place that takes any value, and the reader must refuse it.
func (c *comparison) whole(r row, larger func(way) bool, make func(way, builder) string) {
	parties := everyone
	if len(c.old.wire.Methods)+len(c.new.wire.Methods) == 0 {
		parties = []party{fromExtension}
	}
	for _, p := range parties {
		for _, d := range ways {
			if !larger(d) {
				c.judge(r, p, d, Compatible, "", nil)
			} else if witness := c.stuffed(p, d, make); witness != nil {
				c.judge(r, p, d, Breaking, "", witness)
			} else {
				c.judge(r, p, d, Unknown, "no place for a value of any size was found", nil)
			}
		}
	}
}

// stuffed tries every place of every message of a party.
func (c *comparison) stuffed(p party, d way, make func(way, builder) string) *Witness {
	from, to := c.sides(d)
	for _, w := range c.walked {
		if !slices.Contains(w.parties, p) || w.method == nil && len(from.wire.Methods) > 0 {
			continue
		}
		for _, v := range w.walker.visited {
			text := make(d, func(value func(level int) string) string { return w.stuff(from, v, d, value) })
			if text == "" {
				continue
			}
			if w.method == nil {
				writer, reader := w.pair.sides(d)
				if _, err := to.refusals(reader, text, 1); err != nil && from.accepts(writer, text) {
					return &Witness{Of: w.of, Text: text, Refusal: err.Error()}
				}
				continue
			}
			negotiated := from.selection(w.method.method.Gate)
			if refusal := to.refuseFrame(text, p, negotiated); refusal != "" && from.refuseFrame(text, p, negotiated) == "" {
				return &Witness{Of: aFrame, Text: text, Given: from.givenNames(negotiated), Refusal: refusal}
			}
		}
	}
	return nil
}

// stuff builds a message around a value at a place; "" where the place does not take any value.
func (w *walked) stuff(from *tree, v visit, d way, value func(level int) string) string {
	root := 0
	if w.method != nil {
		root = 1 // the params inside a frame
	}
	inner, ok := stuffing(v.pair, d, func(level int) string { return value(root + len(v.path) + level) })
	if !ok {
		return ""
	}
	text, _, st := w.walker.wrap(v.path, d, inner)
	if st == found && w.method != nil {
		text, st = from.frameAround(w.method, text)
	}
	if st != found {
		return ""
	}
	return text
}

// stuffing returns a value of a place that takes any: opaque values, and members that open records do not
// list.
func stuffing(p pair, d way, value func(level int) string) (string, bool) {
	from, _ := p.sides(d)
	switch {
	case from.isType(model.JSON):
		return value(0), true
	case from.isType(model.Object):
		return object(map[string]string{"a": value(1)}), true
	case from.is(model.Record) && !from.mod.Closed && p.old.is(model.Record) && p.new.is(model.Record):
		text, st := newMaker().record(from, spot{}, given{p.stranger(): value(1)})
		return text, st == found
	default:
		return "", false
	}
}
