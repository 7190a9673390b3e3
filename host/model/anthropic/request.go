package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
	"github.com/octet-dev/octet/host/model/web"
)

// The marks of signatures: reasoning of other providers has other ones, and is not sent.
const (
	signed   = "anthropic:"
	redacted = "anthropic-redacted:"
)

// params translates a request.
func (p *Provider) params(names *toolname.Names, request model.Request) (sdk.MessageNewParams, error) {
	info := p.info(request.Model)
	params := sdk.MessageNewParams{Model: request.Model, MaxTokens: request.MaxOutputTokens, CacheControl: sdk.NewCacheControlEphemeralParam()}
	if params.MaxTokens <= 0 {
		params.MaxTokens = info.MaxOutputTokens
	}
	if params.MaxTokens <= 0 {
		params.MaxTokens = defaultMaxOutput
	}
	if request.System != "" {
		params.System = []sdk.TextBlockParam{{Text: request.System}}
	}
	if request.Reasoning != "" {
		think(&params, request.Reasoning)
	}
	params.Messages = messages(names, request.Messages)
	if len(params.Messages) == 0 {
		return params, web.Local(p.options.Name, "the conversation is empty; say something first")
	}
	for _, tool := range request.Tools {
		schema, err := schemaOf(p.options.Name, tool)
		if err != nil {
			return params, err
		}
		described := sdk.ToolParam{Name: names.Wire(tool.Name), InputSchema: schema}
		if tool.Description != "" {
			described.Description = param.NewOpt(tool.Description)
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &described})
	}
	return params, nil
}

func (p *Provider) info(name string) model.Info {
	for _, info := range p.options.Catalog {
		if info.Model == name {
			return info
		}
	}
	return model.Info{}
}

// budgets are what the labels mean to models that count the tokens of their reasoning.
var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 10240, "high": 24576, "xhigh": 32768, "max": 49152}

// counting begin the names of the models that want a budget; all later ones decide for themselves.
var counting = []string{
	"claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5",
	"claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-haiku-4-5",
}

// think asks for reasoning. A budget must leave room for the answer.
func think(params *sdk.MessageNewParams, label string) {
	counts := slices.ContainsFunc(counting, func(begin string) bool { return strings.HasPrefix(params.Model, begin) })
	if !counts {
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		params.OutputConfig.Effort = sdk.OutputConfigEffort(label)
		return
	}
	const least = 1024
	budget := budgets[label]
	if budget == 0 {
		budget = budgets["medium"]
	}
	if budget = min(budget, params.MaxTokens*3/4); budget >= least {
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	}
}

// schemaOf reads the parameters of a tool.
func schemaOf(provider string, tool model.Tool) (sdk.ToolInputSchemaParam, error) {
	schema := map[string]any{}
	if len(tool.Parameters) > 0 {
		if err := json.Unmarshal(tool.Parameters, &schema); err != nil || schema == nil {
			return sdk.ToolInputSchemaParam{}, web.Local(provider, "the parameters of tool %q are no JSON object", tool.Name)
		}
	}
	delete(schema, "type") // an object, always
	return sdk.ToolInputSchemaParam{ExtraFields: schema}, nil
}

// turn is what one side says before the other does.
type turn struct {
	assistant bool
	blocks    []sdk.ContentBlockParamUnion
}

// messages translates a conversation. The API wants turns to alternate, and the results of tools at the
// beginning of the turn behind the calls.
func messages(names *toolname.Names, list []conversation.Message) []sdk.MessageParam {
	var turns []turn
	for _, message := range list {
		next := turn{assistant: message.Role == conversation.Assistant}
		switch message.Role {
		case conversation.Assistant:
			next.blocks = assistantBlocks(names, message)
		case conversation.System:
			if text := message.PlainText(); strings.TrimSpace(text) != "" {
				next.blocks = []sdk.ContentBlockParamUnion{sdk.NewTextBlock("<system>\n" + text + "\n</system>")}
			}
		default:
			next.blocks = userBlocks(message.Parts)
		}
		if len(next.blocks) == 0 {
			continue
		}
		if last := len(turns) - 1; last >= 0 && turns[last].assistant == next.assistant {
			turns[last].blocks = append(turns[last].blocks, next.blocks...)
			continue
		}
		turns = append(turns, next)
	}
	params := make([]sdk.MessageParam, len(turns))
	for i, t := range turns {
		if t.assistant {
			params[i] = sdk.NewAssistantMessage(t.blocks...)
			continue
		}
		slices.SortStableFunc(t.blocks, func(a, b sdk.ContentBlockParamUnion) int { return rank(a) - rank(b) })
		params[i] = sdk.NewUserMessage(t.blocks...)
	}
	return params
}

// rank puts results in front and leaves all else in its order.
func rank(block sdk.ContentBlockParamUnion) int {
	if block.OfToolResult != nil {
		return 0
	}
	return 1
}

func assistantBlocks(names *toolname.Names, message conversation.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, part := range message.Parts {
		switch part.Kind {
		case conversation.Reasoning:
			if seal, ok := strings.CutPrefix(part.Signature, signed); ok {
				blocks = append(blocks, sdk.NewThinkingBlock(seal, part.Text))
			} else if data, ok := strings.CutPrefix(part.Signature, redacted); ok {
				blocks = append(blocks, sdk.NewRedactedThinkingBlock(data))
			}
		case conversation.Text:
			if strings.TrimSpace(part.Text) != "" { // the API refuses blank texts
				blocks = append(blocks, sdk.NewTextBlock(part.Text))
			}
		case conversation.ToolCall:
			blocks = append(blocks, sdk.NewToolUseBlock(part.CallID, model.ArgumentsObject(part.Arguments), names.Wire(part.Name)))
		}
	}
	return blocks
}

func userBlocks(parts []conversation.Part) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, part := range parts {
		switch part.Kind {
		case conversation.Text:
			if strings.TrimSpace(part.Text) != "" {
				blocks = append(blocks, sdk.NewTextBlock(part.Text))
			}
		case conversation.Image:
			blocks = append(blocks, sdk.NewImageBlockBase64(part.MediaType, base64.StdEncoding.EncodeToString(part.Data)))
		case conversation.Audio:
			blocks = append(blocks, sdk.NewTextBlock(model.LeftOut(part).Text))
		case conversation.ToolResult:
			blocks = append(blocks, resultBlock(part))
		}
	}
	return blocks
}

func resultBlock(part conversation.Part) sdk.ContentBlockParamUnion {
	result := sdk.ToolResultBlockParam{ToolUseID: part.CallID}
	if part.IsError {
		result.IsError = param.NewOpt(true)
	}
	for _, inner := range part.Content {
		switch inner.Kind {
		case conversation.Audio:
			inner = model.LeftOut(inner)
		case conversation.Image:
			result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfImage: &sdk.ImageBlockParam{
				Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
					MediaType: sdk.Base64ImageSourceMediaType(inner.MediaType), Data: base64.StdEncoding.EncodeToString(inner.Data),
				}},
			}})
			continue
		}
		if strings.TrimSpace(inner.Text) != "" {
			result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: inner.Text}})
		}
	}
	if len(result.Content) == 0 { // an error without a word is refused
		result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: "(no output)"}}}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &result}
}
