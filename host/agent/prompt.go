package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// open stores what the user said, with what hooks and extensions add, and starts the run.
func (r *run) open(p Prompt) error {
	if err := r.checkPrompt(p); err != nil {
		return err
	}
	if r.ctx.Err() != nil {
		return r.interrupted()
	}
	if err := r.mend(); err != nil {
		return err
	}
	opinion := r.Hooks.BeforePrompt(r.ctx, r.scope(), p.Text)
	r.notify(opinion.Notifications)
	if opinion.Deny != nil {
		return &ending{Denied, CodeDenied, "the prompt was denied: " + *opinion.Deny}
	}
	collected, notifications := r.Hooks.CollectContext(r.ctx, r.scope(), p.Text)
	r.notify(notifications)
	if r.ctx.Err() != nil {
		return r.interrupted()
	}
	context := r.fit(slices.Concat(p.Context, opinion.Context, collected))

	said := session.Message{Message: prompted(p, context), Run: p.Run, Display: validText(p.Display)}
	if said.Display == "" && len(said.Message.Parts) > 1+len(p.Media) {
		said.Display = validText(p.Text)
	}
	receipt, err := r.commit(session.Batch{Entries: []session.Entry{{Value: said, Metadata: p.Metadata}}, Start: cmp.Or(p.Run, session.RunOfFirst)})
	if err != nil {
		return err
	}
	r.id, r.context = receipt.Run, context
	r.agent.mu.Lock()
	r.agent.running = r.id
	r.agent.mu.Unlock()
	shown := p
	if p.Display != "" {
		shown.Text = p.Display
	}
	r.Emit(RunStarted{
		At: r.at(), Session: r.Session.ID(), Entry: receipt.Entries[0], Prompt: prompted(shown, nil),
		Provider: r.Provider.Name(), Model: r.Model.Model, Reasoning: r.Reasoning,
	})
	return nil
}

func (r *run) checkPrompt(p Prompt) error {
	if strings.TrimSpace(p.Text) == "" && len(p.Media) == 0 {
		return &ending{Failed, CodeBadRequest, "the prompt is empty; say something"}
	}
	for _, part := range p.Media {
		if part.Kind != conversation.Image && part.Kind != conversation.Audio {
			return &ending{Failed, CodeBadRequest, fmt.Sprintf("a %q part is no medium; attach images and audio", part.Kind)}
		}
		if len(r.Model.Input) > 0 && !slices.Contains(r.Model.Input, string(part.Kind)) {
			return &ending{Failed, CodeBadRequest, fmt.Sprintf("model %q takes no %s; choose another model, or leave it out", r.Model.Model, part.Kind)}
		}
	}
	return nil
}

// prompted is what the user said, with context in front of it and behind it.
func prompted(p Prompt, context []Context) conversation.Message {
	said := conversation.Message{Role: conversation.User}
	for _, c := range context {
		if c.Placement == PromptPrefix {
			said.Parts = append(said.Parts, c.part())
		}
	}
	if p.Text != "" {
		said.Parts = append(said.Parts, conversation.TextPart(validText(p.Text)))
	}
	said.Parts = append(said.Parts, p.Media...)
	for _, c := range context {
		if c.Placement == PromptSuffix {
			said.Parts = append(said.Parts, c.part())
		}
	}
	return said
}

// fit puts context into its place by default and leaves out what is over the bound of one turn: whole
// pieces, in their order. Blank pieces add nothing.
//
// MAN-SUPER-007, EXT04-CTX-006.
func (r *run) fit(context []Context) []Context {
	var kept []Context
	room := featurewire.MaxContextBytes
	for _, c := range context {
		c.Label, c.Content = validText(c.Label), validText(c.Content)
		if strings.TrimSpace(c.Content) == "" {
			continue
		}
		switch c.Placement {
		case SystemPrefix, SystemSuffix, PromptPrefix:
		default:
			c.Placement = PromptSuffix
		}
		size := len(c.Label) + len(c.Content)
		reason := ""
		switch {
		case len(c.Label) > featurewire.MaxContextLabelBytes:
			reason = fmt.Sprintf("its label has %d bytes, at most %d", len(c.Label), featurewire.MaxContextLabelBytes)
		case len(kept) == featurewire.MaxPendingContexts:
			reason = fmt.Sprintf("there are more than %d pieces", featurewire.MaxPendingContexts)
		case size > room:
			reason = fmt.Sprintf("the context of one turn has at most %d bytes", featurewire.MaxContextBytes)
		}
		if reason != "" {
			r.notify([]Notification{{
				Source: c.Source, Level: string(featurewire.NotificationLevelWarning), Title: "context left out",
				Message: fmt.Sprintf("%q is not shown to the model: %s", c.Label, reason),
			}})
			continue
		}
		room -= size
		kept = append(kept, c)
	}
	return kept
}

// part is the context as a model reads it.
func (c Context) part() conversation.Part { return conversation.TextPart(c.text()) }

func (c Context) text() string {
	label := c.Label
	if label == "" {
		label = "context"
	}
	if c.Source != "" {
		label += " (from " + c.Source + ")"
	}
	return "[" + label + "]\n" + c.Content
}

// validText replaces what is not UTF-8.
func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
