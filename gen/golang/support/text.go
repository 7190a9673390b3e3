package wirejson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// loneSurrogate is the size that readEscape returns for half a surrogate pair.
const loneSurrogate = -1

// short reports whether c behind a backslash is an escape of its own.
func short(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// readEscape reads the escape at the start of s, a surrogate pair counting as one, and returns its
// character and length.
func readEscape(s []byte) (r rune, size int, ok bool) {
	if len(s) < 2 {
		return 0, 0, false
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2, true
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
	default:
		return 0, 0, false
	}
	r, ok = hex4(s[2:])
	if !ok {
		return 0, 0, false
	}
	if !utf16.IsSurrogate(r) {
		return r, 6, true
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, ok := hex4(s[8:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12, true
			}
		}
	}
	return 0, loneSurrogate, false
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends the decoded text of s, the inside of a string that the parser accepted.
func appendUnescaped(dst, s []byte) []byte {
	for {
		run := bytes.IndexByte(s, '\\')
		if run < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:run]...)
		r, size, ok := readEscape(s[run:])
		if !ok {
			return dst
		}
		dst = utf8.AppendRune(dst, r)
		s = s[run+size:]
	}
}

// appendEscaped appends the canonical spelling of one character inside a string.
func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r < 0x20 {
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// plain reports whether a byte of valid UTF-8 text stands for itself inside a canonical string.
func plain(c byte) bool { return c >= 0x20 && c != '"' && c != '\\' }

// AppendString appends the canonical spelling of s as a JSON string. Bytes that are no valid UTF-8 are
// written as U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst, _ = appendString(dst, []byte(s))
	return dst
}

// appendString reports whether s is valid UTF-8. It must neither change s nor let it escape: that is what spares
// AppendString the copy of a string.
func appendString(dst, s []byte) (text []byte, valid bool) {
	dst, valid = append(dst, '"'), true
	for {
		run := PlainRun(s)
		dst = append(dst, s[:run]...)
		if run == len(s) {
			return append(dst, '"'), valid
		}
		c := rune(s[run])
		if c >= utf8.RuneSelf {
			c, valid = utf8.RuneError, false
		}
		dst = appendEscaped(dst, c)
		s = s[run+1:]
	}
}

// stringLen returns the length of the canonical spelling of the decoded text s.
func stringLen(s []byte) int {
	n := 2 + len(s)
	for _, c := range s {
		switch c {
		case '"', '\\', '\b', '\f', '\n', '\r', '\t':
			n++
		default:
			if c < 0x20 {
				n += 5
			}
		}
	}
	return n
}

// maxQuoted bounds the part of a peer's text that an error message repeats.
const maxQuoted = 64

// quote returns s quoted for a message, cut where it is long.
func quote[T ~string | ~[]byte](s T) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(string(s))
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(string(s[:cut])) + "..."
}
