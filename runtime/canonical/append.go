package canonical

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/wirejson"
)

// AppendString appends s to dst as a JSON string in canonical spelling. Ill-formed UTF-8 in s, which
// the wire cannot carry, becomes U+FFFD. Neither s nor more than the end of dst is kept or changed.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	return wirejson.AppendString(dst, s)
}

func appendEscape(dst []byte, c byte) []byte {
	if letter := shortOf[c]; letter != 0 {
		return append(dst, '\\', letter)
	}
	return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
}

// AppendKey appends key and the colon behind it. The caller sees to the comma and to the order.
func AppendKey(dst []byte, key string) []byte {
	return append(AppendString(dst, key), ':')
}

// AppendInt appends n. It must lie within plus or minus MaxInteger; the wire has no spelling for
// others, so they panic: such a number is a mistake of the caller, never of a peer.
func AppendInt(dst []byte, n int64) []byte {
	if n > MaxInteger || n < -MaxInteger {
		panic("canonical: integer " + strconv.FormatInt(n, 10) + " lies outside the portable range")
	}
	return strconv.AppendInt(dst, n, 10)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, "null"...) }

// Append appends the canonical spelling of text, which may be any strict JSON text: white space,
// any member order and any escape are legal in it, and -0 becomes 0; repeated keys, half surrogate
// pairs, ill-formed UTF-8, numbers that are not portable integers in plain spelling and more than
// MaxDepth levels are not. On a refusal it returns dst as it was and an *Error with the offset in text.
func Append(dst, text []byte) ([]byte, error) {
	if check(text, nil) == nil {
		return append(dst, text...), nil
	}
	w := writer{in: text, out: dst}
	w.space()
	e := w.value(0)
	if e == nil {
		if w.space(); w.i != len(text) {
			e = fail(w.i, Trailing, "a text holds one value")
		}
	}
	if e != nil {
		return dst, e
	}
	return w.out, nil
}

// writer rewrites one text. It is at in[i].
type writer struct {
	in  []byte
	i   int
	out []byte
}

func (w *writer) space() {
	for w.i < len(w.in) && isSpace(w.in[w.i]) {
		w.i++
	}
}

// take skips white space and consumes c if it comes next.
func (w *writer) take(c byte) bool {
	w.space()
	if w.i < len(w.in) && w.in[w.i] == c {
		w.i++
		return true
	}
	return false
}

// value rewrites the value at w.i, which no white space precedes.
func (w *writer) value(depth int) *Error {
	if depth > MaxDepth {
		return fail(w.i, Depth, "too many arrays and objects enclose this value")
	}
	if w.i >= len(w.in) {
		return fail(w.i, Syntax, "the text ends where a value belongs")
	}
	rest := w.in[w.i:]
	switch c := rest[0]; {
	case c == '"':
		return w.str()
	case c == '{':
		return w.object(depth)
	case c == '[':
		return w.array(depth)
	case c-'0' <= 9 || c == '-':
		return w.number()
	case hasPrefix(rest, "true"), hasPrefix(rest, "null"):
		w.literal(4)
	case hasPrefix(rest, "false"):
		w.literal(5)
	default:
		return explainValue(w.in, w.i)
	}
	return nil
}

func (w *writer) number() *Error {
	if rest := w.in[w.i:]; hasPrefix(rest, "-0") && (len(rest) == 2 || bytes.IndexByte([]byte(".eE0123456789"), rest[2]) < 0) {
		w.i++
	}
	end, e := scanNumber(w.in, w.i)
	if e != nil {
		return e
	}
	w.literal(end - w.i)
	return nil
}

func (w *writer) literal(n int) {
	w.out = append(w.out, w.in[w.i:w.i+n]...)
	w.i += n
}

func (w *writer) array(depth int) *Error {
	w.i++
	w.out = append(w.out, '[')
	if w.take(']') {
		w.out = append(w.out, ']')
		return nil
	}
	for {
		w.space()
		if e := w.value(depth + 1); e != nil {
			return e
		}
		switch {
		case w.take(','):
			w.out = append(w.out, ',')
		case w.take(']'):
			w.out = append(w.out, ']')
			return nil
		default:
			return w.unexpected("a comma or the closing bracket belongs here")
		}
	}
}

