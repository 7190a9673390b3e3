package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/octet-dev/octet/cmd/octet/chat"
)

// console is where a command prints: its result to standard output, everything about it to standard
// error. Both may be called from several goroutines.
type console struct {
	in           *bufio.Reader // what a person answers; nil: nobody is there
	stdin        *os.File      // the same where it is one
	out          *output
	outFile      *os.File // the same where it is one
	err          io.Writer
	outTerminal  bool
	errTerminal  bool
	colour       bool // of standard error
	mu           sync.Mutex
	statusLength int // characters of the status line that stands at the bottom; 0: none
}

func newConsole(out, err io.Writer) *console {
	c := &console{out: &output{to: out}, err: err, outTerminal: terminal(out), errTerminal: terminal(err)}
	c.outFile, _ = out.(*os.File)
	c.colour = c.errTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return c
}

func terminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// print writes text to standard output as it is. That it could not be written is told at the end.
func (c *console) print(text string) { c.printf("%s", text) }

func (c *console) printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clearLocked()
	_, _ = fmt.Fprintf(c.out, format, args...)
}

// errorf writes one line that starts with the name of the program.
func (c *console) errorf(format string, args ...any) {
	c.line(c.paint(red, "octet:") + " " + plain(fmt.Sprintf(format, args...)))
}

// note writes one line about something that is no error.
func (c *console) note(format string, args ...any) {
	c.line(c.paint(yellow, "octet: note:") + " " + plain(fmt.Sprintf(format, args...)))
}

// line writes one line to standard error.
func (c *console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clearLocked()
	_, _ = fmt.Fprintln(c.err, text)
}

// maxStatus is the longest status line; a longer one would wrap and could not be rewritten.
const maxStatus = 78

// status shows what is going on: on a terminal by rewriting one line, elsewhere as a line of its own.
func (c *console) status(text string) {
	text = strings.ReplaceAll(plain(text), "\n", " ")
	if !c.errTerminal {
		c.line(text)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if runes := []rune(text); len(runes) > maxStatus {
		text = string(runes[:maxStatus-1]) + "…"
	}
	c.clearLocked()
	_, _ = io.WriteString(c.err, text)
	c.statusLength = len([]rune(text))
}

// clear removes the status line.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clearLocked()
}

func (c *console) clearLocked() {
	if c.statusLength > 0 {
		_, _ = fmt.Fprintf(c.err, "\r%s\r", strings.Repeat(" ", c.statusLength))
		c.statusLength = 0
	}
}

// colour is the number of an SGR sequence.
type colour int

const (
	red    colour = 31
	yellow colour = 33
	dim    colour = 2
)

// paint colours a text for standard error where colours are wanted.
func (c *console) paint(k colour, text string) string {
	if !c.colour {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", k, text)
}

// result is text of an extension that goes to standard output. A terminal gets it without anything that
// could steer it; a file or pipe gets the bytes as they are.
func (c *console) result(text string) {
	if c.outTerminal {
		text = plain(text)
	}
	c.print(text)
}

// plain makes the characters of a foreign text visible that would steer a terminal.
func plain(text string) string { return chat.Plain(text) }
