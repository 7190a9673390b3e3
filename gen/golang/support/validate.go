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

// versionPointer is the member of an envelope that says which JSON-RPC it is.
const versionPointer = "/jsonrpc"

func (v *validator) fail(kind ViolationKind, detail string) bool {
	name, pointer := v.schema.errorName(kind), v.pointer()
	if v.root.Envelope {
		name = v.schema.EnvelopeError
		if v.schema.VersionError != "" && pointer == versionPointer {
			name = v.schema.VersionError
		}
	}
	return v.report(&Violation{Kind: kind, Pointer: pointer, Model: v.root.Name, Detail: detail, ErrorName: name})
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
	case ChoiceShape:
		return v.choice(m, at)
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

// choice checks a value whose JSON type selects the arm.
func (v *validator) choice(m *Model, at uint32) bool {
	switch kind := v.doc.nodes[at].kind; kind {
	case KindString:
		return v.enum(&v.schema.Models[m.Word], at)
	case KindObject:
		return v.record(&v.schema.Models[m.Object], at)
	default:
		return v.wrongType("a string or an object", kind)
	}
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
	more := v.together(m, v.doc.slots[base:])
	v.doc.slots = v.doc.slots[:base]
	return more
}

// together checks which of the members that exclude each other are present.
func (v *validator) together(m *Model, slots []uint32) bool {
	if names := m.ExactlyOne; len(names) > 0 {
		if v.present(m, slots, names) == 0 && !v.failAt(step{name: names[0]}, Missing, "one of "+strings.Join(names, ", ")+" is needed; add one") {
			return false
		}
		if !v.exclusive(m, slots, names) {
			return false
		}
	}
	return v.exclusive(m, slots, m.AtMostOne)
}

func (v *validator) exclusive(m *Model, slots []uint32, names []string) bool {
	if v.present(m, slots, names) < 2 {
		return true
	}
	seen := 0
	for _, name := range names {
		if seen += v.present(m, slots, []string{name}); seen == 2 {
			return v.failAt(step{name: name}, Forbidden, "only one of "+strings.Join(names, ", ")+" may be present; leave the others out")
		}
	}
	return true
}

// present counts the listed members that are there and not null.
func (v *validator) present(m *Model, slots []uint32, names []string) int {
	count := 0
	for i := range m.Fields {
		if slots[i] != 0 && v.doc.nodes[slots[i]].kind != KindNull && slices.Contains(names, m.Fields[i].Name) {
			count++
		}
	}
	return count
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
