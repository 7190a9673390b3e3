package wirejson

import (
	"slices"
	"strconv"
	"strings"
)

// Check parses data and validates it against a model. The error is a *SyntaxError or the first
// *Violation. The caller owes Release on the document.
func (s *Schema) Check(data []byte, model int) (*Document, error) {
	d, err := Parse(data, s.MaxDepth)
	if err != nil {
		return nil, err
	}
	if v := s.Validate(d.Root(), model); v != nil {
		d.Release()
		return nil, v
	}
	return d, nil
}

// Validate returns the first violation of a model, or nil.
func (s *Schema) Validate(value Value, model int) *Violation {
	var first *Violation
	s.Each(value, model, func(v *Violation) bool {
		first = v
		return false
	})
	return first
}

// Each reports the violations of a model in the order in which they are found, until report returns
// false. A value that has the wrong type is reported once; its inside is not looked at. The zero Value
// counts as missing.
func (s *Schema) Each(value Value, model int, report func(*Violation) bool) {
	v := validator{schema: s, doc: value.doc, root: &s.Models[model], report: report}
	if v.doc == nil {
		v.doc = new(Document)
		v.fail(Missing, "there is no value; send a "+v.root.Name)
		return
	}
	v.doc.steps, v.doc.slots = v.doc.steps[:0], v.doc.slots[:0]
	v.model(v.root, value.at)
}

// step is one token of a JSON Pointer: a listed name, or else the key node or element number at.
type step struct {
	name string
	at   uint32
	kind stepKind
}

type stepKind uint8

const (
	nameStep stepKind = iota
	keyStep
	indexStep
)

// validator walks a value along its descriptor. Each of its methods reports whether to go on; they stop
// as soon as the report function has had enough.
type validator struct {
	schema *Schema
	doc    *Document
	root   *Model
	report func(*Violation) bool
}

func (v *validator) push(s step) { v.doc.steps = append(v.doc.steps, s) }

func (v *validator) pop() { v.doc.steps = v.doc.steps[:len(v.doc.steps)-1] }

func (v *validator) pointer() string {
	var b strings.Builder
	for _, s := range v.doc.steps {
		b.WriteByte('/')
		switch s.kind {
		case nameStep:
			b.WriteString(EscapePointer(s.name))
		case keyStep:
			b.WriteString(EscapePointer(string(v.doc.text(&v.doc.nodes[s.at], 0))))
		case indexStep:
			b.WriteString(strconv.FormatUint(uint64(s.at), 10))
		}
	}
	return b.String()
}

// EscapePointer returns a name as one token of a JSON Pointer.
func EscapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (v *validator) fail(kind ViolationKind, detail string) bool {
	name := v.schema.errorName(kind)
	if v.root.Envelope {
		name = v.schema.EnvelopeError
	}
	return v.report(&Violation{Kind: kind, Pointer: v.pointer(), Model: v.root.Name, Detail: detail, ErrorName: name})
}

// failAt reports a violation one step further in.
func (v *validator) failAt(s step, kind ViolationKind, detail string) bool {
	v.push(s)
	more := v.fail(kind, detail)
	v.pop()
	return more
}

func (v *validator) model(m *Model, at uint32) bool {
	switch m.Shape {
	case RecordShape:
		return v.record(m, at)
	case UnionShape:
		return v.union(m, at)
	case EnumShape:
		return v.enum(m, at)
	default:
		return v.value(&m.Type, at)
	}
}

func (v *validator) enum(m *Model, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindString {
		return v.wrongType("a string", n.kind)
	}
	if m.Open {
		return true
	}
	text := v.doc.text(n, 0)
	for _, value := range m.Values {
		if string(text) == value {
			return true
		}
	}
	return v.fail(WrongValue, quote(text)+" is not a "+m.Name+"; use one of "+strings.Join(m.Values, ", "))
}

