// Package canonical reads and writes octet-canonical-json-v1, the encoding in which a JSON value has
// exactly one spelling: members ascending by the UTF-8 bytes of their decoded keys, no white space,
// the shortest escapes, portable integers only, at most MaxDepth levels.
//
// Check decides in one pass, without building a value or writing the text again, and allocates
// nothing for a text it accepts. Outline does the same and also reports where the members of the
// root object are, so that an envelope needs no second pass. Append and its narrower sisters write.
package canonical

import (
	"bytes"
	"encoding/binary"
	"math"
)

// MaxMembers is how many members of the root object an Outline can hold. The envelopes of the wire
// have at most five.
const MaxMembers = 8

// Member is one member of the root object, as offsets into the checked text. The key lies between
// its quotation marks and is still escaped.
type Member struct {
	KeyStart, KeyEnd     int
	ValueStart, ValueEnd int
}

// Outline is the shape of a root object.
type Outline struct {
	Object  bool // the root is an object
	N       int  // its members; those from MaxMembers on are counted but not recorded
	Members [MaxMembers]Member
}

// Check reports whether b, a payload without its LF, is the canonical spelling of one JSON value.
// A refusal is an *Error. Accepting allocates nothing; time is linear in len(b). Check neither keeps
// nor changes b.
func Check(b []byte) error {
	if e := check(b, nil); e != nil {
		return e
	}
	return nil
}

// Scan is Check that also fills o. After a refusal o holds no meaning.
func Scan(b []byte, o *Outline) error {
	o.Object, o.N = false, 0
	if e := check(b, o); e != nil {
		return e
	}
	return nil
}

// level is one open array or object.
//
// Offsets take 32 bits because the whole stack is zeroed for each text.
type level struct {
	start   uint32 // offset of the first byte behind the opening bracket
	keyFrom uint32 // the key last read
	keyTo   uint32 // 0: none yet
	object  bool
	escaped bool // the key last read holds a backslash
}

// check is the one pass. Its outline:
//
//	value:  dispatch on the first byte; an opening bracket pushes a level and loops
//	member: inside an object, read key and colon, compare with the key before, go to value
//	after:  behind a value, take a comma (next member or element) or closing brackets
//
// i is always the next byte to look at; depth counts the open levels. The labels are a state
// machine: a goto per token is what keeps the pass at memory speed on small tokens.
func check(b []byte, o *Outline) *Error {
	if uint64(len(b)) > math.MaxUint32 {
		return fail(0, Syntax, "a text of 4 GiB or more is no frame")
	}
	var stack [MaxDepth + 1]level
	depth := 0
	i := 0

value:
	if depth > MaxDepth {
		return fail(i, Depth, "too many arrays and objects enclose this value")
	}
	if i >= len(b) {
		return fail(i, Syntax, "the text ends where a value belongs")
	}
	switch c := b[i]; {
	case c == '"':
		end, _, e := scanString(b, i+1)
		if e != nil {
			return e
		}
		i = end + 1
	case c == '{':
		i++
		if depth == 0 && o != nil {
			o.Object = true
		}
		if i < len(b) && b[i] == '}' {
			i++
			break
		}
		stack[depth] = level{object: true, start: uint32(i)}
		depth++
		goto member
	case c == '[':
		i++
		if i < len(b) && b[i] == ']' {
			i++
			break
		}
		stack[depth] = level{start: uint32(i)}
		depth++
		goto value
	case c-'0' <= 9 || c == '-':
		end, e := scanNumber(b, i)
		if e != nil {
			return e
		}
		i = end
	case c == 't' && hasPrefix(b[i:], "true"), c == 'n' && hasPrefix(b[i:], "null"):
		i += 4
	case c == 'f' && hasPrefix(b[i:], "false"):
		i += 5
	default:
		return explainValue(b, i)
	}

after:
	if depth == 0 {
		if i != len(b) {
			return explainTrailing(b, i)
		}
		return nil
	}
	if i >= len(b) {
		return fail(i, Syntax, "the text ends inside an array or object")
	}
	{
		top := &stack[depth-1]
		if depth == 1 && o != nil && top.object {
			o.end(i)
		}
		switch c := b[i]; {
		case c == ',':
			i++
			if top.object {
				goto member
			}
			goto value
		case c == '}' && top.object, c == ']' && !top.object:
			i++
			depth--
			goto after
		default:
			return explainAfter(b, i)
		}
	}

member:
	if i >= len(b) || b[i] != '"' {
		return explainMember(b, i)
	}
	{
		from := i + 1
		to, escaped, e := scanString(b, from)
		if e != nil {
			return e
		}
		top := &stack[depth-1]
		if top.keyTo != 0 {
			var order int
			switch {
			case escaped || top.escaped:
				order = compareKeys(b[top.keyFrom:top.keyTo], b[from:to])
			case b[top.keyFrom] != b[from] && to > from && top.keyTo > top.keyFrom:
				order = int(b[top.keyFrom]) - int(b[from]) // most differ at once
			default:
				order = bytes.Compare(b[top.keyFrom:top.keyTo], b[from:to])
			}
			if order >= 0 {
				return explainOrder(b, int(top.start), from, to, order)
			}
		}
		top.escaped, top.keyFrom, top.keyTo = escaped, uint32(from), uint32(to)
		i = to + 1
		if i >= len(b) || b[i] != ':' {
			return explainColon(b, i)
		}
		i++
		if depth == 1 && o != nil {
			o.begin(from, to, i)
		}
		goto value
	}
}

