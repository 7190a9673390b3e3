package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
)

// The form of requests and payloads is this host's, as the wire leaves it open. Schemas of tools and
// arguments of calls are JSON texts: the wire itself has no fractions.

// wireRequest is ProviderStreamRequest.request.
type wireRequest struct {
	Model           string        `json:"model"`    // api_name of the model
	Protocol        string        `json:"protocol"` // of the model
	System          string        `json:"system,omitempty"`
	Messages        []wireMessage `json:"messages"`
	Tools           []wireTool    `json:"tools,omitempty"`
	MaxOutputTokens int64         `json:"max_output_tokens,omitempty"`
	Reasoning       string        `json:"reasoning,omitempty"`
}

type wireMessage struct {
	Role  conversation.Role `json:"role"` // user, assistant, tool, system
	Parts []wirePart        `json:"parts"`
}

type wirePart struct {
	Kind      conversation.Kind `json:"kind"`
	Text      string            `json:"text,omitempty"`
	Signature string            `json:"signature,omitempty"` // what reasoning_end gave
	CallID    string            `json:"call_id,omitempty"`
	Name      string            `json:"name,omitempty"`
	Arguments string            `json:"arguments,omitempty"` // JSON text
	IsError   bool              `json:"is_error,omitempty"`
	Content   []wirePart        `json:"content,omitempty"`
}

type wireTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  string `json:"parameters"` // JSON text of a schema
}

