package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/generated/featurewire"
)

// question is one request to a handler of the extension.
type question struct {
	method string
	params dialect.Object
}

// handlers are the kinds of handlers that a host asks, with the questions to each. A kind of which the manifest
// declares nothing has the reason for that.
var handlers = map[string]func(w *World) ([]question, string){
	"the commands":    (*World).commandQuestions,
	"the hooks":       (*World).hookQuestions,
	"the context":     (*World).contextQuestions,
	"the status":      (*World).statusQuestions,
	"the menu":        (*World).menuQuestions,
	"renderings":      (*World).renderQuestions,
	"completions":     (*World).completionQuestions,
	"terminal input":  (*World).interceptQuestions,
	"the disposal":    (*World).disposalQuestions,
	"bare status":     (*World).bareStatusQuestions,
	"bare renderings": (*World).bareRenderQuestions,
}

// order is that in which a session asks for everything.
var order = []string{"the context", "the hooks", "the commands", "the status", "the menu", "renderings", "completions", "terminal input"}

// asksFor asks the handlers of one kind, or for shutdown.
func (w *World) asksFor(what string) error {
	if what == "shutdown" {
		return w.asksShutdown()
	}
	if ask := contractHandlers[what]; ask != nil {
		return ask(w)
	}
	ask := handlers[what]
	if ask == nil {
		return errored("%q is nothing that a host asks for", what)
	}
	questions, why := ask(w)
	if len(questions) == 0 {
		return notApplicable("%s", why)
	}
	for _, q := range questions {
		if err := w.askAll([]question{q}); err != nil {
			return err
		}
		if w.omitted() {
			continue
		}
		code, _ := w.answer.ErrorCode()
		if name := w.setup.Dialect.ErrorName(code); strings.HasPrefix(what, "bare ") && slices.Contains(refusals, name) {
			return failAt(w.answer, "the answer is %s, want a result", w.describe(w.answer))
		}
	}
	return nil
}

// refusals are the errors that say that a question was not understood. A handler may fail for reasons of its own.
var refusals = []string{"invalid_params", "invalid_request", "unknown_method"}

// askAll asks one question behind the other. What is answered is for the monitor, and for expectations about the
// last answer.
func (w *World) askAll(questions []question) error {
	for _, q := range questions {
		w.last, w.hurried = w.nextID(), false
		if err := w.send(w.setup.Dialect.Request(w.last, q.method, q.params)); err != nil {
			if errors.Is(err, errOmitted) {
				continue
			}
			return err
		}
		if err := w.anyAnswer(); err != nil {
			return missing(err)
		}
	}
	return nil
}

// everyHandler asks every handler that is declared, and then tells what happens.
func (w *World) everyHandler() error {
	if w.setup.Dialect.Canonical() {
		return w.everyService()
	}
	for _, kind := range order {
		questions, _ := handlers[kind](w)
		if err := w.askAll(questions); err != nil {
			return err
		}
	}
	if err := w.tellsEvents(); unlessOmitted(err) != nil && !skip(err) {
		return err
	}
	return nil
}

// contributed are the names of a contribution.
func (w *World) contributed(member string) []string {
	list, _ := w.setup.Extension.Contributes[member].([]any)
	var out []string
	for _, item := range list {
		if name, ok := item.(string); ok {
			out = append(out, name)
		}
	}
	return out
}

func (w *World) prompts() []string {
	if p := w.setup.Profile; p != nil && len(p.Prompt) > 0 {
		return p.Prompt
	}
	return []string{"octet"}
}

func (w *World) commandQuestions() ([]question, string) {
	commands, why := w.commands()
	var out []question
	for _, c := range commands {
		out = append(out, question{featurewire.MethodCommandExecute, dialect.Object{
			"name": c.Name, "arguments": append([]string{}, c.Arguments...), "context": w.setup.Dialect.Context(),
		}})
	}
	return out, why
}

// commands are those that are safe to execute.
func (w *World) commands() ([]profile.Command, string) {
	if p := w.setup.Profile; p != nil && len(p.Command) > 0 {
		return p.Command, ""
	}
	if w.setup.NoCalls != "" {
		return nil, w.setup.NoCalls
	}
	var r struct {
		Commands []profile.Command `json:"commands"`
	}
	// A result that cannot be read has no commands.
	_ = json.Unmarshal(w.result, &r)
	for i := range r.Commands {
		r.Commands[i].Arguments = nil
	}
	return r.Commands, "the extension announces no command"
}

func (w *World) hookQuestions() ([]question, string) {
	const why = "the manifest declares no hook that this API version has"
	declared := slices.DeleteFunc(w.contributed("hooks"), func(name string) bool {
		row, known := w.setup.Dialect.Hook(name)
		return !known || featurewire.LookupFeature(row.Feature) != nil && !w.selected(row.Feature)
	})
	var out []question
	for _, prompt := range w.prompts() {
		_, params := w.setup.Dialect.Hooks(declared, prompt)
		for _, p := range params {
			out = append(out, question{featurewire.MethodHookRun, p})
		}
		declared = slices.DeleteFunc(declared, func(name string) bool { return name != featurewire.HookBeforePrompt })
	}
	if p := w.setup.Profile; p != nil {
		for _, h := range p.Hook {
			out = append(out, question{featurewire.MethodHookRun, w.setup.Dialect.HookRun(h.Name, h.Payload)})
		}
	}
	return out, why
}

