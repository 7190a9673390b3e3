package derive

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// variant is a legal value that differs from the plain one in one telling way.
type variant struct {
	note  string
	value value
}

// largest bounds the texts that vectors are made of: no frame carries more.
const largest = 1 << 20

// plain returns the smallest ordinary value of a type.
func (d *deriver) plain(t *model.Type) value {
	switch t.Kind {
	case model.String:
		if onlyNull(t) {
			return nil
		}
		return d.text(t, "")
	case model.Const:
		return t.Const
	case model.Boolean:
		return true
	case model.Integer, model.Number:
		n := int64(0)
		if t.Minimum != nil {
			n = max(n, *t.Minimum)
		}
		if t.Maximum != nil {
			n = min(n, *t.Maximum)
		}
		return number(strconv.FormatInt(n, 10))
	case model.JSON:
		return "any"
	case model.Object, model.Map:
		return object{}
	case model.ID:
		return number("7")
	case model.Array:
		return d.elements(t, t.MinItems)
	default:
		return d.model(t.Ref)
	}
}

// onlyNull reports whether no string fits: the member may be there, and then it is null.
func onlyNull(t *model.Type) bool { return t.Pattern == "^$" && t.MinBytes > 0 }

// model returns the smallest ordinary value of a model.
func (d *deriver) model(m *model.Model) value {
	switch m.Kind {
	case model.Record:
		return d.record(m)
	case model.Union:
		for _, arm := range m.Variants {
			if !arm.Deferred {
				return d.record(arm.Record)
			}
		}
		panic("derive: " + m.Name + " has no legal variant")
	case model.Choice:
		return m.Word.Values[0].Value
	case model.Enum:
		return m.Values[0].Value
	default:
		return d.plain(m.Type)
	}
}

// record has the required members, and the first of those of which one is needed.
func (d *deriver) record(m *model.Model) object {
	o := object{}
	for _, f := range m.Fields {
		if f.Required || len(m.ExactlyOne) > 0 && f.Name == m.ExactlyOne[0] {
			o = append(o, member{f.Name, d.plain(f.Type)})
		}
	}
	return o
}

// carrying returns the smallest record in which a field has a value.
func (d *deriver) carrying(m *model.Model, f *model.Field, v value) object {
	o := d.record(m)
	for _, together := range [][]string{m.ExactlyOne, m.AtMostOne} {
		if slices.Contains(together, f.Name) {
			for _, other := range together {
				if other != f.Name {
					o = o.without(other)
				}
			}
		}
	}
	return o.with(f.Name, v)
}

// text returns a string that the type accepts and that ends in suffix, so that several can differ.
func (d *deriver) text(t *model.Type, suffix string) value {
	if t.Pattern == "" {
		shortest := strings.Repeat("a", max(t.MinBytes-len(suffix), 1)) + suffix
		if len(shortest) >= longRun && suffix == "" {
			return filler{"a", t.MinBytes}
		}
		return shortest
	}
	sample := sampleOf(t.Pattern)
	if sample == "" {
		sample = "a" // an empty text is legal and tells little
	}
	for _, text := range []string{sample + suffix, strings.TrimSuffix(sample, "a") + suffix, sample + strings.Repeat("a", max(t.MinBytes-len(sample), 0))} {
		if accepts(t, text) && strings.HasSuffix(text, suffix) {
			return text
		}
	}
	d.fail("no sample matches %q within its bounds; teach gen/derive one", t.Pattern)
	return ""
}

// sampleOf returns the shortest text of a pattern, of letters where the pattern lets it choose.
func sampleOf(pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic("derive: " + err.Error()) // the loader has compiled it
	}
	var b strings.Builder
	var walk func(*syntax.Regexp)
	walk = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			b.WriteRune(choose(re.Rune))
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteByte('a')
		case syntax.OpPlus, syntax.OpCapture:
			walk(re.Sub[0])
		case syntax.OpRepeat:
			for range re.Min {
				walk(re.Sub[0])
			}
		case syntax.OpConcat:
			for _, part := range re.Sub {
				walk(part)
			}
		case syntax.OpAlternate:
			walk(re.Sub[0])
		}
	}
	walk(parsed)
	return b.String()
}

// choose returns a lower-case letter of a class, given as pairs of bounds, or else its first character.
func choose(class []rune) rune {
	for i := 0; i < len(class); i += 2 {
		if class[i] <= 'a' && 'a' <= class[i+1] {
			return 'a'
		}
	}
	return class[0]
}

func accepts(t *model.Type, text string) bool {
	if len(text) < t.MinBytes || t.MaxBytes != nil && int64(len(text)) > t.MaxBytes.Value {
		return false
	}
	return t.Pattern == "" || regexp.MustCompile(t.Pattern).MatchString(text)
}

