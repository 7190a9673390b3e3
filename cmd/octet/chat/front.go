// Package chat is octet at a terminal: a line of the person, the work of the model with everything that
// happens meanwhile, questions asked in place, and commands that begin with a slash. The engine does the
// work; this package shows it and asks.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/dialog"
)

// Options say where a front shows and asks.
type Options struct {
	Editor *edit.Editor
	// Out takes what the model says, Notes everything about it.
	Out, Notes io.Writer
	// Terminal says that both are a terminal that can rewrite a line; Colour that it shows colours.
	Terminal, Colour bool
	// Ask says that there is a person who can be asked. Without, questions are denied.
	Ask bool
	// Quiet shows no answers while they grow: somebody else writes them.
	Quiet bool
	// Verbose shows what extensions are doing.
	Verbose bool
	// Echo shows lines that nobody typed before they are done.
	Echo bool
	// Sink takes every event before it is shown; nil: nobody wants them.
	Sink func(agent.Event)
}

// Front shows what happens and asks the person. It is an engine.Frontend.
type Front struct {
	options Options
	asks    chan ask

	mu       sync.Mutex
	inText   bool   // an answer is being written, and its last line is open
	streamed bool   // of the answer that comes, something was shown
	status   string // the line that stands at the bottom
	statuses map[string]string
	told     map[string]bool // what is told once
	notified map[string]int  // notifications by extension since the last run
}

var _ engine.Frontend = (*Front)(nil)

// NewFront makes a front.
func NewFront(o Options) *Front {
	return &Front{options: o, asks: make(chan ask), statuses: map[string]string{}, told: map[string]bool{}, notified: map[string]int{}}
}

// ask is one question for the person. Whoever attends reads the answer and sends it.
type ask struct {
	ctx     context.Context
	text    string // what is shown in front of it
	read    edit.Ask
	answers chan answer
}

type answer struct {
	text string
	err  error
}

// errNobody says that there is no person.
var errNobody = errors.New("there is nobody to ask: input is no terminal")

// put asks and waits for the answer.
func (f *Front) put(ctx context.Context, text string, read edit.Ask) (string, error) {
	if !f.options.Ask {
		return "", errNobody
	}
	a := ask{ctx: ctx, text: text, read: read, answers: make(chan answer, 1)}
	select {
	case f.asks <- a:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case got := <-a.answers:
		return got.text, got.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// scopes are the words for how long an answer holds.
var scopes = map[permission.Scope]string{permission.Once: "[y]es, once", permission.Run: "[r] for this run", permission.Session: "[s] for this session"}

// Ask asks whether a call may run.
func (f *Front) Ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	var b strings.Builder
	who := q.Tool.Name
	if q.Tool.Provider != "" {
		who += " of extension " + q.Tool.Provider
	}
	fmt.Fprintf(&b, "%s wants to run (%s)", line(who), q.Tool.Effect)
	if q.Summary.Subject != "" {
		b.WriteString(": " + line(q.Summary.Words()))
	} else if len(q.Arguments) > 0 {
		b.WriteString(": " + cut(line(string(q.Arguments)), 200))
	}
	b.WriteByte('\n')
	if q.Reason != "" {
		b.WriteString("  " + line(q.Reason) + "\n")
	}
	if q.Summary.Detail != "" {
		b.WriteString(indent(Plain(q.Summary.Detail)))
	}
	var words []string
	for _, scope := range q.Scopes {
		words = append(words, scopes[scope])
	}
	if len(words) == 0 {
		words = []string{scopes[permission.Once]}
	}
	prompt := "allow? " + strings.Join(words, ", ") + ", [n]o or why not: "
	for {
		text, err := f.put(ctx, b.String(), edit.Ask{Prompt: prompt})
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, edit.ErrInterrupted):
			return permission.Answer{}, nil // no answer is none that allows
		case err != nil:
			return permission.Answer{}, err
		}
		switch word := strings.ToLower(strings.TrimSpace(text)); {
		case word == "y" || word == "yes":
			return permission.Answer{Allow: true, Scope: permission.Once}, nil
		case (word == "r" || word == "run") && slices.Contains(q.Scopes, permission.Run):
			return permission.Answer{Allow: true, Scope: permission.Run}, nil
		case (word == "s" || word == "session") && slices.Contains(q.Scopes, permission.Session):
			return permission.Answer{Allow: true, Scope: permission.Session}, nil
		case word == "n" || word == "no":
			return permission.Answer{}, nil
		case len(word) > 1:
			return permission.Answer{Note: strings.TrimSpace(text)}, nil
		}
		b.Reset()
		b.WriteString("answer with one of the letters in brackets, or say why not\n")
	}
}