func (w *World) contextQuestions() ([]question, string) {
	if w.setup.Extension.Contributes["context"] != true {
		return nil, "the manifest declares no context"
	}
	var out []question
	for _, prompt := range w.prompts() {
		out = append(out, question{featurewire.MethodContextCollect, dialect.Object{"prompt": prompt, "context": w.setup.Dialect.Context()}})
	}
	return append(out, question{featurewire.MethodContextCollect, dialect.Object{"prompt": nil, "context": w.setup.Dialect.Context()}}), ""
}

func (w *World) statusQuestions() ([]question, string) { return w.statusIn(w.setup.Dialect.Context()) }

func (w *World) bareStatusQuestions() ([]question, string) { return w.statusIn(w.setup.Dialect.Bare()) }

func (w *World) statusIn(context dialect.Object) (out []question, why string) {
	for _, surface := range w.contributed("ui") {
		out = append(out, question{featurewire.MethodStatusCollect, dialect.Object{"surface": surface, "context": context}})
	}
	return out, "the manifest declares no surface"
}

func (w *World) menuQuestions() ([]question, string) {
	if w.setup.Extension.Contributes["menu"] != true || !w.setup.Dialect.Negotiates() {
		return nil, "the manifest declares no menu"
	}
	return []question{{featurewire.MethodMenuCollect, dialect.Object{"context": w.setup.Dialect.Context()}}}, ""
}

func (w *World) renderQuestions() ([]question, string) { return w.renderIn(w.setup.Dialect.Context()) }

func (w *World) bareRenderQuestions() ([]question, string) { return w.renderIn(w.setup.Dialect.Bare()) }

func (w *World) renderIn(context dialect.Object) (out []question, why string) {
	for _, tool := range w.contributed("tool_renderers") {
		for _, failed := range []bool{false, true} {
			out = append(out, question{featurewire.MethodToolRender, dialect.Object{
				"name": tool, "arguments": dialect.Object{}, "output": "octet\n", "is_error": failed, "context": context,
			}})
		}
	}
	return out, "the manifest declares no renderer"
}

func (w *World) completionQuestions() ([]question, string) {
	if !w.host.Completes() {
		return nil, "the extension has not registered for completions"
	}
	var out []question
	for _, typed := range []string{"/he", "é /he\nand more", ""} {
		cursor := strings.Index(typed, "/he") + len("/he")
		out = append(out, question{featurewire.MethodUIAutocompleteComplete, dialect.Object{"text": typed, "cursor": min(cursor, len(typed)), "revision": 1}})
	}
	return out, ""
}

func (w *World) interceptQuestions() ([]question, string) {
	if !w.selected(featurewire.FeatureTerminalInputInterceptV1) {
		return nil, fmt.Sprintf("the extension does not select %s", featurewire.FeatureTerminalInputInterceptV1)
	}
	return []question{
		{featurewire.MethodUITerminalInputIntercept, w.setup.Dialect.Intercept("q")},
		{featurewire.MethodUITerminalInputIntercept, w.setup.Dialect.Intercept("\x1b[A")},
	}, ""
}

// disposalQuestions retire what the extension has registered.
func (w *World) disposalQuestions() ([]question, string) {
	resources := w.host.Resources()
	if len(resources) == 0 {
		return nil, "the extension has registered no resource"
	}
	return []question{{featurewire.MethodResourceDispose, dialect.Object{"resources": resources, "reason": "retired"}}}, ""
}

// tellsEvents sends every notification that was negotiated, and expects no answer to any.
func (w *World) tellsEvents() error {
	events := w.setup.Dialect.Events(w.selected, w.host.Surfaces())
	for _, id := range w.host.Shortcuts() {
		events = append(events, dialect.Event{Method: featurewire.MethodShortcutTrigger, Params: dialect.Object{"id": id}})
	}
	events = slices.DeleteFunc(events, func(e dialect.Event) bool { return !w.subscribed(e.Method) })
	if len(events) == 0 {
		return notApplicable("the extension selects nothing that a host tells of")
	}
	for _, e := range events {
		if err := w.send(w.setup.Dialect.Notification(e.Method, e.Params)); unlessOmitted(err) != nil {
			return err
		}
	}
	return w.goesOn("silently")
}

// subscribed reports whether an event was asked for, where an extension may choose among them.
func (w *World) subscribed(method string) bool {
	var r featurewire.InitializeResult
	// A result that cannot be read chooses nothing.
	_ = json.Unmarshal(w.result, &r)
	chosen, _ := r.Protocol.LifecycleEvents.Get()
	return len(chosen) == 0 || !featurewire.LifecycleEvent(method).Known() || slices.Contains(chosen, featurewire.LifecycleEvent(method))
}

// handlerName is a command or a hook that may be asked.
func (w *World) handlerName(kind string) (string, error) {
	if kind == "command" {
		commands, why := w.commands()
		if len(commands) == 0 {
			return "", notApplicable("%s", why)
		}
		return commands[0].Name, nil
	}
	for _, name := range w.contributed("hooks") {
		row, known := w.setup.Dialect.Hook(name)
		if _, refused := w.setup.Dialect.Violation(row.Payload, []byte("{}")); known && refused {
			return name, nil
		}
	}
	return "", notApplicable("the manifest declares no hook whose payload is never empty")
}

// selected reports whether the extension has selected a feature.
func (w *World) selected(feature string) bool { return selects(w.result, feature) }

func selects(result json.RawMessage, feature string) bool {
	var r struct {
		Protocol struct {
			Features []string `json:"features"`
		} `json:"protocol"`
	}
	// A result that cannot be read selects nothing.
	_ = json.Unmarshal(result, &r)
	return slices.Contains(r.Protocol.Features, feature)
}
