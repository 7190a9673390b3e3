package canonical

import "bytes"

// The functions here run once per refused text, so they look around for the most telling class.

func fail(at int, class Class, detail string) *Error {
	return &Error{Offset: at, Class: class, Detail: detail}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func spaceFault(at int) *Error {
	return fail(at, Whitespace, "no byte may stand between tokens")
}

func explainValue(b []byte, i int) *Error {
	switch c := b[i]; {
	case isSpace(c):
		return spaceFault(i)
	case c == 0xEF && i == 0 && bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		return fail(i, BOM, "the text must start with its value")
	case (c == '+' || c == '.') && i+1 < len(b) && b[i+1]-'0' <= 9:
		return fail(i, Number, "a number is digits with at most a minus sign in front")
	case c >= 0x80 && runeLen(b, i) == 0:
		return fail(i, UTF8, "this is not a well-formed UTF-8 sequence")
	}
	return fail(i, Syntax, "no value starts with this byte")
}

func explainTrailing(b []byte, i int) *Error {
	if len(bytes.TrimLeft(b[i:], " \t\r\n")) == 0 {
		return spaceFault(i)
	}
	return fail(i, Trailing, "a frame holds one value")
}

func explainAfter(b []byte, i int) *Error {
	if isSpace(b[i]) {
		return spaceFault(i)
	}
	return fail(i, Syntax, "a comma or the closing bracket belongs here")
}

func explainMember(b []byte, i int) *Error {
	if i < len(b) && isSpace(b[i]) {
		return spaceFault(i)
	}
	return fail(i, Syntax, "a key in quotation marks belongs here")
}

func explainColon(b []byte, i int) *Error {
	if i < len(b) && isSpace(b[i]) {
		return spaceFault(i)
	}
	return fail(i, Syntax, "a colon belongs behind the key")
}

// explainOrder tells a repeated key from a misplaced one: it reads the keys of the object again, from
// start up to the offending key at from.
func explainOrder(b []byte, start, from, to, order int) *Error {
	key := b[from:to]
	twin := order == 0
	for i := start; !twin && i < from-1; {
		end, _, _ := scanString(b, i+1)
		twin = compareKeys(b[i+1:end], key) == 0
		i = skipValue(b, end+2) + 1
	}
	if twin {
		return fail(from, DuplicateKey, "an earlier member of this object has the same key")
	}
	return fail(from, KeyOrder, "this key belongs in front of the one before it")
}

// skipValue returns the offset behind the value at i, in a text that was checked up to there.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			end, _, _ := scanString(b, i+1)
			i = end + 1
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			i++
		}
		if depth == 0 && (b[i-1] == '"' || b[i-1] == '}' || b[i-1] == ']') {
			return i
		}
	}
	return i
}

func explainEscape(b []byte, i int) *Error {
	if i+1 >= len(b) {
		return fail(i, Syntax, "the text ends inside an escape")
	}
	if c := b[i+1]; c != 'u' {
		if c == '/' {
			return fail(i, Escape, "a slash is written as itself")
		}
		return fail(i, Syntax, "JSON has no such escape")
	}
	r, ok := hex4(b[i+2:])
	switch {
	case !ok:
		return fail(i, Syntax, "four hexadecimal digits belong behind this")
	case r>>11 != 0xD800>>11:
		if r < 0x20 || r == '"' || r == '\\' {
			return fail(i, Escape, "this character has another escape, in lower case or shorter")
		}
		return fail(i, Escape, "this character is written as itself")
	case r < 0xDC00 && i+8 <= len(b) && b[i+6] == '\\' && b[i+7] == 'u':
		if low, ok := hex4(b[i+8:]); ok && low>>10 == 0xDC00>>10 {
			return fail(i, Escape, "this character is written as itself")
		}
	}
	return fail(i, Surrogate, "half a surrogate pair stands for no character")
}

// explainNumber judges the digits first to end behind an optional sign at start.
func explainNumber(b []byte, start, first, end int) *Error {
	switch {
	case first == end:
		return fail(start, Number, "digits belong behind the minus sign")
	case b[first] == '0' && end-first > 1:
		return fail(start, Number, "a number has no leading zero")
	case end < len(b) && b[end] == '.':
		return fail(start, Number, "a number has no fraction")
	case end < len(b) && b[end]|0x20 == 'e':
		return fail(start, Number, "a number has no exponent")
	case b[first] == '0':
		return fail(start, Number, "zero has no sign")
	}
	return fail(start, Number, "a number lies within plus or minus 9007199254740991")
}