// encode puts a request into the form of the wire.
func encode(provider string, m canonicalwire.ProviderModelDefinition, request model.Request) (json.RawMessage, error) {
	w := wireRequest{
		Model: m.APIName, Protocol: string(m.Protocol), System: request.System, MaxOutputTokens: request.MaxOutputTokens, Reasoning: request.Reasoning,
		Messages: []wireMessage{},
	}
	for _, message := range model.Present(request.Messages, []string{"text"}) {
		w.Messages = append(w.Messages, wireMessage{message.Role, encodeParts(provider, message.Parts)})
	}
	if m.Capabilities.Tools {
		for _, t := range request.Tools {
			parameters := string(t.Parameters)
			if parameters == "" {
				parameters = `{"type":"object"}`
			}
			w.Tools = append(w.Tools, wireTool{t.Name, t.Description, parameters})
		}
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	return wirejson.AppendCanonical(nil, text, canonicalwire.MaxJSONDepth)
}

// seal begins the signatures of reasoning that came from a provider; it alone gets it back.
func seal(provider string) string { return "extension:" + provider + ":" }

func encodeParts(provider string, parts []conversation.Part) []wirePart {
	list := []wirePart{}
	for _, p := range parts {
		w := wirePart{Kind: p.Kind, Text: p.Text, CallID: p.CallID, Name: p.Name, IsError: p.IsError}
		if signature, ours := strings.CutPrefix(p.Signature, seal(provider)); ours {
			w.Signature = signature
		}
		if p.Kind == conversation.ToolCall {
			w.Arguments = string(model.ArgumentsObject(p.Arguments))
		}
		if p.Kind == conversation.ToolResult {
			w.Content = encodeParts(provider, p.Content)
		}
		list = append(list, w)
	}
	return list
}

// payload is what is read of the payload of an event. Members that are not listed are free.
type payload struct {
	Text      *string `json:"text"`      // text_delta, reasoning_delta
	Signature string  `json:"signature"` // reasoning_end
	ID        string  `json:"id"`        // tool_call_...; without one, the call that was started last
	Name      string  `json:"name"`      // tool_call_start
	Arguments string  `json:"arguments"` // tool_call_...: the next piece of the JSON text

	// usage; totals of disjoint counts
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`

	StopReason string `json:"stop_reason"` // finished: end, tool_calls, length or filtered
	Message    string `json:"message"`     // error
}

// answer gathers the events of a stream.
type answer struct {
	provider string
	emit     func(model.Delta)
	heard    bool
	parts    []*part
	ids      map[string]bool
	usage    conversation.Usage
	known    bool
	stop     model.StopReason
	failure  string
}

// part is a part that grows.
type part struct {
	kind      conversation.Kind
	wireID    string // of a call, as the extension calls it
	id, name  string
	text      strings.Builder // or arguments
	signature string
	closed    bool
}

func newAnswer(provider string, request model.Request, emit func(model.Delta)) *answer {
	a := &answer{provider: provider, emit: emit, ids: map[string]bool{}}
	for _, m := range request.Messages {
		for _, c := range m.ToolCalls() {
			a.ids[c.CallID] = true
		}
	}
	return a
}

// take adds an event.
func (a *answer) take(e canonicalwire.ProviderStreamEvent) error {
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil || len(e.Payload) == 0 || e.Payload[0] != '{' {
		return fmt.Errorf("the payload of %s cannot be read: it is no object of the agreed members", e.Kind)
	}
	switch e.Kind {
	case canonicalwire.ProviderStreamEventKindTextStart:
		a.open(&part{kind: conversation.Text})
	case canonicalwire.ProviderStreamEventKindTextDelta, canonicalwire.ProviderStreamEventKindReasoningDelta:
		if p.Text == nil {
			return fmt.Errorf("the payload of %s has no text", e.Kind)
		}
		kind := conversation.Text
		if e.Kind == canonicalwire.ProviderStreamEventKindReasoningDelta {
			kind = conversation.Reasoning
		}
		a.grow(a.last(kind), *p.Text)
	case canonicalwire.ProviderStreamEventKindReasoningStart:
		a.open(&part{kind: conversation.Reasoning})
	case canonicalwire.ProviderStreamEventKindReasoningEnd:
		b := a.last(conversation.Reasoning)
		if b.closed = true; p.Signature != "" {
			b.signature = seal(a.provider) + p.Signature
		}
	case canonicalwire.ProviderStreamEventKindTextEnd:
		a.last(conversation.Text).closed = true
	case canonicalwire.ProviderStreamEventKindToolCallStart:
		if p.Name == "" {
			return errors.New("a call has no name")
		}
		b := a.open(&part{kind: conversation.ToolCall, wireID: p.ID, name: p.Name, id: a.unique(p.ID)})
		a.tell(b, "")
		a.grow(b, p.Arguments)
	case canonicalwire.ProviderStreamEventKindToolCallArgsDelta, canonicalwire.ProviderStreamEventKindToolCallEnd:
		b := a.call(p.ID)
		if b == nil {
			return fmt.Errorf("there is no open call %q", p.ID)
		}
		a.grow(b, p.Arguments)
		b.closed = e.Kind == canonicalwire.ProviderStreamEventKindToolCallEnd
	case canonicalwire.ProviderStreamEventKindUsage:
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Reasoning) < 0 {
			return errors.New("a count of tokens is negative")
		}
		a.known = true
		a.usage = conversation.Usage{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, Reasoning: p.Reasoning}
	case canonicalwire.ProviderStreamEventKindFinished:
		switch stop := model.StopReason(p.StopReason); stop {
		case "", model.StopEnd, model.StopTools, model.StopLength, model.StopFiltered:
			a.stop = stop
		default:
			return fmt.Errorf("there is no stop reason %q", p.StopReason)
		}
	case canonicalwire.ProviderStreamEventKindError:
		if a.failure = shortened(p.Message); a.failure == "" {
			a.failure = "it gives no reason"
		}
	}
	return nil
}

// maxReasonBytes is how much is told of why a stream failed, as much as of why one is not accepted.
const maxReasonBytes = canonicalwire.MaxReasonBytes

// shortened is the beginning of a long text.
func shortened(text string) string {
	if len(text) <= maxReasonBytes {
		return text
	}
	const more = "..."
	return strings.ToValidUTF8(text[:maxReasonBytes-len(more)], "") + more
}

func (a *answer) open(b *part) *part {
	a.parts = append(a.parts, b)
	return b
}

// last is the open part of a kind at the end of the answer; a delta may do without its start.
func (a *answer) last(kind conversation.Kind) *part {
	if n := len(a.parts); n > 0 && a.parts[n-1].kind == kind && !a.parts[n-1].closed {
		return a.parts[n-1]
	}
	return a.open(&part{kind: kind})
}

// call is the open call of an id, the last one of an empty id.
func (a *answer) call(id string) *part {
	for i := len(a.parts) - 1; i >= 0; i-- {
		if b := a.parts[i]; b.kind == conversation.ToolCall && !b.closed && (id == "" || b.wireID == id) {
			return b
		}
	}
	return nil
}

func (a *answer) unique(id string) string {
	for n := len(a.ids) + 1; id == "" || a.ids[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	a.ids[id] = true
	return id
}

func (a *answer) grow(b *part, text string) {
	if text != "" {
		b.text.WriteString(text)
		a.tell(b, text)
	}
}

func (a *answer) tell(b *part, text string) {
	a.heard = true
	a.emit(model.Delta{Kind: b.kind, Text: text, CallID: b.id, Name: b.name})
}

// response is the finished answer.
func (a *answer) response() *model.Response {
	r := &model.Response{Message: conversation.Message{Role: conversation.Assistant}, Usage: a.usage, UsageKnown: a.known, Stop: a.stop}
	calls := 0
	for _, b := range a.parts {
		switch {
		case b.kind == conversation.ToolCall:
			calls++
			r.Message.Parts = append(r.Message.Parts, conversation.Part{
				Kind: b.kind, CallID: b.id, Name: b.name, Arguments: model.Arguments(b.text.String()),
			})
		case b.text.Len() > 0 || b.signature != "":
			r.Message.Parts = append(r.Message.Parts, conversation.Part{Kind: b.kind, Text: b.text.String(), Signature: b.signature})
		}
	}
	if r.Stop == "" || r.Stop == model.StopEnd || r.Stop == model.StopTools {
		r.Stop = model.StopEnd
		if calls > 0 {
			r.Stop = model.StopTools
		}
	}
	return r
}
