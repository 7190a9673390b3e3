package wirejson

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Encoder is a value of a generated model.
type Encoder interface {
	// AppendJSON appends the canonical spelling of the value to dst and returns the result. It never
	// fails: see Writer for what becomes of Go values that no JSON text can carry.
	AppendJSON(dst []byte) []byte
	// Validate returns the first *Violation of the value's model, or a *SyntaxError for a raw member
	// that is not strict JSON, or nil.
	Validate() error
}

// Member is a member that its open record does not list. It is kept and written back.
type Member struct {
	Name  string
	Value json.RawMessage
}

// SortMembers puts members into the order in which they are written.
func SortMembers(members []Member) {
	slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
}

// Writer appends canonical JSON: the caller brings members in ascending order, the writer merges
// unlisted members in between. A raw value that is not strict JSON is written as null, text that is not
// UTF-8 with U+FFFD in the place of the broken bytes; Err remembers the first such case.
type Writer struct {
	buf   []byte
	extra []Member // unlisted members of the open object that are still to be written
	err   error
	depth int
}

// NewWriter returns a writer that appends to dst. Raw values nested deeper than maxDepth count as
// broken.
func NewWriter(dst []byte, maxDepth int) *Writer { return &Writer{buf: dst, depth: maxDepth} }

// Bytes returns everything written so far, behind what dst held.
func (w *Writer) Bytes() []byte { return w.buf }

// Err returns the first Go value that no JSON text can carry, as a *SyntaxError, or nil.
func (w *Writer) Err() error { return w.err }

// OpenObject starts an object that also carries the unlisted members extra. The result goes to
// CloseObject.
func (w *Writer) OpenObject(extra []Member) []Member {
	outer := w.extra
	w.extra = extra
	for i := 1; i < len(extra); i++ {
		if extra[i-1].Name >= extra[i].Name {
			w.extra = inOrder(extra)
			break
		}
	}
	w.buf = append(w.buf, '{')
	return outer
}

// inOrder returns a sorted copy in which the first of several members with one name stands for all.
func inOrder(members []Member) []Member {
	members = slices.Clone(members)
	SortMembers(members)
	return slices.CompactFunc(members, func(a, b Member) bool { return a.Name == b.Name })
}

// Key starts a member. Unlisted members that sort before it are written first; one with the same name
// gives way.
func (w *Writer) Key(name string) {
	for len(w.extra) > 0 && w.extra[0].Name <= name {
		if w.extra[0].Name < name {
			w.member(w.extra[0])
		}
		w.extra = w.extra[1:]
	}
	w.key(name)
}

func (w *Writer) key(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.String(name)
	w.buf = append(w.buf, ':')
}

func (w *Writer) member(m Member) {
	w.key(m.Name)
	w.Raw(m.Value)
}

// CloseObject ends an object. outer is what OpenObject returned.
func (w *Writer) CloseObject(outer []Member) {
	for _, m := range w.extra {
		w.member(m)
	}
	w.extra = outer
	w.buf = append(w.buf, '}')
}

// OpenArray starts an array.
func (w *Writer) OpenArray() { w.buf = append(w.buf, '[') }

// Element starts element i of an array.
func (w *Writer) Element(i int) {
	if i > 0 {
		w.buf = append(w.buf, ',')
	}
}

// CloseArray ends an array.
func (w *Writer) CloseArray() { w.buf = append(w.buf, ']') }

// Null writes null.
func (w *Writer) Null() { w.buf = append(w.buf, "null"...) }

// Bool writes a boolean.
func (w *Writer) Bool(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

// Int writes an integer.
func (w *Writer) Int(i int64) { w.buf = strconv.AppendInt(w.buf, i, 10) }

// String writes a string.
func (w *Writer) String(s string) {
	from := len(w.buf)
	text, valid := appendString(w.buf, []byte(s))
	if w.buf = text; !valid && w.err == nil {
		w.err = &SyntaxError{Offset: from, Detail: quote(s) + " is not valid UTF-8; encode text as UTF-8"}
	}
}

// Number writes a number as it is spelled.
func (w *Writer) Number(n json.Number) { w.Raw(json.RawMessage(n)) }

// ID writes an id, the zero ID as null.
func (w *Writer) ID(id ID) {
	if text, ok := id.Text(); ok {
		w.String(text)
		return
	}
	w.buf = id.AppendJSON(w.buf)
}

// Raw writes a JSON text in its canonical spelling, and null for an empty one.
func (w *Writer) Raw(raw json.RawMessage) {
	if len(raw) == 0 {
		w.Null()
		return
	}
	buf, err := AppendCanonical(w.buf, raw, w.depth)
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		w.Null()
		return
	}
	w.buf = buf
}

// Encode returns the canonical spelling of what the writer holds after checking it against a model.
func (s *Schema) Encode(w *Writer, model int) ([]byte, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	d, err := s.Check(w.Bytes(), model)
	if err != nil {
		return nil, err
	}
	d.Release()
	return w.Bytes(), nil
}

// NewWriter returns a writer that appends to dst and judges raw members by the schema's depth.
func (s *Schema) NewWriter(dst []byte) *Writer { return NewWriter(dst, s.MaxDepth) }

// Raw is an Encoder for a value that has no struct of its own: the canonical spelling of a named scalar.
type Raw json.RawMessage

// AppendJSON implements Encoder.
func (r Raw) AppendJSON(dst []byte) []byte { return append(dst, r...) }

// Validate implements Encoder. The value was validated when it was decoded.
func (r Raw) Validate() error { return nil }