func (o *Outline) begin(from, to, value int) {
	if o.N < MaxMembers {
		o.Members[o.N] = Member{KeyStart: from, KeyEnd: to, ValueStart: value}
	}
	o.N++
}

func (o *Outline) end(at int) {
	if o.N <= MaxMembers {
		o.Members[o.N-1].ValueEnd = at
	}
}

func hasPrefix(b []byte, word string) bool {
	return len(b) >= len(word) && string(b[:len(word)]) == word
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special marks, with their high bit, the bytes of w that a string scan must look at: controls,
// quotation mark, backslash and everything outside ASCII. A byte behind a marked one may be marked
// without reason, so only the lowest mark counts.
func special(w uint64) uint64 {
	quote := w ^ (lowBits * '"')
	slash := w ^ (lowBits * '\\')
	return ((w - lowBits*0x20) | (quote - lowBits) | (slash - lowBits) | w) & highBits
}

// scanString reads the inside of a string from i on, behind the opening quotation mark. It returns
// the offset of the closing one and whether a backslash was met.
func scanString(b []byte, i int) (end int, escaped bool, e *Error) {
	for {
		for {
			if i+8 > len(b) {
				for i < len(b) && plain[b[i]] {
					i++
				}
				if i >= len(b) {
					return 0, false, fail(i, Syntax, "the text ends inside a string")
				}
				break
			}
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += trailingBytes(m)
				break
			}
			i += 8
		}
		switch c := b[i]; {
		case c == '"':
			return i, escaped, nil
		case c == '\\':
			n := 2 // most are a letter
			if i+1 >= len(b) || short[b[i+1]] == 0 {
				if n = escapeLen(b, i); n == 0 {
					return 0, false, explainEscape(b, i)
				}
			}
			escaped = true
			i += n
		case c >= 0x80:
			for i < len(b) && b[i] >= 0x80 {
				n := runeLen(b, i)
				if n == 0 {
					return 0, false, fail(i, UTF8, "this is not a well-formed UTF-8 sequence")
				}
				i += n
			}
		default:
			return 0, false, fail(i, Control, "a control character must be escaped")
		}
	}
}

// scanNumber reads a portable integer in plain spelling and returns the offset behind it.
func scanNumber(b []byte, i int) (int, *Error) {
	start := i
	if b[i] == '-' {
		i++
	}
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	digits := i - first
	if digits == 0 || digits > len(maxInteger) ||
		b[first] == '0' && (digits > 1 || first > start) ||
		digits == len(maxInteger) && string(b[first:i]) > maxInteger ||
		i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return 0, explainNumber(b, start, first, i)
	}
	return i, nil
}
