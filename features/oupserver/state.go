package oupserver

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The sections of a hydrate.
var sections = []string{"messages", "threads", "turns", "pending_approvals"}

// bare are the envelopes behind a cursor, as they stand in an answer.
func (ses *session) bare(after int64) []any {
	envelopes := []any{}
	for _, e := range ses.events {
		if e.method != oupwire.MethodProjectionEnvelope || e.seq <= after {
			continue
		}
		params := copied(e.params)
		if !ses.s.does("names the session in every envelope") {
			delete(params, "session_id")
			delete(params, "topic")
		}
		envelopes = append(envelopes, params)
	}
	return envelopes
}

// clean are rows as an answer shows them.
func clean(rows []object) []any {
	out := []any{}
	for _, r := range rows {
		out = append(out, copied(r))
	}
	return out
}

func (ses *session) threads() []any {
	out := []any{}
	for _, t := range ses.turns {
		if len(t.rows) == 0 {
			continue
		}
		status := t.state
		if status == interrupting {
			status = active
		}
		out = append(out, object{"thread_id": t.id, "root_seq": t.rows[0], "message_seqs": t.rows, "status": status, "turn_id": t.id})
	}
	return out
}

func (ses *session) turnRows() []any {
	out := []any{}
	for _, t := range ses.turns {
		row := object{"turn_id": t.id, "state": t.state, "started_at": t.started, "thread_id": t.id}
		if t.ended != "" {
			row["completed_at"] = t.ended
		}
		out = append(out, row)
	}
	if ses.s.does("sorts turns by their end") {
		slices.Reverse(out)
	}
	return out
}

func (ses *session) pendingRequests() []any {
	out := []any{}
	for _, a := range ses.approvals {
		if a.state == pending {
			out = append(out, a.request)
		}
	}
	return out
}

func (s *Server) hydrate(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionHydrate, p)
	if f != nil {
		return nil, f, nil
	}
	s.played["hydrated"]++
	include := list(p, "include")
	if len(include) > oupwire.MaxIncludeWords && !s.does("takes every number of sections") {
		return nil, failKind(oupwire.ErrInvalidParams, "include_too_large", "too many sections", object{"limit": oupwire.MaxIncludeWords}), nil
	}
	after, _, f := ses.after(oupwire.MethodSessionHydrate, p)
	if f != nil {
		return nil, f, nil
	}
	wants := func(section string) bool {
		return len(include) == 0 && !s.does("gives nothing unasked") || slices.Contains(include, any(section)) || s.does("gives every section")
	}
	if s.does("refuses unknown sections") && slices.ContainsFunc(include, func(w any) bool { return !slices.Contains(sections, w.(string)) }) {
		return nil, fail(oupwire.ErrInvalidParams, "unknown section", nil), nil
	}
	result := object{"session_id": ses.key, "cursor": ses.cursor(ses.last)}
	if s.does("gives the cursor that it was given") && p["after"] != nil {
		result["cursor"] = p["after"]
	}
	if wants("messages") {
		rows := ses.rows
		if s.does("gives rows behind the cursor alone") && after > 0 {
			rows = nil
		}
		result["messages"] = clean(rows)
		if c.features.has(oupwire.FeatureProjectionEnvelopeV2) {
			s.project(ses, after, result)
		}
	}
	if wants("threads") {
		result["threads"] = ses.threads()
	}
	if wants("turns") {
		result["turns"] = ses.turnRows()
	}
	if wants("pending_approvals") {
		result["pending_approvals"] = ses.pendingRequests()
		if c.features.has(oupwire.FeatureUserQuestionV1) && !s.does("gives no questions") {
			questions := []any{}
			for _, q := range ses.questions {
				if q.state == pending {
					questions = append(questions, q.request)
				}
			}
			result["pending_questions"] = questions
		}
	}
	if s.does("leaves empty sections out") {
		for _, section := range sections {
			if l, there := result[section].([]any); there && len(l) == 0 {
				delete(result, section)
			}
		}
	}
	if c.features.open(oupwire.FeatureContextLifecycleV1) || s.does("tells the context to everybody") {
		result["context"], result["context_state"] = ses.context(), ses.contextState()
	}
	if s.does("changes what it hydrates") {
		ses.tell(oupwire.MethodWarning, object{"code": "hydrated", "message": "somebody hydrated"})
	}
	return result, nil, nil
}

