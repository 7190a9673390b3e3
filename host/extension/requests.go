package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
)

// UndeclaredError says that the host must not ask an extension for something, because it neither declared
// nor negotiated it. Nothing was sent.
type UndeclaredError struct{ Extension, What string }

// Error names both.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("extension `%s` does not declare %s", e.Extension, e.What)
}

func (x *Extension) undeclared(format string, args ...any) error {
	return &UndeclaredError{x.source.Manifest.Name, fmt.Sprintf(format, args...)}
}

// refused reports a result that breaks its model. The connection lives on.
func (x *Extension) refused(a Ask, err error) error {
	text := fmt.Sprintf("the answer to `%s` is refused: %v", a.Method, err)
	if a.Subject != "" {
		text = fmt.Sprintf("the answer to `%s` of %q is refused: %v", a.Method, a.Subject, err)
	}
	x.events.diagnostic(text)
	return &Failure{Kind: Result, Cause: err, Message: text, Stderr: x.process.Stderr()}
}

// answerOf makes a request and decodes its result.
func answerOf[R any](ctx context.Context, x *Extension, a Ask, decode func([]byte) (R, error)) (result R, err error) {
	answer, err := x.Do(ctx, a)
	if err != nil {
		return result, err
	}
	if result, err = decode(answer); err != nil {
		return result, x.refused(a, err)
	}
	return result, nil
}

// Execution is one command to be run.
type Execution struct {
	Command   string
	Arguments []string
	Scope     Scope
	Value     any
	// Menu says that it was started from the menu of the extension, which gives it half an hour.
	Menu     bool
	Progress func(Progress)
}

// CommandResult is what a command answers. Its notifications have been passed on already.
type CommandResult struct {
	Text string
	// Context is what the command adds to the next prompt.
	Context []featurewire.ContextContribution
}

// Execute runs a command of the catalog. The error is an *UndeclaredError or a *Failure.
func (x *Extension) Execute(ctx context.Context, e Execution) (*CommandResult, error) {
	known := func(c Command) bool { return c.Name == e.Command }
	if !slices.ContainsFunc(x.agreement.Commands, known) {
		return nil, x.undeclared("the command %q", e.Command)
	}
	if e.Arguments == nil {
		e.Arguments = []string{}
	}
	a := Ask{
		Method: featurewire.MethodCommandExecute, Subject: e.Command, Scope: e.Scope, Value: e.Value, Progress: e.Progress,
		Params: featurewire.CommandExecuteParams{Name: featurewire.CommandName(e.Command), Arguments: e.Arguments, Context: x.Context(e.Scope)},
	}
	if e.Menu {
		a.Timeout = featurewire.MenuCommandMs * time.Millisecond
	}
	if x.legacy() {
		a.Params = featurewire.CommandExecuteParamsV01{Name: featurewire.CommandName(e.Command), Arguments: e.Arguments, Context: x.contextV01(e.Scope)}
	}
	r, err := answerOf(ctx, x, a, featurewire.DecodeCommandExecuteResult)
	if err != nil {
		return nil, err
	}
	x.Tell(r.Notifications.Or(nil))
	return &CommandResult{Text: r.Text, Context: x.Admit(r.Context.Or(nil))}, nil
}

// Tell passes on notifications that came inside a result, and drops them with a diagnostic where the
// manifest does not declare any.
func (x *Extension) Tell(list []featurewire.Notification) {
	for _, n := range x.AdmitNotifications(list) {
		x.tell(n)
	}
}

// AdmitNotifications returns notifications that came inside a result, and none where the manifest does not
// declare any.
func (x *Extension) AdmitNotifications(list []featurewire.Notification) []featurewire.Notification {
	if len(list) == 0 || !x.declares(featurewire.MethodNotification) {
		return nil
	}
	return list
}

// Admit returns context contributions that came inside a result, and none where the manifest does not
// declare context.
func (x *Extension) Admit(list []featurewire.ContextContribution) []featurewire.ContextContribution {
	if len(list) == 0 || !x.declares(featurewire.MethodContextContribution) {
		return nil
	}
	return list
}

// CollectContext asks for prompt context; prompt is nil where there is none. Several bounds of it are the
// caller's: see the limits of a turn's context.
func (x *Extension) CollectContext(ctx context.Context, s Scope, prompt *string) ([]featurewire.ContextContribution, error) {
	if !x.source.Manifest.Contributes.Context {
		return nil, x.undeclared("context")
	}
	text := wirejson.Null[string]()
	if prompt != nil {
		text = wirejson.Some(*prompt)
	}
	a := Ask{
		Method: featurewire.MethodContextCollect, Scope: s, Timeout: featurewire.ContextCollectMs * time.Millisecond, Detached: true,
		Params: featurewire.ContextCollectParams{Prompt: text, Context: x.Context(s)},
	}
	if x.legacy() {
		a.Params = featurewire.ContextCollectParamsV01{Prompt: text, Context: x.contextV01(s)}
	}
	return answerOf(ctx, x, a, listOf(featurewire.DecodeContextContributionValue))
}

