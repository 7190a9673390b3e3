package chat

import (
	"context"
	"slices"
	"strings"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/service/autocomplete"
	"github.com/octet-dev/octet/host/service/composer"
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