// project adds envelopes to the answer of a hydrate.
func (s *Server) project(ses *session, after int64, result object) {
	envelopes := ses.bare(after)
	result["replayed_projection_envelopes"], result["projection_envelopes"] = envelopes, envelopes
	result["projection_snapshot"] = object{"envelopes": envelopes, "cursor": result["cursor"]}
	if s.does("gives envelopes in one place alone") {
		delete(result, "projection_snapshot")
	}
	sequences := object{}
	for _, e := range envelopes {
		o := e.(object)
		sequences[text(o, "thread_id")] = o["seq"]
	}
	if s.does("counts no envelopes") {
		sequences = object{}
	}
	result["projection_thread_sequences"] = sequences
}

func (s *Server) rollback(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionRollback, p)
	if f != nil {
		return nil, f, nil
	}
	n, _ := number(p, "num_turns")
	switch {
	case n < 1 && !s.does("rolls nothing back"):
		return nil, failKind(oupwire.ErrInvalidParams, "invalid_num_turns", "no turns", nil), nil
	case ses.running != nil && !s.does("rolls a running turn back"):
		return nil, failKind(oupwire.ErrInvalidParams, "turn_in_progress", "a turn runs", nil), nil
	case int(n) > len(ses.turns) && s.does("rolls back what is there alone"):
		return nil, failKind(oupwire.ErrInvalidParams, "invalid_num_turns", "too many turns", nil), nil
	}
	cut := max(len(ses.turns)-int(n), 0)
	dropped := len(ses.turns) - cut
	out := map[string]bool{}
	for _, t := range ses.turns[cut:] {
		out[t.id] = true
	}
	head := ses.last
	if !s.does("keeps rows of a rollback") {
		ses.rows = slices.DeleteFunc(slices.Clone(ses.rows), func(r object) bool { return out[text(r, "turn_id")] })
	}
	ses.turns = ses.turns[:cut]
	if s.does("forgets events of a rollback") {
		ses.events = slices.DeleteFunc(ses.events, func(e event) bool { return out[text(e.params, "turn_id")] })
	}
	if !s.does("rolls back without a word") {
		ses.tell(oupwire.MethodSessionEvent, object{"kind": "rollback", "payload": object{"dropped_turns": dropped}})
	}
	thread := object{"session_id": ses.key, "cursor": ses.cursor(head), "messages": clean(ses.rows), "threads": ses.threads(), "turns": ses.turnRows()}
	if s.does("gives the cursor behind the cut") {
		thread["cursor"] = ses.cursor(ses.last)
	}
	if s.does("adds sections to a rollback") {
		thread["pending_approvals"] = []any{}
	}
	return object{"dropped_turns": dropped, "thread": thread}, nil, nil
}

