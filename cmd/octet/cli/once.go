package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/octet-dev/octet/cmd/octet/chat"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
)

// exitPipe is the exit code where nobody reads standard output any more, as shells report it.
const exitPipe = 141

// once takes one prompt to its end.
func (t *talk) once(ctx context.Context, c *console, e *engine.Engine, f *chat.Front, at opening, prompt string) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := t.lines
	lines.onLoss(func() { cancel(agent.ErrDisconnected) })
	outcome, err := chat.Once(ctx, f, e, func(ctx context.Context) (*engine.Conversation, error) { return at(ctx, e) }, prompt)
	switch {
	case lines.broken():
		return exitPipe, nil
	case err != nil:
		return notOpened(ctx, err)
	}
	switch {
	case t.output == outputJSON:
		lines.value(struct {
			Session string `json:"session"`
			chat.Result
		}{outcome.Session, outcome})
	case t.output == outputText && !c.outTerminal && outcome.Text != "":
		lines.text(outcome.Text)
	}
	if lines.broken() {
		return exitPipe, nil
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

// lineWriter writes lines and remembers when nobody takes them any more.
type lineWriter struct {
	out io.Writer

	mu   sync.Mutex
	lost func() // called once
	err  error
}

// onLoss has f called when nobody takes lines any more, at once if that is so already.
func (w *lineWriter) onLoss(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost = f; w.err != nil {
		f()
	}
}

func (w *lineWriter) write(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if _, w.err = w.out.Write(line); w.err != nil && w.lost != nil {
		w.lost()
	}
}

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

func (w *lineWriter) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Is(w.err, syscall.EPIPE)
}
