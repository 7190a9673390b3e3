package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// contractHandlers are the kinds of handlers that a host of the canonical wire asks for.
var contractHandlers = map[string]func(w *World) error{
	"the session hooks": (*World).asksSessionHooks,
	"the setup":         (*World).asksSetup,
	"a stream":          (*World).asksStream,
}

// contractOrder is that in which a session asks for everything.
var contractOrder = []string{"the session hooks", "the setup", "a stream"}

// everyService asks for everything that was selected on the canonical wire.
func (w *World) everyService() error {
	for _, kind := range contractOrder {
		if err := contractHandlers[kind](w); unlessOmitted(err) != nil && !skip(err) {
			return err
		}
	}
	return nil
}

// contractName reports whether a word names a capability or a method of the canonical wire.
func contractName(word string) bool {
	return canonicalwire.LookupCapability(word) != nil || canonicalwire.LookupMethod(word) != nil
}

// contracts reports whether an initialize result selects a capability or a method of the canonical wire.
func contracts(result json.RawMessage, name string) bool {
	var r struct {
		Contract struct {
			Capabilities []string `json:"capabilities"`
			Methods      []string `json:"methods"`
		} `json:"contract"`
	}
	// A result that cannot be read selects nothing.
	_ = json.Unmarshal(result, &r)
	return slices.Contains(r.Contract.Capabilities, name) || slices.Contains(r.Contract.Methods, name)
}

// chooses ends a scenario that says nothing about an extension without a method, or with it where that is what
// it is about. While the extension runs, a method of its own must have been sent as well.
func (w *World) chooses(name string, without bool) error {
	result := w.result
	if result == nil {
		var err error
		if result, err = w.another(); err != nil {
			return missing(err)
		}
	}
	has := contracts(result, name)
	switch {
	case has && without:
		return notApplicable("the extension selects %s", name)
	case !has && !without:
		return notApplicable("the extension does not select %s", name)
	case without || w.rec == nil || !w.setup.Dialect.FromExtension(name):
		return nil
	}
	if !w.host.Asked(name) {
		return notApplicable("the extension has not sent %s", name)
	}
	return nil
}

// attach tells an extension on the bus about its binding.
func (w *World) attach() error {
	if !w.setup.Dialect.Canonical() || !contracts(w.result, canonicalwire.MethodBusLifecycle) {
		return nil
	}
	return w.send(w.setup.Dialect.Notification(canonicalwire.MethodBusLifecycle, document(w.host.Bind())))
}

// document is a model as part of a frame.
func document(v wirejson.Encoder) json.RawMessage { return v.AppendJSON(nil) }

// asksSessionHooks tells an extension that a session begins, and that it ends.
func (w *World) asksSessionHooks() error {
	if !contracts(w.result, canonicalwire.MethodHookRun) {
		return notApplicable("the extension does not select %s", canonicalwire.MethodHookRun)
	}
	bound := canonicalwire.SessionBinding{SessionID: "conform", ExtensionInstanceID: "conform-instance", ProcessGeneration: 1}
	return w.askAll([]question{
		{canonicalwire.MethodHookRun, tree(canonicalwire.SessionStartHook{Payload: canonicalwire.SessionStart{Binding: bound}})},
		{canonicalwire.MethodHookRun, tree(canonicalwire.SessionEndHook{Payload: canonicalwire.SessionEnd{
			Binding: bound, Outcome: canonicalwire.SessionOutcomeShutdown, Reason: canonicalwire.SessionEndReasonShutdown, DurationMs: 1,
		}})},
	})
}

// tree is a model as an object that can be changed.
func tree(v wirejson.Encoder) dialect.Object {
	var out dialect.Object
	// What a model writes can be read.
	_ = json.Unmarshal(v.AppendJSON(nil), &out)
	return out
}

// asksSetup looks for a setup to import and imports what is found.
func (w *World) asksSetup() error {
	if !contracts(w.result, canonicalwire.MethodMigrationDetect) {
		return notApplicable("the extension does not select %s", canonicalwire.MethodMigrationDetect)
	}
	root, err := w.sources.dir(sourceSetup)
	if err != nil {
		return errored("%v", err)
	}
	if err := w.askAll([]question{{canonicalwire.MethodMigrationDetect, dialect.Object{"source_root": root}}}); err != nil {
		return err
	}
	if w.omitted() {
		return errOmitted
	}
	found, err := w.found()
	if err != nil || !contracts(w.result, canonicalwire.MethodMigrationImport) {
		return err
	}
	return w.askAll([]question{{canonicalwire.MethodMigrationImport, dialect.Object{"source_root": root, "config_paths": found}}})
}

// found are the paths of the answer taken last, if that is one to a detection.
func (w *World) found() ([]string, error) {
	var r canonicalwire.MigrationDetectResult
	if err := json.Unmarshal(w.answer.Fields["result"], &r); err != nil {
		return nil, notApplicable("the extension detects nothing: %v", err)
	}
	return append([]string{}, r.ConfigPaths...), nil
}

