package anthropic

import (
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
)

// answer gathers the blocks of a streamed answer.
type answer struct {
	names *toolname.Names
	emit  func(model.Delta)
	heard bool // a delta was emitted
	whole bool // message_stop has come

	blocks []*block
	ids    model.CallIDs
	stop   string
	counts counts
	known  bool
}

// counts are the tokens as the API counts them.
type counts struct{ input, cacheRead, cacheWrite, output, thinking int64 }

// block is one block that grows.
type block struct {
	index    int64
	kind     conversation.Kind
	text     strings.Builder // or arguments
	seal     string
	redacted bool
	id, name string
}

func newAnswer(names *toolname.Names, request model.Request, emit func(model.Delta)) *answer {
	return &answer{names: names, emit: emit, ids: model.NewCallIDs("toolu_", request.Messages)}
}

func (a *answer) take(event streamEvent) {
	switch event.Type {
	case "message_start":
		if event.Message.Usage != nil {
			a.known = true
			a.count(*event.Message.Usage)
		}
	case "content_block_start":
		a.begin(event)
	case "content_block_delta":
		a.grow(event)
	case "message_delta":
		if event.Delta.StopReason != "" {
			a.stop = event.Delta.StopReason
		}
		a.count(event.Usage)
	case "message_stop":
		a.whole = true
	}
}

// count takes the counts that an event has: they are totals, and those that it leaves out stand.
func (a *answer) count(u usage) {
	a.known = a.known || u.OutputTokens != nil
	if u.InputTokens != nil && *u.InputTokens == 0 {
		u.InputTokens = nil // some servers count it at the beginning alone
	}
	if u.OutputTokensDetails != nil {
		a.counts.thinking = u.OutputTokensDetails.ThinkingTokens
	}
	for _, c := range []struct{ from, to *int64 }{
		{u.InputTokens, &a.counts.input},
		{u.CacheReadInputTokens, &a.counts.cacheRead},
		{u.CacheCreationInputTokens, &a.counts.cacheWrite},
		{u.OutputTokens, &a.counts.output},
	} {
		if c.from != nil {
			*c.to = *c.from
		}
	}
}

func (a *answer) begin(event streamEvent) {
	b := &block{index: event.Index}
	switch event.ContentBlock.Type {
	case "text":
		b.kind = conversation.Text
		a.add(b, event.ContentBlock.Text)
	case "thinking":
		b.kind, b.seal = conversation.Reasoning, event.ContentBlock.Signature
		a.add(b, event.ContentBlock.Thinking)
	case "redacted_thinking":
		b.kind, b.seal, b.redacted = conversation.Reasoning, event.ContentBlock.Data, true
	case "tool_use":
		if event.ContentBlock.Name == "" {
			return
		}
		b.kind, b.name, b.id = conversation.ToolCall, a.names.Ours(event.ContentBlock.Name), a.ids.Unique(event.ContentBlock.ID)
		a.tell(model.Delta{Kind: conversation.ToolCall, CallID: b.id, Name: b.name})
	default: // nothing that we ask for
		return
	}
	a.blocks = append(a.blocks, b)
}

func (a *answer) grow(event streamEvent) {
	var b *block
	for _, known := range a.blocks {
		if known.index == event.Index {
			b = known
		}
	}
	if b == nil {
		return
	}
	switch event.Delta.Type {
	case "text_delta":
		a.add(b, event.Delta.Text)
	case "thinking_delta":
		a.add(b, event.Delta.Thinking)
	case "signature_delta":
		b.seal += event.Delta.Signature
	case "input_json_delta":
		a.add(b, event.Delta.PartialJSON)
	}
}

func (a *answer) add(b *block, text string) {
	if text != "" {
		b.text.WriteString(text)
		a.tell(model.Delta{Kind: b.kind, CallID: b.id, Name: b.name, Text: text})
	}
}

func (a *answer) tell(delta model.Delta) {
	a.heard = true
	a.emit(delta)
}

func (a *answer) response() *model.Response {
	r := &model.Response{Message: conversation.Message{Role: conversation.Assistant}, UsageKnown: a.known}
	calls := 0
	for _, b := range a.blocks {
		part := conversation.Part{Kind: b.kind, Text: b.text.String()}
		switch b.kind {
		case conversation.Reasoning:
			switch {
			case b.redacted:
				part.Signature = redacted + b.seal
			case b.seal != "":
				part.Signature = signed + b.seal
			}
		case conversation.ToolCall:
			calls++
			part = conversation.Part{Kind: b.kind, CallID: b.id, Name: b.name, Arguments: model.Arguments(b.text.String())}
		}
		if part.Text != "" || part.Signature != "" || b.kind == conversation.ToolCall {
			r.Message.Parts = append(r.Message.Parts, part)
		}
	}
	switch {
	case a.stop == "max_tokens" || a.stop == "model_context_window_exceeded":
		r.Stop = model.StopLength
	case a.stop == "refusal":
		r.Stop = model.StopFiltered
	case calls > 0:
		r.Stop = model.StopTools
	default:
		r.Stop = model.StopEnd
	}
	if a.known {
		output := max(a.counts.output, 0)
		thinking := min(max(a.counts.thinking, 0), output)
		r.Usage = conversation.Usage{
			Input: max(a.counts.input, 0), Output: output - thinking, Reasoning: thinking,
			CacheRead: max(a.counts.cacheRead, 0), CacheWrite: max(a.counts.cacheWrite, 0),
		}
	}
	return r
}
