// Package clip shortens texts to the bounds that the wires set them.
package clip

import "unicode/utf8"

// Text is the beginning of a text, in at most so many bytes, cut at the end of a character.
func Text(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for at := most; at > most-utf8.UTFMax && at >= 0; at-- {
		if utf8.RuneStart(text[at]) {
			return text[:at]
		}
	}
	return text[:most] // it is no text
}
