package methods_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// requested waits for a request for approval that a turn makes, and returns its id.
func (c *client) requested(turn int) string {
	c.Helper()
	f, _ := c.until(0, fmt.Sprint("a request of turn ", turn), func(f *frame) bool {
		return f.Method == oupwire.MethodApprovalRequested && strings.Contains(f.text, turnID(turn))
	})
	var e oupwire.ApprovalRequestedEvent
	if err := json.Unmarshal(f.Params, &e); err != nil {
		c.Fatal(err)
	}
	return e.ApprovalID
}

// index is where the first frame is that is meant, of those that came until now.
func (c *client) index(meant func(*frame) bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.IndexFunc(c.frames, meant)
}

// TestApprovals lets two clients of a session decide: one wins, the decision is told to both before it is answered,
// and remembered as asked.
func TestApprovals(t *testing.T) {
	w := newWorld(t)
	one, two := w.socket("").hello().open(sessionA), w.stdio().hello().open(sessionA)
	one.open("_main:local:other")
	one.start(sessionA, 1, `call shell {"command":"echo one"}`)
	id := one.requested(1)
	if two.requested(1) != id {
		t.Error("the other client is asked something else")
	}
	respond := func(session, decision string) params {
		return params{"session_id": session, "approval_id": id, "decision": decision, "approval_scope": "approve_for_session", "client_note": "fine"}
	}
	one.refused(oupwire.MethodApprovalRespond, respond("_main:local:other", "approve"), -32102, "unknown_approval")
	one.refused(oupwire.MethodApprovalRespond, params{"approval_id": id, "decision": "approve"}, -32602, "")
	var done oupwire.ApprovalRespondResult
	two.do(oupwire.MethodApprovalRespond, respond(sessionA, "approve"), &done)
	if !done.Accepted || !done.RuntimeResumed || done.Status != oupwire.ResponseStatusAccepted {
		t.Errorf("answered %+v", done)
	}
	decided := func(f *frame) bool { return f.Method == oupwire.MethodApprovalDecided && strings.Contains(f.text, id) }
	if told, answered := two.index(decided), two.index(func(f *frame) bool { return strings.Contains(f.text, `"runtime_resumed"`) }); told < 0 || told > answered {
		t.Errorf("it is told at %d and answered at %d", told, answered)
	}
	one.until(0, "the decision", decided)
	one.refused(oupwire.MethodApprovalRespond, respond(sessionA, "deny"), -32011, "approval_not_pending")
	if outcome := one.terminal(1); outcome != "completed" {
		t.Errorf("turn 1 %s", outcome)
	}
	var scopes oupwire.ApprovalScopesListResult
	one.do(oupwire.MethodApprovalScopesList, params{"session_id": sessionA}, &scopes)
	if len(scopes.Scopes) != 1 || scopes.Scopes[0].Scope != oupwire.ApprovalScopeSession || scopes.Scopes[0].ScopeMatch != "*" || scopes.Scopes[0].Decision != oupwire.ApprovalDecisionApprove {
		t.Errorf("remembered: %+v", scopes)
	}
	one.do(oupwire.MethodApprovalScopesList, params{"session_id": "_main:local:other"}, &scopes)
	if len(scopes.Scopes) != 0 {
		t.Errorf("another session remembers %+v", scopes)
	}
	one.turn(sessionA, 2, `call shell {"command":"echo two"}`)
	one.notice(oupwire.MethodApprovalAutoResolved)

	one.start("_main:local:other", 3, `call shell {"command":"echo three"}`)
	id = one.requested(3)
	one.do(oupwire.MethodApprovalRespond, params{"session_id": "_main:local:other", "approval_id": id, "decision": "whatever"}, nil)
	if outcome := one.terminal(3); outcome != "completed" {
		t.Errorf("turn 3 %s", outcome)
	}
	if at := one.index(func(f *frame) bool {
		return strings.Contains(f.text, turnID(3)) && strings.Contains(f.text, `"status":"skipped"`)
	}); at < 0 {
		t.Error("a denied tool does not end skipped")
	}
	one.start("_main:local:other", 4, `call shell {"command":"echo four"}`)
	id = one.requested(4)
	one.do(oupwire.MethodTurnInterrupt, params{"session_id": "_main:local:other", "turn_id": turnID(4)}, nil)
	one.terminal(4)
	one.refused(oupwire.MethodApprovalRespond, params{"session_id": "_main:local:other", "approval_id": id, "decision": "approve"}, -32105, "approval_cancelled")
}