// asksStream asks for a stream and expects that it is accepted or declined.
func (w *World) asksStream() error {
	if !contracts(w.result, canonicalwire.MethodProviderStream) {
		return notApplicable("the extension does not select %s", canonicalwire.MethodProviderStream)
	}
	provider, model := w.host.Model()
	w.stream = "stream-" + w.nextID()
	w.last, w.hurried = w.nextID(), false
	params := dialect.Object{
		"stream_id": w.stream, "provider_id": provider, "model_id": model,
		"request": dialect.Object{"messages": []any{dialect.Object{"role": "user", "content": "octet"}}, "tools": []any{}},
	}
	if err := w.send(w.setup.Dialect.Request(w.last, canonicalwire.MethodProviderStream, params)); err != nil {
		return err
	}
	if err := w.anyAnswer(); err != nil {
		return missing(err)
	}
	var r canonicalwire.ProviderStreamAccepted
	if err := json.Unmarshal(w.answer.Fields["result"], &r); err != nil || !r.Accepted {
		return notApplicable("the extension accepts no stream of %s/%s", provider, model)
	}
	return nil
}

// sends expects a message of the extension of some method, behind what the host has done last. A value may be one
// of several.
func (w *World) sends(method, pointer, values string) error {
	m, err := w.conv.Await(func(m subject.Message) bool {
		return m.Method == method && m.Frame.Index > w.mark && (pointer == "" || w.holds(m, pointer, values))
	}, w.setup.Patience.Answer)
	if err != nil {
		return w.wait("a "+method+" of the extension", err)
	}
	w.answer = m
	return nil
}

// holds reports whether a message has one of some values at a place.
func (w *World) holds(m subject.Message, pointer, values string) bool {
	doc, err := json.Marshal(m.Fields)
	if err != nil {
		return false
	}
	got, found := lookup(doc, pointer)
	return found && slices.ContainsFunc(strings.Split(values, " or "), func(want string) bool { return sameJSON(got, []byte(want)) })
}

// callWaits makes calls until the extension waits for an answer of its host in one of them.
func (w *World) callWaits() error {
	calls, err := w.known()
	if err != nil {
		return err
	}
	for _, call := range calls {
		if err := w.makeCall(call); errors.Is(err, errOmitted) {
			continue
		} else if err != nil {
			return err
		}
		if waits, err := w.waitsForHost(w.last); waits || err != nil {
			return err
		}
	}
	if len(w.host.Waiting()) > 0 {
		return nil // in no call; see noCallRuns
	}
	return w.orOmitted(notApplicable("the extension asks nothing of its host in the calls that are known"))
}

// noCallRuns ends a scenario that needs a running call where there is none. An extension may wait for its host outside
// of calls, or behind a call that did not wait with it.
func (w *World) noCallRuns() error {
	if len(w.host.Waiting()) > 0 {
		return notApplicable("the extension waits for its host in no call that is known")
	}
	return w.orOmitted(errored("no call is running"))
}

// waitsForHost goes on until the extension waits for its host while a call runs or the call is over, and reports whether
// it runs and waits. What it waits for may have been asked before the call.
func (w *World) waitsForHost(call string) (bool, error) {
	for {
		m, err := w.conv.Await(func(m subject.Message) bool {
			return m.Method != "" && m.ID != "" || m.IsResponse() && m.ID == call
		}, w.setup.Patience.Answer)
		waits := len(w.host.Waiting()) > 0
		switch {
		case err == nil && m.IsResponse():
			w.settle(call)
			return false, nil
		case waits:
			return true, nil
		case err != nil:
			return false, missing(w.wait("the answer to call "+call, err))
		}
	}
}

// hostAnswers makes the host answer requests of one method, or everything, in a certain way from now on: with a
// member of the result as a file, with an error, not at all, or as usual, what waits included.
func (w *World) hostAnswers(method, with string) error {
	if w.host == nil {
		return errored("the extension has not been started")
	}
	name, refused := strings.CutPrefix(with, "the error ")
	member, handed := strings.CutSuffix(with, " as a file")
	switch {
	case refused:
		w.host.Refuse(method, name)
	case handed:
		return w.answersByFile(method, member)
	case with == "silence":
		w.host.Wait(method)
	case with == "what it is due":
		w.conv.Reply(w.kept("resumed", w.host.Resume())...)
		if err := w.conv.Replied(w.setup.Patience.Answer); err != nil {
			return w.wait("writing answers", err)
		}
	default:
		return errored("%q is nothing that a host answers with", with)
	}
	return nil
}

// contractMacro replaces the macros of the canonical wire.
func (w *World) contractMacro(word, rest string) (string, error) {
	switch word {
	case "asked":
		waiting := w.host.Waiting()
		if len(waiting) == 0 {
			return "", w.orOmitted(errored("the extension waits for nothing"))
		}
		w.last = waiting[0].ID
		return w.last, nil
	case "rebind":
		return string(document(w.host.Bind())), nil
	case "announce":
		notice := w.host.Announce()
		if notice == nil {
			return "", notApplicable("the extension waits for no topic")
		}
		return string(document(notice)), nil
	case "stream":
		return string(dialect.Encode(w.stream)), nil
	case "source":
		dir, err := w.sources.dir(rest)
		return string(dialect.Encode(dir)), err
	case "found":
		paths, err := w.found()
		if err == nil && !slices.ContainsFunc(paths, func(p string) bool { return strings.HasSuffix(p, configEnding) }) {
			err = notApplicable("the extension finds no configuration in the setup")
		}
		return string(dialect.Encode(paths)), err
	}
	return "", errored("«%s» is no macro", word)
}

// untouched expects that the extension has changed nothing in the directories it was shown.
func (w *World) untouched() error {
	if changed := w.sources.changed(); len(changed) > 0 {
		return fail("the extension has changed %s below the source root", fmt.Sprintf("%q", changed))
	}
	return nil
}
