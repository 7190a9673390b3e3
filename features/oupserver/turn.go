package oupserver

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The states of a turn and of what waits for people.
const (
	active       = "active"
	interrupting = "interrupting"
	completed    = "completed"
	errored      = "errored"
	interrupted  = "interrupted"
	pending      = "pending"
	decided      = "decided"
	cancelled    = "cancelled"
	answered     = "answered"
)

// turn is one turn.
type turn struct {
	ses            *session
	id             string
	state          string
	number         int64 // of its newest envelope
	segment        int
	steers         [][]any
	started, ended string
	rows           []int64
	by             *conn
	calls          int
	orphan         bool     // the server died under it
	later          []func() // what begins when it has ended
}

// approval is one request for a decision.
type approval struct {
	id, state string
	turn      *turn
	request   object
	decision  string
	reason    string
}

// question is one set of questions.
type question struct {
	id, state string
	turn      *turn
	request   object
	asked     []any
	answers   []any
}

func (s *Server) newID() string {
	if s.does("makes ids at random") {
		return uuid.NewString()
	}
	return uuid.Must(uuid.NewV7()).String()
}

// interrupt tells a turn to stop.
func (t *turn) interrupt() {
	if t.state == active {
		t.state = interrupting
		t.ses.s.changed.Broadcast()
	}
}

// envelope tells one piece of a turn.
func (t *turn) envelope(kind string, data object, more ...object) {
	if t.dead() {
		return
	}
	t.number++
	s := t.ses.s
	switch {
	case s.does("leaves a number out") && t.number == 3:
		t.number++
	case s.does("counts from zero"):
		t.number--
		defer func() { t.number++ }()
	}
	thread := t.id
	if s.does("names streams of its own") {
		thread = "thread-" + t.id
	}
	params := object{"thread_id": thread, "turn_id": t.id, "seq": t.number, "payload": object{"type": kind, "data": data}}
	for _, o := range more {
		for name, v := range o {
			params[name] = v
		}
	}
	t.ses.tell(oupwire.MethodProjectionEnvelope, params)
	if s.does("sends source forms too") && kind == "assistant_delta" {
		t.ses.tell(oupwire.MethodMessageDelta, object{"turn_id": t.id, "text": data["text"]})
	}
}

// row adds one row to the transcript.
func (t *turn) row(role, content string, more object) object {
	ses := t.ses
	seq := int64(len(ses.rows))
	if n := len(ses.rows); n > 0 {
		last, _ := ses.rows[n-1]["seq"].(int64)
		seq = last + 1
	}
	if t.dead() {
		return object{}
	}
	row := object{"seq": seq, "role": role, "content": content, "persisted_at": ses.s.now(), "turn_id": t.id, "thread_id": t.id, "message_id": fmt.Sprintf("%s:%d", ses.key, seq)}
	for name, v := range more {
		row[name] = v
	}
	ses.rows = append(ses.rows, row)
	t.rows = append(t.rows, seq)
	return row
}

func (t *turn) user(text string) {
	row := t.row("user", text, nil)
	data := object{"text": text}
	if t.ses.s.does("sends an empty list") {
		data["files"] = nil
	}
	more := object{"client_message_id": row["message_id"]}
	if t.ses.s.does("begins a stream with a piece") && t.number == 0 {
		t.envelope("reasoning_delta", object{"text": "Hm."})
	}
	t.envelope("user_message", data, more)
}

// say tells a text in pieces and stores it.
func (t *turn) say(text string) {
	s := t.ses.s
	t.segment++
	segment := fmt.Sprintf("%s:assistant:%d", t.id, t.segment)
	words := strings.SplitAfter(text, " ")
	shown := text
	if len(text) > oupwire.MaxFrameTextBytes {
		if !s.does("sends texts uncut") {
			shown = text[:oupwire.MaxFrameTextBytes]
		}
		words = nil
	}
	for _, word := range words {
		data := object{"text": word, "assistant_segment_id": segment}
		if s.does("names the message with its pieces") {
			t.envelope("assistant_delta", data, object{"client_message_id": segment})
			continue
		}
		t.envelope("assistant_delta", data)
		if s.does("tells of its router with every piece") {
			t.ses.tellRouter()
		}
	}
	row := t.row("assistant", text, nil)
	if s.does("stores half of a text") {
		shown = shown[:len(shown)/2]
	}
	t.envelope("assistant_persisted", object{"text": shown, "assistant_segment_id": segment, "meta": object{"message_id": row["message_id"], "persisted_at": row["persisted_at"]}})
}

