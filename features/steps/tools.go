package steps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/generated/featurewire"
)

// makes makes one call of a kind, or several.
func (w *World) makes(what string) error {
	switch kind, one := strings.CutSuffix(strings.TrimPrefix(what, "the "), " call"); {
	case one:
		return w.makesCall(kind)
	case what == "calls and cancels some":
		return w.makesMix()
	case what == "every call under a cancelled id":
		return w.makesCancelledCalls()
	}
	return w.makesCallsAtOnce()
}

// makesCall makes the sample, slow or failing call.
func (w *World) makesCall(kind string) error {
	if kind == "former" {
		return w.makesFormerCall()
	}
	call, err := w.call(kind)
	if err != nil {
		return err
	}
	return w.makeCall(call)
}

func (w *World) makeCall(call profile.Call) error {
	if err := w.room(1); err != nil {
		return err
	}
	w.last, w.hurried = w.nextID(), false
	w.running = append(w.running, w.last)
	return w.send(w.setup.Dialect.Request(w.last, dialect.ToolCall, w.toolCall(call.Tool, call.Arguments)))
}

// room ends a scenario that needs more requests at a time than the extension takes.
func (w *World) room(more int) error {
	if n := w.concurrency(); n < len(w.running)+more {
		return notApplicable("the extension selected %d requests at a time; the scenario needs %d", n, len(w.running)+more)
	}
	return nil
}

// toolCall builds the params of a call under the newest catalog.
func (w *World) toolCall(tool string, arguments any) dialect.Object {
	params := w.setup.Dialect.Call(tool, arguments)
	if w.selected(featurewire.FeatureDynamicTools) {
		params["catalog_revision"] = w.host.Revision()
	}
	return params
}

// makesFormerCall calls a tool as it was before the newest change of the catalog.
func (w *World) makesFormerCall() error {
	if w.setup.NoCalls != "" {
		return notApplicable("%s", w.setup.NoCalls)
	}
	why := "the extension has not changed its catalog"
	for _, t := range w.host.Former() {
		arguments, err := profile.Arguments(t.Parameters)
		if err != nil {
			why = fmt.Sprintf("no arguments can be made for %q: %v", t.Name, err)
			continue
		}
		w.last, w.hurried = w.nextID(), false
		params := w.toolCall(t.Name, arguments)
		params["catalog_revision"] = w.host.Revision() - 1
		return w.send(w.setup.Dialect.Request(w.last, dialect.ToolCall, params))
	}
	return notApplicable("%s", why)
}

// callRuns makes the slow call and shows that the extension serves while it runs. Where that is said, it makes one
// that waits for an answer of the host instead.
func (w *World) callRuns(waits string) error {
	if waits != "" {
		return w.callWaits()
	}
	if !w.setup.Dialect.Canonical() {
		if err := w.room(2); err != nil {
			return err
		}
	}
	if err := w.makesCall("slow"); err != nil {
		return missing(err)
	}
	id := w.last
	if err := w.probe(); err != nil {
		return missing(err)
	}
	if m, found := w.conv.Poll(answers(id)); found {
		return missing(failAt(m, "the slow call was answered at once; name a call in the profile that takes some seconds"))
	}
	w.last = id
	return nil
}

// makesCallsAtOnce sends as many calls as the bound in force allows in one write.
func (w *World) makesCallsAtOnce() error {
	call, err := w.sample()
	if err != nil {
		return err
	}
	var burst []byte
	for range w.concurrency() {
		id := w.nextID()
		w.running = append(w.running, id)
		frame := w.setup.Dialect.Request(id, dialect.ToolCall, w.toolCall(call.Tool, call.Arguments))
		burst = append(append(burst, frame...), '\n')
	}
	return w.sendBytes(burst, "writing calls")
}

// concurrency is how many requests may be in flight: what was selected, capped by the offer.
func (w *World) concurrency() int {
	limit := dialect.MaxConcurrentRequests
	var r struct {
		Protocol, Contract struct {
			Limits struct {
				Max int `json:"max_concurrent_requests"`
			} `json:"limits"`
		}
	}
	// A result without the members leaves zeros.
	_ = json.Unmarshal(w.result, &r)
	for _, n := range []int{r.Protocol.Limits.Max, r.Contract.Limits.Max} {
		if n > 0 && n < limit {
			limit = n
		}
	}
	return limit
}

