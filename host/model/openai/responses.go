package openai

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
	"github.com/octet-dev/octet/host/model/web"
)

// signature marks reasoning that this protocol wants back: the mark, the id, a colon, the sealed content.
const signature = "openai:"

// responses sends one request to the responses API. Nothing is stored at the server.
func (p *Provider) responses(ctx context.Context, attempt *web.Attempt, names *toolname.Names, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	params := responses.ResponseNewParams{
		Model: request.Model, Store: param.NewOpt(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: items(names, request.Messages)},
	}
	if request.System != "" {
		params.Instructions = param.NewOpt(request.System)
	}
	if request.MaxOutputTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(request.MaxOutputTokens)
	}
	if request.Reasoning != "" {
		params.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(request.Reasoning), Summary: shared.ReasoningSummaryAuto}
	}
	for _, tool := range request.Tools {
		parameters, err := schemaOf(p.options.Name, tool)
		if err != nil {
			return nil, err
		}
		function := &responses.FunctionToolParam{Name: names.Wire(tool.Name), Parameters: parameters, Strict: param.NewOpt(false)}
		if tool.Description != "" {
			function.Description = param.NewOpt(tool.Description)
		}
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfFunction: function})
	}
	service := responses.NewResponseService(p.request...)
	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	r := &reply{answer: newAnswer(names, request, emit), calls: map[int64]*call{}}
	for stream.Next() {
		r.take(stream.Current())
		if r.ended() {
			break
		}
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
func items(names *toolname.Names, messages []conversation.Message) responses.ResponseInputParam {
	list := responses.ResponseInputParam{}
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
				list = append(list, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleSystem))
			}
		default:
			if content := contentItems(message.Parts); len(content) > 0 {
				list = append(list, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser))
			}
		}
	}
	return list
}

func assistantItems(names *toolname.Names, message conversation.Message) []responses.ResponseInputItemUnionParam {
	var list []responses.ResponseInputItemUnionParam
	for _, part := range message.Parts {
		switch part.Kind {
		case conversation.Reasoning:
			sealed, ours := strings.CutPrefix(part.Signature, signature)
			id, content, whole := strings.Cut(sealed, ":")
			if !ours || !whole {
				continue
			}
			item := &responses.ResponseReasoningItemParam{
				ID: id, EncryptedContent: param.NewOpt(content), Summary: []responses.ResponseReasoningItemSummaryParam{},
			}
			if part.Text != "" {
				item.Summary = append(item.Summary, responses.ResponseReasoningItemSummaryParam{Text: part.Text})
			}
			list = append(list, responses.ResponseInputItemUnionParam{OfReasoning: item})
		case conversation.Text:
			if part.Text != "" {
				list = append(list, responses.ResponseInputItemParamOfMessage(part.Text, responses.EasyInputMessageRoleAssistant))
			}
		case conversation.ToolCall:
			list = append(list, responses.ResponseInputItemUnionParam{OfFunctionCall: &responses.ResponseFunctionToolCallParam{
				CallID: part.CallID, Name: names.Wire(part.Name), Arguments: string(model.ArgumentsObject(part.Arguments)),
			}})
		}
	}
	return list
}

func resultItem(part conversation.Part) responses.ResponseInputItemUnionParam {
	output := responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: param.NewOpt(resultText(part, 0))}
	for _, inner := range part.Content {
		if inner.Kind != conversation.Image && inner.Kind != conversation.Audio {
			continue
		}
		if output.OfResponseFunctionCallOutputItemArray == nil {
			output.OfString = param.Opt[string]{}
			text := responses.ResponseFunctionCallOutputItemUnionParam{OfInputText: &responses.ResponseInputTextContentParam{Text: resultText(part, 0)}}
			output.OfResponseFunctionCallOutputItemArray = append(output.OfResponseFunctionCallOutputItemArray, text)
		}
		item := responses.ResponseFunctionCallOutputItemUnionParam{}
		if inner.Kind == conversation.Image {
			item.OfInputImage = &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(dataURL(inner))}
		} else {
			item.OfInputText = &responses.ResponseInputTextContentParam{Text: model.LeftOut(inner).Text}
		}
		output.OfResponseFunctionCallOutputItemArray = append(output.OfResponseFunctionCallOutputItemArray, item)
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
		CallID: param.NewOpt(part.CallID), Output: output,
	}}
}

func contentItems(parts []conversation.Part) responses.ResponseInputMessageContentListParam {
	var list responses.ResponseInputMessageContentListParam
	for _, part := range parts {
		switch part.Kind {
		case conversation.Text:
			if part.Text != "" {
				list = append(list, responses.ResponseInputContentParamOfInputText(part.Text))
			}
		case conversation.Image:
			list = append(list, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
				Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(part)),
			}})
		case conversation.Audio:
			format, ok := audioFormat(part.MediaType)
			if !ok {
				list = append(list, responses.ResponseInputContentParamOfInputText(model.LeftOut(part).Text))
				continue
			}
			list = append(list, responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
				Filename: param.NewOpt("audio." + format), FileData: param.NewOpt("data:" + part.MediaType + ";base64," + base64.StdEncoding.EncodeToString(part.Data)),
			}})
		}
	}
	return list
}

// reply gathers what the responses API streams.
type reply struct {
	answer  *answer
	calls   map[int64]*call // by output index
	final   *responses.Response
	refused *refusedReply
}

type refusedReply struct{ code, message string }

func (r *reply) ended() bool { return r.final != nil || r.refused != nil }

func (r *reply) take(event responses.ResponseStreamEventUnion) {
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
		r.refused = &refusedReply{string(event.Response.Error.Code), event.Response.Error.Message}
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
				Kind: conversation.ToolCall, CallID: c.id, Name: c.name, Arguments: model.Arguments(item.Arguments.OfString),
			})
		}
	}
	finish := r.final.IncompleteDetails.Reason
	if finish == "max_output_tokens" {
		finish = "length"
	}
	response.Stop = stopOf(string(finish), calls, refused)
	if u := r.final.Usage; r.final.JSON.Usage.Valid() {
		response.UsageKnown = true
		response.Usage = disjoint(u.InputTokens, u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens,
			u.OutputTokens, u.OutputTokensDetails.ReasoningTokens)
	}
	return response
}
