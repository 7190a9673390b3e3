package python

import (
	"strings"
	"unicode"
)

// keywords are the words that cannot be an attribute, hard and soft ones alike.
var keywords = words(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case type`)

// taken are the attributes that every model class has already.
var taken = words("SHAPE VIOLATION_ERRORS MAX_DEPTH read recode replace from_json decode to_json encode unknown_members")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// attribute turns a member name into an attribute: the name itself where Python allows it, else with
// underscores for the characters it refuses, and a trailing underscore where the word is taken.
//
// "type" stays itself: Python reserves it nowhere that an attribute can stand.
func attribute(name string) string {
	var b strings.Builder
	name = strings.TrimPrefix(name, "$")
	for i, r := range name {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r)) {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	out := b.String()
	if taken[out] || keywords[out] && out != "type" && out != "match" && out != "case" {
		out += "_"
	}
	return out
}

// constant turns a wire name such as "$/cancelRequest" or "0.3" into the words of a constant,
// CANCEL_REQUEST or V0_3.
func constant(name string) string {
	var b strings.Builder
	gap := false
	lower := false
	for _, r := range name {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap, lower = true, false
			continue
		}
		if b.Len() > 0 && (gap || lower && unicode.IsUpper(r)) {
			b.WriteByte('_')
		}
		if b.Len() == 0 && unicode.IsDigit(r) {
			b.WriteByte('V')
		}
		gap, lower = false, unicode.IsLower(r)
		b.WriteRune(unicode.ToUpper(r))
	}
	out := b.String()
	if taken[out] {
		out += "_"
	}
	return out
}
