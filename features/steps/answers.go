package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// answers accepts the response to a request id, compared as JSON text.
func answers(id string) func(subject.Message) bool { return subject.Answers(id) }

// unasked accepts frames that nothing but a fault explains once all requests are answered: responses,
// and frames that are no message at all.
func unasked(m subject.Message) bool { return m.IsResponse() || m.Fields == nil }

// skip reports whether an error means that there is nothing to judge.
func skip(err error) bool {
	var o *Outcome
	return errors.As(err, &o) && o.Class == verdict.NotApplicable
}

// anyAnswer waits for the response to the last request.
func (w *World) anyAnswer() error {
	return w.answerWithin(w.limit())
}

// limit is how long the last request may take.
func (w *World) limit() time.Duration {
	switch {
	case w.timely:
		return w.setup.Patience.hook()
	case w.result == nil:
		return w.setup.Patience.Initialize
	case w.hurried:
		return w.setup.Patience.Grace
	default:
		return w.setup.Patience.Answer + w.setup.Patience.reading(w.written)
	}
}

func (w *World) answerWithin(limit time.Duration) error {
	if w.omitted() {
		return errOmitted
	}
	m, err := w.conv.Await(answers(w.last), limit)
	if err != nil {
		err = w.wait("the answer to request "+w.last, err)
		if w.parting() {
			return blame(w.ownRules().farewell, err)
		}
		return err
	}
	w.answer = m
	if !w.reused {
		w.settle(w.last)
	}
	w.reused = false
	w.keepResult(m)
	return nil
}

func (w *World) settle(id string) {
	w.running = slices.DeleteFunc(w.running, func(r string) bool { return r == id })
}

// answersResult expects a result.
func (w *World) answersResult() error {
	if err := w.anyAnswer(); err != nil {
		return err
	}
	if w.answer.IsError() {
		err := failAt(w.answer, "the answer is %s, want a result", w.describe(w.answer))
		if w.parting() {
			return blame(w.ownRules().farewellResult, err)
		}
		return err
	}
	return nil
}

// answersWith expects a result, an error, or an error with one of some names, and where that is said within what
// a host waits for a hook.
func (w *World) answersWith(inTime, want string) error {
	w.timely = inTime != ""
	defer func() { w.timely = false }()
	if want == "a result" {
		return w.answersResult()
	}
	if _, names, named := strings.Cut(want, "the error "); named {
		return w.answersError(names, strings.HasPrefix(want, "a result"))
	}
	if err := w.anyAnswer(); err != nil {
		return err
	}
	if want == "an error" && !w.answer.IsError() {
		return failAt(w.answer, "the answer is a result, want an error")
	}
	return nil
}

// answersError expects an error whose name is one of a list such as "a or b", or a result where that
// does as well.
func (w *World) answersError(list string, orResult bool) error {
	if err := w.anyAnswer(); err != nil {
		return err
	}
	if orResult && !w.answer.IsError() {
		return nil
	}
	code, ok := w.answer.ErrorCode()
	for name := range strings.SplitSeq(list, " or ") {
		want, err := w.setup.Dialect.Code(name)
		if err != nil {
			return errored("%v", err)
		}
		if ok && code == want {
			return nil
		}
	}
	return failAt(w.answer, "the answer is %s, want %s", w.describe(w.answer), list)
}

// describe says what an answer is.
func (w *World) describe(m subject.Message) string {
	code, ok := m.ErrorCode()
	switch {
	case ok && w.setup.Dialect.ErrorName(code) != "":
		return fmt.Sprintf("the error %s (%d)", w.setup.Dialect.ErrorName(code), code)
	case ok:
		return fmt.Sprintf("the error %d", code)
	case m.IsError():
		return "an error without a code"
	default:
		return "a result"
	}
}

// answerHas expects a value in the last answer, at a pointer into the response object. With "=" it is a
// JSON value, or the word absent; with "~" it is part of a string.
func (w *World) answerHas(pointer, how, want string) error {
	if w.omitted() {
		return errOmitted
	}
	doc, err := json.Marshal(w.answer.Fields)
	if err != nil {
		return errored("%v", err)
	}
	got, found := lookup(doc, pointer)
	if how == "~" {
		var text string
		if json.Unmarshal(got, &text) != nil || !strings.Contains(text, want) {
			return failAt(w.answer, "the answer has %s at %s, want a string with %q in it", got, pointer, want)
		}
		return nil
	}
	want, orAbsent := strings.CutSuffix(want, " or absent")
	switch {
	case want == "absent" && found:
		return failAt(w.answer, "the answer has %s at %s, want nothing there", got, pointer)
	case !found && (orAbsent || want == "absent"):
		return nil
	}
	text, err := w.expand(want)
	if err != nil {
		return err
	}
	if !found {
		return failAt(w.answer, "the answer has nothing at %s, want %s", pointer, text)
	}
	if !sameJSON(got, text) {
		return failAt(w.answer, "the answer has %s at %s, want %s", got, pointer, text)
	}
	return nil
}

// sameJSON compares values, numbers by their spelling.
func sameJSON(a, b []byte) bool {
	var x, y any
	dx, dy := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	dx.UseNumber()
	dy.UseNumber()
	if dx.Decode(&x) != nil || dy.Decode(&y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}