func (v *validator) union(m *Model, at uint32) bool {
	if v.doc.nodes[at].kind != KindObject {
		return v.notObject(m, at)
	}
	tag := Value{v.doc, at}.Member(m.Tag)
	here := step{name: m.Tag}
	switch tag.Kind() {
	case KindInvalid:
		return v.failAt(here, WrongTag, "the member that selects the variant is absent; add "+quote(m.Tag))
	case KindString:
	default:
		return v.failAt(here, WrongTag, "want a string that selects the variant, got "+tag.Kind().String())
	}
	text := v.doc.text(tag.node(), 0)
	for i := range m.Variants {
		if arm := &m.Variants[i]; arm.Tag == string(text) {
			if arm.Deferred {
				return v.failAt(here, DeferredTag, "variant "+quote(text)+" is known but may not be sent; use another one")
			}
			return v.record(&v.schema.Models[arm.Model], at)
		}
	}
	var known []string
	for i := range m.Variants {
		known = append(known, m.Variants[i].Tag)
	}
	return v.failAt(here, WrongTag, quote(text)+" selects no variant; use one of "+strings.Join(known, ", "))
}

func (v *validator) notObject(m *Model, at uint32) bool {
	return v.fail(NotObject, "want a "+m.Name+" object, got "+v.doc.nodes[at].kind.String())
}

// record checks one record. Slot i holds the value node of field i, 0 where it is absent: node 0 is the
// root and never a member's value.
func (v *validator) record(m *Model, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindObject {
		return v.notObject(m, at)
	}
	base := len(v.doc.slots)
	v.doc.slots = append(v.doc.slots, make([]uint32, len(m.Fields))...)
	unlisted := false
	hint := 0
	for key := at + 1; key < n.next; key = v.doc.nodes[key+1].next {
		if i := v.field(m, key, hint); i >= 0 {
			v.doc.slots[base+i] = key + 1
			hint = i + 1
		} else {
			unlisted = true
		}
	}
	if unlisted && (m.Closed || len(m.Forbidden) > 0) && !v.unlisted(m, at) {
		return false
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		item := v.doc.slots[base+i]
		if item == 0 && !f.Required {
			continue
		}
		v.push(step{name: f.Name})
		more := v.member(f, item)
		v.pop()
		if !more {
			return false
		}
	}
	v.doc.slots = v.doc.slots[:base]
	return true
}

func (v *validator) member(f *Field, item uint32) bool {
	if item == 0 {
		return v.fail(Missing, "the required member "+quote(f.Name)+" is absent; add it")
	}
	if v.doc.nodes[item].kind == KindNull {
		if f.Nullable {
			return true
		}
		return v.null()
	}
	return v.value(&f.Type, item)
}