// member is one member in w.out: its key between the quotation marks, and all of it.
type member struct{ from, keyTo, to, source int }

// object writes the members as they come and sorts them afterwards if they were not ascending.
func (w *writer) object(depth int) *Error {
	w.i++
	w.out = append(w.out, '{')
	if w.take('}') {
		w.out = append(w.out, '}')
		return nil
	}
	var room [16]member
	members := room[:0]
	sorted := true
	for {
		w.space()
		m := member{from: len(w.out), source: w.i}
		if w.i >= len(w.in) || w.in[w.i] != '"' {
			return w.unexpected("a key in quotation marks belongs here")
		}
		if e := w.str(); e != nil {
			return e
		}
		m.keyTo = len(w.out)
		if !w.take(':') {
			return w.unexpected("a colon belongs behind the key")
		}
		w.out = append(w.out, ':')
		w.space()
		if e := w.value(depth + 1); e != nil {
			return e
		}
		m.to = len(w.out)
		if n := len(members); n > 0 && w.compare(members[n-1], m) >= 0 {
			sorted = false
		}
		members = append(members, m)
		if w.take('}') {
			break
		}
		if !w.take(',') {
			return w.unexpected("a comma or the closing bracket belongs here")
		}
		w.out = append(w.out, ',')
	}
	if !sorted {
		if e := w.sort(members); e != nil {
			return e
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *writer) compare(x, y member) int {
	return compareKeys(w.out[x.from+1:x.keyTo-1], w.out[y.from+1:y.keyTo-1])
}

// sort puts the members, the last bytes of w.out, in order.
func (w *writer) sort(members []member) *Error {
	start := members[0].from
	slices.SortStableFunc(members, w.compare)
	for n := 1; n < len(members); n++ {
		if w.compare(members[n-1], members[n]) == 0 {
			return fail(members[n].source, DuplicateKey, "an earlier member of this object has the same key")
		}
	}
	old := bytes.Clone(w.out[start:])
	w.out = w.out[:start]
	for n, m := range members {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, old[m.from-start:m.to-start]...)
	}
	return nil
}

func (w *writer) unexpected(detail string) *Error { return fail(w.i, Syntax, detail) }

// str rewrites the string at w.i.
func (w *writer) str() *Error {
	w.i++
	w.out = append(w.out, '"')
	for {
		from := w.i
		for w.i < len(w.in) && plain[w.in[w.i]] {
			w.i++
		}
		w.out = append(w.out, w.in[from:w.i]...)
		if w.i >= len(w.in) {
			return fail(w.i, Syntax, "the text ends inside a string")
		}
		switch c := w.in[w.i]; {
		case c == '"':
			w.i++
			w.out = append(w.out, '"')
			return nil
		case c == '\\':
			if e := w.escape(); e != nil {
				return e
			}
		case c >= 0x80:
			n := runeLen(w.in, w.i)
			if n == 0 {
				return fail(w.i, UTF8, "this is not a well-formed UTF-8 sequence")
			}
			w.literal(n)
		default:
			return fail(w.i, Control, "a control character must be escaped")
		}
	}
}

// escape rewrites the escape at w.i.
func (w *writer) escape() *Error {
	if n := escapeLen(w.in, w.i); n != 0 {
		w.literal(n)
		return nil
	}
	switch e := explainEscape(w.in, w.i); {
	case e.Class != Escape:
		return e
	case w.in[w.i+1] == '/':
		w.out = append(w.out, '/')
		w.i += 2
		return nil
	}
	r, _ := hex4(w.in[w.i+2:])
	w.i += 6
	if r>>10 == 0xD800>>10 {
		low, _ := hex4(w.in[w.i+2:])
		r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		w.i += 6
	}
	if r < utf8.RuneSelf && !plain[r] {
		w.out = appendEscape(w.out, byte(r))
		return nil
	}
	w.out = utf8.AppendRune(w.out, r)
	return nil
}
