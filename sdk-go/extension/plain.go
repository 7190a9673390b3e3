package extension

import (
	"regexp"
	"strings"
	"unicode"
)

// escapeSequences are what a terminal obeys: control sequences, strings such as window titles, and the short
// escapes.
var escapeSequences = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?`)

// plain returns text for people as plain text: well-formed UTF-8 without escape sequences and without
// control characters other than line feed and tab (EXT04-NOTE-004).
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, obeyed) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return -1
		}
		return r
	}, escapeSequences.ReplaceAllString(text, ""))
}

func obeyed(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
