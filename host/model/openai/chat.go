package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
	"github.com/octet-dev/octet/host/model/web"
)

// The roles of messages, and the types of parts and of tools.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	typeText      = "text"
	typeFunction  = "function"
)

// chat translates a request into one for chat completions.
func (p *Provider) chat(names *toolname.Names, request model.Request) (*chatRequest, error) {
	params := &chatRequest{
		Model: request.Model, Messages: []chatMessage{}, ReasoningEffort: request.Reasoning,
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	switch {
	case request.MaxOutputTokens <= 0:
	case p.native():
		params.MaxCompletionTokens = request.MaxOutputTokens
	default: // the older name is what all servers know
		params.MaxTokens = request.MaxOutputTokens
	}
	if request.System != "" {
		params.Messages = append(params.Messages, chatMessage{Role: roleSystem, Content: request.System})
	}
	for i := 0; i < len(request.Messages); i++ {
		if request.Messages[i].Role != conversation.Tool {
			params.Messages = append(params.Messages, chatMessages(names, request.Messages[i])...)
			continue
		}
		// All results come before what a result cannot hold.
		var results, shown []chatMessage
		for ; i < len(request.Messages) && request.Messages[i].Role == conversation.Tool; i++ {
			for _, part := range request.Messages[i].Parts {
				result, media := chatResult(part)
				results = append(results, result)
				shown = append(shown, media...)
			}
		}
		i--
		params.Messages = append(append(params.Messages, results...), shown...)
	}
	for _, tool := range request.Tools {
		parameters, err := schemaOf(p.options.Name, tool)
		if err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, chatTool{
			Type: typeFunction, Function: function{Name: names.Wire(tool.Name), Description: tool.Description, Parameters: parameters},
		})
	}
	return params, nil
}

// schemaOf reads the parameters of a tool.
func schemaOf(provider string, tool model.Tool) (map[string]any, error) {
	if len(tool.Parameters) == 0 {
		return map[string]any{"type": "object", "properties": map[string]any{}}, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		return nil, web.Local(provider, "the parameters of tool %q are no JSON object", tool.Name)
	}
	if _, ok := schema["properties"]; !ok && schema["type"] == "object" {
		schema["properties"] = map[string]any{} // some servers demand it
	}
	return schema, nil
}

func chatMessages(names *toolname.Names, message conversation.Message) []chatMessage {
	switch message.Role {
	case conversation.System:
		if text := message.PlainText(); text != "" {
			return []chatMessage{{Role: roleSystem, Content: text}}
		}
		return nil
	case conversation.Assistant:
		return chatAssistant(names, message)
	}
	parts := chatParts(message.Parts)
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 && parts[0].Type == typeText {
		return []chatMessage{{Role: roleUser, Content: parts[0].Text}}
	}
	return []chatMessage{{Role: roleUser, Content: parts}}
}

// chatAssistant leaves out reasoning, which has no place in this API.
func chatAssistant(names *toolname.Names, message conversation.Message) []chatMessage {
	assistant := chatMessage{Role: roleAssistant}
	for _, call := range message.ToolCalls() {
		assistant.ToolCalls = append(assistant.ToolCalls, chatCall{
			ID: call.CallID, Type: typeFunction, Function: calledByName{Name: names.Wire(call.Name), Arguments: string(model.ArgumentsObject(call.Arguments))},
		})
	}
	if text := message.PlainText(); text != "" {
		assistant.Content = text
	} else if len(assistant.ToolCalls) == 0 {
		return nil
	}
	return []chatMessage{assistant}
}

// chatResult makes a result, and a message for the media that it cannot hold.
func chatResult(part conversation.Part) (result chatMessage, shown []chatMessage) {
	var media []conversation.Part
	for _, inner := range part.Content {
		if inner.Kind == conversation.Image || inner.Kind == conversation.Audio {
			media = append(media, inner)
		}
	}
	if parts := chatParts(media); len(parts) > 0 {
		intro := chatPart{Type: typeText, Text: "What the tool " + part.Name + " has answered in call " + part.CallID + ":"}
		shown = append(shown, chatMessage{Role: roleUser, Content: append([]chatPart{intro}, parts...)})
	}
	return chatMessage{Role: roleTool, ToolCallID: part.CallID, Content: resultText(part, len(media))}, shown
}

// resultText is the text of a result: this API knows no errors, so they say it themselves.
func resultText(part conversation.Part, media int) string {
	text := part.PlainText()
	switch {
	case text == "" && media > 0:
		text = "The answer follows in the next message."
	case text == "":
		text = "(no output)"
	}
	if part.IsError {
		text = "Error: " + text
	}
	return text
}

func chatParts(parts []conversation.Part) []chatPart {
	var list []chatPart
	for _, part := range parts {
		switch part.Kind {
		case conversation.Text:
			if part.Text != "" {
				list = append(list, chatPart{Type: typeText, Text: part.Text})
			}
		case conversation.Image:
			list = append(list, chatPart{Type: "image_url", ImageURL: &imageURL{URL: dataURL(part)}})
		case conversation.Audio:
			format, ok := audioFormat(part.MediaType)
			if !ok {
				list = append(list, chatPart{Type: typeText, Text: model.LeftOut(part).Text})
				continue
			}
			list = append(list, chatPart{Type: "input_audio", InputAudio: &inputAudio{
				Data: base64.StdEncoding.EncodeToString(part.Data), Format: format,
			}})
		}
	}
	return list
}

func dataURL(part conversation.Part) string {
	return "data:" + part.MediaType + ";base64," + base64.StdEncoding.EncodeToString(part.Data)
}

// audioFormat names the two formats that the API takes.
func audioFormat(mediaType string) (string, bool) {
	switch strings.ToLower(mediaType) {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return "wav", true
	case "audio/mpeg", "audio/mp3":
		return "mp3", true
	}
	return "", false
}
