package engine

import (
	"context"
	"strings"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/menu"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/service/render"
)

// Menu asks an extension for its menu. There always is one for an extension in service.
func (c *Conversation) Menu(ctx context.Context, name string) (menu.Menu, error) {
	var opened menu.Menu
	err := c.engine.use(ctx, name, func(ctx context.Context, x *extension.Extension) error {
		opened = menu.Open(ctx, x, c.scope())
		return nil
	})
	return opened, err
}

// Choose runs an item of a menu, once the person has confirmed it if it destroys something.
func (c *Conversation) Choose(ctx context.Context, name string, item menu.Item, progress func(extension.Progress)) (text string, err error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	progress, shown := bounded(progress)
	defer shown()
	err = c.engine.use(ctx, name, func(ctx context.Context, x *extension.Extension) error {
		answer, err := menu.Choose(ctx, x, c.engine.person(), menu.Choice{Item: item, Scope: c.scope(), Progress: progress})
		if err != nil {
			return err
		}
		c.engine.services.contribute(x, answer.Context)
		text = answer.Text
		return nil
	})
	return text, err
}

// Presentations are what extensions present now, by name.
func (e *Engine) Presentations() []presentation.Shown { return e.services.board.Snapshots() }

// rendered has an extension draw the result of a call, if one declares to. It takes half a second at most. The
// drawing belongs to the process: the session owns nothing that is made of it.
//
// Rule: EXT04-OWNER-010.
func (s *services) rendered(c *Conversation, e agent.ToolFinished, arguments []byte) (Rendered, bool) {
	x := render.Find(s.engine.ready(), e.Name)
	if x == nil || e.Status == agent.ToolCancelled || e.Status == agent.ToolDenied || e.Parent != "" {
		return Rendered{}, false
	}
	var output strings.Builder
	for _, part := range e.Result.Content {
		output.WriteString(part.PlainText())
	}
	segments, drawn := render.Draw(context.Background(), x, extension.Rendering{
		Tool: e.Name, Arguments: arguments, Output: output.String(), IsError: e.Result.IsError, Scope: extension.Scope{Host: c.scope().Host},
	})
	if !drawn {
		return Rendered{}, false
	}
	var text strings.Builder
	for _, segment := range segments {
		text.WriteString(segment.Text)
	}
	return Rendered{CallID: e.CallID, Extension: x.Name(), Text: text.String()}, true
}
