package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
)

// Name is that of the provider, and what a model reference to a script begins with: scripted:FILE.
const Name = "scripted"

// Options are what a provider may be given. The zero value is fine.
type Options struct {
	// After is the clock: it behaves like time.After. Nil means time.After.
	After func(time.Duration) <-chan time.Time
}

// Provider plays one script. It may be used by several conversations at once; they share its steps.
type Provider struct {
	script *Script
	after  func(time.Duration) <-chan time.Time

	mu      sync.Mutex
	used    []int // how often each step has answered
	request int   // how many requests there were
}

var _ model.Provider = (*Provider)(nil)

// New plays a script from its beginning.
func New(script *Script, options Options) *Provider {
	p := &Provider{script: script, after: options.After, used: make([]int, len(script.Steps))}
	if p.after == nil {
		p.after = time.After
	}
	return p
}

// Name is "scripted".
func (p *Provider) Name() string { return Name }

// Protocol is "scripted".
func (p *Provider) Protocol() string { return Name }

// Models lists the one model of the script.
func (p *Provider) Models(context.Context) ([]model.Info, error) {
	return []model.Info{p.script.Info}, nil
}

// Stream answers with the next step. A request that no step is left for is a *model.Error that names the
// file and its last step.
func (p *Provider) Stream(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seen := look(request)
	step, err := p.take(seen)
	if err != nil {
		return nil, err
	}
	t := &telling{step: step, emit: emit, wait: func(d time.Duration) error { return p.wait(ctx, d) }}
	message, err := t.tell(seen)
	if err != nil {
		return nil, err
	}
	if f := step.Error; f != nil {
		return nil, &model.Error{
			Provider: Name, Phase: f.Phase, Retry: f.Retry, RetryAfter: f.RetryAfter, Status: f.Status, UsageUnknown: f.UsageUnknown,
			Message: f.Message,
		}
	}
	response := &model.Response{Message: message, Stop: step.Stop, Usage: step.Usage, UsageKnown: !step.UsageUnknown}
	if p.script.Info.Price != nil && response.UsageKnown {
		cost := p.script.Info.Price.Cost(response.Usage)
		response.Usage.CostMicrodollars = &cost
	}
	return response, nil
}

func (p *Provider) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-p.after(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take finds the step that answers and marks it.
func (p *Provider) take(seen sight) (*Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.request++
	left := 0
	for i := range p.script.Steps {
		step := &p.script.Steps[i]
		if step.Repeat > 0 && p.used[i] >= step.Repeat {
			continue
		}
		left++
		if step.When.holds(seen) {
			p.used[i]++
			return step, nil
		}
	}
	text := fmt.Sprintf("request %d finds no step: all %d steps have answered, the last one stands on line %d; add a step, or repeat one",
		p.request, len(p.script.Steps), p.script.Steps[len(p.script.Steps)-1].Line)
	if left > 0 {
		text = fmt.Sprintf("request %d finds no step: %d of %d steps are left, and the conditions of none hold (last thing said by the user: %q)",
			p.request, left, len(p.script.Steps), clip(seen.user))
	}
	return nil, &model.Error{Provider: Name, Phase: model.BeforeGeneration, Message: p.script.File + ": " + text}
}

// sight is what conditions look at.
type sight struct {
	system, user string
	results      []conversation.Part // at the end of the request
	tools        []model.Tool
	calls        int // in the whole request
}

func look(request model.Request) sight {
	s := sight{system: request.System, tools: request.Tools}
	for i := len(request.Messages) - 1; i >= 0; i-- {
		if request.Messages[i].Role == conversation.User {
			s.user = request.Messages[i].PlainText()
			break
		}
	}
	trailing := len(request.Messages)
	for trailing > 0 && request.Messages[trailing-1].Role == conversation.Tool {
		trailing--
	}
	for i, message := range request.Messages {
		s.calls += len(message.ToolCalls())
		if i < trailing {
			continue
		}
		for _, part := range message.Parts {
			if part.Kind == conversation.ToolResult {
				s.results = append(s.results, part)
			}
		}
	}
	return s
}

// result is the text of the last result.
func (s sight) result() string {
	if len(s.results) == 0 {
		return ""
	}
	return s.results[len(s.results)-1].PlainText()
}

func (w When) holds(s sight) bool {
	if !strings.Contains(s.user, w.UserContains) || !strings.Contains(s.system, w.SystemContains) {
		return false
	}
	if w.Offers != "" && !offered(s.tools, w.Offers) {
		return false
	}
	if w.ResultOf == "" && w.ResultContains == "" {
		return true
	}
	for _, r := range s.results {
		if (w.ResultOf == "" || r.Name == w.ResultOf) && strings.Contains(r.PlainText(), w.ResultContains) {
			return true
		}
	}
	return false
}

func offered(tools []model.Tool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// telling is one answer on its way.
type telling struct {
	step *Step
	emit func(model.Delta)
	wait func(time.Duration) error
	said bool
}

func (t *telling) tell(seen sight) (conversation.Message, error) {
	message := conversation.Message{Role: conversation.Assistant}
	if err := t.wait(t.step.Delay); err != nil {
		return message, err
	}
	if text := t.step.Reasoning; text != "" {
		if err := t.pieces(model.Delta{Kind: conversation.Reasoning}, text); err != nil {
			return message, err
		}
		message.Parts = append(message.Parts, conversation.Part{Kind: conversation.Reasoning, Text: text})
	}
	if t.step.Text != "" {
		text := strings.NewReplacer("${user}", seen.user, "${result}", seen.result()).Replace(t.step.Text)
		if err := t.pieces(model.Delta{Kind: conversation.Text}, text); err != nil {
			return message, err
		}
		message.Parts = append(message.Parts, conversation.TextPart(text))
	}
	for i, call := range t.step.Calls {
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", seen.calls+i+1)
		}
		if err := t.pieces(model.Delta{Kind: conversation.ToolCall, CallID: id, Name: call.Name}, string(call.Arguments)); err != nil {
			return message, err
		}
		message.Parts = append(message.Parts, conversation.Part{
			Kind: conversation.ToolCall, CallID: id, Name: call.Name, Arguments: json.RawMessage(append([]byte(nil), call.Arguments...)),
		})
	}
	return message, nil
}

// pieces emits a text as the deltas that its step asks for.
func (t *telling) pieces(delta model.Delta, text string) error {
	for text != "" {
		piece := text
		if t.step.Chunk > 0 {
			piece = text[:prefix(text, t.step.Chunk)]
		}
		text = text[len(piece):]
		if t.said {
			if err := t.wait(t.step.Pause); err != nil {
				return err
			}
		}
		t.said = true
		delta.Text = piece
		t.emit(delta)
	}
	return nil
}

// prefix is how many bytes the first characters of a text take.
func prefix(text string, characters int) int {
	at := 0
	for range characters {
		if at == len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
