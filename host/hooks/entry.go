package hooks

import (
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/session"
)

// entryFor is a stored message as one extension is shown it: with its own metadata and what is public.
//
// Sheet: feature 9.2.
func entryFor(x *extension.Extension, stored session.Stored) featurewire.StoredEntry {
	e := featurewire.StoredEntry{
		ID: string(stored.ID), Parent: wirejson.Null[string](), TimestampUnixMs: stored.Time.UnixMilli(), Value: messageOf(stored.Value),
	}
	if stored.Parent != "" {
		e.Parent = wirejson.Some(string(stored.Parent))
	}
	shown := stored.Metadata.Only(func(namespace string, v session.MetadataValue) bool { return v.Public || namespace == x.Name() })
	if shown.Len() > 0 {
		if text, err := json.Marshal(shown); err == nil {
			e.Metadata = wirejson.Some(json.RawMessage(text))
		}
	}
	return e
}

func parentOf(stored session.Stored) any {
	if stored.Parent == "" {
		return nil
	}
	return stored.Parent
}

// messageOf is a stored message in the form of the wire: what the model said under Assistant, and everything
// else, results of tools among that, under User.
func messageOf(v session.Value) featurewire.StoredMessage {
	var message conversation.Message
	switch m := v.(type) {
	case session.Message:
		message = m.Message
	case session.Injected:
		message = m.Message
	}
	content := []any{}
	for _, p := range message.Parts {
		content = append(content, partOf(p))
	}
	text, err := json.Marshal(map[string]any{"content": content})
	if err != nil {
		text = []byte(`{"content":[]}`)
	}
	if message.Role == conversation.Assistant {
		return featurewire.StoredMessage{Assistant: wirejson.Some(json.RawMessage(text))}
	}
	return featurewire.StoredMessage{User: wirejson.Some(json.RawMessage(text))}
}

// partOf is one part under the name of its kind. Media are told of, without their bytes.
func partOf(p conversation.Part) map[string]any {
	switch p.Kind {
	case conversation.Text:
		return map[string]any{"Text": map[string]any{"text": p.Text}}
	case conversation.Reasoning:
		return map[string]any{"Reasoning": map[string]any{"text": p.Text}}
	case conversation.ToolCall:
		return map[string]any{"ToolCall": map[string]any{"id": p.CallID, "name": p.Name, "arguments": string(p.Arguments)}}
	case conversation.ToolResult:
		content := []any{}
		for _, each := range p.Content {
			content = append(content, partOf(each))
		}
		return map[string]any{"ToolResult": map[string]any{"tool_call_id": p.CallID, "name": p.Name, "content": content, "is_error": p.IsError}}
	default:
		return map[string]any{"Media": map[string]any{"media_type": p.MediaType, "alt": p.Text, "bytes": len(p.Data)}}
	}
}
