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
	// Asked is where the path of the call led when leave for it was asked, as its description had it; empty where there is
	// none. A call whose path leads elsewhere by now is refused.
	Asked string
	// Progress takes live news of the call; nil drops it. It never comes after Run has returned.
	Progress func(Progress)
	// Nested calls other tools on behalf of this call, until Run has returned; nil where that is not possible.
	Nested Dispatcher
}

// Dispatcher calls tools on behalf of a call that is running: with the same permission, hooks and events as
// a call of the model, but nothing of it is written to the conversation.
type Dispatcher interface {
	// Tools are those that the model was offered when it made the call.
	Tools() Snapshot
	// Call checks the arguments, asks for permission and runs the tool. What goes wrong with the call is a
	// Result with IsError; an error means that there is no result, as with Tool.Run.
	Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
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
	// Changes are what was done to files, for people and records. No model is shown them.
	Changes []Change
}

// Change is what a call has done to one file.
type Change struct {
	Path string     `json:"path"` // relative to the workspace with slashes, absolute outside of it
	Kind ChangeKind `json:"kind"`
	// Diff is unified, bounded; empty for files that are not text or too big to compare.
	Diff    string `json:"diff,omitempty"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
}

// ChangeKind says what happened to a file.
type ChangeKind string

// The kinds of changes.
const (
	Created ChangeKind = "created"
	Changed ChangeKind = "changed"
	Deleted ChangeKind = "deleted"
)

// Failed is an error result of one text: a tool that cannot do what it is asked tells the model so.
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

// Describer is a Tool that can say what a call is about before it runs.
type Describer interface {
	Tool
	// Describe is told arguments that fit the parameters.
	Describe(arguments json.RawMessage) Summary
}

// Summary is what people are shown of a call, and what permission is asked for.
type Summary struct {
	Subject string `json:"subject,omitempty"` // a command, a path, a pattern: one line
	Detail  string `json:"detail,omitempty"`  // such as the diff that a change would make
	// External says that the call reaches files outside the workspace, Target where they really are, links followed.
	External bool   `json:"external,omitempty"`
	Target   string `json:"target,omitempty"`
	// Asked is where the path of the call led when it was described: Call.Asked of the call that is let through.
	Asked string `json:"-"`
	// Refused says why the call is never let through, whatever the policy and whoever is asked; empty for calls that may be.
	Refused string `json:"-"`
}

// Words are the subject and, where it lies outside of the workspace, that and where it really is: what a person is shown
// to decide by.
func (s Summary) Words() string {
	switch {
	case !s.External:
		return s.Subject
	case s.Target == "" || s.Target == s.Subject:
		return s.Subject + " (outside of the workspace)"
	}
	return s.Subject + " (outside of the workspace: it leads to " + s.Target + ")"
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