// Confirm asks an extension's yes-or-no question. Nothing but a clear yes is one.
func (f *Front) Confirm(ctx context.Context, q dialog.Question) (bool, error) {
	text := "extension " + line(q.Extension) + " asks: " + Plain(q.Prompt) + "\n"
	if q.Detail != "" {
		text += indent(Plain(q.Detail))
	}
	if q.Destructive {
		text += f.paint(red, "  this cannot be undone") + "\n"
	}
	suggested := ""
	if q.Suggested {
		suggested = ", it suggests yes"
	}
	got, err := f.put(ctx, text, edit.Ask{Prompt: "[y]es or [n]o" + suggested + ": "})
	word := strings.ToLower(strings.TrimSpace(got))
	return err == nil && (word == "y" || word == "yes"), err
}

// Input asks for a text on behalf of an extension. Ctrl-C and Ctrl-D give none.
func (f *Front) Input(ctx context.Context, i dialog.Input) (string, bool, error) {
	text := "extension " + line(i.Extension) + " asks: " + Plain(i.Prompt) + "\n"
	prompt := "answer (Ctrl-D for none): "
	if i.Secret {
		prompt = "answer, not shown (Ctrl-D for none): "
	}
	got, err := f.put(ctx, text, edit.Ask{Prompt: prompt, Secret: i.Secret})
	if errors.Is(err, io.EOF) || errors.Is(err, edit.ErrInterrupted) {
		return "", false, nil
	}
	return got, err == nil, err
}

func indent(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("  " + part + "\n")
	}
	return b.String()
}

// colour is the number of an SGR sequence.
type colour int

const (
	red    colour = 31
	green  colour = 32
	yellow colour = 33
	cyan   colour = 36
	dim    colour = 2
)

func (f *Front) paint(k colour, text string) string {
	if !f.options.Colour {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", k, text)
}

// Note shows one or more lines about something.
func (f *Front) Note(format string, values ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noteLocked(fmt.Sprintf(format, values...))
}

func (f *Front) noteLocked(text string) {
	f.settleLocked()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if f.options.Terminal {
		f.options.Editor.Print(text)
		return
	}
	_, _ = io.WriteString(f.options.Notes, text)
}

// settleLocked ends an open line of an answer, and takes the status line away.
func (f *Front) settleLocked() {
	f.clearLocked()
	if f.inText {
		f.inText = false
		f.sayLocked("\n")
	}
}

// sayLocked writes what the model says.
func (f *Front) sayLocked(text string) {
	if f.options.Terminal {
		f.options.Editor.Print(text)
		return
	}
	_, _ = io.WriteString(f.options.Out, text)
}

// maxStatus is the longest status line; a longer one would wrap and could not be rewritten.
const maxStatus = 78

// statusLocked shows what is going on, on a terminal alone.
func (f *Front) statusLocked(text string) {
	if !f.options.Terminal || f.inText {
		return
	}
	text = cut(line(text), maxStatus)
	f.clearLocked()
	f.options.Editor.Status(f.paint(dim, text))
	f.status = text
}

func (f *Front) clearLocked() {
	if f.status != "" {
		f.status = ""
		f.options.Editor.Status("")
	}
}

// waiting shows what is waited for.
func (f *Front) waiting(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statusLocked(text)
}

// clear takes the status line away.
func (f *Front) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleLocked()
}

// diagnosedLocked shows a diagnostic. What is for information only is shown where everything is.
func (f *Front) diagnosedLocked(d diagnostic.Diagnostic) {
	if d.Level == diagnostic.Info && !f.options.Verbose {
		return
	}
	f.noteLocked(Plain(d.String()) + "\n    " + Plain(d.Remedy))
}

// onceLocked reports whether something has not been told yet.
func (f *Front) onceLocked(what string) bool {
	first := !f.told[what]
	f.told[what] = true
	return first
}

// prompt is what stands in front of the person's line: what extensions want shown, and a mark.
func (f *Front) prompt(mark string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var shown []string
	for key := range f.statuses {
		shown = append(shown, key)
	}
	slices.Sort(shown)
	for i, key := range shown {
		shown[i] = f.statuses[key]
	}
	if len(shown) == 0 {
		return f.paint(cyan, mark) + " "
	}
	return f.paint(dim, "["+strings.Join(shown, " | ")+"]") + " " + f.paint(cyan, mark) + " "
}

// Finished says how a run ended, empty where it is simply done.
func Finished(o agent.Outcome) string {
	if o.Status == agent.Completed {
		return ""
	}
	text := strings.ReplaceAll(string(o.Status), "_", " ")
	if o.Reason != "" {
		text += ": " + line(o.Reason)
	}
	return text
}