// interleave tells two parts of an answer at once.
func (t *turn) interleave() {
	parts := map[string]string{"a": "One two three.", "b": "Nine ten."}
	for _, piece := range [][2]string{{"a", "One "}, {"b", "Nine "}, {"a", "two "}, {"b", "ten."}, {"a", "three."}} {
		t.envelope("assistant_delta", object{"text": piece[1], "assistant_segment_id": piece[0]})
	}
	for _, part := range []string{"a", "b"} {
		row := t.row("assistant", parts[part], nil)
		t.envelope("assistant_persisted", object{"text": parts[part], "assistant_segment_id": part, "meta": object{"message_id": row["message_id"], "persisted_at": row["persisted_at"]}})
	}
}

// tool runs one tool. The work is what it says; wait is asked first.
func (t *turn) tool(name, arguments string, approve *object, work func() (string, error)) {
	s := t.ses.s
	t.calls++
	id := fmt.Sprintf("call-%s-%d", t.id, t.calls)
	shown := cutText(arguments, oupwire.MaxArgumentsPreviewCharacters, s.does("shows arguments uncut"))
	if !s.does("ends a call that never began") {
		t.envelope("tool_start", object{"tool_call_id": id, "name": name, "arguments_preview": shown})
	}
	status, output, reason := "complete", "", ""
	if s.does("runs a tool before it is decided") && approve != nil {
		t.envelope("tool_progress", object{"tool_call_id": id, "message": "at work"})
	}
	if approve != nil {
		switch t.approve(name, id, *approve) {
		case "approve":
		case "deny":
			status, reason = "skipped", "denied"
			if s.does("calls a denied tool failed") {
				status = "error"
			}
		default:
			status = "aborted"
		}
	}
	ran := status == "complete" || s.does("runs a denied tool")
	if ran {
		t.envelope("tool_progress", object{"tool_call_id": id, "message": "at work"})
		var err error
		if output, err = work(); err != nil {
			status = "error"
		}
	}
	if t.state == interrupting {
		status = "aborted"
	}
	data := object{"tool_call_id": id, "status": status}
	if status == "error" {
		data["error"] = cutText(output, oupwire.MaxToolErrorCharacters, s.does("shows errors uncut"))
	} else if output != "" {
		data["output_preview"] = cutText(output, oupwire.MaxOutputPreviewCharacters, s.does("shows output uncut"))
	}
	if reason != "" {
		data["reason"] = reason
	}
	if !s.does("leaves calls open") {
		t.envelope("tool_end", data)
	}
	if s.does("ends calls twice") {
		t.envelope("tool_end", data)
	}
	t.row("tool", output, object{"tool_call_id": id, "tool_name": name})
}

func cutText(text string, most int, whole bool) string {
	if r := []rune(text); len(r) > most && !whole {
		return string(r[:most])
	}
	return text
}

// await waits until something holds or the turn is to stop.
func (t *turn) await(holds func() bool) {
	for !holds() && t.state == active && !t.orphan {
		t.ses.s.changed.Wait()
	}
}

// steered takes the steers that came until now.
func (t *turn) steered() {
	if t.ses.s.does("drops steers") {
		t.steers = nil
	}
	for len(t.steers) > 0 {
		input := t.steers[0]
		t.steers = t.steers[1:]
		if t.ses.s.does("takes steers in another order") && len(t.steers) > 0 {
			input, t.steers[0] = t.steers[0], input
		}
		t.user(joined(input))
	}
}

