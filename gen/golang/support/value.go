package wirejson

import (
	"encoding/json"
	"math"
	"strconv"
)

// Value is one value of a document. It is good until the document is released. The zero Value has kind
// KindInvalid.
type Value struct {
	doc *Document
	at  uint32
}

func (v Value) node() *node { return &v.doc.nodes[v.at] }

// Kind returns the JSON type.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return KindInvalid
	}
	return v.node().kind
}

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.Kind() == KindNull }

// Source returns the text of the value as it was read, quotes included; nil for the zero Value. It lies
// in the bytes that were parsed.
func (v Value) Source() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	if n.kind == KindString {
		return v.doc.src[n.start-1 : n.end+1]
	}
	return v.doc.src[n.start:n.end]
}

// Text returns the decoded text of a string, and "" for anything else.
func (v Value) Text() string {
	if v.Kind() != KindString {
		return ""
	}
	return string(v.doc.text(v.node(), 0))
}

// TextEquals reports whether the value is a string with the text s.
func (v Value) TextEquals(s string) bool {
	return v.Kind() == KindString && string(v.doc.text(v.node(), 0)) == s
}

// Bool returns the value of a boolean, and false for anything else.
func (v Value) Bool() bool { return v.Kind() == KindBool && v.doc.src[v.node().start] == 't' }

// Int returns the value of a number that is spelled as an integer and fits an int64, and 0 otherwise.
func (v Value) Int() int64 {
	if v.Kind() != KindNumber {
		return 0
	}
	n, _ := parseInt(v.Source())
	return n
}

// Number returns the spelling of a number, and "" for anything else.
func (v Value) Number() json.Number {
	if v.Kind() != KindNumber {
		return ""
	}
	return json.Number(v.Source())
}

// ID returns the value as a JSON-RPC id; the zero ID if it is neither a string nor an integer.
func (v Value) ID() ID {
	switch v.Kind() {
	case KindString:
		return StringID(v.Text())
	case KindNumber:
		if n, form := parseInt(v.Source()); form == intFits {
			return IntID(n)
		}
	}
	return ID{}
}

// Raw returns a copy of the value in its canonical spelling; nil for the zero Value. See Document.Borrow.
func (v Value) Raw() json.RawMessage {
	if v.doc == nil {
		return nil
	}
	if v.node().canonical {
		if source := v.Source(); v.doc.borrow {
			return source[:len(source):len(source)]
		}
		return append(json.RawMessage(nil), v.Source()...)
	}
	return v.doc.appendCanonical(nil, v.at)
}

// AppendCanonical appends the canonical spelling of the value to dst, and nothing for the zero Value.
func (v Value) AppendCanonical(dst []byte) []byte {
	if v.doc == nil {
		return dst
	}
	return v.doc.appendCanonical(dst, v.at)
}

// Member returns the member of an object by name; the zero Value if there is none.
func (v Value) Member(name string) Value {
	for c := v.Members(); c.Next(); {
		if string(c.Key()) == name {
			return c.Value()
		}
	}
	return Value{}
}

// Len returns the number of elements of an array or members of an object, and 0 for anything else.
func (v Value) Len() int {
	count := 0
	switch v.Kind() {
	case KindArray:
		for c := v.Elements(); c.Next(); {
			count++
		}
	case KindObject:
		for c := v.Members(); c.Next(); {
			count++
		}
	}
	return count
}

// Members walks an object in document order; over anything else it ends at once.
func (v Value) Members() Members {
	if v.Kind() != KindObject {
		return Members{}
	}
	return Members{doc: v.doc, next: v.at + 1, end: v.node().next}
}

// Members is a walk over the members of an object. Call Next before each member.
type Members struct {
	doc           *Document
	at, next, end uint32
}

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	if m.next >= m.end {
		return false
	}
	m.at = m.next
	m.next = m.doc.nodes[m.at+1].next
	return true
}

// Key returns the decoded name of the member, good until the next call of a method of this document.
func (m *Members) Key() []byte { return m.doc.text(&m.doc.nodes[m.at], 0) }

// Value returns the value of the member.
func (m *Members) Value() Value { return Value{m.doc, m.at + 1} }

// Member returns a copy of the member.
func (m *Members) Member() Member {
	name := string(m.Key()) // a statement of its own: in one literal Raw may run before the copy, in the same scratch space
	return Member{Name: name, Value: m.Value().Raw()}
}

// Elements walks an array in order; over anything else it ends at once.
func (v Value) Elements() Elements {
	if v.Kind() != KindArray {
		return Elements{}
	}
	return Elements{doc: v.doc, next: v.at + 1, end: v.node().next}
}

// Elements is a walk over the elements of an array. Call Next before each element.
type Elements struct {
	doc           *Document
	at, next, end uint32
}

// Next goes to the next element and reports whether there is one.
func (e *Elements) Next() bool {
	if e.next >= e.end {
		return false
	}
	e.at = e.next
	e.next = e.doc.nodes[e.at].next
	return true
}

// Value returns the element.
func (e *Elements) Value() Value { return Value{e.doc, e.at} }

// intForm says what a number's spelling is as an integer.
type intForm uint8

const (
	intFits   intForm = iota // an integer that fits an int64
	intTooBig                // an integer that does not
	notInt                   // it has a fraction or an exponent
)

func parseInt(text []byte) (int64, intForm) {
	negative := len(text) > 0 && text[0] == '-'
	digits := text
	if negative {
		digits = text[1:]
	}
	var n uint64
	big := false
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, notInt
		}
		big = big || n > (math.MaxInt64-9)/10
		n = n*10 + uint64(c-'0')
	}
	if big {
		// Close to or beyond the end of int64: let the library decide.
		i, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return 0, intTooBig
		}
		return i, intFits
	}
	if negative {
		return -int64(n), intFits
	}
	return int64(n), intFits
}
