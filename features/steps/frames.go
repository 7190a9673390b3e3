package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/verdict"
)

// sendsText writes a line, or bytes, as they stand in the feature.
func (w *World) sendsText(what, text string) error {
	if what == "line" {
		return w.sendsLine(text)
	}
	return w.sendsBytes(text)
}

// sendsLine writes one line as it stands in the feature.
func (w *World) sendsLine(text string) error {
	b, err := w.expand(text)
	if err != nil {
		return err
	}
	w.remember(b)
	if w.reused {
		if err := w.room(1); err != nil {
			return err
		}
	}
	return w.send(b)
}

// remember makes the id of a line the one that expectations are about, if it has one: null for a line
// that no reader can make sense of.
func (w *World) remember(line []byte) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		w.last = "null"
		return
	}
	if id := members["id"]; id != nil {
		w.last = string(id)
		w.reused = slices.Contains(w.running, w.last)
	}
	w.hurried = string(members["method"]) == `"`+dialect.Cancel+`"`
}

// sendsBytes writes bytes as they stand in the feature, with no line feed added.
func (w *World) sendsBytes(text string) error {
	b, err := w.expand(text)
	if err != nil {
		return err
	}
	return w.sendBytes(b, "writing bytes")
}

// probeMethod is a method that no version of the protocol has. Its refusal shows that the extension
// reads, dispatches and answers, and needs nothing that an extension could lack.
const probeMethod = "conform/probe"

// probe sends a request that every extension must refuse and waits for the answer. Whatever the
// extension has to say about earlier frames it has then had the time to say.
func (w *World) probe() error {
	id, patience := w.nextID(), w.setup.Patience
	limit := patience.Answer + patience.reading(w.written) // it reads what lies in front of the probe first
	if err := w.send(w.setup.Dialect.Request(id, probeMethod, dialect.Object{})); err != nil {
		return err
	}
	m, err := w.conv.Await(answers(id), limit)
	if err != nil {
		return w.wait("a request that shows whether the extension still serves", err)
	}
	if !m.IsError() {
		return blame(w.ownRules().unknownMethod, failAt(m, "the extension answered a request of the unknown method %q with a result", probeMethod))
	}
	return nil
}

// goesOn expects the extension to serve a further request; where that is said, without a frame about what
// was sent last.
func (w *World) goesOn(silently string) error {
	if err := w.probe(); err != nil {
		return err
	}
	if silently == "" {
		return nil
	}
	if m, found := w.conv.Poll(unasked); found {
		return failAt(m, "the extension answered what deserves no answer")
	}
	return nil
}

// serves expects the extension to go on, or to end where that is said to be its right.
func (w *World) serves(silently, orEnds string) error {
	err := w.goesOn(silently)
	if err != nil && orEnds != "" && w.conv.Ended() {
		return nil
	}
	return err
}

// eachLine sends line by line and expects the same of the extension every time.
func (w *World) eachLine(want string, table *godog.Table) error {
	answer, answered := strings.CutPrefix(want, "answered with ")
	for i, row := range table.Rows {
		err := w.sendsLine(row.Cells[0].Value)
		switch {
		case err != nil:
		case answered:
			err = w.answersWith("", answer)
		default:
			err = w.goesOn("silently")
		}
		var o *Outcome
		if errors.As(err, &o) {
			located := *o
			located.Text = fmt.Sprintf("line %d of %d: %s", i+1, len(table.Rows), o.Text)
			return &located
		}
		if unlessOmitted(err) != nil {
			return err
		}
	}
	return nil
}

// ordinaryConversation does what a host does in a normal session, with everything that makes an
// extension write: calls, refusals, a cancellation. Calls of the profile have to end as it says.
func (w *World) ordinaryConversation() error {
	if err := w.probe(); unlessOmitted(err) != nil {
		return missing(err)
	}
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
		if err := w.anyAnswer(); err != nil {
			return missing(err)
		}
		// A profile speaks of the offer that is usual.
		if got := w.outcome(); len(w.changes) == 0 && call.Expect != "" && got != call.Expect {
			return missing(failAt(w.answer, "the call of %q ended with %q; the profile expects %q", call.Tool, got, call.Expect))
		}
	}
	if err := w.callUnknownTool(); unlessOmitted(err) != nil {
		return err
	}
	if err := w.anyAnswer(); unlessOmitted(err) != nil {
		return missing(err)
	}
	if err := w.everyHandler(); unlessOmitted(err) != nil {
		return err
	}
	return w.cancelledCall()
}

// callUnknownTool calls a tool that no extension has.
func (w *World) callUnknownTool() error {
	w.last = w.nextID()
	return w.send(w.setup.Dialect.Request(w.last, dialect.ToolCall, w.toolCall("conform_no_such_tool", dialect.Object{})))
}

// cancelledCall makes the slow call, if there is one, and cancels it.
func (w *World) cancelledCall() error {
	call, err := w.slow()
	if skip(err) || w.setup.Dialect.API() == dialect.FrozenAPI {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.makeCall(call); err != nil {
		return err
	}
	if err := w.cancels(w.last); unlessOmitted(err) != nil {
		return err
	}
	return missing(w.anyAnswer())
}

// keepsRules expects that the monitor found no frame of the subject against a rule of this scenario.
func (w *World) keepsRules() error {
	if err := w.untouched(); err != nil {
		return err
	}
	for _, f := range w.mon.Findings() {
		if slices.Contains(w.rules, f.Rule) {
			return &Outcome{Class: verdict.Fail, Rule: f.Rule, Frame: f.Frame, Text: f.Message}
		}
	}
	return nil
}