func (s *Server) fork(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionFork, p)
	if f != nil {
		return nil, f, nil
	}
	name := text(p, "new_chat_id")
	good := name != "" && len(name) <= oupwire.MaxNewChatIDBytes && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	if !good && !s.does("takes every name of a fork") {
		return nil, failKind(oupwire.ErrInvalidParams, "invalid_new_chat_id", "the name is bad", nil), nil
	}
	key := name
	if parts := strings.Split(ses.base, ":"); len(parts) > 1 {
		key = strings.Join(append(parts[:len(parts)-1:len(parts)-1], name), ":")
	}
	if s.does("keeps the topic of a fork") && ses.topic != "" {
		key += "#" + ses.topic
	}
	if s.sessions[key] != nil && !s.does("forks over what is there") {
		return nil, failKind(oupwire.ErrInvalidParams, "child_exists", "there is such a session", nil), nil
	}
	rows := ses.rows
	if n, there := number(p, "copy_messages"); there && !s.does("copies everything") {
		rows = rows[max(len(rows)-int(n), 0):]
	}
	made := s.make(key)
	for _, r := range rows {
		made.rows = append(made.rows, copied(r))
	}
	if s.does("opens what it forks") {
		c.opened[made] = true
		made.tell(oupwire.MethodWarning, object{"code": "forked", "message": "a fork"})
	}
	return object{"new_session_id": key, "parent_session_id": ses.key, "copied_messages": len(rows)}, nil, nil
}

func (s *Server) aside(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionBtw, p)
	if f != nil {
		return nil, f, nil
	}
	if strings.TrimSpace(text(p, "question")) == "" && !s.does("answers a blank question") {
		return nil, fail(oupwire.ErrInvalidParams, "the question is blank", nil), nil
	}
	if ses.running != nil && s.does("answers between turns alone") {
		return nil, failKind(oupwire.ErrInvalidRequest, "turn_in_progress", "a turn runs", object{"turn_id": ses.running.id}), nil
	}
	if s.does("stores what was asked aside") {
		ses.rows = append(ses.rows, object{"seq": int64(len(ses.rows)), "role": "user", "content": text(p, "question"), "persisted_at": s.now()})
	}
	return object{"session_id": ses.key, "answer": "Aside."}, nil, nil
}

func (s *Server) compact(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionCompact, p)
	if f != nil {
		return nil, f, nil
	}
	if s.does("compacts what is long alone") {
		return object{"session_id": ses.key, "compacted": false, "token_estimate_before": 1}, nil, nil
	}
	trigger := "manual"
	if s.does("does not know who compacts") {
		trigger = "auto"
	}
	start := func() {
		ses.tell(oupwire.MethodContextCompactionStarted, object{"context_state": ses.contextState(), "trigger": trigger, "threshold_tokens": 1000})
	}
	if !s.does("tells the end of a pass first") {
		start()
	}
	ses.generation++
	ses.compactions++
	record := object{
		"compaction_id": s.newID(), "checkpoint_id": s.newID(), "policy_id": ses.compaction, "trigger": trigger, "input_transcript_hash": "1", "status": "installed",
		"input_generation": ses.generation - 1, "input_item_count": len(ses.rows), "retained_count": len(ses.rows), "dropped_count": 0, "token_estimate_before": 1,
	}
	ses.tell(oupwire.MethodContextCompactionCompleted, object{"context_state": ses.contextState(), "compaction": record})
	if s.does("tells the end of a pass first") {
		start()
	}
	return object{"session_id": ses.key, "compacted": true, "token_estimate_before": 1, "token_estimate_after": 1}, nil, nil
}

func (s *Server) compactMode(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionCompactModeSet, p)
	if f != nil {
		return nil, f, nil
	}
	ses.compaction = text(p, "mode")
	return object{"session_id": ses.key, "mode": ses.compaction}, nil, nil
}

