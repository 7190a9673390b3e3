package pending

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// question is one request to a person. It stays here once it is settled, so that a late answer can be told.
type question struct {
	told     oupwire.UserQuestionRequestedEvent
	answered chan []oupwire.UserQuestionAnswer // holds the answers once there are some
	reason   string                            // why it is not pending; empty while it is
}

// Reasons why questions are not pending.
const (
	alreadyAnswered = "already_answered"
	restarted       = "orphaned_by_restart"
)

// keptQuestions bounds the settled questions that are remembered.
const keptQuestions = 256

func (b *Book) question(ctx context.Context, turn, title, body string, questions []oupwire.UserQuestion) ([]oupwire.UserQuestionAnswer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(questions) == 0 || len(questions) > oupwire.MaxQuestions {
		return nil, fmt.Errorf("%d questions are asked at once; ask 1 to %d", len(questions), oupwire.MaxQuestions)
	}
	questions = slices.Clone(questions)
	for i := range questions {
		questions[i].Header = cut(questions[i].Header, oupwire.MaxQuestionHeaderCharacters)
		questions[i].AllowFreeText = true
	}
	id := event.NewID(b.now())
	q := &question{
		told: oupwire.UserQuestionRequestedEvent{
			SessionID: b.session, Topic: event.Topic(b.session), QuestionID: id, TurnID: turn, Title: title, Body: body, Questions: questions,
		},
		answered: make(chan []oupwire.UserQuestionAnswer, 1),
	}
	if err := q.told.Validate(); err != nil {
		return nil, fmt.Errorf("the questions cannot be asked: %w", err)
	}
	b.mu.Lock()
	b.questions[id] = q
	b.order = append(b.order, id)
	b.mu.Unlock()
	asked := ledger.Subject{Kind: event.Question, ID: id}
	if _, err := b.ledger.Append(context.WithoutCancel(ctx), event.Of(b.session, oupwire.MethodUserQuestionRequested, q.told, asked, ledger.Begins|ledger.Ends)); err != nil {
		b.mu.Lock()
		delete(b.questions, id)
		b.drop(id)
		b.mu.Unlock()
		return nil, err
	}
	select {
	case answers := <-q.answered:
		return answers, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case answers := <-q.answered:
		return answers, nil // the answer was faster
	default:
	}
	if q.reason != "" {
		return nil, context.Cause(ctx)
	}
	b.settle(id, q, string(oupwire.ApprovalCancelReasonTurnInterrupted))
	return nil, context.Cause(ctx)
}

// settle says why a question is not pending. The caller has the lock.
func (b *Book) settle(id string, q *question, reason string) {
	q.reason = reason
	b.drop(id)
	if len(b.questions) <= keptQuestions {
		return
	}
	oldest := ""
	for id, q := range b.questions { // ids ascend with time
		if q.reason != "" && (oldest == "" || id < oldest) {
			oldest = id
		}
	}
	delete(b.questions, oldest)
}

func (b *Book) answer(id string, answers []oupwire.UserQuestionAnswer) (resumed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.questions[id]
	if q == nil {
		state, found, err := b.ledger.State(context.Background(), b.session, ledger.Subject{Kind: event.Question, ID: id})
		switch {
		case err != nil:
			return false, err
		case found && state.Ended > 0:
			return false, &StaleError{Question: id, Reason: restarted}
		}
		return false, &UnknownError{What: "question", ID: id}
	}
	if q.reason != "" {
		return false, &StaleError{Question: id, Turn: q.told.TurnID, Reason: q.reason}
	}
	if reason := misfit(q.told.Questions, answers); reason != "" {
		return false, &InvalidError{Question: id, Reason: reason}
	}
	b.settle(id, q, alreadyAnswered)
	q.answered <- slices.Clone(answers)
	return true, nil
}

// misfit says why answers do not fit the questions, empty if they do.
func misfit(questions []oupwire.UserQuestion, answers []oupwire.UserQuestionAnswer) string {
	if len(answers) != len(questions) {
		return fmt.Sprintf("there are %d answers to %d questions; give one for each, in their order", len(answers), len(questions))
	}
	for i, a := range answers {
		q := questions[i]
		labels, _ := a.SelectedLabels.Get()
		text, _ := a.FreeText.Get()
		if len(labels) > 1 && !q.MultiSelect {
			return fmt.Sprintf("answer %d chooses %d options where one is asked for", i+1, len(labels))
		}
		if len(labels) == 0 && strings.TrimSpace(text) == "" {
			return fmt.Sprintf("answer %d is empty; choose an option, or say something", i+1)
		}
		for n, label := range labels {
			if !slices.ContainsFunc(q.Options, func(o oupwire.UserQuestionOption) bool { return o.Label == label }) {
				return fmt.Sprintf("answer %d chooses %q, which is not on offer", i+1, label)
			}
			if slices.Contains(labels[:n], label) {
				return fmt.Sprintf("answer %d chooses %q twice", i+1, label)
			}
		}
	}
	return ""
}

func (b *Book) pendingQuestions() []oupwire.UserQuestionRequestedEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []oupwire.UserQuestionRequestedEvent{}
	for _, id := range b.order {
		if q := b.questions[id]; q != nil && q.reason == "" {
			list = append(list, q.told)
		}
	}
	return list
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
