// Package edit reads lines that a person types: edited in place on a terminal, as they come elsewhere. A
// read ends with its context, so that a question can be taken back, and other output may come while one is
// going on. That is why it is not a line editing library: those read until somebody presses a key.
package edit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// ErrInterrupted says that the person pressed Ctrl-C. The end of input is io.EOF.
var ErrInterrupted = errors.New("interrupted")

// Options of an Editor.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Terminal is set where lines are edited in place: Raw then puts the terminal into that mode and returns
	// what takes it out again, and Size tells its columns.
	Terminal bool
	Raw      func() (restore func(), err error)
	Size     func() (columns int)
	// Lend is set where the terminal can be lent.
	Lend Lender
	// Prompt says that prompts are shown though lines are not edited: somebody types at a terminal that can
	// do no more.
	Prompt   bool
	History  *History
	Complete Completer
}

// Editor reads lines. One Read goes on at a time; Print may be called by anybody.
type Editor struct {
	options Options
	keys    chan key
	lines   chan lineRead
	stop    chan struct{}
	start   sync.Once
	suggest Suggester        // nil: nobody
	press   func(key string) // nil: nobody

	mu      sync.Mutex // guards what the screen shows
	active  bool
	prompt  string
	line    line
	secret  bool
	cursor  place // where it stands, from the beginning of the prompt
	columns int
	kept    bool     // the line that is edited goes into the history: it is what the person composes
	draft   string   // of the next such line
	recall  []string // stands in for the history, the oldest first; nil: it does not
	chosen  *choosing

	restore  func()        // takes the terminal out of the mode for editing; nil while it is not in it
	choosing bool          // from a list
	lent     chan struct{} // closed when the terminal is back; nil while it is not lent
	held     strings.Builder
}

type lineRead struct {
	text string
	err  error
}

// New makes an editor. Nothing is read before the first Read.
func New(o Options) *Editor {
	if o.History == nil {
		o.History = OpenHistory("")
	}
	return &Editor{options: o, keys: make(chan key, 256), lines: make(chan lineRead), stop: make(chan struct{})}
}

// OfTerminal makes an editor of the two ends of a program. It edits in place if both are a terminal that can
// do that.
func OfTerminal(in, out *os.File, h *History) *Editor {
	o := Options{In: in, Out: out, History: h}
	typed := term.IsTerminal(int(in.Fd()))
	kind := os.Getenv("TERM")
	if typed && term.IsTerminal(int(out.Fd())) && kind != "dumb" {
		o.Terminal = true
		o.In, o.Lend = lendable(in, out)
		o.Raw = func() (func(), error) {
			state, err := term.MakeRaw(int(in.Fd()))
			if err != nil {
				return nil, err
			}
			return func() { _ = term.Restore(int(in.Fd()), state) }, nil
		}
		o.Size = func() int {
			if columns, _, err := term.GetSize(int(out.Fd())); err == nil && columns > 0 {
				return columns
			}
			return 80
		}
	}
	o.Prompt = typed
	return New(o)
}

// Close ends reading. The goroutine that waits for input ends with the next of it.
func (e *Editor) Close() { close(e.stop) }

// Ask says how a line is read.
type Ask struct {
	Prompt string
	// Text is what stands there at the beginning.
	Text string
	// Secret: what is typed is neither shown nor kept.
	Secret bool
	// Keep puts the line into the history.
	Keep bool
}

// Read reads one line, without its end. It returns ErrInterrupted, io.EOF, or the cause of the context; with
// the last of them also what stood there.
func (e *Editor) Read(ctx context.Context, a Ask) (string, error) {
	if e.options.Terminal {
		return e.readTerminal(ctx, a)
	}
	return e.readPlain(ctx, a)
}

