package canonical

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// maxInteger is MaxInteger in decimal, for comparing digits as text.
var maxInteger = strconv.FormatInt(MaxInteger, 10)

// plain holds the bytes that stand for themselves inside a string and need no further look.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// short maps the second byte of a two-character escape to the byte it stands for.
var short = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r'}

// shortOf is the reverse of short: the letter that escapes a byte, or 0.
var shortOf = func() (t [256]byte) {
	for letter, c := range short {
		if c != 0 {
			t[c] = byte(letter)
		}
	}
	return t
}()

const lowerHex = "0123456789abcdef"

// trailingBytes is the index of the lowest byte that m marks.
func trailingBytes(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// escapeLen is the length of the canonical escape that starts with the backslash at i, or 0.
func escapeLen(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	if short[b[i+1]] != 0 {
		return 2
	}
	if b[i+1] != 'u' || i+6 > len(b) || b[i+2] != '0' || b[i+3] != '0' || b[i+4] > '1' || b[i+4] < '0' {
		return 0
	}
	low, ok := hexDigit(b[i+5])
	if !ok || b[i+5]-'A' <= 5 || shortOf[(b[i+4]-'0')<<4|low] != 0 {
		return 0
	}
	return 6
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case (c|0x20)-'a' <= 5:
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}

// hex4 reads four hexadecimal digits of either case.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// runeLen is the length of the well-formed UTF-8 sequence at i, or 0.
func runeLen(b []byte, i int) int {
	c := b[i]
	switch {
	case c-0xC2 <= 0xDF-0xC2:
		if i+1 < len(b) && b[i+1]&0xC0 == 0x80 {
			return 2
		}
		return 0
	case c&0xF0 == 0xE0:
		if i+2 < len(b) && b[i+1]&0xC0 == 0x80 && b[i+2]&0xC0 == 0x80 &&
			(c != 0xE0 || b[i+1] >= 0xA0) && (c != 0xED || b[i+1] < 0xA0) {
			return 3
		}
		return 0
	}
	if r, n := utf8.DecodeRune(b[i:]); r != utf8.RuneError || n > 1 {
		return n
	}
	return 0
}

// keyByte decodes the byte of a canonical key that starts at i and returns it with the offset behind
// it. Escapes stand for bytes below 0x80 only; all else is itself, so order by bytes is order by
// Unicode scalar value.
func keyByte(k []byte, i int) (byte, int) {
	if k[i] != '\\' {
		return k[i], i + 1
	}
	if c := short[k[i+1]]; c != 0 {
		return c, i + 2
	}
	low, _ := hexDigit(k[i+5])
	return (k[i+4]-'0')<<4 | low, i + 6
}

// compareKeys orders two keys in canonical spelling by their decoded bytes.
func compareKeys(x, y []byte) int {
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		var c, d byte
		c, i = keyByte(x, i)
		d, j = keyByte(y, j)
		if c != d {
			if c < d {
				return -1
			}
			return 1
		}
	}
	switch {
	case j < len(y):
		return -1
	case i < len(x):
		return 1
	}
	return 0
}