// elements returns n elements, different ones where they must differ.
func (d *deriver) elements(t *model.Type, n int) value {
	if !t.Unique && t.UniqueBy == "" {
		return row{d.plain(t.Elem), n}
	}
	all := list{}
	for i := range n {
		all = append(all, d.numbered(t, i))
	}
	return all
}

// numbered returns the i-th of several different elements of an array.
func (d *deriver) numbered(t *model.Type, i int) value {
	if t.UniqueBy == "" {
		return d.different(t.Elem, i)
	}
	o, ok := d.model(t.Elem.Ref).(object)
	if !ok {
		d.fail("the elements that differ by %q are no records", t.UniqueBy)
		return nil
	}
	for _, f := range t.Elem.Ref.Fields {
		if f.Name == t.UniqueBy {
			o = o.with(f.Name, d.different(f.Type, i))
		}
	}
	return o
}

// different returns the i-th of several different strings of a type.
func (d *deriver) different(t *model.Type, i int) value {
	switch {
	case t.Kind == model.String:
		return d.text(t, strconv.Itoa(i))
	case t.Kind == model.Ref && t.Ref.Kind == model.Alias:
		return d.different(t.Ref.Type, i)
	case t.Kind == model.Ref && t.Ref.Kind == model.Enum && i < len(t.Ref.Values):
		return t.Ref.Values[i].Value
	}
	d.fail("cannot make %d different elements", i+1)
	return nil
}

// most returns how many different elements a type has, at most limit.
func most(t *model.Type, limit int) int {
	if t.Elem.Kind == model.Ref && t.Elem.Ref.Kind == model.Enum && t.Unique && !t.Elem.Ref.Open {
		return min(limit, len(t.Elem.Ref.Values))
	}
	return limit
}

// manyElements bounds the arrays of different elements that vectors spell out.
const manyElements = 300

// variants returns further legal values of a type: both ends of every bound.
func (d *deriver) variants(t *model.Type) []variant {
	switch t.Kind {
	case model.String:
		return d.textVariants(t)
	case model.Boolean:
		return []variant{{"false", false}}
	case model.Integer:
		return []variant{
			{"the least integer", number(strconv.FormatInt(*t.Minimum, 10))},
			{"the greatest integer", number(strconv.FormatInt(*t.Maximum, 10))},
		}
	case model.Number:
		return numberVariants(t)
	case model.JSON:
		return append([]variant{
			{"an empty object", object{}},
			{"an empty array", list{}},
			{"an empty string", ""},
			{"false", false},
			{"a number", number("-12")},
			{"nested values", list{object{{"a", list{nil, number("0")}}}}},
		}, encodedVariants(t, func(n int) value { return filler{"x", n - 2} })...)
	case model.Object:
		return append([]variant{
			{"an object with members", object{{"b", nil}, {"a", list{number("1"), "x"}}}},
		}, encodedVariants(t, func(n int) value { return object{{"k", filler{"x", n - 8}}} })...)
	case model.Map:
		return []variant{{"one entry", object{{keyOf(t), d.plain(t.Elem)}}}}
	case model.ID:
		return []variant{
			{"the id zero", number("0")},
			{"the greatest integer", number(strconv.FormatInt(*t.Maximum, 10))},
			{"a string of one byte", "a"},
			{"the longest string", filler{"i", int(t.MaxBytes.Value)}},
			{"a string that looks like a number", "7"},
		}
	case model.Array:
		return d.arrayVariants(t)
	case model.Ref:
		return d.modelVariants(t.Ref)
	}
	return nil
}

func encodedVariants(t *model.Type, of func(n int) value) []variant {
	if b := t.MaxEncodedBytes; b != nil && b.Value <= largest {
		return []variant{{"the longest encoding", of(int(b.Value))}}
	}
	return nil
}

func numberVariants(t *model.Type) []variant {
	var all []variant
	if t.Minimum != nil {
		all = append(all, variant{"the least number", number(strconv.FormatInt(*t.Minimum, 10))})
	}
	if t.Maximum != nil {
		all = append(all, variant{"the greatest number", number(strconv.FormatInt(*t.Maximum, 10))})
	}
	if t.Maximum == nil || *t.Maximum > 0 {
		all = append(all, variant{"a fraction", number("0.5")})
	}
	return all
}

