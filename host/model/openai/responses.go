package openai

import (
	"context"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
	"github.com/octet-dev/octet/host/model/web"
)

// signature marks reasoning that this protocol wants back: the mark, the id, a colon, the sealed content.
const signature = "openai:"

// responses sends one request to the responses API. Nothing is stored at the server.
func (p *Provider) responses(ctx context.Context, attempt *web.Attempt, names *toolname.Names, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	params := responsesRequest{
		Model: request.Model, Stream: true, Include: []string{"reasoning.encrypted_content"}, Input: items(names, request.Messages),
		Instructions: request.System, MaxOutputTokens: max(request.MaxOutputTokens, 0),
	}
	if request.Reasoning != "" {
		params.Reasoning = &effort{Effort: request.Reasoning, Summary: "auto"}
	}
	for _, tool := range request.Tools {
		parameters, err := schemaOf(p.options.Name, tool)
		if err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, function{
			Type: typeFunction, Name: names.Wire(tool.Name), Description: tool.Description, Parameters: parameters, Strict: new(bool),
		})
	}
	stream, err := web.Stream(ctx, p.client, p.options.BaseURL, "responses", p.header, params)
	if err != nil {
		return nil, p.failed(attempt, err, false)
	}
	defer func() { _ = stream.Close() }()
	r := &reply{answer: newAnswer(names, request, emit), calls: map[int64]*call{}}
	for !r.ended() && stream.Next() {
		var event responseEvent
		if err := read(stream.Data(), &event); err != nil {
			return nil, p.failed(attempt, err, r.answer.heard)
		}
		r.take(event)
	}
	switch err := stream.Err(); {
	case r.refused != nil:
		refusal := p.refusal(statusOf(r.refused.code, ""), r.refused.code, "")
		refusal.Message = r.refused.message
		return nil, attempt.Refused(refusal, r.answer.heard)
	case r.final != nil:
		return r.response(), nil
	case err != nil:
		return nil, p.failed(attempt, err, r.answer.heard)
	}
	return nil, attempt.Broke(nil, r.answer.heard)
}

// items translates a conversation.
func items(names *toolname.Names, messages []conversation.Message) []item {
	list := []item{}
	for _, message := range messages {
		switch message.Role {
		case conversation.Assistant:
			list = append(list, assistantItems(names, message)...)
		case conversation.Tool:
			for _, part := range message.Parts {
				list = append(list, resultItem(part))
			}
		case conversation.System:
			if text := message.PlainText(); text != "" {
				list = append(list, item{Role: roleSystem, Content: text})
			}
		default:
			if content := contentItems(message.Parts); len(content) > 0 {
				list = append(list, item{Role: roleUser, Content: content})
			}
		}
	}
	return list
}

func assistantItems(names *toolname.Names, message conversation.Message) []item {
	var list []item
	for _, part := range message.Parts {
		switch part.Kind {
		case conversation.Reasoning:
			sealed, ours := strings.CutPrefix(part.Signature, signature)
			id, content, whole := strings.Cut(sealed, ":")
			if !ours || !whole {
				continue
			}
			reasoning := item{Type: "reasoning", ID: id, EncryptedContent: content, Summary: []itemPart{}}
			if part.Text != "" {
				reasoning.Summary = append(reasoning.Summary, itemPart{Type: "summary_text", Text: part.Text})
			}
			list = append(list, reasoning)
		case conversation.Text:
			if part.Text != "" {
				list = append(list, item{Role: roleAssistant, Content: part.Text})
			}
		case conversation.ToolCall:
			list = append(list, item{
				Type: "function_call", CallID: part.CallID, Name: names.Wire(part.Name), Arguments: string(model.ArgumentsObject(part.Arguments)),
			})
		}
	}
	return list
}

// The types of the parts of an input.
const (
	typeInputText  = "input_text"
	typeInputImage = "input_image"
	typeInputFile  = "input_file"
)

func resultItem(part conversation.Part) item {
	result := item{Type: "function_call_output", CallID: part.CallID, Output: resultText(part, 0)}
	var parts []itemPart
	for _, inner := range part.Content {
		switch inner.Kind {
		case conversation.Image:
			parts = append(parts, itemPart{Type: typeInputImage, ImageURL: dataURL(inner)})
		case conversation.Audio:
			parts = append(parts, itemPart{Type: typeInputText, Text: model.LeftOut(inner).Text})
		}
	}
	if len(parts) > 0 {
		result.Output = append([]itemPart{{Type: typeInputText, Text: resultText(part, 0)}}, parts...)
	}
	return result
}

