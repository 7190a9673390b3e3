package wirejson

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// Kind is the JSON type of a value.
type Kind uint8

// The JSON types.
const (
	KindInvalid Kind = iota // no value: the zero Value
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String names the type for messages; "nothing" is an absent value.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// node is one value, or the key of a member, in document order. A container is followed by its content,
// in an object key and value in turn; next is the index behind all of it.
type node struct {
	start, end uint32 // the text in the source; of a string, without its quotes
	next       uint32
	kind       Kind
	escaped    bool // a string whose text holds escapes
	canonical  bool // the text is the canonical spelling of the value
}

// Document is one parsed JSON text. It borrows the bytes it was parsed from and is used by one goroutine
// at a time.
type Document struct {
	src    []byte
	nodes  []node
	borrow bool // see Borrow

	// Scratch space of the parser and the validator, kept between uses.
	keys  []uint32
	slots []uint32
	steps []step
	key   [2][]byte
}

var documents = sync.Pool{New: func() any { return new(Document) }}

// maxPooledNodes keeps a document that once held a giant frame from staying in memory.
const maxPooledNodes = 4096

// DefaultMaxDepth is the deepest level of a value, the root having level 0, where a wire sets no bound of
// its own.
const DefaultMaxDepth = 128

// Parse reads src as exactly one strict JSON text: valid UTF-8, no lone surrogate, no member twice in an
// object, nothing but white space around the value, no value at a level above maxDepth (the root has
// level 0). The document borrows src until Release, which the caller owes. The error is a *SyntaxError.
func Parse(src []byte, maxDepth int) (*Document, error) {
	d := documents.Get().(*Document)
	d.src, d.nodes, d.borrow = src, d.nodes[:0], false
	p := parser{doc: d, src: src, maxDepth: maxDepth}
	if !p.text() {
		d.Release()
		return nil, p.err
	}
	return d, nil
}

// Release gives the document back for reuse. No value of it may be used afterwards.
func (d *Document) Release() {
	d.src = nil
	if cap(d.nodes) > maxPooledNodes {
		return
	}
	documents.Put(d)
}

// Borrow has Value.Raw return a part of the source itself where it is spelled canonically, in place of a copy: for
// who does not keep what it decodes beyond Release and beyond the source.
func (d *Document) Borrow() { d.borrow = true }

// Root returns the value of the text.
func (d *Document) Root() Value { return Value{d, 0} }

type parser struct {
	doc      *Document
	src      []byte
	pos      int
	maxDepth int
	err      *SyntaxError
}

func (p *parser) fail(offset int, detail string) bool {
	p.err = &SyntaxError{Offset: offset, Detail: detail}
	return false
}

func (p *parser) text() bool {
	if uint64(len(p.src)) >= math.MaxUint32 {
		return p.fail(0, "the text is longer than this reader can address; send less")
	}
	p.space()
	if !p.value(0) {
		return false
	}
	p.space()
	if p.pos < len(p.src) {
		return p.fail(p.pos, "data behind the value; send one value")
	}
	return true
}

// space skips white space and reports whether there was any.
func (p *parser) space() bool {
	start := p.pos
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return p.pos > start
		}
	}
	return p.pos > start
}

func (p *parser) value(level int) bool {
	if p.pos >= len(p.src) {
		return p.fail(p.pos, "the text ends where a value is due; send all of it")
	}
	if level > p.maxDepth {
		return p.fail(p.pos, "nested too deep; flatten the value")
	}
	switch c := p.src[p.pos]; c {
	case '{':
		return p.object(level)
	case '[':
		return p.array(level)
	case '"':
		return p.string()
	case 't':
		return p.literal("true", KindBool)
	case 'f':
		return p.literal("false", KindBool)
	case 'n':
		return p.literal("null", KindNull)
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return p.number()
		}
		return p.fail(p.pos, "no JSON value starts here; send a value")
	}
}

// add appends a node that ends at the reader's position.
func (p *parser) add(n node) {
	n.next = uint32(len(p.doc.nodes)) + 1
	p.doc.nodes = append(p.doc.nodes, n)
}

