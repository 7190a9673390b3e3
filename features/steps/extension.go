package steps

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/services"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// declares ends a scenario that says nothing about an extension without a declaration, or without a feature.
func (w *World) declares(what string) error {
	if name, without := strings.CutPrefix(what, "no "); w.setup.Dialect.Canonical() && contractName(name) {
		return w.chooses(name, without)
	}
	if featurewire.LookupFeature(what) != nil {
		result, err := w.another()
		if err != nil {
			return missing(err)
		}
		if !selects(result, what) {
			return notApplicable("the extension does not select %s", what)
		}
		return nil
	}
	member, negated := strings.CutPrefix(what, "no ")
	has := len(w.setup.Extension.FlagValues) > 0
	if member != "flags" {
		member = strings.TrimPrefix(member, "session ")
		c := w.setup.Extension.Contributes[member]
		list, _ := c.([]any)
		has = c == true || len(list) > 0
	}
	if has == negated {
		return notApplicable("the manifest declares %s%s", map[bool]string{false: "no "}[negated], member)
	}
	return nil
}

// answersByFile makes the host answer a service with a file in place of a value.
func (w *World) answersByFile(method, member string) error {
	if w.setup.Extension.Scratch == "" {
		return notApplicable("the extension shares no directory with its host")
	}
	w.host.AnswerByFile(method, member)
	return nil
}

// variable sets one variable of the subject's environment, or takes it out.
func (w *World) variable(name, value string) error {
	if value != "" {
		name += "=" + value
	}
	w.start.Env = append(w.start.Env, name)
	return nil
}

// elsewhere starts the subject in a directory that holds nothing of its own.
func (w *World) elsewhere() error {
	if w.setup.HomeOnly != "" {
		return notApplicable("%s", w.setup.HomeOnly)
	}
	w.start.Dir = os.TempDir()
	return nil
}

// offers changes the initialize params that later steps send.
func (w *World) offers(pointer, value string) error {
	c, err := w.parseChange(pointer, value)
	if err != nil {
		return err
	}
	w.changes = append(w.changes, c)
	return nil
}

// started starts the subject and sends nothing.
func (w *World) started() error {
	run, err := w.setup.Starter.Start(w.start)
	if err != nil {
		return errored("%v", err)
	}
	w.run = run
	w.rec = wire.NewRecorder(nil)
	w.mon = monitor.New(monitor.Setup{Dialect: w.setup.Dialect, Extension: w.setup.Extension})
	w.host = services.New(w.setup.Dialect, w.setup.Extension, w.mon)
	w.conv = subject.Converse(run, w.rec, w.mon, w.reply)
	w.setPace()
	return nil
}

// ready starts the subject and brings it through initialize.
func (w *World) ready() error {
	if err := w.started(); err != nil {
		return err
	}
	if err := w.initialize(); err != nil {
		return missing(about("initialize", err))
	}
	if err := w.answersResult(); err != nil {
		return missing(about("initialize", err))
	}
	return w.attach()
}

func (w *World) params() (dialect.Object, error) {
	var tree any = w.setup.Dialect.Initialize(w.setup.Extension)
	for _, c := range w.changes {
		var err error
		if tree, err = c.apply(tree); err != nil {
			return nil, errored("initialize params: %v", err)
		}
	}
	params, ok := tree.(dialect.Object)
	if !ok {
		return nil, errored("initialize params are no object")
	}
	return maps.Clone(params), nil
}

// initialize sends initialize and leaves its answer to later steps.
func (w *World) initialize() error {
	params, err := w.params()
	if err != nil {
		return err
	}
	w.last = w.nextID()
	return w.send(w.setup.Dialect.Request(w.last, dialect.Initialize, params))
}

// sendsInitialize sends initialize, with one place changed where that is said.
func (w *World) sendsInitialize(pointer, value string) error {
	if pointer != "" {
		if err := w.offers(pointer, value); err != nil {
			return err
		}
	}
	return w.initialize()
}

func (w *World) send(frame []byte) error {
	if !w.goesOut(w.sent.next(), frame) {
		return errOmitted
	}
	w.mark, w.written = w.rec.Len()-1, len(frame)
	if err := w.conv.Send(frame, w.setup.Patience.Answer); err != nil {
		return w.wait("writing a frame", err)
	}
	return nil
}

// exits expects the process to end by itself.
func (w *World) exits() error {
	limit := w.endLimit()
	if err := w.conv.AwaitEnd(limit); err != nil {
		err := fail("the extension still runs %v after it should have exited", limit)
		return w.blameEnd(w.ownRules().exit, err)
	}
	return nil
}

// endLimit is how long the end may take. A subject that has not said anything may still be starting.
func (w *World) endLimit() time.Duration {
	switch p := w.setup.Patience; {
	case w.answer.Fields == nil:
		return max(p.Initialize, p.End)
	case w.hurried:
		return p.Grace
	default:
		return p.End
	}
}

// exitStatus expects the process to end by itself with a certain status.
func (w *World) exitStatus(not string, want int) error {
	if err := w.exits(); err != nil {
		return err
	}
	ended := w.close()
	if (ended.Signal == "" && ended.Code == want) == (not != "") {
		return fail("the extension ended with %s, want%s %d", ended, not, want)
	}
	return nil
}

// nothingLeft expects no descendant behind a subject that has exited.
func (w *World) nothingLeft() error {
	if err := w.exits(); err != nil {
		return missing(err)
	}
	if left := w.close().Left; left > 0 {
		return fail("%d processes of the extension ran on after it had exited", left)
	}
	return nil
}

// close ends a subject that has exited, so that everything it left behind is known.
func (w *World) close() subject.Ended {
	w.mon.Stop()
	ended := w.conv.Close()
	w.ended = &ended
	return ended
}

// endsSilently expects the subject to end its output without a frame that nobody has asked for.
func (w *World) endsSilently() error {
	m, err := w.conv.Await(unasked, w.endLimit())
	switch {
	case err == nil:
		return failAt(m, "the extension wrote a frame instead of ending")
	case errors.Is(err, subject.ErrEnded):
		return w.exits()
	case errors.Is(err, subject.ErrNoAnswer):
		return fail("the extension neither ended nor answered within %v", w.endLimit())
	}
	return w.wait("waiting for the end", err)
}

// complains expects text on standard error.
func (w *World) complains() error {
	if err := w.exits(); err != nil {
		return missing(err)
	}
	w.close()
	if w.run.Stderr() == "" {
		return fail("the extension wrote nothing to stderr")
	}
	return nil
}

// hangsUp closes one of the host's pipes.
func (w *World) hangsUp(which string) error {
	if which == "closes the input" {
		w.conv.CloseInput()
		return nil
	}
	w.mon.Stop()
	if err := w.conv.StopReading(w.setup.Patience.Answer); err != nil {
		return errored("the host stops reading: %v", err)
	}
	return nil
}

// exitsAfter expects the process to end by itself; with nothing behind the answer taken last, where that
// is said.
func (w *World) exitsAfter(andSilent string) error {
	if andSilent == "" {
		return w.exits()
	}
	return w.lastFrame()
}

// keepResult remembers the initialize result.
func (w *World) keepResult(m subject.Message) {
	if w.result == nil && m.Fields["result"] != nil {
		w.result = json.RawMessage(append([]byte(nil), m.Fields["result"]...))
	}
}
