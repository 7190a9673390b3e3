// Package conversation is what is said between a person, a model and tools, in the one form that the
// store keeps, providers translate, extensions are shown and frontends draw.
//
// Every type here has a stable JSON form: it is written to disk and read back by later versions.
package conversation

import "encoding/json"

// Role says who speaks.
type Role string

// The roles. Results of tools are said by Tool; System carries what the host or an extension adds that
// nobody typed.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	System    Role = "system"
)

// Message is one thing said.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Kind says what a part holds.
type Kind string

// The kinds of parts.
const (
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"
	Image      Kind = "image"
	Audio      Kind = "audio"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
)

// Part is a piece of a message. Which members are set depends on Kind; all others are zero.
type Part struct {
	Kind Kind `json:"kind"`

	// Text of text and reasoning; what an image shows or an audio says.
	Text string `json:"text,omitempty"`

	// MediaType and Data of image and audio.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`

	// Signature is what a provider wants back unchanged with its own reasoning.
	Signature string `json:"signature,omitempty"`

	// CallID of tool_call and tool_result, as the provider gave it.
	CallID string `json:"call_id,omitempty"`
	// Name of the tool that is called or has answered.
	Name string `json:"name,omitempty"`
	// Arguments of tool_call: JSON as the model wrote it, an object or not.
	Arguments json.RawMessage `json:"arguments,omitempty"`

	// Content of tool_result: text, image and audio parts.
	Content []Part `json:"content,omitempty"`
	// IsError of tool_result.
	IsError bool `json:"is_error,omitempty"`
	// Details of tool_result are native: kept, never shown to a model.
	Details *Details `json:"details,omitempty"`
}

// Details are what a tool answered beside its content.
type Details struct {
	Structured json.RawMessage `json:"structured,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

// TextPart makes a text.
func TextPart(text string) Part { return Part{Kind: Text, Text: text} }

// Say makes a message of one text.
func Say(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{TextPart(text)}}
}

// PlainText joins the texts of a message with line ends: no reasoning, no media, no tools.
func (m Message) PlainText() string { return plainText(m.Parts) }

// PlainText joins the texts of a part's content, or is the text itself.
func (p Part) PlainText() string {
	if p.Kind == Text {
		return p.Text
	}
	return plainText(p.Content)
}

func plainText(parts []Part) string {
	var text []byte
	for _, p := range parts {
		if p.Kind != Text || p.Text == "" {
			continue
		}
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = append(text, p.Text...)
	}
	return string(text)
}

// ToolCalls are the calls that a message asks for, in its order.
func (m Message) ToolCalls() []Part {
	var calls []Part
	for _, p := range m.Parts {
		if p.Kind == ToolCall {
			calls = append(calls, p)
		}
	}
	return calls
}

// Usage is what a request to a model has cost. Buckets are disjoint tokens.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Reasoning  int64 `json:"reasoning"`
	// CostMicrodollars is nil where no price is known.
	CostMicrodollars *int64 `json:"cost_microdollars,omitempty"`
}

// Add sums two usages. A cost is known only as far as either knows one.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Reasoning += v.Reasoning
	if v.CostMicrodollars != nil {
		sum := *v.CostMicrodollars
		if u.CostMicrodollars != nil {
			sum += *u.CostMicrodollars
		}
		u.CostMicrodollars = &sum
	}
	return u
}

// Tokens is the sum of all buckets.
func (u Usage) Tokens() int64 {
	return u.Input + u.Output + u.CacheRead + u.CacheWrite + u.Reasoning
}
