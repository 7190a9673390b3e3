package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

// limitPlace returns the row of the limit table that a changed bound follows: both specs name the same row,
// whose value differs. Otherwise ok is false and the bound is judged where it stands.
func limitPlace(old, new *tree, a, b string) (place Place, ok bool) {
	if a == "" || a != b {
		return Place{}, false
	}
	for _, l := range new.wire.Limits {
		if l.Name == b {
			return rowPlace(New, l.At), true
		}
	}
	return Place{}, false
}

// bounds reports a maximum that changed.
func (w *walker) bounds(p pair, kind, noun string, a, b *model.Bound, loss func(way) outcome) {
	var before, after model.Bound
	if a != nil {
		before = *a
	}
	if b != nil {
		after = *b
	}
	if before.Value == after.Value {
		return
	}
	w.limited(p, kind, before.Limit, after.Limit, changed(noun, a, b), before.Value, after.Value, loss)
}

// limited reports a bound at the row of the limit it follows, or else at its own place.
func (w *walker) limited(p pair, kind, a, b, reason string, before, after int64, loss func(way) outcome) {
	if place, ok := limitPlace(p.old.tree, p.new.tree, a, b); ok {
		w.emit(place, "limit "+b, KindLimit, fmt.Sprintf("was %d, is %d", before, after), loss)
		return
	}
	w.emit(p.new.place, p.new.subject, kind, reason, loss)
}

// changed words a maximum that came, went or moved.
func changed(noun string, a, b *model.Bound) string {
	text := func(b *model.Bound) string {
		if b == nil {
			return "any number of " + noun
		}
		return "at most " + b.String() + " " + noun
	}
	return "was " + text(a) + ", is " + text(b)
}

// orNone returns a value for a sentence, or what stands for its absence.
func orNone(value, absent string) string {
	if value == "" {
		return absent
	}
	return value
}

// strings compares two kinds of text aspect by aspect.
func (w *walker) strings(p pair) {
	a, okA := textsOf(p.old)
	b, okB := textsOf(p.new)
	if !okA || !okB {
		return
	}
	loss := func(kind string) func(way) outcome {
		return func(d way) outcome {
			from, to := &a, &b
			if d == backward {
				from, to = to, from
			}
			text, st := from.escape(to, kind)
			return fromText(text, st)
		}
	}
	n := p.new
	if p.new.isType(model.Const) {
		if a.values[0] != b.values[0] {
			w.emit(n.place, n.subject, KindValue, fmt.Sprintf("was the constant %q, is %q", a.values[0], b.values[0]), loss(KindValue))
		}
		return
	}
	if a.min != b.min {
		w.emit(n.place, n.subject, KindMinBytes, fmt.Sprintf("the least number of bytes was %d, is %d", a.min, b.min), loss(KindMinBytes))
	}
	w.bounds(p, KindMaxBytes, "bytes", p.old.typ.MaxBytes, p.new.typ.MaxBytes, loss(KindMaxBytes))
	if a.notBlank != b.notBlank {
		w.emit(n.place, n.subject, KindNotBlank, either(b.notBlank, "may not be blank any more", "may be blank now"), loss(KindNotBlank))
	}
	if a.controls != b.controls {
		reason := fmt.Sprintf("the legal control characters were %q, are %q", orNone(string(a.controls), "any"), orNone(string(b.controls), "any"))
		w.emit(n.place, n.subject, KindControls, reason, loss(KindControls))
	}
	if a.pattern != b.pattern {
		w.emit(n.place, n.subject, KindPattern, patterns(a.pattern, b.pattern), loss(KindPattern))
	}
}

func patterns(a, b string) string {
	return "the pattern was " + orNone(a, "none") + ", is " + orNone(b, "none")
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// fromText is fromState for a string that stands at the place itself.
func fromText(text string, st state) outcome { return fromState(quote(text), "", st) }

// enums compares two enumerations value by value.
func (w *walker) enums(p pair) {
	o, n := p.old.mod, p.new.mod
	a, _ := textsOf(p.old)
	b, _ := textsOf(p.new)
	of := func(d way) (from, to *texts) {
		if d == backward {
			return &b, &a
		}
		return &a, &b
	}
	one := func(value string) func(way) outcome {
		return func(d way) outcome {
			from, to := of(d)
			if from.contains(value) && !to.contains(value) {
				return broken(quote(value), "")
			}
			return harmless
		}
	}
	for i, v := range n.Values {
		if !slices.Contains(values(o), v.Value) {
			w.emit(p.new.item("enum", i), fmt.Sprintf("%s %q", p.new.subject, v.Value), KindValue, "the value is new", one(v.Value))
		}
	}
	for i, v := range o.Values {
		if !slices.Contains(values(n), v.Value) {
			w.emit(p.old.item("enum", i), fmt.Sprintf("%s %q", p.new.subject, v.Value), KindValue, "the value is gone", one(v.Value))
		}
	}
	if o.Open != n.Open {
		w.emit(p.new.place, p.new.subject, KindOpen, either(n.Open, "unlisted values are legal now", "unlisted values are refused now"), func(d way) outcome {
			from, to := of(d)
			if from.listed {
				return harmless
			}
			return fromText(from.escape(to, KindValue))
		})
	}
}

// bound words one end of a range.
func bound(word string, v *int64) string {
	if v == nil {
		return "without a " + word
	}
	return word + " " + strconv.FormatInt(*v, 10)
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// ranges compares the ends of two ranges of numbers.
func (w *walker) ranges(p pair) {
	a, b := p.old.typ, p.new.typ
	if !equal(a.Minimum, b.Minimum) {
		reason := "was " + bound("minimum", a.Minimum) + ", is " + bound("minimum", b.Minimum)
		w.emit(p.new.place, p.new.subject, KindMinimum, reason, func(d way) outcome {
			from, to := p.sides(d)
			return below(from.typ, to.typ)
		})
	}
	if !equal(a.Maximum, b.Maximum) {
		reason := "was " + bound("maximum", a.Maximum) + ", is " + bound("maximum", b.Maximum)
		var before, after int64
		limitA, limitB := a.MaximumLimit, b.MaximumLimit
		if a.Maximum == nil || b.Maximum == nil {
			limitA, limitB = "", ""
		} else {
			before, after = *a.Maximum, *b.Maximum
		}
		w.limited(p, KindMaximum, limitA, limitB, reason, before, after, func(d way) outcome {
			from, to := p.sides(d)
			return above(from.typ, to.typ)
		})
	}
}

// below looks for a number of from that is less than the minimum of to.
func below(from, to *model.Type) outcome {
	if to.Minimum == nil || from.Minimum != nil && *from.Minimum >= *to.Minimum {
		return harmless
	}
	i := *to.Minimum - 1
	if from.Maximum != nil {
		i = min(i, *from.Maximum)
	}
	return broken(strconv.FormatInt(i, 10), "")
}

// above looks for a number of from that is more than the maximum of to.
func above(from, to *model.Type) outcome {
	if to.Maximum == nil || from.Maximum != nil && *from.Maximum <= *to.Maximum {
		return harmless
	}
	i := *to.Maximum + 1
	if from.Minimum != nil {
		i = max(i, *from.Minimum)
	}
	return broken(strconv.FormatInt(i, 10), "")
}

// encoded compares the bounds of two kinds of opaque value.
func (w *walker) encoded(p pair) {
	w.bounds(p, KindEncoded, "encoded bytes", p.old.typ.MaxEncodedBytes, p.new.typ.MaxEncodedBytes, func(d way) outcome {
		from, to := p.sides(d)
		return w.longer(from, to, d)
	})
}