func (s *Server) appendMessage(c *conn, p object) (object, *failure, []func()) {
	key, f := s.reach(oupwire.MethodSessionAppendMessage, p)
	if f != nil {
		return nil, f, nil
	}
	ses := s.sessions[key]
	content, source, role := text(p, "content"), text(p, "source"), text(p, "role")
	bad := ""
	switch {
	case strings.TrimSpace(content) == "":
		bad = "the text is blank"
	case utf8.RuneCountInString(source) > oupwire.MaxAppendSourceCharacters:
		bad = "the source is too long"
	case role == "assistant" && (ses == nil || !slices.ContainsFunc(ses.rows, func(r object) bool { return r["role"] == "user" })):
		bad = "no user stands before"
	}
	if bad != "" && !s.does("appends everything") {
		if ses == nil && s.does("makes sessions for what it refuses") {
			s.make(key)
		}
		return nil, fail(oupwire.ErrInvalidParams, bad, nil), nil
	}
	if ses == nil {
		if s.does("appends to what is there alone") {
			return nil, failKind(oupwire.ErrUnknownSession, "unknown_session", "no session", object{"session_id": key}), nil
		}
		ses = s.make(key)
	}
	id := text(p, "client_message_id")
	if before := ses.added[id]; id != "" && before != nil && !s.does("appends twice") {
		return before, nil, nil
	}
	t := &turn{ses: ses, id: "appended-" + s.newID(), state: completed}
	row := t.row(role, content, object{"source": source})
	delete(row, "turn_id")
	behind := slices.IndexFunc(ses.turns, func(of *turn) bool { return of.id == text(p, "thread_id") && of.end() != "" })
	switch {
	case role == "assistant" && behind >= 0:
		t.id = ses.turns[behind].id
		t.late(row, source)
	case role == "user" || s.does("tells what the system adds"):
		t.envelope("user_message", object{"text": content}, object{"client_message_id": row["message_id"]})
	case role == "assistant" && !s.does("tells no assistant that was added"):
		t.number++
		t.envelope("assistant_persisted", object{"text": content, "assistant_segment_id": t.id, "meta": object{"message_id": row["message_id"], "persisted_at": row["persisted_at"]}})
	}
	result := object{"session_id": ses.key, "seq": row["seq"], "thread_id": t.id}
	if id != "" {
		ses.added[id] = result
	}
	return result, nil, nil
}

func (s *Server) historyList(c *conn, p object) (object, *failure, []func()) {
	limit, there := number(p, "limit")
	if !there {
		limit = oupwire.HistoryPageDefault
	}
	if !s.does("gives endless history") {
		limit = min(limit, oupwire.MaxHistoryPage)
	}
	offset, _ := number(p, "offset")
	sessions := []any{}
	all := s.sorted()
	for i, ses := range all {
		if int64(i) >= offset && int64(len(sessions)) < limit {
			sessions = append(sessions, object{"id": ses.key, "message_count": len(ses.rows)})
		}
	}
	return object{"sessions": sessions, "total": len(all), "workspaces": []any{}, "unavailable_workspaces": []any{}, "coverage": "complete"}, nil, nil
}

func (s *Server) graph(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodThreadGraphGet, p)
	if f != nil {
		return nil, f, nil
	}
	result := object{"session_id": ses.key, "cursor": ses.cursor(ses.last), "threads": ses.threads(), "orphans": []any{}}
	if at := child(p, "at"); at != nil && !s.does("forgets where it was asked") {
		result["cursor"] = at
	}
	if s.does("lists every row as an orphan") {
		for _, r := range ses.rows {
			result["orphans"] = append(result["orphans"].([]any), r["seq"])
		}
	}
	return result, nil, nil
}

func (ses *session) permissions() object { return object{"mode": ses.mode, "network": ses.network} }

func (s *Server) permissionList(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodPermissionProfileList, p)
	if f != nil {
		return nil, f, nil
	}
	profiles := []any{}
	for _, row := range oupwire.TablePermissionProfiles {
		if row.Mode != "danger_full_access" || s.does("offers danger") {
			profiles = append(profiles, object{"mode": row.Mode, "network": row.Network})
		}
	}
	return object{"session_id": ses.key, "current": ses.permissions(), "profiles": profiles}, nil, nil
}

