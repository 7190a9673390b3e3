package envelope

import (
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// SyntaxError is a payload of the feature wire that is not one JSON text.
type SyntaxError struct {
	Offset int
	Detail string // a constant phrase
}

// Error names the offset and what is wrong there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("feature wire json: byte %d: %s", e.Offset, e.Detail)
}

// scanner checks one JSON text in one pass and records the values of the named members of its root
// object. It takes all of RFC 8259: any white space, number, escape, order and repetition; nesting is
// bounded by the wire's limit, the root having level 0.
//
// The record has room for every name and a repetition, which is all that a reader needs: the first
// repetition settles the verdict.
type scanner struct {
	b      []byte
	i      int
	names  []string
	object bool
	others int // members of the root object with another name
	n      int
	found  [memberCount + 1]value
	open   bool // found[n-1] has no end yet
}

// value is the value of names[name], as offsets.
type value struct{ name, from, to int }

func (v value) of(b []byte) []byte { return b[v.from:v.to] }

const maxDepth = featurewire.MaxJSONDepth

func (s *scanner) fail(detail string) error { return &SyntaxError{Offset: s.i, Detail: detail} }

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// peek returns the next byte behind white space, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// scan has the outline of the canonical check: value, after, member. objects holds a bit for each open
// level, set for an object.
func (s *scanner) scan() error {
	var objects [maxDepth/64 + 1]uint64
	depth := 0

next:
	switch c := s.peek(); {
	case depth > maxDepth:
		return s.fail("too many arrays and objects enclose this value")
	case c == '{' || c == '[':
		if depth == 0 {
			s.object = c == '{'
		}
		s.i++
		bit := uint64(1) << (depth % 64)
		objects[depth/64] &^= bit
		if c == '{' {
			objects[depth/64] |= bit
		}
		if s.peek() == c+2 { // the closing bracket of either kind
			s.i++
			break
		}
		depth++
		if c == '{' {
			goto member
		}
		goto next
	case c == '"':
		if err := s.str(); err != nil {
			return err
		}
	case c == '-' || c-'0' <= 9:
		if err := s.number(); err != nil {
			return err
		}
	default:
		if err := s.word(); err != nil {
			return err
		}
	}

after:
	if depth == 0 {
		if s.peek() != 0 || s.i < len(s.b) {
			return s.fail("bytes stand behind the value")
		}
		return nil
	}
	{
		inObject := objects[(depth-1)/64]>>((depth-1)%64)&1 == 1
		if depth == 1 && inObject {
			s.close()
		}
		switch c := s.peek(); {
		case c == ',' && inObject:
			s.i++
			goto member
		case c == ',':
			s.i++
			goto next
		case c == '}' && inObject, c == ']' && !inObject:
			s.i++
			depth--
			goto after
		default:
			return s.fail("a comma or the closing bracket belongs here")
		}
	}

member:
	{
		if s.peek() != '"' {
			return s.fail("a key in quotation marks belongs here")
		}
		from := s.i + 1
		if err := s.str(); err != nil {
			return err
		}
		to := s.i - 1
		if s.peek() != ':' {
			return s.fail("a colon belongs behind the key")
		}
		s.i++
		s.space()
		if depth == 1 {
			s.record(s.b[from:to])
		}
		goto next
	}
}

// record notes a member of the root object whose value starts at s.i.
func (s *scanner) record(key []byte) {
	name := nameIndex(s.names, key)
	switch {
	case name < 0:
		s.others++
	case s.n < len(s.found):
		s.found[s.n] = value{name: name, from: s.i}
		s.n++
		s.open = true
	}
}

// close notes that the value of the member last recorded ends at s.i.
func (s *scanner) close() {
	if s.open {
		s.found[s.n-1].to = s.i
		s.open = false
	}
}

// str reads the string at s.i.
func (s *scanner) str() error {
	for s.i++; s.i < len(s.b); s.i++ {
		if s.i += wirejson.PlainRun(s.b[s.i:]); s.i == len(s.b) {
			break
		}
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.fail("a control character must be escaped")
		default:
			return s.fail("the text is not well-formed UTF-8")
		}
	}
	return s.fail("the text ends inside a string")
}

// escape reads the escape at s.i up to its last byte.
func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		return s.fail("JSON has no such escape")
	}
	switch s.b[s.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		s.i++
	default:
		return s.fail("JSON has no such escape")
	}
	for n := 1; n <= 4; n++ {
		if s.i+n >= len(s.b) || s.b[s.i+n]-'0' > 9 && (s.b[s.i+n]|0x20)-'a' > 5 {
			return s.fail("four hexadecimal digits belong behind this")
		}
	}
	s.i += 4
	return nil
}

// digits passes over digits and returns how many there were.
func (s *scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - from
}

func (s *scanner) next(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) number() error {
	s.next('-')
	if !s.next('0') && s.digits() == 0 {
		return s.fail("digits belong here")
	}
	if s.next('.') && s.digits() == 0 {
		return s.fail("digits belong behind the point")
	}
	if s.next('e') || s.next('E') {
		if !s.next('+') {
			s.next('-')
		}
		if s.digits() == 0 {
			return s.fail("digits belong into the exponent")
		}
	}
	return nil
}

func (s *scanner) word() error {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
			s.i += len(w)
			return nil
		}
	}
	return s.fail("no value starts here")
}
