package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrClosed says that the person closed a list without choosing.
var ErrClosed = errors.New("closed")

// Choose lets the person choose one of some lines, beginning at one of them. On a terminal the arrows move,
// Enter chooses and Escape closes; elsewhere a number chooses and an empty line closes. It returns ErrClosed,
// io.EOF, ErrInterrupted or the cause of the context.
func (e *Editor) Choose(ctx context.Context, title string, lines []string, at int) (int, error) {
	if !e.options.Terminal {
		return e.choosePlain(ctx, title, lines)
	}
	e.mu.Lock()
	if err := e.ownLocked(ctx); err != nil {
		e.mu.Unlock()
		return 0, err
	}
	restore, err := e.options.Raw()
	e.choosing = err == nil
	e.mu.Unlock()
	if err != nil {
		return 0, err
	}
	defer func() {
		restore()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.choosing = false
	}()
	e.start.Do(func() { go pump(e.options.In, e.keys, e.stop) })
	drawn := 0
	defer func() { e.write(erase(drawn)) }()
	for {
		columns := e.options.Size()
		shown := list(title, lines, at, columns)
		e.write(erase(drawn) + strings.Join(shown, "\r\n") + "\r\n")
		drawn = len(shown)
		select {
		case k := <-e.keys:
			switch k.name {
			case up:
				at = max(0, at-1)
			case down:
				at = min(len(lines)-1, at+1)
			case home:
				at = 0
			case end:
				at = len(lines) - 1
			case enter:
				return at, nil
			case escape, endOfFile:
				return 0, ErrClosed
			case interrupt:
				return 0, ErrInterrupted
			case gone:
				return 0, io.EOF
			}
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// erase takes back the lines that were drawn.
func erase(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", count)
}

// list draws a list with a mark, each line on one row.
func list(title string, lines []string, at, columns int) []string {
	shown := []string{fit(title, columns)}
	for i, line := range lines {
		mark := "  "
		if i == at {
			mark = "> "
		}
		shown = append(shown, fit(mark+line, columns))
	}
	return append(shown, fit("arrows move, Enter chooses, Escape closes", columns))
}

// fit cuts a text to one row, less one column: nothing must wrap.
func fit(text string, columns int) string {
	used := 0
	for i, r := range text {
		if used += cells(r); used > columns-1 {
			return strings.Map(visible, text[:i])
		}
	}
	return strings.Map(visible, text)
}

func (e *Editor) choosePlain(ctx context.Context, title string, lines []string) (int, error) {
	var b strings.Builder
	b.WriteString(title + "\n")
	for i, line := range lines {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, strings.Map(visible, line))
	}
	e.Print(b.String())
	for {
		text, err := e.Read(ctx, Ask{Prompt: "number, or nothing to close: "})
		if err != nil {
			return 0, err
		}
		if text = strings.TrimSpace(text); text == "" {
			return 0, ErrClosed
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(lines) {
			return n - 1, nil
		}
		e.Print(fmt.Sprintf("there is no %q; give a number from 1 to %d\n", text, len(lines)))
	}
}