// readPlain reads a line from something that is no terminal, or a simple one.
func (e *Editor) readPlain(ctx context.Context, a Ask) (string, error) {
	e.start.Do(func() { go e.scan() })
	if e.options.Prompt {
		e.mu.Lock()
		_, _ = io.WriteString(e.options.Out, a.Prompt)
		e.mu.Unlock()
	}
	select {
	case read := <-e.lines:
		if read.err == nil && a.Keep {
			_ = e.options.History.Add(read.text)
		}
		return read.text, read.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// scan reads lines for readPlain.
func (e *Editor) scan() {
	reader := bufio.NewReader(e.options.In)
	for {
		text, err := reader.ReadString('\n')
		if text != "" {
			err = nil // a last line without an end is one
		}
		read := lineRead{strings.TrimRight(text, "\r\n"), err}
		select {
		case e.lines <- read:
		case <-e.stop:
			return
		}
		// The end is asked for anew each time: a question in between may have had it for its answer, and a
		// terminal goes on behind it.
	}
}

// readTerminal edits a line in place.
func (e *Editor) readTerminal(ctx context.Context, a Ask) (string, error) {
	e.mu.Lock()
	if err := e.ownLocked(ctx); err != nil {
		e.mu.Unlock()
		return a.Text, err
	}
	restore, err := e.options.Raw()
	if err != nil {
		e.mu.Unlock()
		return "", err
	}
	e.restore = restore
	e.start.Do(func() { go pump(e.options.In, e.keys, e.stop) })
	e.active, e.prompt, e.secret, e.cursor = true, a.Prompt, a.Secret, place{}
	e.kept = a.Keep && !a.Secret
	if a.Text == "" && e.kept {
		a.Text, e.draft = e.draft, ""
	}
	e.line.set(a.Text)
	e.chosen = nil
	e.columns = e.options.Size()
	e.write("\x1b[?2004h") // what is pasted comes marked
	e.drawLocked()
	e.mu.Unlock()
	text, err := e.edit(ctx, a)
	e.mu.Lock()
	e.line.at = len(e.line.text)
	e.drawLocked()
	e.active = false
	if e.lent == nil {
		if errors.Is(err, ErrInterrupted) {
			e.write("^C")
		}
		e.write("\x1b[?2004l\r\n")
		e.restore()
		e.restore = nil
	}
	e.mu.Unlock()
	if err == nil && a.Keep && !a.Secret {
		_ = e.options.History.Add(text)
	}
	return text, err
}

// edit takes keys until the line is finished.
func (e *Editor) edit(ctx context.Context, a Ask) (string, error) {
	walk := walk{lines: e.past()}
	walk.at = len(walk.lines)
	for {
		var k key
		select {
		case k = <-e.keys:
		case <-ctx.Done():
			e.mu.Lock()
			defer e.mu.Unlock()
			return string(e.line.text), context.Cause(ctx)
		}
		e.mu.Lock()
		e.columns = e.options.Size()
		switch k.name {
		case enter:
			text := string(e.line.text)
			e.mu.Unlock()
			return text, nil
		case interrupt:
			e.mu.Unlock()
			return "", ErrInterrupted
		case gone:
			e.mu.Unlock()
			return "", io.EOF
		case endOfFile:
			if len(e.line.text) == 0 {
				e.mu.Unlock()
				return "", io.EOF
			}
			e.line.apply(key{name: deleteKey})
		case up, down:
			if !a.Secret && a.Keep {
				walk.step(&e.line, k.name)
			}
		case search:
			if !a.Secret && a.Keep {
				walk.find(&e.line)
			}
		case tab:
			switch {
			case a.Secret:
			case a.Keep && e.suggest != nil:
				e.mu.Unlock()
				e.ask(ctx)
				e.mu.Lock()
			default:
				e.completeLocked()
			}
		case chord:
			if e.kept && e.press != nil {
				e.press(k.text)
			}
		case clearScreen:
			e.write("\x1b[H\x1b[2J")
			e.cursor = place{}
		default:
			if e.line.apply(k) {
				walk.typed()
			}
		}
		if len(e.keys) == 0 { // what is typed faster than shown is shown at once
			e.drawLocked()
		}
		e.mu.Unlock()
	}
}

// drawLocked writes prompt and line over what stands there.
func (e *Editor) drawLocked() {
	if e.lent != nil {
		return
	}
	var b strings.Builder
	e.backLocked(&b)
	text, at := e.line.text, e.line.at
	if e.secret {
		text, at = nil, 0
	}
	shown, last, cursor := layout(e.prompt, text, at, e.columns)
	b.WriteString(shown)
	if up := last.row - cursor.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if cursor.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", cursor.column)
	}
	e.cursor = cursor
	e.write(b.String())
}

// backLocked goes to where the prompt begins and clears everything from there.
func (e *Editor) backLocked(b *strings.Builder) {
	if e.cursor.row > 0 {
		fmt.Fprintf(b, "\x1b[%dA", e.cursor.row)
	}
	b.WriteString("\r\x1b[J")
}

func (e *Editor) write(text string) { _, _ = io.WriteString(e.options.Out, text) }

// Print writes whole lines. While a line is edited they appear above it.
func (e *Editor) Print(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.printLocked(text)
}

func (e *Editor) printLocked(text string) {
	switch {
	case e.lent != nil:
		e.holdLocked(text)
		return
	case !e.active:
		e.write(text)
		return
	}
	var b strings.Builder
	e.backLocked(&b)
	b.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\r\n")
	}
	e.write(b.String())
	e.cursor = place{}
	e.drawLocked()
}

// Status shows a line that is no part of what was printed, and is rewritten by the next one; an empty one
// takes it away. It must not be wider than the screen. While a line is edited nothing is shown.
func (e *Editor) Status(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.active && e.lent == nil {
		e.write("\r\x1b[K" + text)
	}
}
