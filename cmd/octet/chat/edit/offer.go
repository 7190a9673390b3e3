package edit

import (
	"context"
	"unicode"
	"unicode/utf8"
)

// Offer is how the text could go on, as somebody else says.
type Offer interface {
	// Rows are what the person is shown, one for each item.
	Rows() []string
	// Apply returns the text and the cursor, in bytes, behind the acceptance of an item by an editor that shows
	// this text and cursor.
	Apply(item int, text string, cursor int) (string, int, error)
}

// Suggester is asked before the Completer, with the cursor in bytes. Nil is no offer; left then says whether
// there is time left for the Completer. Current reports whether the editor still shows what it shows now and
// nobody has typed since.
type Suggester func(ctx context.Context, text string, cursor int, current func() bool) (offer Offer, left bool)

// SetSuggest changes who is asked first how the text goes on. Nothing may be read.
func (e *Editor) SetSuggest(s Suggester) { e.suggest = s }

// choosing goes through the items of an offer, one at each press of the key.
type choosing struct {
	offer  Offer
	text   string // that the offer was made for
	cursor int
	next   int
	shown  string // what the line became
	at     int
}

// snapshotLocked is the text and the cursor in bytes.
func (e *Editor) snapshotLocked() (text string, cursor int) {
	return string(e.line.text), len(string(e.line.text[:e.line.at]))
}

// takeLocked shows the next item of what was offered.
func (e *Editor) takeLocked() {
	c := e.chosen
	text, cursor, err := c.offer.Apply(c.next, c.text, c.cursor)
	c.next = (c.next + 1) % len(c.offer.Rows())
	if err != nil {
		return
	}
	e.line.set(text)
	e.line.at = utf8.RuneCountInString(text[:cursor])
	c.shown, c.at = e.snapshotLocked()
}

// ask asks how the text goes on, without holding anybody up: meanwhile others print, and read and change the
// text. What comes too late for what is shown then counts for nothing.
func (e *Editor) ask(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, cursor := e.snapshotLocked()
	if c := e.chosen; c != nil && c.shown == text && c.at == cursor {
		e.takeLocked()
		return
	}
	e.chosen = nil
	unchanged := func() bool {
		now, at := e.snapshotLocked()
		return now == text && at == cursor
	}
	e.mu.Unlock()
	offer, left := e.suggest(ctx, text, cursor, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return unchanged() && len(e.keys) == 0
	})
	e.mu.Lock()
	switch {
	case !unchanged():
	case offer == nil && left:
		e.completeLocked()
	case offer != nil && len(e.keys) == 0:
		e.chosen = &choosing{offer: offer, text: text, cursor: cursor, shown: text, at: cursor}
		if rows := offer.Rows(); len(rows) > 1 {
			e.aboveLocked(columnsOf(rows, e.columns))
			return
		}
		e.takeLocked()
	}
}

// Whole reports whether a position lies between two characters as people see them, as far as the properties
// of their code points tell: nothing is torn from what it modifies.
func Whole(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return at == 0 || at == len(text)
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	behind, _ := utf8.DecodeRuneInString(text[at:])
	const joiner, jamo, jamoEnd, leadEnd = 0x200d, 0x1100, 0x11ff, 0x115f
	switch {
	case !utf8.RuneStart(text[at]), before == '\r' && behind == '\n', before == joiner, behind == joiner:
		return false
	case unicode.In(behind, unicode.M, unicode.Variation_Selector), behind >= 0x1f3fb && behind <= 0x1f3ff, behind >= 0xe0020 && behind <= 0xe007f:
		return false
	case before >= jamo && before <= leadEnd && behind >= jamo && behind <= jamoEnd:
		return false
	case regional(before) && regional(behind):
		return flags(text[:at])%2 == 0
	}
	return true
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flags counts the regional indicators at the end of a text.
func flags(text string) (n int) {
	for text != "" {
		r, size := utf8.DecodeLastRuneInString(text)
		if !regional(r) {
			break
		}
		n, text = n+1, text[:len(text)-size]
	}
	return n
}
