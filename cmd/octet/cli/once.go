package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/octet-dev/octet/cmd/octet/chat"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
)

// once takes one prompt to its end.
func (t *talk) once(ctx context.Context, c *console, e *engine.Engine, f *chat.Front, at opening, prompt string) (int, error) {
	lines := t.lines
	outcome, err := chat.Once(ctx, f, e, func(ctx context.Context) (*engine.Conversation, error) { return at(ctx, e) }, prompt)
	switch {
	case c.out.failure() != nil:
		return exitOK, nil // the console tells of it
	case err != nil:
		return notOpened(ctx, err)
	}
	switch {
	case t.output == outputJSON:
		lines.value(outcome)
	case t.output == outputText && !c.outTerminal && outcome.Text != "":
		lines.text(outcome.Text)
	}
	switch outcome.Status {
	case agent.Completed:
		return exitOK, nil
	case agent.Cancelled, agent.Interrupted:
		return exitCancelled, nil
	}
	c.errorf("%s", chat.Finished(outcome.Outcome))
	return exitTool, nil
}

// lineWriter writes lines, each in one piece.
type lineWriter struct{ out io.Writer }

// write leaves it to the output to remember what could not be written.
func (w *lineWriter) write(line []byte) { _, _ = w.out.Write(line) }

// event writes one event as a line.
func (w *lineWriter) event(event agent.Event) {
	line, err := agent.MarshalEvent(event)
	if err == nil {
		w.write(append(line, '\n'))
	}
}

func (w *lineWriter) value(v any) {
	line, err := json.Marshal(v)
	if err == nil {
		w.write(append(line, '\n'))
	}
}

func (w *lineWriter) text(text string) {
	if text[len(text)-1] != '\n' {
		text += "\n"
	}
	w.write([]byte(text))
}