// CollectStatus asks what a surface should show; nil is nothing.
func (x *Extension) CollectStatus(ctx context.Context, s Scope, surface featurewire.UiSurface) (*featurewire.StatusContribution, error) {
	if !slices.Contains(x.source.Manifest.Contributes.UI, manifestdoc.UiSurface(surface)) {
		return nil, x.undeclared("the surface %q", surface)
	}
	a := Ask{
		Method: featurewire.MethodStatusCollect, Subject: string(surface), Scope: s,
		Params: featurewire.StatusCollectParams{Surface: surface, Context: x.Context(s)},
	}
	if x.legacy() {
		a.Params = featurewire.StatusCollectParamsV01{Surface: surface, Context: x.contextV01(s)}
	}
	return answerOf(ctx, x, a, func(data []byte) (*featurewire.StatusContribution, error) {
		if string(data) == "null" {
			return nil, nil
		}
		c, err := featurewire.DecodeStatusContribution(data)
		return &c, err
	})
}

// CollectMenu asks for the menu that the person is about to see.
func (x *Extension) CollectMenu(ctx context.Context, s Scope) (*featurewire.MenuCollectResult, error) {
	if !x.source.Manifest.Contributes.Menu || len(x.agreement.Commands) == 0 || x.legacy() {
		return nil, x.undeclared("a menu with commands")
	}
	a := Ask{
		Method: featurewire.MethodMenuCollect, Scope: s, Timeout: featurewire.MenuCollectMs * time.Millisecond, Detached: true,
		Params: featurewire.MenuCollectParams{Context: x.Context(s)},
	}
	return answerOf(ctx, x, a, pointerTo(featurewire.DecodeMenuCollectResult))
}

// Rendering is a finished tool call to be drawn.
type Rendering struct {
	Tool      string
	Arguments json.RawMessage
	Output    string
	IsError   bool
	Scope     Scope
}

// Render asks for a rendering of a finished tool call.
func (x *Extension) Render(ctx context.Context, r Rendering) ([]featurewire.ToolRenderSegment, error) {
	if !slices.Contains(x.source.Manifest.Contributes.ToolRenderers, r.Tool) {
		return nil, x.undeclared("a renderer of the tool %q", r.Tool)
	}
	a := Ask{
		Method: featurewire.MethodToolRender, Subject: r.Tool, Scope: r.Scope, Timeout: featurewire.ToolRenderMs * time.Millisecond, Detached: true,
		Params: featurewire.ToolRenderParams{
			Name: featurewire.ToolName(r.Tool), Arguments: r.Arguments, Output: r.Output, IsError: r.IsError, Context: x.Context(r.Scope),
		},
	}
	if x.legacy() {
		a.Params = featurewire.ToolRenderParamsV01{
			Name: featurewire.ToolName(r.Tool), Arguments: r.Arguments, Output: r.Output, IsError: r.IsError, Context: x.contextV01(r.Scope),
		}
	}
	result, err := answerOf(ctx, x, a, featurewire.DecodeToolRenderResult)
	return result.Segments, err
}

// Complete asks for completions of what the person types. The timeout is that of the chain that is left.
func (x *Extension) Complete(ctx context.Context, p featurewire.UiAutocompleteCompleteParams, timeout time.Duration) (*featurewire.UiAutocompleteCompleteResult, error) {
	if !x.Has(featurewire.FeatureAutocomplete) {
		return nil, x.undeclared("completions")
	}
	a := Ask{Method: featurewire.MethodUIAutocompleteComplete, Params: p, Timeout: timeout, Detached: true}
	if x.Has(featurewire.FeatureAutocompleteEditV1) {
		return answerOf(ctx, x, a, pointerTo(featurewire.DecodeUiAutocompleteCompleteResult))
	}
	// Without the feature a result must not hold its members: the model of API 0.2 has none.
	return answerOf(ctx, x, a, func(data []byte) (*featurewire.UiAutocompleteCompleteResult, error) {
		if _, err := featurewire.DecodeUiAutocompleteCompleteResultV02(data); err != nil {
			return nil, err
		}
		return pointerTo(featurewire.DecodeUiAutocompleteCompleteResult)(data)
	})
}

// DetectMigration asks whether a directory holds another setup.
func (x *Extension) DetectMigration(ctx context.Context, p canonicalwire.MigrationDetectParams) (*canonicalwire.MigrationDetectResult, error) {
	a := Ask{Method: canonicalwire.MethodMigrationDetect, Params: p}
	if !x.opens(a.Method) {
		return nil, x.undeclared("a migration adapter")
	}
	return answerOf(ctx, x, a, pointerTo(canonicalwire.DecodeMigrationDetectResult))
}

