package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/services"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// Result is what came of one conversation.
type Result struct {
	Findings []verdict.Finding
	Frames   []wire.Frame // origins included
	Dropped  int
	Stderr   string
	Ended    string

	result json.RawMessage // of initialize
}

// owed is a request without an answer.
type owed struct {
	item Item
	due  bool // it is to be answered now: it is not slow, or it was cancelled
}

// talk is one conversation.
type talk struct {
	setup *steps.Setup
	rules rules
	rec   *wire.Recorder
	mon   *monitor.Monitor
	conv  *subject.Conversation

	owed       []owed
	found      []verdict.Finding
	origins    []wire.Frame // bytes and origins of what was sent
	unreadable int          // lines that may be answered without an id
	over       bool         // nothing more can come of it
}

// Play has a conversation with a fresh start of the subject. The error is ours; what a subject does is a finding.
func Play(ctx context.Context, setup *steps.Setup, items []Item) (*Result, error) {
	run, err := subject.Bounded(ctx, setup.Starter).Start(subject.Start{})
	if err != nil {
		return nil, err
	}
	t := &talk{setup: setup, rules: rulesOf(setup.Dialect), rec: wire.NewRecorder(nil)}
	t.mon = monitor.New(monitor.Setup{Dialect: setup.Dialect, Extension: setup.Extension})
	host := services.New(setup.Dialect, setup.Extension, t.mon)
	t.conv = subject.Converse(run, t.rec, t.mon, host.Answer)
	for _, item := range items {
		if t.over || ctx.Err() != nil {
			break
		}
		t.send(item)
	}
	if !t.over {
		t.hangUp()
	}
	t.strays()
	t.mon.Stop()
	ended := t.conv.Close()
	t.judgeEnd(ended)
	r := &Result{Findings: append(t.seen(items), t.found...), Stderr: run.Stderr(), Ended: ended.String(), result: t.mon.Result()}
	r.Frames, r.Dropped = t.rec.Frames()
	t.name(r.Frames)
	return r, ctx.Err()
}

// seen are the findings of the monitor, but for those about the result of a bent request.
func (t *talk) seen(items []Item) []verdict.Finding {
	frames, _ := t.rec.Frames()
	return slices.DeleteFunc(t.mon.Findings(), func(f verdict.Finding) bool {
		return f.Frame >= 0 && f.Frame < len(frames) && slices.ContainsFunc(items, func(i Item) bool { return i.bent && refers(frames[f.Frame].Bytes, i.id) })
	})
}

func (t *talk) report(rule, format string, args ...any) {
	t.found = append(t.found, verdict.Finding{Rule: rule, Message: fmt.Sprintf(format, args...), Frame: -1, Offset: -1})
}

// late reports what did not come in time.
func (t *talk) late(rule, format string, args ...any) {
	t.report(rule, format, args...)
	t.found[len(t.found)-1].Silent = true
}

func (t *talk) send(item Item) {
	p := t.setup.Patience
	line := append(bytes.Clone(item.Line), '\n')
	pieces := [][]byte{line}
	if item.Cut > 0 {
		pieces = [][]byte{line[:item.Cut], line[item.Cut:]}
	}
	t.origins = append(t.origins, wire.Frame{Bytes: pieces[len(pieces)-1][:len(pieces[len(pieces)-1])-1], Origin: item.origin()})
	if item.kind == goOn {
		t.unreadable++
	}
	for _, piece := range pieces {
		if err := t.conv.SendBytes(piece, p.Answer); err != nil {
			t.over = true
			t.late(t.rules.unanswered, "the extension does not read its input: %v", err)
			return
		}
	}
	if item.cancel != "" {
		for i := range t.owed {
			if t.owed[i].item.id == item.cancel {
				t.owed[i].due, t.owed[i].item.rule = true, t.rules.cancelled
			}
		}
	}
	switch item.kind {
	case answer, slow:
		t.owed = append(t.owed, owed{item: item, due: item.kind == answer})
	case end:
		t.owed = nil // whether they are answered first is up to the extension
		t.ends(item)
		return
	case leave:
		t.leaves(item)
		return
	}
	if item.wait {
		t.settle(false)
	}
}

// settle waits for what is due; for everything where that is said.
func (t *talk) settle(all bool) {
	for i := 0; i < len(t.owed) && !t.over; {
		if !all && !t.owed[i].due {
			i++
			continue
		}
		o := t.owed[i]
		t.owed = slices.Delete(t.owed, i, i+1)
		t.await(o.item)
	}
}

// await waits for the answer to a request and judges it.
func (t *talk) await(item Item) {
	limit := t.setup.Patience.Answer
	if string(item.id) == initializeID {
		limit = t.setup.Patience.Initialize
	}
	rule := item.rule
	m, err := t.conv.Await(answersTo(item.id), limit)
	switch {
	case errors.Is(err, subject.ErrEnded):
		t.over = true
		t.report(t.rules.alive, "the extension ended its output; request %s was not answered", item.id)
		return
	case err != nil:
		t.over = true
		if len(item.errors) > 0 || rule == "" {
			rule = t.rules.unanswered
		}
		t.late(rule, "request %s was not answered within %v", item.id, limit)
		return
	case len(item.errors) == 0:
		return
	}
	code, failed := m.ErrorCode()
	name := t.setup.Dialect.ErrorName(code)
	if !failed || !slices.Contains(item.errors, name) {
		got := "a result"
		if m.IsError() {
			got = fmt.Sprintf("the error %s (%d)", name, code)
		}
		t.found = append(t.found, verdict.Finding{
			Rule: rule, Message: fmt.Sprintf("request %s is answered with %s, want %s", item.id, got, strings.Join(item.errors, " or ")), Frame: m.Frame.Index, Offset: -1,
		})
	}
}

