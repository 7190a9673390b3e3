// Package spelling names every way in which the bytes of one frame depart from octet-canonical-json-v1.
//
// A codec needs only to accept or refuse. A referee has to say which rule was broken, so this scanner
// reads on behind a departure as long as the text can still be understood, and returns all of them.
package spelling

import (
	"fmt"
	"unicode/utf8"
)

// Class is one kind of departure. Each corresponds to one rule of the canonical wire.
type Class uint8

// The classes.
const (
	NotJSON         Class = iota // strict JSON does not have it; nothing behind it was read
	Empty                        // no bytes at all
	ByteOrderMark                // U+FEFF in front of the value
	InvalidUTF8                  // overlong, surrogate, truncated or out of range
	CarriageReturn               // the payload ends in CR
	MoreValues                   // something follows the value
	WhiteSpace                   // outside a string
	KeyOrder                     // a member whose key is below the one in front of it
	DuplicateKey                 // a key that its object already has, after unescaping
	ShortEscape                  // a character with a two-character escape is spelled otherwise
	ControlEscape                // another control character is raw or not \u00 with lower-case digits
	NeedlessEscape               // an escape of a character that is written as itself
	LoneSurrogate                // an escape of half a surrogate pair
	Fraction                     // a number with a decimal point
	Exponent                     // a number with an exponent
	NegativeZero                 // -0
	IntegerTooLarge              // outside the portable range
	TooDeep                      // more containers around a value than the bound
)

var classNames = [...]string{
	"not JSON", "empty line", "byte order mark", "invalid UTF-8", "carriage return", "more than one value", "white space outside strings",
	"member order", "duplicate key", "escape that must be a short one", "control character not in \\u00xx form", "needless escape",
	"lone surrogate", "fraction", "exponent", "negative zero", "number outside the portable range", "nesting too deep",
}

// String is a short phrase.
func (c Class) String() string { return classNames[c] }

// Departure is one place where the bytes differ from the canonical spelling.
type Departure struct {
	Class  Class
	Offset int    // byte offset in the payload
	Detail string // what stands there
}

// Error makes a Departure usable as an error.
func (d Departure) Error() string {
	if d.Detail == "" {
		return fmt.Sprintf("%s at byte %d", d.Class, d.Offset)
	}
	return fmt.Sprintf("%s at byte %d: %s", d.Class, d.Offset, d.Detail)
}

// maxDepartures bounds the answer: a frame that is wrong in every byte needs no list of all of them.
const maxDepartures = 64

// Check returns the departures of one payload (line feed not included) in byte order of discovery, at
// most 64. No departure means the payload is canonical. A value may be enclosed by at most depth
// containers. The scanner is iterative in nothing but the depth it allows: text nested more than four
// times deeper is reported as NotJSON.
func Check(payload []byte, depth int) []Departure {
	s := scanner{text: payload, depth: depth}
	s.run()
	return s.found
}

type scanner struct {
	text  []byte
	pos   int
	depth int
	found []Departure
}

func (s *scanner) add(c Class, offset int, format string, args ...any) {
	if len(s.found) < maxDepartures {
		s.found = append(s.found, Departure{Class: c, Offset: offset, Detail: fmt.Sprintf(format, args...)})
	}
}

func (s *scanner) run() {
	if len(s.text) == 0 {
		s.add(Empty, 0, "")
		return
	}
	s.utf8()
	if n := len(s.text); s.text[n-1] == '\r' {
		s.add(CarriageReturn, n-1, "")
		s.text = s.text[:n-1]
	}
	if len(s.text) >= 3 && s.text[0] == 0xEF && s.text[1] == 0xBB && s.text[2] == 0xBF {
		s.add(ByteOrderMark, 0, "")
		s.pos = 3
	}
	s.space()
	if s.pos == len(s.text) {
		if len(s.found) == 0 {
			s.add(Empty, 0, "")
		}
		return
	}
	if !s.value(0) {
		return
	}
	s.space()
	if s.pos < len(s.text) {
		s.add(MoreValues, s.pos, "%s", s.excerpt())
	}
}

func (s *scanner) utf8() {
	for i := 0; i < len(s.text); {
		if s.text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && n == 1 {
			s.add(InvalidUTF8, i, "byte 0x%02X", s.text[i])
			return
		}
		i += n
	}
}

func (s *scanner) space() {
	start := s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
			continue
		}
		break
	}
	if s.pos > start {
		s.add(WhiteSpace, start, "")
	}
}

// excerpt quotes the next few bytes.
func (s *scanner) excerpt() string {
	rest := s.text[s.pos:]
	if len(rest) > 16 {
		rest = rest[:16]
	}
	return fmt.Sprintf("%q", rest)
}

func (s *scanner) fail(what string) bool {
	if s.pos >= len(s.text) {
		s.add(NotJSON, s.pos, "%s expected, the text ends", what)
	} else {
		s.add(NotJSON, s.pos, "%s expected, found %s", what, s.excerpt())
	}
	return false
}

// value reads one value that level containers enclose. It returns false when nothing behind it can be
// read.
func (s *scanner) value(level int) bool {
	if level == s.depth+1 {
		s.add(TooDeep, s.pos, "%d containers around a value", level)
	}
	if level > 4*s.depth {
		s.add(NotJSON, s.pos, "%d containers around a value", level)
		return false
	}
	if s.pos >= len(s.text) {
		return s.fail("a value")
	}
	switch c := s.text[s.pos]; {
	case c == '{':
		return s.object(level)
	case c == '[':
		return s.array(level)
	case c == '"':
		_, ok := s.str()
		return ok
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s.text)-s.pos >= len(word) && string(s.text[s.pos:s.pos+len(word)]) == word {
			s.pos += len(word)
			return true
		}
	}
	return s.fail("a value")
}

func (s *scanner) object(level int) bool {
	s.pos++
	seen := map[string]bool{}
	last, first := "", true
	s.space()
	if s.at('}') {
		return true
	}
	for {
		if s.pos >= len(s.text) || s.text[s.pos] != '"' {
			return s.fail("a member name")
		}
		start := s.pos
		key, ok := s.str()
		if !ok {
			return false
		}
		switch {
		case seen[key]:
			s.add(DuplicateKey, start, "%q", key)
		case !first && key < last:
			s.add(KeyOrder, start, "%q behind %q", key, last)
		}
		if first || key > last {
			last = key
		}
		seen[key], first = true, false
		s.space()
		if !s.at(':') {
			return s.fail("a colon")
		}
		s.space()
		if !s.value(level + 1) {
			return false
		}
		s.space()
		if s.at('}') {
			return true
		}
		if !s.at(',') {
			return s.fail("a comma or the end of the object")
		}
		s.space()
	}
}

func (s *scanner) array(level int) bool {
	s.pos++
	s.space()
	if s.at(']') {
		return true
	}
	for {
		if !s.value(level + 1) {
			return false
		}
		s.space()
		if s.at(']') {
			return true
		}
		if !s.at(',') {
			return s.fail("a comma or the end of the array")
		}
		s.space()
	}
}

func (s *scanner) at(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}