// field returns the index of the field with the name at key, or -1. Peers tend to send members in the
// same order, so the search starts behind the last one found.
func (v *validator) field(m *Model, key uint32, hint int) int {
	name := v.doc.text(&v.doc.nodes[key], 0)
	for i := hint; i < len(m.Fields); i++ {
		if m.Fields[i].Name == string(name) {
			return i
		}
	}
	for i := 0; i < hint; i++ {
		if m.Fields[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// unlisted reports the members that a record must not carry: unknown ones of a closed record ascending
// by name, then forbidden ones in their listed order.
func (v *validator) unlisted(m *Model, at uint32) bool {
	if m.Closed {
		base := len(v.doc.keys)
		keys := v.doc.sortedKeys(at, 0)
		defer func() { v.doc.keys = v.doc.keys[:base] }()
		for _, key := range keys {
			if v.field(m, key, 0) >= 0 {
				continue
			}
			name := quote(v.doc.text(&v.doc.nodes[key], 0))
			if !v.failAt(step{kind: keyStep, at: key}, Unknown, m.Name+" has no member "+name+"; leave it out") {
				return false
			}
		}
	}
	for _, name := range m.Forbidden {
		if (Value{v.doc, at}).Member(name).Kind() == KindInvalid {
			continue
		}
		if !v.failAt(step{name: name}, Forbidden, m.Name+" must not carry "+quote(name)+"; leave it out") {
			return false
		}
	}
	return true
}

func (v *validator) null() bool {
	return v.fail(NullValue, "null is not legal here; leave the member out or give it a value")
}

func (v *validator) wrongType(want string, got Kind) bool {
	return v.fail(WrongType, "want "+want+", got "+got.String())
}

// value checks a value against a type. Whether null is legal has been decided before.
func (v *validator) value(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	switch t.Kind {
	case StringType, ConstType:
		return v.text(t, n)
	case BooleanType:
		if n.kind != KindBool {
			return v.wrongType("a boolean", n.kind)
		}
		return true
	case IntegerType:
		return v.integer(t, at)
	case NumberType:
		return v.number(t, at)
	case JSONType:
		return v.encoded(t, at)
	case ObjectType:
		if n.kind != KindObject {
			return v.wrongType("an object", n.kind)
		}
		return v.encoded(t, at)
	case IDType:
		return v.id(t, at)
	case ArrayType:
		return v.array(t, at)
	case MapType:
		return v.mapping(t, at)
	default:
		return v.model(&v.schema.Models[t.Ref], at)
	}
}

// String gives the value behind the name of the limit it comes from.
func (b Bound) String() string {
	if b.Limit == "" {
		return strconv.Itoa(b.Max)
	}
	return b.Limit + " (" + strconv.Itoa(b.Max) + ")"
}

func (v *validator) text(t *Type, n *node) bool {
	if n.kind != KindString {
		return v.wrongType("a string", n.kind)
	}
	text := v.doc.text(n, 0)
	if len(text) < t.MinBytes {
		return v.fail(ByteCount, "the string has "+strconv.Itoa(len(text))+" bytes, want at least "+strconv.Itoa(t.MinBytes))
	}
	if t.MaxBytes.Max > 0 && len(text) > t.MaxBytes.Max {
		return v.fail(ByteCount, "the string has "+strconv.Itoa(len(text))+" bytes, want at most "+t.MaxBytes.String())
	}
	if t.NotBlank && blank(text) {
		return v.fail(ByteCount, "the string is blank; write at least one visible character")
	}
	if t.Kind == ConstType && string(text) != t.Const {
		return v.fail(WrongValue, quote(text)+" is not legal here; write "+quote(t.Const))
	}
	if t.Pattern != nil && !t.Pattern.match(text) {
		return v.fail(WrongClass, quote(text)+" does not match "+t.Pattern.Source)
	}
	return true
}

// blank reports whether text holds ASCII white space only.
func blank(text []byte) bool {
	for _, c := range text {
		if c != ' ' && (c < '\t' || c > '\r') {
			return false
		}
	}
	return true
}

func (v *validator) integer(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindNumber {
		return v.wrongType("an integer", n.kind)
	}
	text := Value{v.doc, at}.Source()
	i, form := parseInt(text)
	if form == notInt {
		return v.fail(WrongType, "want an integer without fraction and exponent, got "+cut(text))
	}
	if form == intTooBig || i < t.Min && t.HasMin || i > t.Max && t.HasMax {
		return v.outOfRange(t, text)
	}
	return true
}

func (v *validator) number(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindNumber {
		return v.wrongType("a number", n.kind)
	}
	if !t.HasMin && !t.HasMax {
		return true
	}
	text := Value{v.doc, at}.Source()
	f, _ := strconv.ParseFloat(string(text), 64)
	if f < float64(t.Min) && t.HasMin || f > float64(t.Max) && t.HasMax {
		return v.outOfRange(t, text)
	}
	return true
}

func cut(text []byte) string { return strings.Trim(quote(text), `"`) }

func (v *validator) outOfRange(t *Type, text []byte) bool {
	want := ""
	if t.HasMin {
		want = " at least " + strconv.FormatInt(t.Min, 10)
	}
	if t.HasMax {
		if want != "" {
			want += " and"
		}
		want += " at most "
		if t.MaxLimit != "" {
			want += t.MaxLimit + " (" + strconv.FormatInt(t.Max, 10) + ")"
		} else {
			want += strconv.FormatInt(t.Max, 10)
		}
	}
	return v.fail(OutOfRange, cut(text)+" is out of range, want"+want)
}

func (v *validator) encoded(t *Type, at uint32) bool {
	if t.MaxEncodedBytes.Max == 0 {
		return true
	}
	if length := v.doc.encodedLen(at); length > t.MaxEncodedBytes.Max {
		return v.fail(ByteCount, "the compact encoding has "+strconv.Itoa(length)+" bytes, want at most "+t.MaxEncodedBytes.String())
	}
	return true
}

func (v *validator) id(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	switch n.kind {
	case KindString:
		length := len(v.doc.text(n, 0))
		if length == 0 {
			return v.fail(WrongID, "an id must not be empty; name the request")
		}
		if t.MaxBytes.Max > 0 && length > t.MaxBytes.Max {
			return v.fail(WrongID, "the id has "+strconv.Itoa(length)+" bytes, want at most "+t.MaxBytes.String())
		}
		return true
	case KindNumber:
		text := Value{v.doc, at}.Source()
		i, form := parseInt(text)
		if form != intFits || text[0] == '-' || i > t.Max && t.HasMax {
			return v.fail(WrongID, "an id that is a number must be an integer from 0 to "+strconv.FormatInt(t.Max, 10)+", got "+cut(text))
		}
		return true
	default:
		return v.fail(WrongID, "an id is a string or an integer, got "+n.kind.String())
	}
}

func (v *validator) array(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindArray {
		return v.wrongType("an array", n.kind)
	}
	count := 0
	for item := at + 1; item < n.next; item = v.doc.nodes[item].next {
		v.push(step{kind: indexStep, at: uint32(count)})
		var more bool
		if v.doc.nodes[item].kind == KindNull {
			more = v.null()
		} else {
			more = v.value(t.Elem, item)
		}
		v.pop()
		if !more {
			return false
		}
		count++
	}
	if count < t.MinItems {
		return v.fail(ItemCount, "the array has "+strconv.Itoa(count)+" elements, want at least "+strconv.Itoa(t.MinItems))
	}
	if t.MaxItems.Max > 0 && count > t.MaxItems.Max {
		return v.fail(ItemCount, "the array has "+strconv.Itoa(count)+" elements, want at most "+t.MaxItems.String())
	}
	if t.Unique || t.UniqueBy != "" {
		return v.unique(t, at, count)
	}
	return true
}

// unique reports the elements that equal an earlier one. Elements without a comparable text are skipped:
// they have been reported already.
func (v *validator) unique(t *Type, at uint32, count int) bool {
	type element struct {
		text  string
		index int
	}
	elements := make([]element, 0, count)
	index := 0
	for c := (Value{v.doc, at}).Elements(); c.Next(); index++ {
		value := c.Value()
		if t.UniqueBy != "" {
			value = value.Member(t.UniqueBy)
		}
		if value.Kind() == KindString {
			elements = append(elements, element{value.Text(), index})
		}
	}
	slices.SortFunc(elements, func(a, b element) int {
		if c := strings.Compare(a.text, b.text); c != 0 {
			return c
		}
		return a.index - b.index
	})
	var repeated []element
	for i := 1; i < len(elements); i++ {
		if elements[i].text == elements[i-1].text {
			repeated = append(repeated, elements[i])
		}
	}
	slices.SortFunc(repeated, func(a, b element) int { return a.index - b.index })
	for _, e := range repeated {
		what := "the element "
		if t.UniqueBy != "" {
			what = "the " + t.UniqueBy + " "
		}
		if !v.failAt(step{kind: indexStep, at: uint32(e.index)}, Duplicate, what+quote(e.text)+" comes twice; keep one") {
			return false
		}
	}
	return true
}

func (v *validator) mapping(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindObject {
		return v.wrongType("an object", n.kind)
	}
	for key := at + 1; key < n.next; key = v.doc.nodes[key+1].next {
		v.push(step{kind: keyStep, at: key})
		more := v.entry(t, key)
		v.pop()
		if !more {
			return false
		}
	}
	return true
}

func (v *validator) entry(t *Type, key uint32) bool {
	name := v.doc.text(&v.doc.nodes[key], 0)
	if t.Pattern != nil && !t.Pattern.match(name) {
		return v.fail(WrongClass, "the key "+quote(name)+" does not match "+t.Pattern.Source)
	}
	if v.doc.nodes[key+1].kind == KindNull {
		return v.null()
	}
	return v.value(t.Elem, key+1)
}