// TestQuestions covers OUP-QUESTION-005 to OUP-QUESTION-007.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA).open("_main:local:other")
	ask := func(turn int) string {
		t.Helper()
		c.start(sessionA, turn, `call ask_user {"questions":[{"question":"which","options":[{"label":"a"},{"label":"b"}]}]}`)
		f, _ := c.until(0, "the question", func(f *frame) bool {
			return f.Method == oupwire.MethodUserQuestionRequested && strings.Contains(f.text, turnID(turn))
		})
		var e oupwire.UserQuestionRequestedEvent
		if err := json.Unmarshal(f.Params, &e); err != nil {
			t.Fatal(err)
		}
		return e.QuestionID
	}
	id := ask(1)
	answer := func(session string, labels ...[]string) params {
		answers := []any{}
		for _, l := range labels {
			answers = append(answers, params{"selected_labels": l})
		}
		return params{"session_id": session, "question_id": id, "answers": answers}
	}
	for _, misfit := range [][][]string{{}, {{"a"}, {"b"}}, {{"c"}}, {{"a", "b"}}, {{}}} {
		c.refused(oupwire.MethodUserQuestionRespond, answer(sessionA, misfit...), -32108, "user_question_invalid")
	}
	c.refused(oupwire.MethodUserQuestionRespond, answer("_main:local:other", []string{"a"}), -32106, "user_question_unknown")
	var hydrated oupwire.SessionHydrateResult
	c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "include": []string{"pending_approvals"}}, &hydrated)
	if q := hydrated.PendingQuestions.Or(nil); len(q) != 1 || q[0].QuestionID != id {
		t.Errorf("pending: %+v", q)
	}
	var done oupwire.UserQuestionRespondResult
	c.do(oupwire.MethodUserQuestionRespond, answer(sessionA, []string{"b"}), &done)
	if !done.Accepted || !done.RuntimeResumed {
		t.Errorf("answered %+v", done)
	}
	c.refused(oupwire.MethodUserQuestionRespond, answer(sessionA, []string{"a"}), -32107, "user_question_stale")
	if outcome := c.terminal(1); outcome != "completed" {
		t.Errorf("turn 1 %s", outcome)
	}
	if text := strings.Join(c.texts(sessionA), "\n"); !strings.Contains(text, "tool which\nb") {
		t.Errorf("the model is told %s", text)
	}
	id = ask(2)
	c.do(oupwire.MethodTurnInterrupt, params{"session_id": sessionA, "turn_id": turnID(2)}, nil)
	c.terminal(2)
	c.refused(oupwire.MethodUserQuestionRespond, answer(sessionA, []string{"a"}), -32107, "user_question_stale")
}

// TestSteer covers OUP-STEER-001, OUP-STEER-002 and OUP-STEER-003, and the side question of OUP-ASIDE-002.
func TestSteer(t *testing.T) {
	w := newWorld(t)
	c := w.socket("").hello().open(sessionA)
	input := func(text string) []any { return []any{params{"kind": "text", "text": text}} }
	var to oupwire.TurnSteerResult
	c.do(oupwire.MethodTurnSteer, params{"session_id": sessionA, "input": input("begin")}, &to)
	if to.Steered {
		t.Errorf("without a turn: %+v", to)
	}
	c.until(0, "its end", func(f *frame) bool {
		return strings.Contains(f.text, to.TurnID) && strings.Contains(f.text, "turn_terminal")
	})
	c.start(sessionA, 1, "wait")
	<-w.reached
	c.refused(oupwire.MethodTurnSteer, params{"session_id": sessionA, "expected_turn_id": turnID(9), "input": input("x")}, -32602, "")
	c.refused(oupwire.MethodTurnSteer, params{"session_id": sessionA, "input": input(" ")}, -32602, "")
	for _, text := range []string{"first", "second"} {
		c.do(oupwire.MethodTurnSteer, params{"session_id": sessionA, "expected_turn_id": turnID(1), "input": input(text)}, &to)
		if !to.Steered || to.TurnID != turnID(1) {
			t.Errorf("with a turn: %+v", to)
		}
	}
	before := c.texts(sessionA)
	var said oupwire.SessionBtwResult
	c.do(oupwire.MethodSessionBtw, params{"session_id": sessionA, "question": "how far is it"}, &said)
	if !strings.Contains(said.Answer, "how far is it") || said.Model.Or("") != "one" || !slices.Equal(c.texts(sessionA), before) {
		t.Errorf("aside: %s", said.AppendJSON(nil))
	}
	c.refused(oupwire.MethodSessionBtw, params{"session_id": sessionA, "question": "\t"}, -32602, "")
	c.refused(oupwire.MethodSessionBtw, params{"session_id": sessionA, "question": "silence"}, oupwire.ErrRuntimeNotReady.Code, "runtime_unavailable")
	close(w.gate)
	c.terminal(1)
	text := strings.Join(c.texts(sessionA), "\n")
	if one, two := strings.Index(text, "user first"), strings.Index(text, "user second"); one < 0 || two < one {
		t.Errorf("taken: %s", text)
	}
}