func (s *Server) permissionSet(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodPermissionProfileSet, p)
	if f != nil {
		return nil, f, nil
	}
	update := child(p, "update")
	means := func(member, value string) string {
		for _, row := range oupwire.TableSpellings {
			if row.Member == "update."+member && row.Spelling == value && !s.does("takes one spelling alone") {
				return row.Means
			}
		}
		return value
	}
	mode, network, policy := ses.mode, ses.network, ses.policy
	if s.does("forgets what an update leaves out") {
		network = "allow"
	}
	if v := text(update, "mode"); v != "" {
		mode = means("mode", v)
	}
	if v := text(update, "network"); v != "" {
		network = v
	}
	if v := text(update, "approval_policy"); v != "" {
		policy = means("approval_policy", v)
	}
	if !slices.Contains([]string{"never", "on-request"}, policy) && !s.does("takes every policy") {
		return nil, failKind(oupwire.ErrInvalidParams, "permission_profile_invalid_approval_policy", "no such policy", object{"approval_policy": policy}), nil
	}
	if (mode == "danger_full_access" || network == "allow" && update["network"] != nil || policy == "never") && !s.does("allows danger") {
		return nil, failKind(oupwire.ErrPermissionDenied, "permission_profile_disallowed", "more than the server allows", object{
			"runtime_mode": s.runtimeMode(), "permission_profile": mode, "approval_policy": policy, "network": network,
		}), nil
	}
	applied := mode != ses.mode || network != ses.network || policy != ses.policy || s.does("always applies")
	ses.mode, ses.network, ses.policy = mode, network, policy
	return object{"session_id": ses.key, "current": ses.permissions(), "applied": applied}, nil, nil
}

func (s *Server) previewGet(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodDiffPreviewGet, p)
	id := text(p, "preview_id")
	for _, any := range s.sessions {
		for _, preview := range any.previews {
			if text(preview, "preview_id") == id && (any == ses || s.does("shows changes of other sessions")) {
				return object{"status": "ready", "source": "pending_store", "preview": preview}, nil, nil
			}
		}
	}
	if f != nil && f.code.Code != oupwire.CodeUnknownSession {
		return nil, f, nil
	}
	return nil, failKind(oupwire.ErrUnknownPreviewID, "unknown_preview", "no preview "+id, object{
		"method": oupwire.MethodDiffPreviewGet, "session_id": text(p, "session_id"), "preview_id": id,
	}), nil
}

func (s *Server) snapshotList(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSnapshotList, p)
	if f != nil {
		return nil, f, nil
	}
	return object{"session_id": ses.key, "enabled": true, "available": true, "snapshots": ses.shots()}, nil, nil
}

// shots are the snapshots, newest first. There is always one.
func (ses *session) shots() []any {
	if len(ses.snapshots) == 0 {
		ses.shoot("first")
	}
	out := []any{}
	for _, shot := range ses.snapshots {
		out = append(out, shot)
	}
	if !ses.s.does("lists old snapshots first") {
		slices.Reverse(out)
	}
	return out
}

func (ses *session) shoot(label string) {
	ses.snapshots = append(ses.snapshots, object{"id": ses.s.newID(), "label": label, "timestamp_unix": 1000 + len(ses.snapshots)})
}

func (s *Server) snapshotRestore(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSnapshotRestore, p)
	if f != nil {
		return nil, f, nil
	}
	id := text(p, "snapshot_id")
	switch {
	case ses.running != nil && !s.does("restores while a turn runs"):
		return nil, fail(oupwire.ErrInvalidParams, "a turn runs", nil), nil
	case !slices.ContainsFunc(ses.shots(), func(shot any) bool { return shot.(object)["id"] == id }):
		return nil, fail(oupwire.ErrInvalidParams, "no snapshot "+id, nil), nil
	}
	if !s.does("restores without a snapshot") {
		ses.shoot("before restore")
	}
	return object{"session_id": ses.key, "restored": id, "snapshots": ses.shots()}, nil, nil
}

// endSoon closes every connection once the answer has had its time.
func (s *Server) endSoon() {
	time.AfterFunc(oupwire.ShutdownDelayMs*time.Millisecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			c.code, c.gone = closeRestart, true
		}
		s.changed.Broadcast()
		close(s.ended)
	})
}
