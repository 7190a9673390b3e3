package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// Aside is the answer to a question beside the conversation.
type Aside struct {
	Text     string
	Provider string
	Model    string
}

const asideSystem = `You answer a question of the user about a conversation between the user and a coding agent that goes on elsewhere. You cannot do anything but answer: you have no tools, and nobody reads the answer but the user. Be brief.`

// ErrNoAnswer says that a model has said nothing.
var ErrNoAnswer = errors.New("the model gave no answer")

// Aside asks the model about the conversation, once and without tools. Neither question nor answer becomes a part
// of it, no event tells of them, and a run that goes on is not disturbed; what it has used is stored.
func (a *Agent) Aside(ctx context.Context, question string) (Aside, error) {
	a.mu.Lock()
	options := a.options
	a.mu.Unlock()
	options.Emit = func(Event) {}
	r := &run{Options: &options, agent: a, ctx: ctx, started: options.Clock.Now(), ids: map[string]bool{}}
	branch, err := r.branch()
	if err != nil {
		return Aside{}, err
	}
	text := middleOut(source(branch, ""), r.summaryRoom())
	response, err := r.Provider.Stream(ctx, model.Request{
		Model: r.Model.Model, System: asideSystem + "\n\n<conversation>\n" + text + "\n</conversation>",
		Messages: []conversation.Message{conversation.Say(conversation.User, validText(question))},
	}, func(model.Delta) {})
	if err != nil {
		return Aside{}, err
	}
	if response == nil {
		return Aside{}, ErrNoAnswer
	}
	batch := session.Batch{}
	r.account(&batch, session.UsageOther, response)
	if _, err := r.commit(batch); err != nil {
		return Aside{}, err
	}
	answer := strings.TrimSpace(validText(response.Message.PlainText()))
	if answer == "" {
		return Aside{}, ErrNoAnswer
	}
	return Aside{Text: answer, Provider: r.Provider.Name(), Model: r.Model.Model}, nil
}