func (d *deriver) textVariants(t *model.Type) []variant {
	var all []variant
	add := func(note string, v value, as string) {
		if accepts(t, as) && (!t.NotBlank || strings.TrimSpace(as) != "") {
			all = append(all, variant{note, v})
		}
	}
	add("an empty string", "", "")
	if t.MinBytes > 1 {
		add("the shortest string", filler{"a", t.MinBytes}, strings.Repeat("a", t.MinBytes))
	}
	if t.Pattern == "" {
		add("characters of one to four bytes", "aé€😀", "aé€😀")
		if t.Controls == model.AnyControls {
			add("characters that need an escape", "\x00\"\\\n\u2028", "\x00\"\\\n\u2028")
		} else {
			all = append(all, controlVariants(t)...)
		}
	}
	if t.MaxBytes == nil || t.MaxBytes.Value > largest {
		return all
	}
	n := int(t.MaxBytes.Value)
	for _, unit := range []string{"a", "0"} {
		if accepts(t, strings.Repeat(unit, n)) {
			all = append(all, variant{"the longest string", filler{unit, n}})
			break
		}
	}
	if n%2 == 0 {
		add("the longest string in bytes, with half as many characters", filler{"é", n / 2}, strings.Repeat("é", n/2))
	}
	return all
}

// controlVariants are the control characters that a class allows.
func controlVariants(t *model.Type) []variant {
	switch t.Controls {
	case model.TextControls:
		return []variant{{"line feed and tab", "a\n\tb"}}
	case model.EditControls:
		return []variant{{"line feed, tab and carriage return", "a\r\n\tb"}}
	}
	return nil
}

func keyOf(t *model.Type) string {
	if t.KeyPattern == "" {
		return "a"
	}
	return sampleOf(t.KeyPattern)
}

func (d *deriver) arrayVariants(t *model.Type) []variant {
	var all []variant
	if t.MinItems == 0 {
		if t.MaxItems == nil || t.MaxItems.Value > 0 {
			all = append(all, variant{"one element", d.elements(t, 1)})
		}
	}
	limit := most(t, manyElements)
	if b := t.MaxItems; b != nil && (b.Value <= int64(limit) || !t.Unique && t.UniqueBy == "" && d.fits(t, b.Value)) {
		all = append(all, variant{"the most elements", d.elements(t, int(b.Value))})
	} else if limit >= 2 && (b == nil || b.Value >= 2) {
		all = append(all, variant{"two elements", d.elements(t, 2)})
	}
	for _, v := range d.variants(t.Elem) {
		if t.MinItems <= 1 {
			all = append(all, variant{"one element: " + v.note, list{v.value}})
		}
	}
	return all
}

// fits reports whether n elements make a text that a frame carries.
func (d *deriver) fits(t *model.Type, n int64) bool {
	return n*int64(len(spell(d.plain(t.Elem))))+n < largest && t.MaxEncodedBytes == nil
}

// modelVariants returns legal values of a model in a place where it is used.
func (d *deriver) modelVariants(m *model.Model) []variant {
	var all []variant
	switch m.Kind {
	case model.Enum:
		for _, v := range m.Values[1:] {
			all = append(all, variant{"the value " + v.Value, v.Value})
		}
		if m.Open {
			all = append(all, variant{"an unlisted value of an open enumeration", unlisted})
		}
	case model.Alias:
		return d.variants(m.Type)
	case model.Choice:
		for _, v := range m.Word.Values[1:] {
			all = append(all, variant{"the value " + v.Value, v.Value})
		}
		all = append(all, variant{"the object", d.record(m.Object)})
	case model.Union:
		for _, arm := range m.Variants {
			if !arm.Deferred {
				all = append(all, variant{"the variant " + arm.TagValue, d.record(arm.Record)})
			}
		}
	case model.Record:
		if full := d.full(m, 0); len(full) > len(d.record(m)) {
			all = append(all, variant{"every member", full})
		}
	}
	return all
}

// full has every member that may stand beside the others.
func (d *deriver) full(m *model.Model, depth int) object {
	o := d.record(m)
	for _, f := range m.Fields {
		excluded := func(together []string) bool {
			return slices.Contains(together, f.Name) && slices.ContainsFunc(together, func(name string) bool {
				return slices.ContainsFunc(o, func(m member) bool { return m.name == name })
			})
		}
		if excluded(m.ExactlyOne) || excluded(m.AtMostOne) {
			continue
		}
		if f.Type.Kind == model.Ref && f.Type.Ref.Kind == model.Record && depth < 2 && f.Type.Ref != m {
			o = o.with(f.Name, d.full(f.Type.Ref, depth+1))
			continue
		}
		o = o.with(f.Name, d.plain(f.Type))
	}
	return o
}

func (d *deriver) fail(format string, args ...any) {
	d.errs.Addf(d.at.File, d.at.Pointer, format, args...)
}

// unlisted is a word that no enumeration and no union of the spec knows.
const unlisted = "unlisted"

func quoted(name string) string { return fmt.Sprintf("%q", name) }