// ImportMigration asks to read another setup.
func (x *Extension) ImportMigration(ctx context.Context, p canonicalwire.MigrationImportParams) (*canonicalwire.MigrationImportResult, error) {
	a := Ask{Method: canonicalwire.MethodMigrationImport, Params: p}
	if !x.opens(a.Method) {
		return nil, x.undeclared("a migration adapter")
	}
	return answerOf(ctx, x, a, pointerTo(canonicalwire.DecodeMigrationImportResult))
}

// Stream opens an inference stream; its events arrive as notices of the binding that asked. An answer that
// accepts another stream than the one asked for is refused.
func (x *Extension) Stream(ctx context.Context, p canonicalwire.ProviderStreamRequest) (*canonicalwire.ProviderStreamAccepted, error) {
	a := Ask{Method: canonicalwire.MethodProviderStream, Subject: p.ModelID, Params: p}
	if !x.opens(a.Method) {
		return nil, x.undeclared("inference streams")
	}
	accepted, err := answerOf(ctx, x, a, pointerTo(canonicalwire.DecodeProviderStreamAccepted))
	if err == nil && accepted.StreamID != p.StreamID {
		return nil, x.refused(a, fmt.Errorf("it is about the stream %q, not %q", accepted.StreamID, p.StreamID))
	}
	return accepted, err
}

// listOf decodes an array whose elements are models.
func listOf[R any](decode func(wirejson.Value) (R, error)) func([]byte) ([]R, error) {
	return func(data []byte) ([]R, error) {
		doc, err := wirejson.Parse(data, wirejson.DefaultMaxDepth)
		if err != nil {
			return nil, err
		}
		defer doc.Release()
		if doc.Root().Kind() != wirejson.KindArray {
			return nil, fmt.Errorf("it is no array but %s", doc.Root().Kind())
		}
		list := []R{}
		for e := doc.Root().Elements(); e.Next(); {
			item, err := decode(e.Value())
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", len(list), err)
			}
			list = append(list, item)
		}
		return list, nil
	}
}

// pointerTo makes a decoder return a pointer.
func pointerTo[R any](decode func([]byte) (R, error)) func([]byte) (*R, error) {
	return func(data []byte) (*R, error) {
		r, err := decode(data)
		if err != nil {
			return nil, err
		}
		return &r, nil
	}
}

// Context is the context of a scope, for params of the feature wire that carry one.
func (x *Extension) Context(s Scope) featurewire.ExecutionContext {
	c := featurewire.ExecutionContext{Workspace: x.options.Workspace, ExecutionScope: nullable(s.Execution), Host: s.Host.wire()}
	if owner := x.owner(s); !owner.IsZero() {
		c.ResourceOwner = wirejson.Some(owner.Wire())
	}
	return c
}

func (x *Extension) contextV01(s Scope) featurewire.ExecutionContextV01 {
	return featurewire.ExecutionContextV01{Workspace: x.options.Workspace, ExecutionScope: nullable(s.Execution), Host: s.Host.wire()}
}

func (x *Extension) legacy() bool { return x.source.Manifest.API == featurewire.Version01 }

// opens reports whether the session opened a method.
func (x *Extension) opens(method string) bool { return x.accepted.Load() && x.open[method] }

// Has reports whether a feature of the feature wire or a capability of the canonical one was selected. None
// is before initialize has been accepted.
func (x *Extension) Has(feature string) bool {
	return x.accepted.Load() &&
		(slices.Contains(x.agreement.Features, feature) || slices.Contains(x.agreement.Capabilities, feature))
}

// Name is the name of the extension.
func (x *Extension) Name() string { return x.source.Manifest.Name }

// Source is what was started.
func (x *Extension) Source() *Source { return x.source }

// Instance and Generation identify the process: see Options.
func (x *Extension) Instance() string { return x.options.Instance }

// Generation counts the processes of the instance.
func (x *Extension) Generation() int64 { return x.options.Generation }

// Workspace is the root that the extension works in.
func (x *Extension) Workspace() string { return x.options.Workspace }

// Scratch is the directory of this process alone, gone with it.
func (x *Extension) Scratch() string { return x.scratch }

// OwnerOf is the owner that the extension is told for a session, by the opaque id of the store.
func (x *Extension) OwnerOf(session string) Owner { return x.owner(Scope{Owner: session}) }

// Issued reports whether this generation was told of an owner.
func (x *Extension) Issued(o Owner) bool { return x.issued(o) }

// Diagnose tells about something of the extension that hurts nobody and that its author wants to know.
func (x *Extension) Diagnose(text string) { x.ignore(text) }

// Terminate ends the process tree because of what the extension or the host can no longer make good: a
// result that was lost, a notice that could not be sent. It does not block. Close must still be called.
func (x *Extension) Terminate(why string) {
	x.events.diagnostic("the extension is ended: " + why)
	x.Kill()
}
