package derive

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// fault is an illegal value in place of a legal one, and what every codec must say about it.
type fault struct {
	note      string
	value     value
	pointer   string // from the root of the value
	violation model.Violation
	// mended is the legal value that differs in the fault alone; nil where that is the plain value.
	mended value
}

// in returns the fault as one of an outer value: rebuild puts a value into its place, plain is the plain
// value of that place.
func (f fault) in(note, prefix string, plain value, rebuild func(value) value) fault {
	mended := f.mended
	if mended == nil {
		mended = plain
	}
	return fault{note + f.note, rebuild(f.value), prefix + f.pointer, f.violation, rebuild(mended)}
}

// pointer is one token of a JSON Pointer. Names of the spec hold no character that needs an escape.
func pointer(name string) string { return "/" + name }

// others returns a value of each JSON type that is none of the given ones.
func others(legal ...string) []variant {
	var all []variant
	for _, v := range []struct {
		kind string
		variant
	}{
		{"string", variant{"a string", "text"}},
		{"number", variant{"a number", number("3")}},
		{"boolean", variant{"a boolean", true}},
		{"object", variant{"an object", object{}}},
		{"array", variant{"an array", list{}}},
	} {
		if !slices.Contains(legal, v.kind) {
			all = append(all, v.variant)
		}
	}
	return all
}

func wrongTypes(violation model.Violation, legal ...string) []fault {
	var all []fault
	for _, v := range others(legal...) {
		all = append(all, fault{note: v.note + " in its place", value: v.value, violation: violation})
	}
	return all
}

// faults returns the ways in which a value of a type can be wrong, null left out.
func (d *deriver) faults(t *model.Type) []fault {
	switch t.Kind {
	case model.String:
		return append(wrongTypes(model.WrongType, "string"), d.textFaults(t)...)
	case model.Const:
		return append(wrongTypes(model.WrongType, "string"), fault{"another text", unlisted, "", model.Value, nil}, fault{"another case", strings.ToUpper(t.Const) + "X", "", model.Value, nil})
	case model.Boolean:
		return append(wrongTypes(model.WrongType, "boolean"), fault{"the word true as a string", "true", "", model.WrongType, nil})
	case model.Integer:
		return append(wrongTypes(model.WrongType, "number"), integerFaults(t)...)
	case model.Number:
		return append(wrongTypes(model.WrongType, "number"), numberFaults(t)...)
	case model.JSON:
		return encodedFaults(t, func(n int) value { return filler{"x", n - 2} })
	case model.Object:
		return append(wrongTypes(model.WrongType, "object"), encodedFaults(t, func(n int) value { return object{{"k", filler{"x", n - 8}}} })...)
	case model.Map:
		return append(wrongTypes(model.WrongType, "object"), d.mapFaults(t)...)
	case model.ID:
		return append(wrongTypes(model.BadID, "string", "number"),
			fault{"an empty string", "", "", model.BadID, nil},
			fault{"a string one byte too long", filler{"i", int(t.MaxBytes.Value) + 1}, "", model.BadID, nil},
			fault{"a negative number", number("-1"), "", model.BadID, nil},
			fault{"a fraction", number("1.5"), "", model.BadID, nil},
			fault{"a number one too great", number(strconv.FormatInt(*t.Maximum+1, 10)), "", model.BadID, nil})
	case model.Array:
		return d.arrayFaults(t)
	default:
		return d.modelFaults(t.Ref, 1)
	}
}

func encodedFaults(t *model.Type, of func(n int) value) []fault {
	if b := t.MaxEncodedBytes; b != nil && b.Value < largest {
		return []fault{{"an encoding one byte too long", of(int(b.Value) + 1), "", model.Bytes, nil}}
	}
	return nil
}

func integerFaults(t *model.Type) []fault {
	least, greatest := *t.Minimum, *t.Maximum
	all := []fault{
		{"one below the least", number(strconv.FormatInt(least-1, 10)), "", model.Range, nil},
		{"one above the greatest", number(strconv.FormatInt(greatest+1, 10)), "", model.Range, nil},
		{"far above every integer", number("1" + strings.Repeat("0", 30)), "", model.Range, nil},
		{"a fraction", number("1.5"), "", model.WrongType, nil},
		{"an integer spelled with a fraction", number("1.0"), "", model.WrongType, nil},
		{"an integer spelled with an exponent", number("1e0"), "", model.WrongType, nil},
	}
	return all
}

