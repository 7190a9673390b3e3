package envelope

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/octet-dev/octet/runtime/canonical"
)

// canonicalString returns the canonical spelling of a JSON string: text itself where nothing in it
// is escaped or the wire allows no other spelling. It reports false for half a surrogate pair.
func canonicalString(text []byte, closed bool) ([]byte, bool) {
	if closed || bytes.IndexByte(text, '\\') < 0 {
		return text, true
	}
	s, err := canonical.Append(nil, text)
	return s, err == nil
}

// sameString reports whether two JSON strings say the same.
func sameString(text []byte, want string) bool {
	s, ok := canonicalString(text, false)
	return ok && string(s) == want
}

// nameIndex returns the index of a key, which may be spelled with escapes, among names, or -1.
func nameIndex(names []string, key []byte) int {
	for k, name := range names {
		if string(key) == name {
			return k
		}
	}
	if bytes.IndexByte(key, '\\') < 0 {
		return -1
	}
	s, err := canonical.Append(nil, append(append([]byte{'"'}, key...), '"'))
	if err != nil {
		return -1
	}
	return slices.Index(names, string(decoded(s)))
}

// decodedLen is the length in bytes of what a string in canonical spelling stands for.
func decodedLen(s []byte) int {
	n := len(s) - 2
	for i := 1; i < len(s)-1; i++ {
		if s[i] != '\\' {
			continue
		}
		if s[i+1] == 'u' {
			n -= 4
			i += 4
		}
		n--
		i++
	}
	return n
}

// decoded returns what a string in canonical spelling stands for: a slice of it where nothing is
// escaped.
func decoded(s []byte) []byte {
	s = s[1 : len(s)-1]
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'f':
			out = append(out, '\f')
		case 'r':
			out = append(out, '\r')
		case 'u':
			out = append(out, hexValue(s[i+3])<<4|hexValue(s[i+4]))
			i += 4
		default:
			out = append(out, s[i])
		}
	}
	return out
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}

// Unquote returns the text of a sound JSON string, such as Envelope.Message. Half a surrogate pair
// becomes U+FFFD, because the text is for people.
func Unquote(text []byte) string {
	if s, ok := canonicalString(text, false); ok {
		return string(decoded(s))
	}
	return string(bytes.ToValidUTF8(text, []byte(string(utf8.RuneError))))
}

// isUnsigned reports digits that fit 64 bits, without a fraction, an exponent or a sign.
func isUnsigned(text []byte) bool {
	const greatest = "18446744073709551615"
	for _, c := range text {
		if c-'0' > 9 {
			return false
		}
	}
	return len(text) < len(greatest) || len(text) == len(greatest) && string(text) <= greatest
}
