package chat

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
)

// Result is what became of one prompt.
type Result struct {
	Session string `json:"session"`
	agent.Outcome
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Millis   int64  `json:"duration_ms"`
}

// Once opens a conversation, takes one prompt to its end, and closes it. The first interrupt cancels the run,
// the second ends the extensions.
func Once(ctx context.Context, f *Front, e *engine.Engine, open func(context.Context) (*engine.Conversation, error), prompt string) (Result, error) {
	c := &Chat{front: f, engine: e}
	var r Result
	err := c.attend(ctx, func(ctx context.Context) error {
		conversation, err := open(ctx)
		if err != nil {
			return err
		}
		r.Session = conversation.ID()
		provider, info, _ := conversation.Model()
		r.Provider, r.Model = provider, info.Model
		r.Outcome, err = conversation.Prompt(ctx, agent.Prompt{Text: prompt})
		r.Millis = r.Duration.Milliseconds()
		if closed := conversation.Close(); err == nil {
			err = closed
		}
		return err
	})
	return r, err
}

// Greet says what there is, where a person can see it.
func (c *Chat) Greet(release string) {
	if !c.front.options.Ask {
		return
	}
	provider, info, _ := c.current().Model()
	text := fmt.Sprintf("octet %s, %s %s", release, provider, info.Model)
	switch n := len(c.engine.Fleet().Status()); n {
	case 0:
	case 1:
		text += ", 1 extension"
	default:
		text += fmt.Sprintf(", %d extensions", n)
	}
	c.front.Note("%s", c.front.paint(dim, Plain(text+"; /help explains\nin "+c.engine.Workspace())))
}
