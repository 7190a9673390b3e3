package chat

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/activation"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
)

// Chat is one conversation at a terminal, line by line.
type Chat struct {
	front  *Front
	engine *engine.Engine
	// conversation is the one in front. The completer looks at it from another goroutine.
	conversation atomic.Pointer[engine.Conversation]
	activation   *activation.Editor
	draft        string // what stood in the line when a question came between
	// failed is set when lines come from no person and one of them has failed.
	failed bool
}

// New makes a chat over an engine whose frontend is the front.
func New(f *Front, e *engine.Engine, c *engine.Conversation, a *activation.Editor) *Chat {
	chat := &Chat{front: f, engine: e, activation: a}
	chat.conversation.Store(c)
	if f.options.Terminal {
		f.options.Editor.SetSuggest(chat.suggest)
		f.options.Editor.SetPress(e.Press)
	}
	return chat
}

// errLeave ends the loop: the person wants to go.
var errLeave = errors.New("leave")

// Run reads lines and does what they say until the input ends, the person leaves, or the context ends. It
// reports whether all that was asked for went well, which counts where nobody watches. The error is the
// cause of the context.
func (c *Chat) Run(ctx context.Context) (ok bool, err error) {
	defer func() { _ = c.current().Close() }()
	for {
		text, err := c.read(ctx)
		switch {
		case errors.Is(err, edit.ErrInterrupted):
			c.front.Note("Ctrl-D or /exit leaves")
			continue
		case errors.Is(err, io.EOF):
			return c.front.options.Ask || !c.failed, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			return false, err
		}
		if c.front.options.Echo && strings.TrimSpace(text) != "" {
			c.front.Note("> %s", Plain(text))
		}
		err = c.do(ctx, strings.TrimSpace(text))
		switch {
		case errors.Is(err, errLeave):
			return c.front.options.Ask || !c.failed, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			c.failed = true
			c.front.Note("%s", c.front.paint(red, "octet:")+" "+Plain(err.Error()))
		}
	}
}

// current is the conversation in front. Extensions may put another one there.
func (c *Chat) current() *engine.Conversation {
	if front := c.engine.Front(); front != nil {
		c.conversation.Store(front)
	}
	return c.conversation.Load()
}

// read reads a line of the person. Questions that come meanwhile are asked in between.
func (c *Chat) read(ctx context.Context) (string, error) {
	for {
		reading, cancel := context.WithCancelCause(ctx)
		waiting := make(chan ask, 1)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			select {
			case a := <-c.front.asks:
				waiting <- a
				cancel(errAsked)
			case <-reading.Done():
			}
		}()
		text, err := c.front.options.Editor.Read(reading, edit.Ask{Prompt: c.front.prompt(">"), Text: c.draft, Keep: true})
		cancel(nil)
		<-stopped
		c.draft = ""
		if errors.Is(err, errAsked) {
			c.draft, err = text, nil
			c.answer(<-waiting)
			continue
		}
		select {
		case a := <-waiting: // it came with the last key
			c.answer(a)
		default:
		}
		return text, err
	}
}

var errAsked = errors.New("a question came")

// answer asks the person and hands the answer over. Ctrl-C is an answer: none.
func (c *Chat) answer(a ask) {
	if a.ctx.Err() != nil {
		return
	}
	if a.text != "" {
		c.front.Note("%s", a.text)
	} else {
		c.front.clear()
	}
	text, err := c.front.options.Editor.Read(a.ctx, a.read)
	a.answers <- answer{text, err}
}

// do carries out one line.
func (c *Chat) do(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	if word, isCommand := strings.CutPrefix(text, "/"); isCommand && !strings.HasPrefix(word, "/") {
		return c.command(ctx, word)
	}
	return c.say(ctx, text)
}

// say takes a prompt to its end.
func (c *Chat) say(ctx context.Context, text string) error {
	var outcome agent.Outcome
	err := c.attend(ctx, func(ctx context.Context) error {
		c.front.waiting("waiting for the extensions") // until the first news
		return c.inFront(ctx, func(on *engine.Conversation) (err error) {
			outcome, err = on.Prompt(ctx, agent.Prompt{Text: text})
			return err
		})
	})
	if err != nil {
		return err
	}
	if how := Finished(outcome); how != "" {
		c.failed = true
		c.front.Note("%s", c.front.paint(yellow, "  "+how))
	}
	for _, left := range outcome.Undelivered {
		c.front.Note("  not told: %s", line(left))
	}
	return nil
}

// inFront does something in the conversation in front. Where an extension puts another one there meanwhile, it is
// done in that one.
func (c *Chat) inFront(ctx context.Context, do func(*engine.Conversation) error) error {
	for {
		on := c.current()
		err := do(on)
		if !errors.Is(err, engine.ErrClosed) {
			return err
		}
		if _, gone := c.engine.Next(ctx, on); gone != nil {
			return err
		}
	}
}

// attend does something that takes its time: questions are asked meanwhile, the first interrupt cancels it,
// and the second ends the extensions.
func (c *Chat) attend(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	interrupted := 0
	interrupt := func() {
		interrupted++
		if interrupted == 1 {
			c.front.Note("%s", c.front.paint(yellow, "cancelling; press Ctrl-C again to end the extensions"))
			cancel(context.Canceled)
			return
		}
		c.engine.Kill()
	}
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	for {
		select {
		case err := <-done:
			c.front.clear()
			return err
		case <-interrupts:
			interrupt()
		case a := <-c.front.asks:
			c.attendTo(a, interrupts, interrupt)
		}
	}
}

// attendTo asks one question in between. Ctrl-C at a question gives no answer and cancels what asked.
func (c *Chat) attendTo(a ask, interrupts <-chan os.Signal, interrupt func()) {
	own := a
	own.answers = make(chan answer, 1)
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		c.answer(own)
	}()
	for {
		select {
		case <-interrupts: // while the line is not edited, as on a simple terminal
			interrupt()
		case <-asked:
			select {
			case got := <-own.answers:
				if errors.Is(got.err, edit.ErrInterrupted) {
					interrupt()
				}
				a.answers <- got
			default:
			}
			return
		}
	}
}
