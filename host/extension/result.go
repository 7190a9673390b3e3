package extension

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Part is one part of a tool's answer.
type Part struct {
	Type string `json:"type"` // "text", "image" or "audio"
	Text string `json:"text"` // of media: what they show or say

	// MediaType and Data of image and audio.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`

	wire featurewire.ContentPart // media that are not resolved yet
}

// The types of parts.
const (
	textType  = "text"
	imageType = "image"
	audioType = "audio"
)

// ToolResult is the answer of a tool.
type ToolResult struct {
	Content []Part
	IsError bool // the tool itself says that it failed
	// Structured is the structured content; nil if there is none.
	Structured json.RawMessage
	// Metadata is for the host alone: it is never shown to a model. Nil if there is none.
	Metadata json.RawMessage
}

// Text joins the text parts, each on lines of its own.
func (r *ToolResult) Text() string {
	var b strings.Builder
	for _, part := range r.Content {
		if part.Type != textType {
			continue
		}
		b.WriteString(part.Text)
		if !strings.HasSuffix(part.Text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Progress is one progress event of a running call.
type Progress struct {
	// Message, Current, Total and Unit belong to a status; Current and Total are nil where unknown.
	Message        string
	Current, Total *int64
	Unit           string
	// Stream and Data belong to output that the tool passes on; Stream is empty for a status.
	Stream string
	Data   []byte
	// Label and Detail belong to a decoration, which replaces the one before it; Label is empty otherwise.
	Label, Detail string
}

// Notification is a message that an extension sends to the person.
type Notification struct {
	Level   string // "info", "success", "warning" or "error"
	Title   string
	Message string
}