// TestCompaction covers OUP-COMPACT-001 to OUP-COMPACT-003.
func TestCompaction(t *testing.T) {
	w := newWorld(t)
	c := w.socket("").hello().open(sessionA)
	for n := range 3 {
		c.turn(sessionA, n, fmt.Sprint("line ", n))
	}
	var mode oupwire.SessionCompactModeResult
	c.do(oupwire.MethodSessionCompactModeSet, params{"session_id": sessionA, "mode": "heuristic"}, &mode)
	if mode.Mode != oupwire.CompactionModeHeuristic {
		t.Errorf("mode %+v", mode)
	}
	c.refused(oupwire.MethodSessionCompactModeSet, params{"session_id": sessionA, "mode": 1}, -32602, "")
	var done oupwire.SessionCompactResult
	c.do(oupwire.MethodSessionCompact, params{"session_id": sessionA}, &done)
	if !done.Compacted || done.TokenEstimateBefore == 0 || done.TokenEstimateAfter.IsNull() {
		t.Errorf("compacted %+v", done)
	}
	started, completed := c.notice(oupwire.MethodContextCompactionStarted), c.notice(oupwire.MethodContextCompactionCompleted)
	if !strings.Contains(started.text, `"trigger":"manual"`) || !strings.Contains(completed.text, `"trigger":"manual"`) {
		t.Errorf("told %s and %s", started.text, completed.text)
	}
	if texts := c.texts(sessionA); len(texts) != 6 {
		t.Errorf("what was said is %q", texts)
	}
	c.turn(sessionA, 5, "go on")
}

// TestClients_areToldOnlyWhatIsListed counts unknown notifications: existing clients take them for errors.
func TestClients_areToldOnlyWhatIsListed(t *testing.T) {
	for _, query := range []string{"", "?ui_feature=approval.typed.v1", "?ui_feature=context.lifecycle.v1,plan.todos.v1,user_question.v1"} {
		w := newWorld(t)
		c := w.socket(query)
		var opened oupwire.SessionOpenResult
		c.do(oupwire.MethodSessionOpen, params{"session_id": sessionA}, &opened)
		c.turn(sessionA, 1, `call write {"path":"x.txt","content":"x"}`)
		c.turn(sessionA, 2, `call update_plan {"items":[{"title":"look","status":"pending"}]}`)
		c.do(oupwire.MethodPermissionProfileSet, params{"session_id": sessionA, "update": params{"mode": "danger_full_access", "network": "allow"}}, nil)
		c.turn(sessionA, 3, `call task_start {"command":"echo hello"}`)
		c.until(0, "the end of the task", func(f *frame) bool {
			return f.Method == oupwire.MethodTaskUpdated && strings.Contains(f.text, `"completed"`)
		})
		c.do(oupwire.MethodSessionCompact, params{"session_id": sessionA}, nil)
		c.do(oupwire.MethodSessionRollback, params{"session_id": sessionA, "num_turns": 1}, nil)
		c.notice(oupwire.MethodSessionEvent)
		listed := opened.Opened.Capabilities.SupportedNotifications
		seen := map[string]bool{}
		for _, f := range c.all() {
			if f.Method != "" && f.Method != oupwire.MethodServerHeartbeat && !slices.Contains(listed, f.Method) {
				t.Errorf("with %q it is told %s, which is not listed", query, f.Method)
			}
			seen[f.Method] = true
		}
		if plan := strings.Contains(query, "plan") || query == ""; seen[oupwire.MethodPlanUpdated] != plan && query != "" {
			t.Errorf("with %q the plan is told: %v", query, seen[oupwire.MethodPlanUpdated])
		}
		if len(seen) < 6 {
			t.Errorf("with %q it is told only %v", query, seen)
		}
	}
}
