package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

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

// The roles, and the types of blocks.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	typeText      = "text"
	typeImage     = "image"
	typeBase64    = "base64"
)

// params translates a request.
func (p *Provider) params(names *toolname.Names, request model.Request) (*messagesRequest, error) {
	params := &messagesRequest{
		Model: request.Model, Stream: true, CacheControl: cacheControl{Type: "ephemeral"},
		MaxTokens: cmp.Or(max(request.MaxOutputTokens, 0), max(p.info(request.Model).MaxOutputTokens, 0), defaultMaxOutput),
	}
	if request.System != "" {
		params.System = []textBlock{{Type: typeText, Text: request.System}}
	}
	if request.Reasoning != "" {
		think(params, request.Reasoning)
	}
	params.Messages = messages(names, request.Messages)
	if len(params.Messages) == 0 {
		return nil, web.Local(p.options.Name, "the conversation is empty; say something first")
	}
	for _, described := range request.Tools {
		schema, err := schemaOf(p.options.Name, described)
		if err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, tool{Name: names.Wire(described.Name), Description: described.Description, InputSchema: schema})
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
func think(params *messagesRequest, label string) {
	counts := slices.ContainsFunc(counting, func(begin string) bool { return strings.HasPrefix(params.Model, begin) })
	if !counts {
		params.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		params.OutputConfig = &outputConfig{Effort: label}
		return
	}
	const least = 1024
	budget := budgets[label]
	if budget == 0 {
		budget = budgets["medium"]
	}
	if budget = min(budget, params.MaxTokens*3/4); budget >= least {
		params.Thinking = &thinking{Type: "enabled", BudgetTokens: budget}
	}
}

// schemaOf reads the parameters of a tool.
func schemaOf(provider string, tool model.Tool) (map[string]any, error) {
	schema := map[string]any{}
	if len(tool.Parameters) > 0 {
		if err := json.Unmarshal(tool.Parameters, &schema); err != nil || schema == nil {
			return nil, web.Local(provider, "the parameters of tool %q are no JSON object", tool.Name)
		}
	}
	schema["type"] = "object" // always
	return schema, nil
}

// turn is what one side says before the other does.
type turn struct {
	assistant bool
	blocks    []any
}

// messages translates a conversation. The API wants turns to alternate, and the results of tools at the
// beginning of the turn behind the calls.
func messages(names *toolname.Names, list []conversation.Message) []message {
	var turns []turn
	for _, said := range list {
		next := turn{assistant: said.Role == conversation.Assistant}
		switch said.Role {
		case conversation.Assistant:
			next.blocks = assistantBlocks(names, said)
		case conversation.System:
			if text := said.PlainText(); strings.TrimSpace(text) != "" {
				next.blocks = []any{textBlock{Type: typeText, Text: "<system>\n" + text + "\n</system>"}}
			}
		default:
			next.blocks = userBlocks(said.Parts)
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
	params := make([]message, len(turns))
	for i, t := range turns {
		params[i] = message{Role: roleUser, Content: t.blocks}
		if t.assistant {
			params[i].Role = roleAssistant
			continue
		}
		slices.SortStableFunc(t.blocks, func(a, b any) int { return rank(a) - rank(b) })
	}
	return params
}

// rank puts results in front and leaves all else in its order.
func rank(block any) int {
	if _, result := block.(resultBlock); result {
		return 0
	}
	return 1
}

func assistantBlocks(names *toolname.Names, message conversation.Message) []any {
	var blocks []any
	for _, part := range message.Parts {
		switch part.Kind {
		case conversation.Reasoning:
			if seal, ok := strings.CutPrefix(part.Signature, signed); ok {
				blocks = append(blocks, thinkingBlock{Type: "thinking", Thinking: part.Text, Signature: seal})
			} else if data, ok := strings.CutPrefix(part.Signature, redacted); ok {
				blocks = append(blocks, redactedBlock{Type: "redacted_thinking", Data: data})
			}
		case conversation.Text:
			if strings.TrimSpace(part.Text) != "" { // the API refuses blank texts
				blocks = append(blocks, textBlock{Type: typeText, Text: part.Text})
			}
		case conversation.ToolCall:
			blocks = append(blocks, callBlock{Type: "tool_use", ID: part.CallID, Name: names.Wire(part.Name), Input: model.ArgumentsObject(part.Arguments)})
		}
	}
	return blocks
}

func userBlocks(parts []conversation.Part) []any {
	var blocks []any
	for _, part := range parts {
		switch part.Kind {
		case conversation.Text:
			if strings.TrimSpace(part.Text) != "" {
				blocks = append(blocks, textBlock{Type: typeText, Text: part.Text})
			}
		case conversation.Image:
			blocks = append(blocks, imageOf(part))
		case conversation.Audio:
			blocks = append(blocks, textBlock{Type: typeText, Text: model.LeftOut(part).Text})
		case conversation.ToolResult:
			blocks = append(blocks, resultOf(part))
		}
	}
	return blocks
}

func imageOf(part conversation.Part) imageBlock {
	return imageBlock{Type: typeImage, Source: imageSource{Type: typeBase64, MediaType: part.MediaType, Data: base64.StdEncoding.EncodeToString(part.Data)}}
}

func resultOf(part conversation.Part) resultBlock {
	result := resultBlock{Type: "tool_result", ToolUseID: part.CallID, IsError: part.IsError}
	for _, inner := range part.Content {
		switch inner.Kind {
		case conversation.Audio:
			inner = model.LeftOut(inner)
		case conversation.Image:
			result.Content = append(result.Content, imageOf(inner))
			continue
		}
		if strings.TrimSpace(inner.Text) != "" {
			result.Content = append(result.Content, textBlock{Type: typeText, Text: inner.Text})
		}
	}
	if len(result.Content) == 0 { // an error without a word is refused
		result.Content = []any{textBlock{Type: typeText, Text: "(no output)"}}
	}
	return result
}
