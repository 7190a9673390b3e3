package edit

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// line is what is being edited: characters and a place between them.
type line struct {
	text []rune
	at   int
}

func (l *line) set(text string) { l.text = []rune(text); l.at = len(l.text) }

func (l *line) insert(text string) {
	runes := []rune(text)
	l.text = slices.Insert(l.text, l.at, runes...)
	l.at += len(runes)
}

// remove takes out what lies between two places and stands where it was.
func (l *line) remove(from, to int) {
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

// wordStart is the place in front of the word before a place; wordEnd the one behind the word after it.
func (l *line) wordStart(at int) int {
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}
	return at
}

func (l *line) wordEnd(at int) int {
	for at < len(l.text) && unicode.IsSpace(l.text[at]) {
		at++
	}
	for at < len(l.text) && !unicode.IsSpace(l.text[at]) {
		at++
	}
	return at
}

// apply changes the line as a key says, and reports whether the key was one for it.
func (l *line) apply(k key) bool {
	switch k.name {
	case insert:
		l.insert(k.text)
	case paste:
		l.insert(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(k.text))
	case left:
		l.at = max(0, l.at-1)
	case right:
		l.at = min(len(l.text), l.at+1)
	case home:
		l.at = 0
	case end:
		l.at = len(l.text)
	case wordLeft:
		l.at = l.wordStart(l.at)
	case wordRight:
		l.at = l.wordEnd(l.at)
	case backspace:
		if l.at > 0 {
			l.remove(l.at-1, l.at)
		}
	case deleteKey:
		if l.at < len(l.text) {
			l.remove(l.at, l.at+1)
		}
	case killEnd:
		l.text = l.text[:l.at]
	case killStart:
		l.remove(0, l.at)
	case killWord:
		l.remove(l.wordStart(l.at), l.at)
	default:
		return false
	}
	return true
}

// cells is how many columns a character takes.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// place is a position on the screen, from where the prompt begins.
type place struct{ row, column int }

// advance is where a character that is written at a place ends, on a screen of so many columns.
func (p place) advance(r rune, columns int) place {
	if r == '\n' {
		return place{p.row + 1, 0}
	}
	n := cells(r)
	if p.column+n > columns {
		p = place{p.row + 1, 0}
	}
	p.column += n
	return p
}

// layout writes a prompt and a line as the screen shows them, and says where they end and where the cursor
// belongs. A line feed becomes one with a return, because nothing else adds it.
func layout(prompt string, text []rune, at, columns int) (shown string, last, cursor place) {
	var b strings.Builder
	b.WriteString(prompt)
	skipping := false
	for _, r := range prompt {
		switch {
		case r == 0x1b:
			skipping = true
		case skipping:
			skipping = r != 'm'
		default:
			last = last.advance(r, columns)
		}
	}
	cursor = last
	for i, r := range text {
		if i == at {
			cursor = last
		}
		last = last.advance(r, columns)
		if r == '\n' {
			b.WriteString("\r\n")
		} else {
			b.WriteRune(visible(r))
		}
	}
	if at == len(text) {
		cursor = last
	}
	if last.column == columns { // the terminal waits with the wrap until the next character
		b.WriteString("\r\n")
		wrapped := place{last.row + 1, 0}
		if cursor == last {
			cursor = wrapped
		}
		last = wrapped
	}
	if cursor.column == columns {
		cursor = place{cursor.row + 1, 0}
	}
	return b.String(), last, cursor
}

// visible stands for characters that would steer the terminal.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
		return '\uFFFD'
	}
	return r
}
