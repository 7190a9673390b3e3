package differential

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// oddScalars are values that readers treat differently when they are not careful: spellings of numbers, borders of
// integers and floats, blanks, escapes, code points that need two units or three bytes, and borders of lengths.
var oddScalars = []string{
	`null`, `true`, `false`, `0`, `-0`, `0.0`, `-0.0`, `1`, `-1`, `1.0`, `1.50`, `1e0`, `1E+2`, `1e-2`, `0.1`, `12.5e1`, `1e400`, `-1e400`, `1e-400`, `5e-324`,
	`2147483647`, `2147483648`, `4294967295`, `4294967296`, `9007199254740991`, `9007199254740992`, `9007199254740993`, `-9007199254740991`, `-9007199254740992`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `18446744073709551615`, `18446744073709551616`, `100000000000000000000000000000`,
	`0.30000000000000004`, `123456789012345678901234567890.125`,
	`""`, `" "`, `"\t\n\r"`, `"\u000b\f"`, `"\u0085"`, `"\u00a0"`, `"\u1680"`, `"\u2028"`, `"\u3000"`, `"\u200b"`, `"\ufeff"`, `"\u180e"`, `"\u001c\u001f"`,
	`"a"`, `"A"`, `" a "`, `"a\n"`, `"\u0000"`, `"\u001f"`, `"\u007f"`, `"\u0080"`, `"\u009f"`, `"\/"`, `"\\\""`, `"\b\f"`, `"<&>"`, `"é"`, `"e\u0301"`, `"ÿ"`, `"ſ"`, `"İ"`, `"ß"`,
	`"\ud83d\ude00"`, `"😀"`, `"\uD83D\uDE00"`, `"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ude00\ud83d"`, `"\uffff"`, `"\ufffd"`, `"\ufffe"`, `"\ue000"`, `"𐀀"`,
	`"0"`, `"1"`, `"-1"`, `"٣"`, `"1.0"`, `"null"`, `"true"`, `"0.3"`, `"/"`, `"//"`, `"~"`, `"~1"`, `"../a"`, `"/a/../b"`, `"C:\\a"`, `"http://a"`, `"https://[::1]:99999/"`, `"a b"`, `"a:b"`, `"__proto__"`,
	`"constructor"`, `"01234567-89ab-7def-8123-456789abcdef"`, `"01234567-89AB-4DEF-8123-456789ABCDEF"`, `"2026-01-31T00:00:00Z"`, `"2026-02-30T24:00:60+99:99"`, `[]`, `{}`, `[[]]`, `[null]`, `{"":null}`,
}

// oddNames are names of members that mean something to a language, or to an order.
var oddNames = []string{
	`""`, `" "`, `"a"`, `"b"`, `"A"`, `"z"`, `"é"`, `"\u0000"`, `"\ue000"`, `"\uffff"`, `"😀"`, `"\ud83d\ude00"`, `"\u0061"`, `"a/b"`, `"a~b"`, `"~1"`, `"0"`, `"1"`, `"10"`, `"-0"`, `"__proto__"`, `"constructor"`, `"toString"`,
	`"hasOwnProperty"`, `"prototype"`, `"__class__"`, `"self"`, `"type"`, `"kind"`, `"id"`, `"error"`, `"result"`, `"method"`, `"params"`, `"jsonrpc"`, `"\ud800"`, `"x_unknown"`,
}

// oddBytes are pieces of text that break a JSON text, or nearly do.
var oddBytes = []string{
	"\ufeff", "\x00", "\x1f", "\x7f", "\u2028", "\u00a0", "\v", "\f", "\r", "\n", "\r\n", ",", ":", "[", "]", "{", "}", `"`, `\`, `'`, "//", "/**/", "#", "+", "-", ".", "0", "00", "1", "e", "E+", "NaN", "Infinity", "-Infinity", "undefined", "nul", "True", `\u`, `\u00`, `\x41`, `\ud800`, `\'`, " ", "@",
}

