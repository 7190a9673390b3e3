package edit

import (
	"fmt"
	"slices"
	"strings"
)

// Completer says what may stand where a line is edited: the words that replace the text from start up to
// the cursor. Words that end in a blank or a slash end themselves.
type Completer func(text string) (start int, words []string)

// SetComplete changes who completes. Nothing may be read.
func (e *Editor) SetComplete(c Completer) { e.options.Complete = c }

// completeLocked completes the word in front of the cursor: as far as all candidates agree, and shows them
// where they do not.
func (e *Editor) completeLocked() {
	if e.options.Complete == nil {
		return
	}
	before := string(e.line.text[:e.line.at])
	start, words := e.options.Complete(before)
	if len(words) == 0 {
		return
	}
	typed := before[start:]
	common := words[0]
	for _, word := range words[1:] {
		for !strings.HasPrefix(word, common) {
			runes := []rune(common)
			common = string(runes[:len(runes)-1])
		}
	}
	if len(words) == 1 && !strings.HasSuffix(common, "/") && !strings.HasSuffix(common, " ") {
		common += " "
	}
	if len(common) > len(typed) || common != typed && len(words) == 1 {
		from := len([]rune(before[:start]))
		e.line.remove(from, e.line.at)
		e.line.insert(common)
		return
	}
	e.aboveLocked(columnsOf(words, e.columns))
}

// aboveLocked writes whole lines above the prompt. What is edited is to be drawn again.
func (e *Editor) aboveLocked(text string) {
	if e.lent != nil {
		return
	}
	var b strings.Builder
	e.backLocked(&b)
	b.WriteString(text)
	e.write(b.String())
	e.cursor = place{}
}

// maxShown is how many candidates are shown.
const maxShown = 60

// columnsOf sets words in columns.
func columnsOf(words []string, columns int) string {
	more := len(words) - maxShown
	words = slices.Clone(words[:min(len(words), maxShown)])
	widest := 0
	for i := range words {
		words[i] = strings.Map(visible, words[i])
	}
	for _, word := range words {
		widest = max(widest, len([]rune(word)))
	}
	perRow := max(1, columns/(widest+2))
	var b strings.Builder
	for i, word := range words {
		b.WriteString(word)
		if (i+1)%perRow == 0 || i == len(words)-1 {
			b.WriteString("\r\n")
		} else {
			b.WriteString(strings.Repeat(" ", widest+2-len([]rune(word))))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %d more\r\n", more)
	}
	return b.String()
}
