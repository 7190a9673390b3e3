package chat

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/service/autocomplete"
	"github.com/octet-dev/octet/host/service/composer"
	"github.com/octet-dev/octet/host/service/terminal"
)

// Line is the line that the person edits, as extensions reach it; nil where none is edited.
func (f *Front) Line() engine.Line {
	if !f.options.Terminal {
		return nil
	}
	return composed{f.options.Editor}
}

// composed is the line of an editor.
type composed struct{ editor *edit.Editor }

func (c composed) Text() (string, error) { return c.editor.Text(), nil }

func (c composed) Replace(text string) error {
	c.editor.Replace(text)
	return nil
}

func (c composed) Insert(text string, most int) error {
	if !c.editor.Insert(text, most) {
		return composer.ErrFull
	}
	return nil
}

// Recall is told the newest entry first.
func (c composed) Recall(entries []string) error {
	oldest := slices.Clone(entries)
	slices.Reverse(oldest)
	c.editor.Recall(oldest)
	return nil
}

func (c composed) Forget() { c.editor.Forget() }

func (composed) Bindable(key string) error { return edit.Bindable(key) }

// suggest asks extensions how a line goes on. The names of commands are the host's to complete.
func (c *Chat) suggest(ctx context.Context, text string, cursor int, current func() bool) (edit.Offer, bool) {
	if word, isCommand := strings.CutPrefix(text[:cursor], "/"); isCommand && !strings.ContainsAny(word, " \n") {
		return nil, true
	}
	offer, left := c.engine.Suggest(ctx, autocomplete.Editor{Text: text, Cursor: cursor, Current: current})
	if offer == nil {
		return nil, left > 0
	}
	return suggestion{offer}, true
}

// suggestion is what an extension offers, as the editor shows and takes it.
type suggestion struct{ offer *autocomplete.Offer }

// Rows are shown by what the extension calls them.
func (s suggestion) Rows() []string {
	rows := make([]string, len(s.offer.Items))
	for i, item := range s.offer.Items {
		rows[i] = strings.TrimSpace(line(item.Label + "  " + item.Description.Or("")))
	}
	return rows
}

// Apply takes an item.
func (s suggestion) Apply(item int, text string, cursor int) (string, int, error) {
	return s.offer.Apply(autocomplete.Editor{Text: text, Cursor: cursor}, item, edit.Whole)
}

// Terminal is the terminal as extensions can have it for a while; nil where it cannot be lent.
func (f *Front) Terminal() terminal.Frontend {
	if !f.options.Terminal || !f.options.Editor.Lendable() {
		return nil
	}
	return lent{f.options.Editor}
}

// lent is the terminal of an editor.
type lent struct{ editor *edit.Editor }

// Cede stops every use of it.
func (l lent) Cede(ctx context.Context, group int) (columns, rows uint16, err error) {
	c, r, err := l.editor.Cede(ctx, group)
	switch {
	case errors.Is(err, edit.ErrUnlendable):
		return 0, 0, terminal.ErrNone
	case err != nil:
		return 0, 0, err
	}
	return uint16(c), uint16(r), nil
}

// Reclaim uses it again.
func (l lent) Reclaim() { l.editor.Reclaim() }