func numberFaults(t *model.Type) []fault {
	var all []fault
	if t.Minimum != nil {
		all = append(all, fault{"one below the least", number(strconv.FormatInt(*t.Minimum-1, 10)), "", model.Range, nil})
	}
	if t.Maximum != nil {
		all = append(all, fault{"one above the greatest", number(strconv.FormatInt(*t.Maximum+1, 10)), "", model.Range, nil})
	}
	return all
}

func (d *deriver) textFaults(t *model.Type) []fault {
	var all []fault
	if t.MinBytes > 0 {
		all = append(all, fault{"one byte too few", filler{"a", t.MinBytes - 1}, "", model.Bytes, nil})
	}
	if b := t.MaxBytes; b != nil && b.Value < largest {
		all = append(all, fault{"one byte too many", filler{"a", int(b.Value) + 1}, "", model.Bytes, nil})
		wide := filler{"é", int(b.Value)/2 + 1}
		all = append(all, fault{"too many bytes in few characters", wide, "", model.Bytes, nil})
	}
	if t.NotBlank {
		all = append(all, fault{"white space only", " \t\n" + strings.Repeat(" ", max(t.MinBytes-3, 0)), "", model.Bytes, nil})
	}
	all = append(all, controlFaults(t)...)
	if t.Pattern != "" {
		pattern := regexp.MustCompile(t.Pattern)
		for _, bad := range []string{"!", "a b", "é", "-a", "a\n", "A!", "0_"} {
			bad += strings.Repeat("!", max(t.MinBytes-len(bad), 0))
			if !pattern.MatchString(bad) && (t.MaxBytes == nil || int64(len(bad)) <= t.MaxBytes.Value) {
				all = append(all, fault{"outside its class: " + strconv.Quote(bad), bad, "", model.Pattern, nil})
			}
		}
	}
	return all
}

func controlFaults(t *model.Type) []fault {
	var bad []string
	switch t.Controls {
	case model.NoControls:
		bad = []string{"a\nb", "a\tb", "a\rb", "a\x1bb", "a\x7fb", "a\u0085b"}
	case model.TextControls:
		bad = []string{"a\rb", "a\x00b", "a\x1bb", "a\x7fb", "a\u009fb"}
	case model.EditControls:
		bad = []string{"a\x00b", "a\x0bb", "a\x1bb", "a\x7fb", "a\u0080b"}
	}
	var all []fault
	for _, text := range bad {
		text += strings.Repeat("a", max(t.MinBytes-len(text), 0))
		if t.MaxBytes == nil || int64(len(text)) <= t.MaxBytes.Value {
			all = append(all, fault{"a control character: " + strconv.QuoteToASCII(text), text, "", model.Pattern, nil})
		}
	}
	return all
}

func (d *deriver) mapFaults(t *model.Type) []fault {
	key := keyOf(t)
	sound := object{{key, d.plain(t.Elem)}}
	all := []fault{{"an entry that is null", object{{key, nil}}, pointer(key), model.Null, sound}}
	if t.KeyPattern != "" {
		all = append(all, fault{"a key outside its class", object{{"!", d.plain(t.Elem)}}, pointer("!"), model.Pattern, object{}})
	}
	for _, f := range firstOf(d.faults(t.Elem), 2) {
		all = append(all, f.in("an entry: ", pointer(key), d.plain(t.Elem), func(v value) value { return object{{key, v}} }))
	}
	return all
}

func firstOf(all []fault, n int) []fault { return all[:min(n, len(all))] }

func (d *deriver) arrayFaults(t *model.Type) []fault {
	all := wrongTypes(model.WrongType, "array")
	sound := func(n int) []value { return spread(d.elements(t, n)) }
	base := max(t.MinItems, 1)
	if limit := most(t, manyElements); base > limit {
		return all
	}
	last := pointer(strconv.Itoa(base - 1))
	replaced := func(v value) value { return append(list(sound(base)[:base-1]), v) }
	original := sound(base)[base-1]
	all = append(all, fault{"an element that is null", replaced(nil), last, model.Null, replaced(original)})
	for _, f := range d.faults(t.Elem) {
		all = append(all, f.in("an element: ", last, original, replaced))
	}
	if t.MinItems > 0 {
		all = append(all, fault{"one element too few", d.elements(t, t.MinItems-1), "", model.Items, d.elements(t, t.MinItems)})
	}
	if b := t.MaxItems; b != nil && (b.Value < int64(most(t, manyElements)) || !t.Unique && t.UniqueBy == "" && d.fits(t, b.Value)) {
		all = append(all, fault{"one element too many", d.elements(t, int(b.Value)+1), "", model.Items, d.elements(t, int(b.Value))})
	}
	if (t.Unique || t.UniqueBy != "") && most(t, 2) >= 1 && (t.MaxItems == nil || t.MaxItems.Value >= int64(base)+1) {
		twice := append(list(sound(base)), d.numbered(t, base-1))
		all = append(all, fault{"an element twice", twice, pointer(strconv.Itoa(base)), model.Duplicate, list(sound(base))})
	}
	return all
}

