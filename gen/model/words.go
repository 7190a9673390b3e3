package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Constraint says in words which values of the type are legal, as clauses without a full stop, patterns
// between backticks; "" if its kind says it all.
func (t *Type) Constraint() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch t.Kind {
	case Const:
		add("always %q", t.Const)
	case String:
		if t.MinBytes > 0 {
			add("at least %s", count(t.MinBytes, "byte"))
		}
		if t.MaxBytes != nil {
			add("at most %s bytes", t.MaxBytes)
		}
		if t.NotBlank {
			add("not blank")
		}
		switch t.Controls {
		case NoControls:
			add("no control characters")
		case TextControls:
			add("no control characters but line feed and tab")
		case EditControls:
			add("no control characters but line feed, tab and carriage return")
		}
		if t.Pattern != "" {
			add("matches `%s`", t.Pattern)
		}
	case Integer, Number:
		if t.Minimum != nil {
			add("from %d", *t.Minimum)
		}
		if t.Maximum != nil {
			add("to %s", Bound{Value: *t.Maximum, Limit: t.MaximumLimit})
		}
		return strings.Join(parts, " ")
	case JSON, Object:
		if t.MaxEncodedBytes != nil {
			add("at most %s encoded bytes", t.MaxEncodedBytes)
		}
	case Array:
		if t.MinItems > 0 {
			add("at least %s", count(t.MinItems, "element"))
		}
		if t.MaxItems != nil {
			add("at most %s elements", t.MaxItems)
		}
		if t.Unique {
			add("no element twice")
		}
		if t.UniqueBy != "" {
			add("no %s twice", t.UniqueBy)
		}
		if t.MaxEncodedBytes != nil {
			add("at most %s encoded bytes", t.MaxEncodedBytes)
		}
		if inner := t.Elem.Constraint(); inner != "" {
			add("each %s", within(t.Elem, inner))
		}
	case Map:
		if t.KeyPattern != "" {
			add("keys match `%s`", t.KeyPattern)
		}
		if inner := t.Elem.Constraint(); inner != "" {
			add("each value %s", within(t.Elem, inner))
		}
	}
	return strings.Join(parts, ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// within introduces the clauses of elements that are containers themselves.
func within(elem *Type, inner string) string {
	if elem.Kind == Array || elem.Kind == Map {
		return "with " + inner
	}
	return inner
}

// String gives the value behind the name of the limit it comes from.
func (b Bound) String() string {
	if b.Limit == "" {
		return strconv.FormatInt(b.Value, 10)
	}
	return fmt.Sprintf("%s (%d)", b.Limit, b.Value)
}