// joined are the texts of an input.
func joined(input []any) string {
	var parts []string
	for _, item := range input {
		o, _ := item.(object)
		if text(o, "kind") != "text" {
			continue
		}
		if t := strings.TrimSpace(text(o, "text")); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}

// begin starts a turn; what it does follows from its text.
func (s *Server) begin(c *conn, ses *session, id string, input []any) *turn {
	t := &turn{ses: ses, id: id, state: active, started: s.now(), by: c}
	ses.turns = append(ses.turns, t)
	ses.used[id] = true
	ses.running = t
	return t
}

// run carries a turn out; it is called with the lock, which it gives up while it waits.
func (t *turn) run(input []any) {
	s := t.ses.s
	said := joined(input)
	if s.does("tells its queue") {
		t.ses.tellNow(oupwire.MethodQueueState, object{"session_id": t.ses.key, "pending_count": 0})
	}
	if s.does("keeps white space of inputs") {
		said = text(input[0].(object), "text")
	}
	if s.does("begins without a word") {
	} else if s.does("begins behind the first piece") {
		t.user(said)
		t.ses.tell(oupwire.MethodTurnStarted, object{"turn_id": t.id, "timestamp": t.started})
	} else {
		t.ses.tell(oupwire.MethodTurnStarted, object{"turn_id": t.id, "timestamp": t.started})
	}
	t.ses.tellRouter()
	if !s.does("begins behind the first piece") {
		t.user(said)
	}
	var failure object
	for _, part := range script() {
		if strings.Contains(said, part.word) {
			failure = part.play(t)
			break
		}
	}
	if !strings.Contains(said, "PLAY") {
		if s.does("speaks in two parts at once") {
			t.interleave()
		} else {
			t.say("One two three.")
		}
		if s.does("says more than one thing") {
			t.say("And then four.")
		}
	}
	t.finish(failure)
	for _, begin := range t.later {
		begin()
	}
}

// finish ends a turn.
func (t *turn) finish(failure object) {
	s, ses := t.ses.s, t.ses
	if t.dead() {
		return
	}
	outcome := completed
	data := object{"token_usage": object{"input_tokens": 10, "output_tokens": 3}}
	switch {
	case t.state == interrupting:
		outcome = interrupted
		if s.does("completes what was stopped") {
			outcome = completed
		}
		failure = object{"code": "interrupted", "message": "the turn was stopped"}
	case failure != nil:
		outcome = errored
	}
	if failure != nil && outcome != completed {
		data["error"] = failure
	}
	t.leave(outcome)
	data["outcome"] = outcome
	if s.does("never ends a turn") {
		t.state, t.ended, ses.running = outcome, s.now(), nil
		return
	}
	t.envelope("turn_terminal", data)
	ses.tellRouter()
	t.state, t.ended = outcome, s.now()
	ses.running = nil
	if s.does("forgets to end the turn") {
		ses.running = t
	}
	switch {
	case s.does("ends a turn twice"):
		t.envelope("turn_terminal", data)
	case s.does("goes on behind the end"):
		t.envelope("reasoning_delta", object{"text": "And."})
	case s.does("cancels behind the end"), s.does("tells dropped steers behind the end"):
		t.drop(outcome)
		t.cancelAll()
	}
	if !s.does("remembers decisions of a turn for ever") {
		kept := ses.remembered[:0]
		for _, r := range ses.remembered {
			if text(r, "scope") != "turn" {
				kept = append(kept, r)
			}
		}
		ses.remembered = kept
	}
	s.changed.Broadcast()
}

// leave settles what waits for a turn that ends.
func (t *turn) leave(outcome string) {
	if !t.ses.s.does("tells dropped steers behind the end") {
		t.drop(outcome)
	}
	if !t.ses.s.does("cancels behind the end") {
		t.cancelAll()
	}
}

func (t *turn) drop(outcome string) {
	s := t.ses.s
	if len(t.steers) == 0 || s.does("drops steers without a word") {
		return
	}
	reason := "turn_ended"
	if outcome == interrupted {
		reason = "interrupted"
	}
	var inputs []any
	for _, input := range t.steers {
		inputs = append(inputs, input...)
	}
	t.steers = nil
	t.ses.tell(oupwire.MethodTurnSteerDropped, object{"turn_id": t.id, "inputs": inputs, "reason": reason})
	if s.does("drops a steer that it took") {
		t.user("and yet")
	}
}

func (t *turn) cancelAll() {
	s := t.ses.s
	for _, a := range t.ses.approvals {
		if a.turn == t && a.state == pending && !s.does("leaves requests pending") {
			a.state, a.reason = cancelled, "turn_interrupted"
			if !s.does("cancels without a word") {
				t.ses.tell(oupwire.MethodApprovalCancelled, object{"approval_id": a.id, "turn_id": t.id, "reason": a.reason})
			}
		}
	}
	for _, q := range t.ses.questions {
		if q.turn == t && q.state == pending {
			q.state = cancelled
			if s.does("tells cancelled questions") {
				t.ses.tell(oupwire.MethodWarning, object{"code": "question_cancelled", "message": "a question was cancelled", "turn_id": t.id})
			}
		}
	}
}