func spread(v value) []value {
	switch v := v.(type) {
	case list:
		return v
	case row:
		return slices.Repeat([]value{v.element}, v.count)
	}
	return nil
}

// modelFaults returns the ways in which a value of a model can be wrong. Depth bounds how far faults of
// inner records are looked for; they come up again where those records are roots themselves.
func (d *deriver) modelFaults(m *model.Model, depth int) []fault {
	switch m.Kind {
	case model.Alias:
		return d.faults(m.Type)
	case model.Enum:
		all := wrongTypes(model.WrongType, "string")
		if !m.Open {
			all = append(all, fault{"an unlisted value", unlisted, "", model.Value, nil}, fault{"an empty string", "", "", model.Value, nil})
		}
		return all
	case model.Choice:
		return append(wrongTypes(model.WrongType, "string", "object"), d.choiceFaults(m, depth)...)
	case model.Union:
		return append(wrongTypes(model.NotObject, "object"), d.unionFaults(m, depth)...)
	default:
		return append(wrongTypes(model.NotObject, "object"), d.recordFaults(m, depth)...)
	}
}

func (d *deriver) choiceFaults(m *model.Model, depth int) []fault {
	var all []fault
	if !m.Word.Open {
		all = append(all, fault{"an unlisted value", unlisted, "", model.Value, nil})
	}
	return append(all, d.recordFaults(m.Object, depth)...)
}

func (d *deriver) unionFaults(m *model.Model, depth int) []fault {
	sound, tag := d.model(m).(object), pointer(m.Tag)
	all := []fault{
		{"no tag", sound.without(m.Tag), tag, model.Tag, sound},
		{"an unknown tag", sound.with(m.Tag, unlisted), tag, model.Tag, sound},
		{"a tag that is null", sound.with(m.Tag, nil), tag, model.Tag, sound},
		{"a tag that is a number", sound.with(m.Tag, number("1")), tag, model.Tag, sound},
	}
	for _, arm := range m.Variants {
		if arm.Deferred {
			all = append(all, fault{"the tag of the deferred variant " + arm.TagValue, sound.with(m.Tag, arm.TagValue), tag, model.Deferred, sound})
		} else if depth > 0 {
			all = append(all, firstOf(d.inner(arm.Record, depth-1), 2)...)
		}
	}
	return all
}

// recordFaults are those of a record that is used inside another model.
func (d *deriver) recordFaults(m *model.Model, depth int) []fault {
	if depth <= 0 {
		return nil
	}
	return firstOf(d.inner(m, depth-1), 6)
}

// inner returns faults about the members of a record, the telling ones first.
func (d *deriver) inner(m *model.Model, depth int) []fault {
	var all []fault
	sound := d.record(m)
	for _, f := range m.Fields {
		if f.Required && f.Type.Kind != model.Const {
			all = append(all, fault{"without " + quoted(f.Name), sound.without(f.Name), pointer(f.Name), model.Missing, sound})
			break
		}
	}
	if m.Closed {
		all = append(all, fault{"an unlisted member", sound.with(unlisted, number("1")), pointer(unlisted), model.Unknown, sound})
	}
	for _, f := range m.Fields {
		if f.Type.Kind == model.Const {
			continue
		}
		place := func(v value) value { return d.carrying(m, f, v) }
		plain := d.plain(f.Type)
		if !f.Nullable {
			all = append(all, fault{quoted(f.Name) + " is null", place(nil), pointer(f.Name), model.Null, place(plain)})
		}
		if depth > 0 || f.Type.Kind != model.Ref && f.Type.Kind != model.Array && f.Type.Kind != model.Map {
			for _, bad := range firstOf(d.faults(f.Type), 1) {
				all = append(all, bad.in(quoted(f.Name)+": ", pointer(f.Name), plain, place))
			}
		}
	}
	return all
}
