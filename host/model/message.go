package model

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
)

// Arguments are the arguments of a call as a conversation keeps them: what the model wrote if that is JSON which
// every wire takes, an empty object if it wrote nothing, and else its text as a JSON string.
func Arguments(text string) json.RawMessage {
	switch trimmed := bytes.TrimSpace([]byte(text)); {
	case len(trimmed) == 0:
		return json.RawMessage("{}")
	case Legible(trimmed) == nil:
		return trimmed
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("{}") // no text does that
	}
	return quoted
}

// Legible says what keeps a text from being JSON that every wire takes, where no member comes twice and no half of a
// surrogate pair stands alone: a *wirejson.SyntaxError.
func Legible(text []byte) error {
	document, err := wirejson.Parse(text, wirejson.DefaultMaxDepth)
	if err == nil {
		document.Release()
	}
	return err
}

// ArgumentsObject are arguments for a wire that takes nothing but objects: anything else is wrapped.
func ArgumentsObject(arguments json.RawMessage) json.RawMessage {
	switch trimmed := bytes.TrimSpace(arguments); {
	case len(trimmed) == 0 || Legible(trimmed) != nil:
		return json.RawMessage("{}")
	case trimmed[0] == '{':
		return trimmed
	default:
		return slices.Concat([]byte(`{"invalid_arguments":`), trimmed, []byte("}"))
	}
}

// LeftOut stands for a part that a model cannot take.
func LeftOut(part conversation.Part) conversation.Part {
	text := "[" + string(part.Kind) + " left out: the model takes none"
	if part.Text != "" {
		text += "; it is described as: " + part.Text
	}
	return conversation.TextPart(text + "]")
}

// Present replaces what a model of these modalities cannot take. What is not changed is shared with the
// argument. No modalities: nothing is known, and everything stays.
func Present(messages []conversation.Message, input []string) []conversation.Message {
	if len(input) == 0 {
		return messages
	}
	presented := slices.Clone(messages)
	for i, message := range presented {
		presented[i].Parts = presentParts(message.Parts, input)
	}
	return presented
}

func presentParts(parts []conversation.Part, input []string) []conversation.Part {
	if !slices.ContainsFunc(parts, func(p conversation.Part) bool { return unfit(p, input) }) {
		return parts
	}
	presented := slices.Clone(parts)
	for i, part := range parts {
		switch {
		case part.Kind == conversation.ToolResult:
			presented[i].Content = presentParts(part.Content, input)
		case unfit(part, input):
			presented[i] = LeftOut(part)
		}
	}
	return presented
}

func unfit(part conversation.Part, input []string) bool {
	switch part.Kind {
	case conversation.Image, conversation.Audio:
		return !slices.Contains(input, string(part.Kind))
	case conversation.ToolResult:
		return slices.ContainsFunc(part.Content, func(p conversation.Part) bool { return unfit(p, input) })
	}
	return false
}
