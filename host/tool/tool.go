// Package tool is what a model can call: how a tool is described, called and answered, whoever is behind
// it, and the snapshots in which tools are offered to a model.
package tool

import (
	"context"
	"encoding/json"

	"github.com/octet-dev/octet/host/conversation"
)

// Effect says what a tool can do to the world outside the conversation. Permission is decided by it.
type Effect string

// The effects, weakest first.
const (
	None     Effect = "none"     // touches nothing: pure
	Read     Effect = "read"     // reads files of the workspace
	Write    Effect = "write"    // changes files
	Command  Effect = "command"  // runs a command of the shell
	External Effect = "external" // whatever an extension does, with the rights of the user
)

// Definition describes a tool.
type Definition struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema, an object
	Output      json.RawMessage // a JSON Schema of structured content, or nil
	Effect      Effect
	// Parallel says that calls may overlap with other parallel calls.
	Parallel bool
	// Snippet and Guidelines are what the tool adds to the system prompt.
	Snippet    string
	Guidelines []string
	// Provider names who is behind the tool: empty for the host, else the extension.
	Provider string
}

// Call is one call. Arguments were checked against the parameters.
type Call struct {
	ID        string // as the model gave it; unique in a conversation
	Name      string
	Arguments json.RawMessage
	// Owner is the opaque id of the durable conversation behind the call, empty where there is none.
	Owner string
	// Progress takes live news of the call; nil drops it. It never comes after Run has returned.
	Progress func(Progress)
}

// Progress is one piece of live news. Nothing of it is kept.
type Progress struct {
	Message        string
	Current, Total *int64
	Unit           string
	Stream         string // stdout or stderr, for Data
	Data           []byte
	Label, Detail  string // decoration
}

// Result is the answer of a tool.
type Result struct {
	Content []conversation.Part // text, image, audio
	IsError bool
	Details *conversation.Details
}

// Errorf-like results are made by Failed: a tool that cannot do what it is asked tells the model so.
func Failed(text string) Result {
	return Result{Content: []conversation.Part{conversation.TextPart(text)}, IsError: true}
}

// Said is a result of one text.
func Said(text string) Result {
	return Result{Content: []conversation.Part{conversation.TextPart(text)}}
}

// Tool is something a model can call.
type Tool interface {
	Definition() Definition
	// Run answers a call. An error means that there is no result: the call was cancelled, or the machine
	// failed. What the model should read is a Result with IsError.
	Run(ctx context.Context, call Call) (Result, error)
}

// Snapshot is the tools as they are offered with one request to a model, by name. It never changes.
type Snapshot interface {
	// Tools are in ascending order of names.
	Tools() []Tool
	// Find returns nil for an unknown name.
	Find(name string) Tool
}

// Source yields the snapshot for the next request.
type Source interface {
	Snapshot(ctx context.Context) (Snapshot, error)
}