// ends expects the extension to end its output, and itself.
func (t *talk) ends(item Item) {
	t.over = true
	p := t.setup.Patience
	before := t.rec.Len()
	_, err := t.conv.Await(subject.None, p.End)
	if !errors.Is(err, subject.ErrEnded) {
		t.late(item.rule, "the extension neither ended nor stopped reading within %v", p.End)
		return
	}
	frames, _ := t.rec.Frames()
	for _, f := range frames[min(before, len(frames)):] {
		if f.Lane == wire.FromSubject && refers(f.Bytes, item.id) {
			t.found = append(t.found, verdict.Finding{Rule: item.rule, Message: "a frame that no reader accepts was answered", Frame: f.Index, Offset: -1})
		}
	}
	if t.conv.AwaitEnd(p.End) != nil {
		t.late(item.rule, "the extension still runs %v after it has ended its output", p.End)
	}
}

// refers reports whether a frame is a response on an id.
func refers(frame []byte, id string) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	return json.Unmarshal(frame, &m) == nil && m.Method == nil && id != "" && same(string(m.ID), id)
}

// answersTo accepts a response on an id, however that is spelled.
func answersTo(id string) func(subject.Message) bool {
	return func(m subject.Message) bool { return m.IsResponse() && same(m.ID, id) }
}

func same(a, b string) bool {
	var x, y string
	return a == b || json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

// leaves expects the answer to shutdown behind all others, and the exit.
func (t *talk) leaves(item Item) {
	p := t.setup.Patience
	m, err := t.conv.Await(answersTo(item.id), p.Grace)
	switch {
	case err != nil && !errors.Is(err, subject.ErrEnded):
		t.late(t.rules.shutdown, "shutdown was not answered within %v", p.Grace)
	case err != nil:
		t.report(t.rules.shutdown, "the extension ended its output without an answer to shutdown")
	case m.IsError():
		t.found = append(t.found, verdict.Finding{Rule: t.rules.shutdownResult, Message: "shutdown is answered with an error", Frame: m.Frame.Index, Offset: -1})
	}
	t.over = true
	if err != nil {
		return
	}
	for _, o := range t.owed {
		answer, found := t.conv.Poll(answersTo(o.item.id))
		if !found || answer.Frame.Index > m.Frame.Index {
			t.report(t.rules.owedFirst, "request %s was owed its answer when shutdown was answered", o.item.id)
		}
	}
	t.owed = nil
	if t.conv.AwaitEnd(p.Grace) != nil {
		t.late(t.rules.exit, "the extension still runs %v after its answer to shutdown", p.Grace)
	}
}

// hangUp waits for what is due and ends the input.
func (t *talk) hangUp() {
	t.settle(false)
	if t.over {
		return
	}
	t.conv.CloseInput()
	if t.conv.AwaitEnd(t.setup.Patience.End) != nil {
		t.late(t.rules.inputEnd, "the extension still runs %v after its input has ended", t.setup.Patience.End)
	}
}

// strays looks for answers without an id: there may be one for each line that nobody can read.
func (t *talk) strays() {
	n := 0
	for {
		m, found := t.conv.Poll(func(m subject.Message) bool { return m.IsResponse() && (m.ID == "null" || m.ID == "") })
		if !found {
			return
		}
		if n++; n > t.unreadable {
			t.found = append(t.found, verdict.Finding{Rule: t.rules.silence, Message: "what deserves no answer was answered", Frame: m.Frame.Index, Offset: -1})
		}
	}
}

func (t *talk) judgeEnd(ended subject.Ended) {
	if ended.Self && ended.Left > 0 {
		t.report(t.rules.leftovers, "%d processes of the extension ran on after it had exited", ended.Left)
	}
}

// name gives the recorded frames of the host their origins.
func (t *talk) name(frames []wire.Frame) {
	at := 0
	for _, o := range t.origins {
		for ; at < len(frames); at++ {
			f := &frames[at]
			if f.Lane == wire.ToSubject && f.Ended && f.Origin == "" && bytes.Equal(f.Bytes, o.Bytes) {
				f.Origin = o.Origin
				at++
				break
			}
		}
	}
}

// rules are those that liveness breaks.
type rules struct {
	unanswered, alive, cancelled, shutdown, shutdownResult, owedFirst, exit, inputEnd, silence, leftovers string
}

func rulesOf(d dialect.Dialect) rules {
	if d.Canonical() {
		return rules{
			unanswered: "EXT03-ORDER-005", alive: "EXT03-PROC-008", cancelled: "EXT03-CANCEL-002", shutdown: "EXT03-SHUT-002", shutdownResult: "EXT03-SHUT-001",
			owedFirst: "EXT03-SHUT-004", exit: "EXT03-SHUT-005", inputEnd: "EXT03-PROC-003", silence: "EXT03-ENV-015", leftovers: "EXT03-PROC-005",
		}
	}
	return rules{
		unanswered: "EXT04-ENV-005", alive: "EXT04-PROC-003", cancelled: "EXT04-CANCEL-001", shutdown: "EXT04-SHUT-001", shutdownResult: "EXT04-SHUT-002",
		owedFirst: "EXT04-SHUT-003", exit: "EXT04-SHUT-005", inputEnd: "EXT04-PROC-001", silence: "EXT04-ENV-007", leftovers: "EXT04-PROC-004",
	}
}
