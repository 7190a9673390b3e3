package engine

import (
	"context"
	"sync"
	"time"

	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/autocomplete"
	"github.com/octet-dev/octet/host/service/composer"
	"github.com/octet-dev/octet/host/service/shortcut"
	"github.com/octet-dev/octet/host/service/terminal"
)

// Line is the line that a person edits at a terminal.
type Line interface {
	composer.Composer
	// Forget lets go of what extensions have put into the line's history.
	Forget()
	// Bindable reports whether a key can be given to an extension: the line sees it and has no use for it. The
	// error says why not.
	Bindable(key string) error
}

// line is what extensions get of the line and of its terminal. Fields are nil where there is none.
type line struct {
	completion *autocomplete.Service
	shortcuts  *shortcut.Book
	terminal   *terminal.Loan
	told       sync.WaitGroup
}

// edited binds the line and its terminal, where there are such.
func (e *Engine) edited() (bindings []extension.Binding) {
	l := &e.services.line
	if e.config.Line != nil {
		l.completion = autocomplete.New(func() bool { return true })
		l.shortcuts = shortcut.New(e.config.Line.Bindable)
		bindings = append(bindings, composer.Binding(e.config.Line, nil), l.completion.Binding(), l.shortcuts.Binding())
	}
	if e.config.Terminal != nil {
		l.terminal = terminal.New(e.config.Terminal)
		bindings = append(bindings, terminal.Binding(l.terminal))
	}
	return bindings
}

// Suggest asks extensions how the edited line could go on. It returns nil where none knows, and the time that
// is left for others.
func (e *Engine) Suggest(ctx context.Context, at autocomplete.Editor) (*autocomplete.Offer, time.Duration) {
	return e.services.line.completion.Complete(ctx, at)
}

// pressTime bounds how long an extension may make a key wait.
const pressTime = 2 * time.Second

// Press tells an extension that its key was pressed. It does not wait.
func (e *Engine) Press(key string) {
	l := &e.services.line
	l.told.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), pressTime)
		defer cancel()
		_, _ = l.shortcuts.Press(ctx, key) // one that cannot be told has ended, and is diagnosed for that
	})
}

// Shortcuts are the keys of extensions.
func (e *Engine) Shortcuts() []shortcut.Shortcut {
	if e.services.line.shortcuts == nil {
		return nil
	}
	return e.services.line.shortcuts.List()
}

// left takes back what an extension has of the line and the terminal, because another conversation comes.
func (e *Engine) left() {
	if e.services.line.terminal != nil {
		e.services.line.terminal.Revoke("the conversation in front has ended")
	}
	if e.config.Line != nil {
		e.config.Line.Forget()
	}
}

// close takes the terminal back and waits until nobody is told anything.
func (l *line) close() {
	if l.terminal != nil {
		l.terminal.Close()
	}
	l.told.Wait()
}
