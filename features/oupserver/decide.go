package oupserver

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// approve asks for a decision, unless one is remembered, and waits for it. Empty: the turn was stopped.
func (t *turn) approve(tool, call string, typedDetails object) string {
	s, ses := t.ses.s, t.ses
	a := &approval{id: s.newID(), turn: t, state: pending}
	if hit := t.remembered(tool); hit != nil {
		a.state, a.decision = decided, text(hit, "decision")
		ses.approvals = append(ses.approvals, a)
		if !s.does("resolves without a word") {
			ses.tell(oupwire.MethodApprovalAutoResolved, object{
				"approval_id": a.id, "turn_id": t.id, "tool_name": tool, "scope": hit["scope"], "scope_match": hit["scope_match"], "decision": a.decision,
			})
		}
		told := object{"approval_id": a.id, "turn_id": t.id, "decision": a.decision, "decided_at": s.now(), "decided_by": "", "auto_resolved": true, "scope": hit["scope"]}
		if s.does("does not say that it resolved") {
			delete(told, "auto_resolved")
		}
		ses.tell(oupwire.MethodApprovalDecided, told)
		return a.decision
	}
	a.request = object{
		"session_id": ses.key, "approval_id": a.id, "turn_id": t.id, "tool_name": tool, "title": "Run " + tool, "body": "May " + tool + " run?",
		"approval_kind": "command", "risk": "unspecified", "typed_details": typedDetails,
	}
	if ses.topic != "" {
		a.request["topic"] = ses.topic
	}
	switch {
	case s.does("asks without a text"):
		a.request["title"], a.request["body"] = "", ""
	case s.does("makes a risk up"):
		a.request["risk"] = "low"
	}
	ses.approvals = append(ses.approvals, a)
	ses.tell(oupwire.MethodApprovalRequested, a.request)
	t.await(func() bool { return a.state != pending })
	if a.state != decided {
		return ""
	}
	return a.decision
}

// remembered is the decision that holds for a tool: by turn, by tool, by session.
func (t *turn) remembered(tool string) object {
	s := t.ses.s
	for _, scope := range []string{"turn", "tool", "session"} {
		for _, r := range t.ses.remembered {
			fits := text(r, "scope") == scope && (scope != "turn" || text(r, "turn_id") == t.id || s.does("remembers decisions of a turn for ever")) && (scope != "tool" || text(r, "scope_match") == tool)
			if fits && !(text(r, "decision") == "deny" && s.does("forgets denials")) {
				return r
			}
		}
	}
	return nil
}

// scopes of decisions that are remembered, by their spellings.
func (s *Server) scope(word string) string {
	for _, row := range oupwire.TableSpellings {
		if row.Member == "approval_scope" && row.Spelling == word {
			word = row.Means
		}
	}
	if slices.Contains([]string{"turn", "session", "tool"}, word) {
		return word
	}
	if word != "request" && word != "" && s.does("takes an unknown scope for the session") {
		return "session"
	}
	return "request"
}

func (s *Server) approvalRespond(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodApprovalRespond, p)
	if f != nil && s.does("decides without a session") {
		for _, any := range s.sessions {
			if slices.ContainsFunc(any.approvals, func(a *approval) bool { return a.id == text(p, "approval_id") }) {
				ses, f = any, nil
			}
		}
	}
	if f != nil {
		return nil, f, nil
	}
	id := text(p, "approval_id")
	var a *approval
	for _, each := range s.sessions {
		for _, candidate := range each.approvals {
			if candidate.id == id && (each == ses || s.does("decides for other sessions")) {
				a, ses = candidate, each
			}
		}
	}
	detail := object{"method": oupwire.MethodApprovalRespond, "session_id": ses.key, "approval_id": id}
	switch {
	case a == nil:
		return nil, failKind(oupwire.ErrUnknownApprovalID, "unknown_approval", "no request "+id, detail), nil
	case a.state == cancelled && s.does("takes cancelled requests for unknown"):
		return nil, failKind(oupwire.ErrUnknownApprovalID, "unknown_approval", "no request "+id, detail), nil
	case a.state == cancelled:
		detail["turn_id"], detail["reason"] = a.turn.id, a.reason
		return nil, failKind(oupwire.ErrApprovalCancelled, "approval_cancelled", "nobody waits any longer", detail), nil
	case a.state == decided && !s.does("decides twice"):
		detail["recorded_decision"] = a.decision
		return nil, failKind(oupwire.ErrApprovalNotPending, "approval_not_pending", "decided before", detail), nil
	}
	decision := "deny"
	if word := text(p, "decision"); word == "approve" || word != "deny" && s.does("takes every word for yes") {
		decision = "approve"
	}
	a.state, a.decision = decided, decision
	scope := s.scope(text(p, "approval_scope"))
	if scope != "request" {
		match := map[string]string{"turn": a.turn.id, "session": ses.key, "tool": text(a.request, "tool_name")}[scope]
		entry := object{"session_id": ses.key, "scope": scope, "scope_match": match, "decision": decision}
		if scope == "turn" {
			entry["turn_id"] = a.turn.id
		}
		if !s.does("remembers nothing") {
			ses.remembered = append(ses.remembered, entry)
		}
	}
	by := c.profile
	if c.transport == oupwire.TransportStdio || by == defaultProfile {
		by = ""
	}
	if s.does("makes up who decided") {
		by = "somebody"
	}
	told := object{"approval_id": a.id, "turn_id": a.turn.id, "decision": decision, "decided_at": s.now(), "decided_by": by, "scope": scope}
	if note := text(p, "client_note"); note != "" {
		told["client_note"] = note
	}
	result := object{"approval_id": a.id, "accepted": true, "status": "accepted", "runtime_resumed": true}
	tell := func() { ses.tell(oupwire.MethodApprovalDecided, told) }
	var then []func()
	switch {
	case s.does("decides without a word"):
	case s.does("answers before it tells a decision"):
		then = append(then, tell)
	default:
		tell()
	}
	s.changed.Broadcast()
	return result, nil, then
}