// callsAnswered expects an answer to every call that runs; to the last request too, behind them, where
// that is said.
func (w *World) callsAnswered(beforeLast string) error {
	if beforeLast != "" {
		return w.answeredBefore()
	}
	return w.everyCallAnswered()
}

// noRoom are the errors of a call that fails only because others run. The sample call is known to end
// well on its own.
var noRoom = []string{"resource_exhausted", "queue_exhausted", "server_error"}

// everyCallAnswered expects one answer to every call that runs, none of them refused for lack of room.
func (w *World) everyCallAnswered() error {
	for _, id := range append([]string(nil), w.running...) {
		m, err := w.conv.Await(answers(id), w.setup.Patience.Answer)
		if err != nil {
			err = w.wait(fmt.Sprintf("the answer to call %s of %d at once", id, len(w.running)), err)
			return w.blameEnd(w.ownRules().order, err)
		}
		if code, ok := m.ErrorCode(); ok && !w.parting() && slices.Contains(noRoom, w.setup.Dialect.ErrorName(code)) {
			return failAt(m, "call %s was refused although the selected bound allows it", id)
		}
		w.settle(id)
	}
	return nil
}

// runningCall expects the call that runs to be answered, or to run on.
func (w *World) runningCall(what string) error {
	if len(w.running) == 0 {
		return w.noCallRuns()
	}
	if what == "answered" {
		w.last = w.running[0]
		return w.answerWithin(w.setup.Patience.Answer)
	}
	if err := w.probe(); err != nil {
		return err
	}
	// A call that runs beside the reader of the extension may be answered a little behind the probe.
	disturbed := func(m subject.Message) bool { return m.IsResponse() && slices.Contains(w.running, m.ID) }
	if m, err := w.conv.Await(disturbed, w.setup.Patience.moment()); err == nil {
		if m.ID == w.stray {
			return failAt(m, "the call with id %s was answered at once; its id was cancelled before it was used", m.ID)
		}
		return failAt(m, "the call with id %s was answered although nothing happened to it", m.ID)
	}
	return nil
}

// cancelsCall cancels the request sent last, the call that has run longest, or the one that comes next, whose id
// nobody has used.
func (w *World) cancelsCall(which string) error {
	switch which {
	case "the next call":
		return w.cancelsNext()
	case "the running call":
		if len(w.running) == 0 {
			return w.noCallRuns()
		}
		w.last = w.running[0]
	}
	return w.cancels(w.last)
}

func (w *World) cancels(id string) error {
	w.hurried = true
	return w.send(w.setup.Dialect.Notification(dialect.Cancel, w.setup.Dialect.Cancel(id, "user")))
}

// asksShutdown sends shutdown.
func (w *World) asksShutdown() error {
	w.hurried = true
	w.last = w.nextID()
	w.farewell = w.last
	return w.send(w.setup.Dialect.Request(w.last, dialect.Shutdown, dialect.Object{}))
}

// answeredBefore expects the running calls to be answered in front of the last request.
func (w *World) answeredBefore() error {
	last := w.last
	if err := w.anyAnswer(); err != nil {
		return err
	}
	end := w.answer
	if code, refused := end.ErrorCode(); refused && slices.Contains(noRoom, w.setup.Dialect.ErrorName(code)) {
		// Whether there is room is what the scenario is about, and no matter of the order.
		return failAt(end, "request %s was refused for want of room: %s", last, w.describe(end))
	}
	for _, id := range w.running {
		m, found := w.conv.Poll(answers(id))
		if !found {
			return blame(w.ownRules().order, failAt(end, "request %s was answered while call %s was still owed its answer", last, id))
		}
		if m.Frame.Index > end.Frame.Index {
			return blame(w.ownRules().order, failAt(m, "call %s was answered behind request %s", id, last))
		}
	}
	return nil
}

// lastFrame expects nothing behind the answer taken last, to the end of the output.
func (w *World) lastFrame() error {
	if err := w.exits(); err != nil {
		return err
	}
	if w.omitted() {
		return errOmitted
	}
	m, err := w.conv.Await(func(m subject.Message) bool { return m.Frame.Index > w.answer.Frame.Index }, w.setup.Patience.Answer)
	if err == nil {
		return failAt(m, "the extension wrote a frame behind its last answer")
	}
	return nil
}
