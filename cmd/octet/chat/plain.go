package chat

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain makes the characters of a foreign text visible that would steer a terminal or change the order of
// what is read: they become escapes. Line feeds and tabs stay.
func Plain(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !steers(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	// U+2028 and U+2029 end a line on some terminals, so that what follows looks as if it were ours.
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// line is a text on one line.
func line(text string) string { return Plain(strings.Join(strings.Fields(text), " ")) }

// cut shortens a line to so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
