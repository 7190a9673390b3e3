package diff

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/gen/model"
)

// maxLevel is where random values stop to grow.
const maxLevel = 4

// value draws a value that is meant to be legal for a shape; its validator has the last word.
func (d *draw) value(s spot, level int) string {
	switch {
	case s.is(model.Record):
		return d.recordValue(s, level)
	case s.is(model.Union):
		v := s.mod.Variants[d.n(len(s.mod.Variants))]
		return d.recordValue(s.tree.spotOf(v.Record), level)
	case s.is(model.Choice):
		if d.yes(50) {
			return d.value(s.tree.spotOf(s.mod.Word), level)
		}
		return d.recordValue(s.tree.spotOf(s.mod.Object), level)
	case s.is(model.Enum):
		if s.mod.Open && d.yes(40) {
			return quote(d.letters())
		}
		return quote(s.mod.Values[d.n(len(s.mod.Values))].Value)
	}
	switch s.typ.Kind {
	case model.String:
		return quote(d.textValue(s.typ.Pattern, s))
	case model.Const:
		return quote(s.typ.Const)
	case model.Boolean:
		return []string{"true", "false"}[d.n(2)]
	case model.Integer:
		return d.numeral(s.typ)
	case model.Number:
		return d.numeral(s.typ) + []string{"", ".0", ".5", "e0"}[d.n(4)]
	case model.ID:
		if d.yes(50) {
			return strconv.Itoa(d.n(int(*s.typ.Maximum) + 1))
		}
		return quote(strings.Repeat("i", 1+d.n(int(s.typ.MaxBytes.Value))))
	case model.JSON:
		return d.anything(level)
	case model.Object:
		return d.anyObject(level)
	case model.Array:
		return d.arrayValue(s, level)
	default:
		members := map[string]string{}
		for range d.n(3) {
			members[d.textValue(s.typ.KeyPattern, s)] = d.value(s.elem(), level+1)
		}
		return object(members)
	}
}

func (d *draw) letters() string {
	return rapid.StringOfN(rapid.SampledFrom([]rune("abcz09 \t\n\x01é-")), 0, 7, -1).Draw(d.t, "letters")
}

// textValue draws a string near a pattern, often at the end of what its bounds allow.
func (d *draw) textValue(pattern string, s spot) string {
	text := d.letters()
	if pattern != "" {
		text = rapid.StringMatching(pattern).Draw(d.t, "match")
	}
	if set, ok := textsOf(s); ok && !set.contains(text) {
		for _, n := range []int{set.min, int(set.max), d.n(5)} {
			if n >= 0 && set.contains(strings.Repeat("b", n)) {
				return strings.Repeat("b", n)
			}
		}
		if members, _ := set.members(4); len(members) > 0 {
			return members[d.n(len(members))]
		}
	}
	return text
}

func (d *draw) numeral(t *model.Type) string {
	low, high := int64(-9), int64(9)
	if t.Minimum != nil {
		low, high = *t.Minimum, *t.Minimum+9
	}
	if t.Maximum != nil {
		high = *t.Maximum
		if t.Minimum == nil {
			low = high - 9
		}
	}
	i := low + int64(d.n(int(high-low)+1))
	if i == 0 && d.yes(20) {
		return "-0"
	}
	return strconv.FormatInt(i, 10)
}

func (d *draw) anything(level int) string {
	if level < maxLevel && d.yes(30) {
		return d.anyObject(level)
	}
	return []string{"1", "0.5", "true", `"a"`, `""`, `"abcdefgh"`, "[]", `["a","a"]`, "-3", "null"}[d.n(10)]
}

func (d *draw) anyObject(level int) string {
	members := map[string]string{}
	for range d.n(3) {
		names := append(slices.Clone(fieldNames), "kind", "y", "")
		members[names[d.n(len(names))]] = d.anything(level + 1)
	}
	return object(members)
}

func (d *draw) arrayValue(s spot, level int) string {
	most := s.typ.MinItems + 3
	if s.typ.MaxItems != nil {
		most = int(s.typ.MaxItems.Value)
	}
	n := s.typ.MinItems + d.n(most-s.typ.MinItems+1)
	if level > maxLevel {
		n = s.typ.MinItems
	}
	var items []string
	for range n {
		items = append(items, d.value(s.elem(), level+1))
	}
	return array(items)
}

func (d *draw) recordValue(s spot, level int) string {
	members := map[string]string{}
	for _, f := range s.tree.fields(s.mod) {
		switch {
		case f.Nullable && d.yes(40):
			members[f.Name] = "null"
		case f.Required || level < maxLevel && d.yes(50):
			if level > 2*maxLevel {
				return "{}" // no small value
			}
			members[f.Name] = d.value(s.field(f), level+1)
		}
	}
	if !s.mod.Closed && d.yes(30) {
		members[strangers[d.n(len(strangers))]] = d.anything(level + 1)
	}
	return object(members)
}