// wrongBytes are not UTF-8; only questions about frames can carry them.
var wrongBytes = []string{"\xff", "\xfe", "\x80", "\xc0\x80", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\xe2\x80", "\xef\xbb\xbf"}

// borders are lengths next to which limits lie.
var borders = []int{1, 2, 16, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8192, 16384, 65535, 65536, 65537}

// change makes one change at a random place of a tree; donor is another tree, to take a piece from.
func change(rng *rand.Rand, root, donor *node) {
	at := pick(rng, root.places(nil))
	if at.object && rng.IntN(4) > 0 {
		changeObject(rng, at, donor)
		return
	}
	if at.scalar == "" && !at.object && rng.IntN(3) > 0 {
		changeArray(rng, at)
		return
	}
	switch rng.IntN(12) {
	case 0, 1:
		*at = *pick(rng, donor.places(nil)).clone()
	case 2:
		*at = node{items: []*node{at.clone()}}
	case 3:
		*at = node{object: true, members: []member{{pick(rng, oddNames), at.clone()}}}
	case 4, 5:
		*at = node{scalar: long(rng)}
	case 6:
		*at = *deep(rng)
	case 7, 8:
		*at = node{scalar: near(rng, at.scalar)}
	default:
		*at = *odd(rng)
	}
}

// odd is one of the odd values as a tree.
func odd(rng *rand.Rand) *node {
	text := pick(rng, oddScalars)
	if text[0] == '[' || text[0] == '{' {
		return parse(text)
	}
	return &node{scalar: text}
}

func changeObject(rng *rand.Rand, at, donor *node) {
	if len(at.members) == 0 {
		at.members = append(at.members, member{pick(rng, oddNames), odd(rng)})
		return
	}
	i := rng.IntN(len(at.members))
	switch rng.IntN(8) {
	case 0, 1:
		at.members = slices.Delete(at.members, i, i+1)
	case 2:
		again := member{at.members[i].name, at.members[i].value.clone()}
		at.members = slices.Insert(at.members, rng.IntN(len(at.members)+1), again)
	case 3:
		at.members[i].name = pick(rng, oddNames)
	case 4:
		j := rng.IntN(len(at.members))
		at.members[i], at.members[j] = at.members[j], at.members[i]
	case 5:
		at.members[i].name = respelled(rng, at.members[i].name)
	case 6:
		if places := donor.places(nil); len(places) > 0 {
			for _, m := range pick(rng, places).members {
				at.members = append(at.members, member{m.name, m.value.clone()})
				break
			}
		}
	default:
		at.members = slices.Insert(at.members, i, member{pick(rng, oddNames), odd(rng)})
	}
}

func changeArray(rng *rand.Rand, at *node) {
	if len(at.items) == 0 {
		at.items = append(at.items, odd(rng))
		return
	}
	i := rng.IntN(len(at.items))
	switch rng.IntN(5) {
	case 0:
		at.items = slices.Delete(at.items, i, i+1)
	case 1:
		at.items = slices.Insert(at.items, i, at.items[i].clone())
	case 2:
		for range min(pick(rng, borders), 300) {
			at.items = append(at.items, at.items[i].clone())
		}
	case 3:
		at.items = slices.Insert(at.items, i, odd(rng))
	default:
		j := rng.IntN(len(at.items))
		at.items[i], at.items[j] = at.items[j], at.items[i]
	}
}

// long is a string whose length lies at a border, in bytes, code points or UTF-16 units.
func long(rng *rand.Rand) string {
	piece := pick(rng, []string{"a", "a", "a", "é", "😀", " ", `\n`, `\u0001`, "a ", "A.", "/a"})
	return `"` + strings.Repeat(piece, max(pick(rng, borders)+rng.IntN(3)-1, 0)) + `"`
}

// deep is a value of many levels.
func deep(rng *rand.Rand) *node {
	n := &node{scalar: "1"}
	for range pick(rng, []int{30, 60, 62, 63, 64, 65, 126, 127, 128, 250, 255, 256, 257, 500}) {
		if rng.IntN(2) == 0 {
			n = &node{items: []*node{n}}
		} else {
			n = &node{object: true, members: []member{{`"a"`, n}}}
		}
	}
	return n
}

// near is a scalar with one small difference.
func near(rng *rand.Rand, scalar string) string {
	switch {
	case len(scalar) >= 2 && scalar[0] == '"':
		inner := scalar[1 : len(scalar)-1]
		switch rng.IntN(6) {
		case 0:
			return respelled(rng, scalar)
		case 1:
			return `"` + strings.ToUpper(inner) + `"`
		case 2:
			return `"` + inner + inner + `"`
		case 3:
			return scalar[:len(scalar)-1] + pick(rng, []string{`\n`, " ", `\u0000`, "é", "😀", "/", ".", "a"}) + `"`
		default:
			return `"` + pick(rng, []string{`\n`, " ", `\u0000`, "é", "/", ".", "-"}) + inner + `"`
		}
	case scalar == "" || scalar == "null" || scalar == "true" || scalar == "false":
		return pick(rng, []string{"null", "true", "false", "0", `"true"`})
	default:
		if n, err := strconv.ParseInt(scalar, 10, 62); err == nil && rng.IntN(2) == 0 {
			return strconv.FormatInt(n+int64(rng.IntN(3))-1, 10)
		}
		return pick(rng, []string{"-" + strings.TrimPrefix(scalar, "-"), strings.TrimPrefix(scalar, "-") + "0", `"` + scalar + `"`, scalar + ".0", scalar + "e0"})
	}
}

// respelled writes the first ASCII letter of a literal string as an escape.
func respelled(rng *rand.Rand, text string) string {
	for i := 1; i < len(text)-1; i++ {
		if c := text[i]; text[i-1] != '\\' && (c >= 'a' && c <= 'z' && (i < 2 || text[i-2] != '\\')) && !strings.Contains(text[:i], `\u`) {
			form := pick(rng, []string{"%04x", "%04X"})
			hex := strconv.FormatInt(int64(c), 16)
			if form == "%04X" {
				hex = strings.ToUpper(hex)
			}
			return text[:i] + `\u00` + hex + text[i+1:]
		}
	}
	return text
}

// scratchText makes changes to a text that know nothing of JSON.
func scratchText(rng *rand.Rand, text string, pieces []string) string {
	for range 1 + rng.IntN(2) {
		at := 0
		if text != "" {
			at = rng.IntN(len(text) + 1)
		}
		switch end := min(at+1+rng.IntN(4), len(text)); rng.IntN(5) {
		case 0:
			text = text[:at] + text[end:]
		case 1:
			text = text[:at]
		case 2:
			text = text[:at] + text[at:end] + text[at:]
		default:
			text = text[:at] + pick(rng, pieces) + text[at:]
		}
	}
	return text
}