func contentItems(parts []conversation.Part) []itemPart {
	var list []itemPart
	for _, part := range parts {
		switch part.Kind {
		case conversation.Text:
			if part.Text != "" {
				list = append(list, itemPart{Type: typeInputText, Text: part.Text})
			}
		case conversation.Image:
			list = append(list, itemPart{Type: typeInputImage, Detail: "auto", ImageURL: dataURL(part)})
		case conversation.Audio:
			format, ok := audioFormat(part.MediaType)
			if !ok {
				list = append(list, itemPart{Type: typeInputText, Text: model.LeftOut(part).Text})
				continue
			}
			list = append(list, itemPart{Type: typeInputFile, Filename: "audio." + format, FileData: dataURL(part)})
		}
	}
	return list
}

// reply gathers what the responses API streams.
type reply struct {
	answer  *answer
	calls   map[int64]*call // by output index
	final   *responseDocument
	refused *refusedReply
}

type refusedReply struct{ code, message string }

func (r *reply) ended() bool { return r.final != nil || r.refused != nil }

func (r *reply) take(event responseEvent) {
	switch event.Type {
	case "response.output_text.delta":
		r.answer.say(event.Delta)
	case "response.refusal.delta":
		r.answer.refused = true
		r.answer.say(event.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.answer.think(event.Delta)
	case "response.output_item.added":
		if event.Item.Type == "function_call" {
			c := &call{index: event.OutputIndex, id: event.Item.CallID}
			r.answer.calls = append(r.answer.calls, c)
			r.calls[event.OutputIndex] = c
			r.answer.grow(c, event.Item.Name, "")
		}
	case "response.function_call_arguments.delta":
		if c := r.calls[event.OutputIndex]; c != nil {
			r.answer.grow(c, "", event.Delta)
		}
	case "response.completed", "response.incomplete":
		whole := event.Response
		r.final = &whole
	case "response.failed":
		r.refused = &refusedReply{event.Response.Error.Code, event.Response.Error.Message}
	case "error":
		r.refused = &refusedReply{event.Code, event.Message}
	}
}

// response takes the message from the final document: it says what the deltas said, with the seals of the
// reasoning.
func (r *reply) response() *model.Response {
	response := &model.Response{Message: conversation.Message{Role: conversation.Assistant}}
	calls, refused := 0, r.answer.refused
	for index, item := range r.final.Output {
		switch item.Type {
		case "reasoning":
			var text []string
			for _, summary := range item.Summary {
				text = append(text, summary.Text)
			}
			part := conversation.Part{Kind: conversation.Reasoning, Text: strings.Join(text, "\n\n")}
			if item.EncryptedContent != "" {
				part.Signature = signature + item.ID + ":" + item.EncryptedContent
			}
			if part.Text != "" || part.Signature != "" {
				response.Message.Parts = append(response.Message.Parts, part)
			}
		case "message":
			for _, content := range item.Content {
				text := content.Text
				if content.Refusal != "" {
					refused, text = true, content.Refusal
				}
				if text != "" {
					response.Message.Parts = append(response.Message.Parts, conversation.TextPart(text))
				}
			}
		case "function_call":
			if item.Name == "" {
				continue
			}
			calls++
			c := r.calls[int64(index)]
			if c == nil || c.name == "" { // it was never streamed
				c = &call{name: r.answer.names.Ours(item.Name), id: r.answer.ids.Unique(item.CallID)}
			}
			response.Message.Parts = append(response.Message.Parts, conversation.Part{
				Kind: conversation.ToolCall, CallID: c.id, Name: c.name, Arguments: model.Arguments(item.Arguments),
			})
		}
	}
	finish := r.final.IncompleteDetails.Reason
	if finish == "max_output_tokens" {
		finish = "length"
	}
	response.Stop = stopOf(finish, calls, refused)
	if u := r.final.Usage; u != nil {
		response.UsageKnown = true
		response.Usage = disjoint(u.InputTokens, u.InputTokensDetails, u.OutputTokens, u.OutputTokensDetails)
	}
	return response
}
