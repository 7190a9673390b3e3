package spelling

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// shortEscapes are the characters that have a two-character escape.
const shortEscapes = "\"\\\b\t\n\f\r"

// str reads a string and returns its decoded text. Half surrogates decode to U+FFFD, which is enough to
// compare keys of text that is refused anyway.
func (s *scanner) str() (string, bool) {
	s.pos++
	var text []byte
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == '"':
			s.pos++
			return string(text), true
		case c == '\\':
			r, ok := s.escape()
			if !ok {
				return "", false
			}
			text = utf8.AppendRune(text, r)
		case c < ' ':
			s.add(controlClass(rune(c)), s.pos, "raw control character 0x%02X", c)
			text = append(text, c)
			s.pos++
		default:
			text = append(text, c)
			s.pos++
		}
	}
	return "", s.fail("the end of a string")
}

func controlClass(r rune) Class {
	if bytes.ContainsRune([]byte(shortEscapes), r) {
		return ShortEscape
	}
	return ControlEscape
}

func (s *scanner) escape() (rune, bool) {
	start := s.pos
	s.pos++
	if s.pos >= len(s.text) {
		return 0, s.fail("an escape")
	}
	c := s.text[s.pos]
	if c == 'u' {
		s.pos--
		return s.unicodeEscape()
	}
	s.pos++
	switch c {
	case '"', '\\':
		return rune(c), true
	case 'b':
		return '\b', true
	case 't':
		return '\t', true
	case 'n':
		return '\n', true
	case 'f':
		return '\f', true
	case 'r':
		return '\r', true
	case '/':
		s.add(NeedlessEscape, start, `\/`)
		return '/', true
	}
	s.pos = start
	return 0, s.fail("an escape")
}

// unicodeEscape reads \uXXXX, and the second half of a pair if there is one.
func (s *scanner) unicodeEscape() (rune, bool) {
	start := s.pos
	r, ok := s.hex4()
	if !ok {
		return 0, false
	}
	digits := string(s.text[start+2 : start+6])
	switch {
	case utf16.IsSurrogate(r):
		return s.surrogate(start, r)
	case bytes.ContainsRune([]byte(shortEscapes), r):
		s.add(ShortEscape, start, `\u%s`, digits)
	case r < ' ':
		if !lowerHex(digits) {
			s.add(ControlEscape, start, `\u%s`, digits)
		}
	default:
		s.add(NeedlessEscape, start, `\u%s`, digits)
	}
	return r, true
}

func (s *scanner) surrogate(start int, first rune) (rune, bool) {
	if first < 0xDC00 && bytes.HasPrefix(s.text[s.pos:], []byte(`\u`)) {
		back := s.pos
		second, ok := s.hex4()
		if !ok {
			return 0, false
		}
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			s.add(NeedlessEscape, start, "escaped surrogate pair")
			return pair, true
		}
		s.pos = back
	}
	s.add(LoneSurrogate, start, `\u%04x`, first)
	return utf8.RuneError, true
}

// hex4 reads \uXXXX at the position and moves behind it.
func (s *scanner) hex4() (rune, bool) {
	if len(s.text)-s.pos < 6 {
		return 0, s.fail("four hexadecimal digits")
	}
	n, err := strconv.ParseUint(string(s.text[s.pos+2:s.pos+6]), 16, 16)
	if err != nil {
		return 0, s.fail("four hexadecimal digits")
	}
	s.pos += 6
	return rune(n), true
}

func lowerHex(digits string) bool {
	for _, c := range digits {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	return true
}

// maxPortable is the largest integer that every reader keeps exactly.
const maxPortable = 1<<53 - 1

func (s *scanner) number() bool {
	start := s.pos
	s.at('-')
	digits := s.digits()
	if digits == 0 {
		return s.fail("a digit")
	}
	if digits > 1 && s.text[s.pos-digits] == '0' {
		s.pos -= digits
		return s.fail("a number without a leading zero")
	}
	whole := true
	if s.pos < len(s.text) && s.text[s.pos] == '.' {
		s.add(Fraction, s.pos, "")
		s.pos++
		whole = false
		if s.digits() == 0 {
			return s.fail("a digit")
		}
	}
	if s.pos < len(s.text) && (s.text[s.pos] == 'e' || s.text[s.pos] == 'E') {
		s.add(Exponent, s.pos, "")
		s.pos++
		whole = false
		if !s.at('+') {
			s.at('-')
		}
		if s.digits() == 0 {
			return s.fail("a digit")
		}
	}
	if whole {
		s.integer(start)
	}
	return true
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *scanner) integer(start int) {
	text := string(s.text[start:s.pos])
	if text == "-0" {
		s.add(NegativeZero, start, "")
		return
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxPortable || n < -maxPortable {
		if len(text) > 24 {
			text = text[:24] + "..."
		}
		s.add(IntegerTooLarge, start, "%s", text)
	}
}
