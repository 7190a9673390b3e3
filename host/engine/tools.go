package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/progress"
	"github.com/octet-dev/octet/host/service/tools"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/host/tool"
)

// toolSource offers the tools of the host and of all extensions in service.
type toolSource struct{ c *Conversation }

// Snapshot is what the model may use now.
func (s toolSource) Snapshot(context.Context) (tool.Snapshot, error) {
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	return tool.Of(slices.DeleteFunc(slices.Clone(all.Tools()), func(t tool.Tool) bool { return !s.c.offers(t.Definition().Name) })...)
}

// all is what there is. Names are unique: the fleet leaves tools out whose names are taken.
func (s toolSource) all() (tool.Snapshot, error) {
	e := s.c.engine
	list := slices.Clone(e.builtin.Tools())
	catalog := e.fleet.Catalog()
	for i := range catalog.Entries {
		entry := &catalog.Entries[i]
		offered, epoch := e.services.catalog(entry)
		for _, t := range offered {
			list = append(list, &extensionTool{c: s.c, extension: entry.Name, tool: t, revision: epoch})
		}
	}
	for _, t := range s.c.own {
		if !slices.ContainsFunc(list, func(other tool.Tool) bool { return other.Definition().Name == t.Definition().Name }) {
			list = append(list, t)
		}
	}
	return tool.Of(list...)
}

// extensionTool is a tool of an extension, as it was in one catalog.
type extensionTool struct {
	c         *Conversation
	extension string
	tool      *extension.Tool
	revision  int64
}

// Definition describes it, with what it adds to the prompt.
func (t *extensionTool) Definition() tool.Definition { return tools.Definition(t.extension, t.tool) }

// Composition says how it composes with other tools, nil if it does not.
func (t *extensionTool) Composition() *featurewire.ToolComposition { return t.tool.Composition }

// Run calls it. What an extension cannot do, and what is wrong with it, is told to the model; only the end of
// the context is an error.
func (t *extensionTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	supervisor := t.c.engine.fleet.Get(t.extension)
	if supervisor == nil {
		return tool.Failed("extension " + t.extension + " is no longer there; look which tools there are now"), nil
	}
	scope := t.c.scope()
	scope.Execution = call.ID
	request := extension.Request{
		Tool: t.tool.Name, Definition: t.tool, Revision: t.revision, Arguments: call.Arguments, Scope: scope, Value: &call,
	}
	if call.Progress != nil {
		sink := progress.NewSink(call.Progress)
		defer sink.Close()
		request.Progress = func(p extension.Progress) { sink.Put(progress.Of(p)) }
	}
	answer, err := supervisor.Call(ctx, request)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		return tool.Failed(t.failure(err)), nil
	}
	return result(answer), nil
}

// failure is what a model reads of a call that has no result.
func (t *extensionTool) failure(err error) string {
	var wrong *extension.ArgumentError
	var notReady *supervise.NotReadyError
	switch {
	case errors.As(err, &wrong):
		return wrong.Error()
	case errors.As(err, &notReady):
		return notReady.Error() + "; its tools cannot be called now"
	}
	return "extension " + t.extension + ": " + err.Error()
}

// result is the answer of an extension as the conversation keeps it.
func result(answer *extension.ToolResult) tool.Result {
	r := tool.Result{IsError: answer.IsError}
	for _, part := range answer.Content {
		switch part.Type {
		case string(conversation.Image), string(conversation.Audio):
			r.Content = append(r.Content, conversation.Part{
				Kind: conversation.Kind(part.Type), Text: part.Text, MediaType: part.MediaType, Data: part.Data,
			})
		default:
			r.Content = append(r.Content, conversation.TextPart(part.Text))
		}
	}
	if answer.Structured != nil || answer.Metadata != nil {
		r.Details = &conversation.Details{Structured: answer.Structured, Metadata: answer.Metadata}
	}
	return r
}

// Taken are the names of tools, each with who has it: "octet" or an extension.
func (e *Engine) Taken() map[string]string {
	taken := map[string]string{}
	for _, name := range e.reserved() {
		taken[name] = "octet"
	}
	catalog := e.fleet.Catalog()
	for i := range catalog.Entries {
		for _, t := range catalog.Entries[i].Tools {
			taken[t.Name] = catalog.Entries[i].Name
		}
	}
	return taken
}

// oneLine is a text of an extension on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