func (p *parser) literal(word string, kind Kind) bool {
	start := p.pos
	if len(p.src)-start < len(word) || string(p.src[start:start+len(word)]) != word {
		return p.fail(start, "no JSON literal; write true, false or null")
	}
	p.pos += len(word)
	p.add(node{start: uint32(start), end: uint32(p.pos), kind: kind, canonical: true})
	return true
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) number() bool {
	start := p.pos
	const bad = "no JSON number; write digits without leading zero, then an optional fraction and exponent"
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !p.digits() {
		return p.fail(start, bad)
	}
	if p.peek() == '.' {
		p.pos++
		if !p.digits() {
			return p.fail(start, bad)
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !p.digits() {
			return p.fail(start, bad)
		}
	}
	if c := p.peek(); '0' <= c && c <= '9' {
		return p.fail(start, bad)
	}
	p.add(node{start: uint32(start), end: uint32(p.pos), kind: KindNumber, canonical: true})
	return true
}

// string reads a string or a key, from its opening quote to behind its closing one.
func (p *parser) string() bool {
	p.pos++
	start := p.pos
	n := node{start: uint32(start), kind: KindString, canonical: true}
	for {
		p.pos += PlainRun(p.src[p.pos:])
		if p.pos == len(p.src) {
			return p.fail(start-1, "a string without its closing quote; send all of it")
		}
		switch c := p.src[p.pos]; {
		case c == '"':
			n.end = uint32(p.pos)
			p.pos++
			p.add(n)
			return true
		case c == '\\':
			n.escaped = true
			if !p.escape(&n.canonical) {
				return false
			}
		case c < 0x20:
			return p.fail(p.pos, "a control character inside a string; escape it")
		default:
			return p.fail(p.pos, "no valid UTF-8; encode text as UTF-8")
		}
	}
}

// escape reads one escape, or a surrogate pair of them, and clears canonical where the canonical
// spelling of the character is another one.
func (p *parser) escape(canonical *bool) bool {
	start := p.pos
	if start+1 < len(p.src) && short(p.src[start+1]) {
		p.pos += 2
		*canonical = *canonical && p.src[start+1] != '/'
		return true
	}
	r, size, ok := readEscape(p.src[start:])
	if !ok {
		if size == loneSurrogate {
			return p.fail(start, "a surrogate escape without its other half; escape both or write the character itself")
		}
		return p.fail(start, "no legal escape; write \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t or \\u and four hex digits")
	}
	p.pos += size
	if *canonical {
		var buf [utf8.UTFMax + 4]byte
		*canonical = bytes.Equal(appendEscaped(buf[:0], r), p.src[start:p.pos])
	}
	return true
}

func (p *parser) array(level int) bool {
	at, start := len(p.doc.nodes), p.pos
	p.pos++
	p.add(node{start: uint32(start), kind: KindArray})
	canonical := !p.space()
	for first := true; ; first = false {
		if p.peek() == ']' && first {
			break
		}
		item := len(p.doc.nodes)
		if !p.value(level + 1) {
			return false
		}
		canonical = canonical && p.doc.nodes[item].canonical
		canonical = !p.space() && canonical
		if p.peek() == ']' {
			break
		}
		if p.peek() != ',' {
			return p.fail(p.pos, "no comma or closing bracket behind an element; write one")
		}
		p.pos++
		canonical = !p.space() && canonical
	}
	p.close(at, canonical)
	return true
}

// close ends the container whose node is at.
func (p *parser) close(at int, canonical bool) {
	p.pos++
	n := &p.doc.nodes[at]
	n.end, n.next, n.canonical = uint32(p.pos), uint32(len(p.doc.nodes)), canonical
}

func (p *parser) object(level int) bool {
	at, start := len(p.doc.nodes), p.pos
	p.pos++
	p.add(node{start: uint32(start), kind: KindObject})
	canonical := !p.space()
	ascending, last, count := true, 0, 0
	for {
		if p.peek() == '}' && count == 0 {
			break
		}
		if p.peek() != '"' {
			return p.fail(p.pos, "no member name; write a string")
		}
		key := len(p.doc.nodes)
		if !p.string() {
			return false
		}
		if count > 0 && ascending && p.doc.compareKeys(last, key) >= 0 {
			ascending = false
		}
		canonical = canonical && p.doc.nodes[key].canonical
		last = key
		count++
		canonical = !p.space() && canonical
		if p.peek() != ':' {
			return p.fail(p.pos, "no colon behind a member name; write one")
		}
		p.pos++
		canonical = !p.space() && canonical
		item := len(p.doc.nodes)
		if !p.value(level + 1) {
			return false
		}
		canonical = canonical && p.doc.nodes[item].canonical
		canonical = !p.space() && canonical
		if p.peek() == '}' {
			break
		}
		if p.peek() != ',' {
			return p.fail(p.pos, "no comma or closing brace behind a member; write one")
		}
		p.pos++
		canonical = !p.space() && canonical
	}
	p.close(at, canonical && ascending)
	return ascending || p.distinct(at, count)
}

// distinct refuses an object that has a member twice. Only objects whose members are out of order get
// here: ascending members cannot repeat.
func (p *parser) distinct(at, count int) bool {
	keys := p.doc.sortedKeys(uint32(at), count)
	defer func() { p.doc.keys = p.doc.keys[:0] }()
	for i := 1; i < len(keys); i++ {
		if p.doc.compareKeys(int(keys[i-1]), int(keys[i])) == 0 {
			later := p.doc.nodes[max(keys[i-1], keys[i])]
			return p.fail(int(later.start)-1, "the member "+quote(p.doc.text(&later, 0))+" comes twice; send it once")
		}
	}
	return true
}

// sortedKeys returns the key nodes of the object at, ascending by name. They lie on top of d.keys, which
// the caller cuts back.
func (d *Document) sortedKeys(at uint32, count int) []uint32 {
	base := len(d.keys)
	d.keys = slices.Grow(d.keys, count)
	for i := at + 1; i < d.nodes[at].next; i = d.nodes[i+1].next {
		d.keys = append(d.keys, i)
	}
	keys := d.keys[base:]
	slices.SortFunc(keys, func(a, b uint32) int { return d.compareKeys(int(a), int(b)) })
	return keys
}

func (d *Document) compareKeys(a, b int) int {
	return bytes.Compare(d.text(&d.nodes[a], 0), d.text(&d.nodes[b], 1))
}

// text returns the decoded text of a string node. The result is the source itself or, where there are
// escapes, scratch space number which, good until its next use.
func (d *Document) text(n *node, which int) []byte {
	s := d.src[n.start:n.end]
	if !n.escaped {
		return s
	}
	d.key[which] = appendUnescaped(d.key[which][:0], s)
	return d.key[which]
}