func (s *Server) approvalScopes(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodApprovalScopesList, p)
	if f != nil {
		return nil, f, nil
	}
	scopes := slices.Clone(ses.remembered)
	slices.SortFunc(scopes, func(a, b object) int {
		return strings.Compare(text(a, "scope")+"\x00"+text(a, "scope_match"), text(b, "scope")+"\x00"+text(b, "scope_match"))
	})
	return object{"scopes": append([]object{}, scopes...)}, nil, nil
}

// ask asks the person; false where nobody can be asked.
func (t *turn) ask(questions []any) bool {
	s, ses := t.ses.s, t.ses
	able := false
	for c := range s.conns {
		able = able || c.opened[ses] && c.features.has(oupwire.FeatureUserQuestionV1)
	}
	if !able && !s.does("waits for those who cannot be asked") {
		return false
	}
	q := &question{id: s.newID(), turn: t, state: pending, asked: questions}
	q.request = object{"session_id": ses.key, "question_id": q.id, "turn_id": t.id, "title": "Questions", "body": "Please choose.", "questions": questions}
	if ses.topic != "" {
		q.request["topic"] = ses.topic
	}
	ses.questions = append(ses.questions, q)
	ses.tell(oupwire.MethodUserQuestionRequested, q.request)
	t.await(func() bool { return q.state != pending })
	return q.state == answered
}

func (s *Server) questionRespond(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodUserQuestionRespond, p)
	if f != nil {
		return nil, f, nil
	}
	id := text(p, "question_id")
	var q *question
	for _, each := range s.sessions {
		for _, candidate := range each.questions {
			if candidate.id == id && (each == ses || s.does("answers for other sessions")) {
				q = candidate
			}
		}
	}
	detail := object{"method": oupwire.MethodUserQuestionRespond, "session_id": ses.key, "question_id": id}
	if q == nil || q.state != pending && s.does("forgets answered questions") {
		detail["recoverable"] = false
		return nil, failKind(oupwire.ErrUserQuestionUnknown, "user_question_unknown", "no questions "+id, detail), nil
	}
	if q.state != pending && !s.does("takes answers twice") {
		detail["recoverable"], detail["turn_id"], detail["reason"] = false, q.turn.id, "already_answered"
		if q.state == cancelled {
			detail["reason"] = "turn_interrupted"
		}
		return nil, failKind(oupwire.ErrUserQuestionStale, "user_question_stale", "answered before", detail), nil
	}
	if reason := misfit(q.asked, list(p, "answers")); reason != "" && !s.does("takes every answer") {
		if s.does("gives questions up that were answered badly") {
			q.state = cancelled
			s.changed.Broadcast()
		}
		detail["reason"] = reason
		return nil, failKind(oupwire.ErrUserQuestionInvalid, "user_question_invalid", reason, detail), nil
	}
	q.state, q.answers = answered, list(p, "answers")
	s.changed.Broadcast()
	return object{"question_id": id, "accepted": true, "runtime_resumed": true}, nil, nil
}

// misfit is why answers do not fit the questions; empty where they do.
func misfit(asked, answers []any) string {
	if len(asked) != len(answers) {
		return "one answer for each question"
	}
	for i, a := range answers {
		answer, q := a.(object), asked[i].(object)
		chosen := list(answer, "selected_labels")
		if multi, _ := q["multi_select"].(bool); len(chosen) > 1 && !multi {
			return "one choice"
		}
		for _, label := range chosen {
			if !slices.ContainsFunc(list(q, "options"), func(o any) bool { return o.(object)["label"] == label }) {
				return "a choice that is not on offer"
			}
		}
		if len(chosen) == 0 && text(answer, "free_text") == "" {
			return "no answer"
		}
	}
	return ""
}
