package openai

import (
	"cmp"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
)

// answer gathers the pieces of a streamed answer.
type answer struct {
	names *toolname.Names
	emit  func(model.Delta)
	heard bool // a delta was emitted
	calls []*call
	ids   model.CallIDs

	reasoning, text strings.Builder
	refused         bool
	finish          string
	usage           conversation.Usage
	usageKnown      bool
}

// call is a tool call that grows.
type call struct {
	index     int64
	id, name  string
	arguments strings.Builder
	told      int // how many bytes of the arguments were emitted
}

func newAnswer(names *toolname.Names, request model.Request, emit func(model.Delta)) *answer {
	return &answer{names: names, emit: emit, ids: model.NewCallIDs("call_", request.Messages)}
}

// take adds a piece of a chat completion.
func (a *answer) take(chunk chatChunk) {
	if u := chunk.Usage; u != nil { // made disjoint: the API counts what was cached as input, and reasoning as output
		a.usageKnown = true
		a.usage = disjoint(u.PromptTokens, u.PromptTokensDetails, u.CompletionTokens, u.CompletionDetails)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		a.think(cmp.Or(choice.Delta.ReasoningContent, choice.Delta.Reasoning))
		a.say(choice.Delta.Content)
		if choice.Delta.Refusal != "" {
			a.refused = true
			a.say(choice.Delta.Refusal)
		}
		for _, piece := range choice.Delta.ToolCalls {
			a.grow(a.callAt(piece.Index, piece.ID), piece.Function.Name, piece.Function.Arguments)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
}

func (a *answer) think(text string) {
	if text != "" {
		a.reasoning.WriteString(text)
		a.tell(model.Delta{Kind: conversation.Reasoning, Text: text})
	}
}

func (a *answer) say(text string) {
	if text != "" {
		a.text.WriteString(text)
		a.tell(model.Delta{Kind: conversation.Text, Text: text})
	}
}

func (a *answer) tell(delta model.Delta) {
	a.heard = true
	a.emit(delta)
}

// callAt finds the call that a piece belongs to. Some servers number all calls 0 and tell them apart by id.
func (a *answer) callAt(index int64, id string) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if c := a.calls[i]; c.index == index && (id == "" || c.id == id) {
			return c
		}
	}
	c := &call{index: index, id: id}
	a.calls = append(a.calls, c)
	return c
}

// grow adds to a call and tells of it as soon as its name is known.
func (a *answer) grow(c *call, name, arguments string) {
	if c.name == "" && name != "" {
		c.name = a.names.Ours(name)
		c.id = a.ids.Unique(c.id)
	}
	c.arguments.WriteString(arguments)
	if c.name == "" {
		return
	}
	if all := c.arguments.String(); len(all) > c.told || name != "" {
		a.tell(model.Delta{Kind: conversation.ToolCall, CallID: c.id, Name: c.name, Text: all[c.told:]})
		c.told = len(all)
	}
}

// response is the answer once the server says that it is whole.
func (a *answer) response() *model.Response {
	r := &model.Response{Message: conversation.Message{Role: conversation.Assistant}, Usage: a.usage, UsageKnown: a.usageKnown}
	if a.reasoning.Len() > 0 {
		r.Message.Parts = append(r.Message.Parts, conversation.Part{Kind: conversation.Reasoning, Text: a.reasoning.String()})
	}
	if a.text.Len() > 0 {
		r.Message.Parts = append(r.Message.Parts, conversation.TextPart(a.text.String()))
	}
	calls := 0
	for _, c := range a.calls {
		if c.name == "" {
			continue
		}
		calls++
		r.Message.Parts = append(r.Message.Parts, conversation.Part{
			Kind: conversation.ToolCall, CallID: c.id, Name: c.name, Arguments: model.Arguments(c.arguments.String()),
		})
	}
	r.Stop = stopOf(a.finish, calls, a.refused)
	return r
}

func stopOf(finish string, calls int, refused bool) model.StopReason {
	switch {
	case finish == "length":
		return model.StopLength
	case finish == "content_filter" || refused:
		return model.StopFiltered
	case calls > 0:
		return model.StopTools
	}
	return model.StopEnd
}

// disjoint are counts that do not overlap.
func disjoint(input int64, in inputDetails, output int64, out outputCounts) conversation.Usage {
	cacheRead, cacheWrite, reasoning := in.CachedTokens, in.CacheWriteTokens, out.ReasoningTokens
	input, output = max(input, 0), max(output, 0)
	cacheRead = min(max(cacheRead, 0), input)
	cacheWrite = min(max(cacheWrite, 0), input-cacheRead)
	reasoning = min(max(reasoning, 0), output)
	return conversation.Usage{
		Input: input - cacheRead - cacheWrite, Output: output - reasoning,
		CacheRead: cacheRead, CacheWrite: cacheWrite, Reasoning: reasoning,
	}
}
