package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/tool"
)

// tools are those that a conversation has because clients can answer and show plans.
func (s *Session) tools() []tool.Tool {
	list := []tool.Tool{asking{s}, planning{s}}
	if s.o.Tools != nil {
		list = append(list, s.o.Tools(s)...)
	}
	return list
}

// asking lets the model ask the person at a client.
type asking struct{ s *Session }

// Definition describes it.
func (asking) Definition() tool.Definition {
	return tool.Definition{
		Name: "ask_user", Effect: tool.None,
		Description: "Ask the user up to four questions at once, each with two to four answers to choose from; the user may also answer in words. Use it where you cannot go on without knowing, and not for what you can find out yourself.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["questions"],"properties":{
"title":{"type":"string","maxLength":200,"description":"what the questions are about"},
"questions":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"object","additionalProperties":false,"required":["question","options"],"properties":{
"header":{"type":"string","description":"a word or two, at most 12 characters"},
"question":{"type":"string","minLength":1,"maxLength":2000},
"multi_select":{"type":"boolean","description":"several may be chosen"},
"options":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"object","additionalProperties":false,"required":["label"],"properties":{
"label":{"type":"string","minLength":1,"maxLength":200},"description":{"type":"string","maxLength":1000}}}}}}}}}`),
	}
}

// Run asks and waits. Where nobody can answer the model is told so, and the turn goes on.
//
// Rule: OUP-QUESTION-001.
func (a asking) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var want struct {
		Title     string `json:"title"`
		Questions []struct {
			Header      string `json:"header"`
			Question    string `json:"question"`
			MultiSelect bool   `json:"multi_select"`
			Options     []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(call.Arguments, &want); err != nil {
		return tool.Failed("the arguments cannot be read: " + err.Error()), nil
	}
	var questions []oupwire.UserQuestion
	for _, q := range want.Questions {
		asked := oupwire.UserQuestion{Header: cmp.Or(q.Header, "Question"), Question: q.Question, MultiSelect: q.MultiSelect, AllowFreeText: true}
		for _, o := range q.Options {
			asked.Options = append(asked.Options, oupwire.UserQuestionOption{Label: o.Label, Description: o.Description})
		}
		questions = append(questions, asked)
	}
	answers, err := a.s.ask(ctx, cmp.Or(want.Title, "A question"), "", questions)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, err
		}
		return tool.Failed("the user cannot be asked: " + err.Error() + "; go on with what you think is best, and say so"), nil
	}
	var text strings.Builder
	for i, answer := range answers {
		labels, _ := answer.SelectedLabels.Get()
		said := strings.Join(labels, ", ")
		if words := strings.TrimSpace(answer.FreeText.Or("")); words != "" {
			said = strings.TrimPrefix(said+"; "+words, "; ")
		}
		fmt.Fprintf(&text, "%s\n%s\n", questions[i].Question, said)
	}
	return tool.Said(strings.TrimSpace(text.String())), nil
}

// errNobody says that no client could be shown questions.
var errNobody = fmt.Errorf("no client is there that takes questions (%s)", oupwire.FeatureUserQuestionV1)

// ask asks questions of clients.
func (s *Session) ask(ctx context.Context, title, body string, questions []oupwire.UserQuestion) ([]oupwire.UserQuestionAnswer, error) {
	turn := s.Running()
	s.mu.Lock()
	answering := s.answering
	s.mu.Unlock()
	switch {
	case turn == "":
		return nil, errNoTurn
	case answering == 0:
		return nil, errNobody
	}
	return s.book.Question(ctx, turn, title, body, questions)
}

// Attend says that a client has the session open, and whether it takes questions. leave says that it has not any
// more; it may be called more than once.
func (s *Session) Attend(questions bool) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attending++
	if questions {
		s.answering++
	}
	gone := false
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if gone {
			return
		}
		gone = true
		s.attending--
		if questions {
			s.answering--
		}
	}
}

// planning lets the model show what it is about to do.
type planning struct{ s *Session }

// Definition describes it.
func (planning) Definition() tool.Definition {
	return tool.Definition{
		Name: "update_plan", Effect: tool.None,
		Description: "Show the user the steps of a longer task and how they stand. Each call replaces the whole plan. At most one step is in progress.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["items"],"properties":{
"title":{"type":"string","maxLength":200},
"items":{"type":"array","maxItems":64,"items":{"type":"object","additionalProperties":false,"required":["title","status"],"properties":{
"id":{"type":"string","maxLength":64},"title":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","completed"]}}}}}}`),
	}
}

// Run shows the plan.
//
// Rule: OUP-PROGRESS-006.
func (p planning) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	var want struct {
		Title string `json:"title"`
		Items []struct {
			ID     string                 `json:"id"`
			Title  string                 `json:"title"`
			Status oupwire.PlanItemStatus `json:"status"`
		} `json:"items"`
	}
	if err := json.Unmarshal(call.Arguments, &want); err != nil {
		return tool.Failed("the arguments cannot be read: " + err.Error()), nil
	}
	s := p.s
	plan := oupwire.Plan{Items: []oupwire.PlanItem{}, UpdatedAtMs: s.o.Now().UnixMilli()}
	if want.Title != "" {
		plan.Title = wirejson.Some(want.Title)
	}
	for i, item := range want.Items {
		plan.Items = append(plan.Items, oupwire.PlanItem{ID: cmp.Or(item.ID, fmt.Sprint(i+1)), Title: item.Title, Status: item.Status})
	}
	told := oupwire.PlanUpdatedEvent{SessionID: s.o.Key, Topic: event.Topic(s.o.Key), Plan: plan}
	if turn := s.Running(); turn != "" {
		told.TurnID = wirejson.Some(turn)
	}
	s.mu.Lock()
	s.plan = &told
	s.mu.Unlock()
	if s.o.Spread != nil {
		s.o.Spread(s.o.Key, oupwire.MethodPlanUpdated, told)
	}
	return tool.Said("the plan is shown"), nil
}

// Plan is the newest plan; found is false where there is none. It is told again to whoever opens the session, and
// lives as long as the process.
//
// Rule: OUP-REPLAY-012.
func (s *Session) Plan() (plan oupwire.PlanUpdatedEvent, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan == nil {
		return plan, false
	}
	return *s.plan, true
}
