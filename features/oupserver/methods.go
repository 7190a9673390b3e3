package oupserver

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
)

// handlers carry requests out. It is filled at the start, because handlers list what there is.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		oupwire.MethodClientHello:            (*Server).hello,
		oupwire.MethodConfigCapabilitiesList: (*Server).capabilitiesList,
		oupwire.MethodSessionOpen:            (*Server).open,
		oupwire.MethodSessionList:            (*Server).sessionList,
		oupwire.MethodSessionSnapshot:        (*Server).sessionSnapshot,
		oupwire.MethodSessionMessagesPage:    (*Server).messagesPage,
		oupwire.MethodSessionStatusGet:       (*Server).statusGet,
		oupwire.MethodSessionStatusRead:      (*Server).statusRead,
		oupwire.MethodSessionFilesList:       (*Server).filesList,
		oupwire.MethodSessionTasksList:       (*Server).tasksList,
		oupwire.MethodSessionWorkspaceGet:    (*Server).workspaceGet,
		oupwire.MethodSessionTitleSet:        (*Server).titleSet,
		oupwire.MethodSessionDelete:          (*Server).deleteSession,
		oupwire.MethodSessionHydrate:         (*Server).hydrate,
		oupwire.MethodSessionRollback:        (*Server).rollback,
		oupwire.MethodSessionFork:            (*Server).fork,
		oupwire.MethodSessionBtw:             (*Server).aside,
		oupwire.MethodSessionCompact:         (*Server).compact,
		oupwire.MethodSessionCompactModeSet:  (*Server).compactMode,
		oupwire.MethodSessionAppendMessage:   (*Server).appendMessage,
		oupwire.MethodSessionHistoryList:     (*Server).historyList,
		oupwire.MethodThreadGraphGet:         (*Server).graph,
		oupwire.MethodTurnStart:              (*Server).turnStart,
		oupwire.MethodTurnInterrupt:          (*Server).turnInterrupt,
		oupwire.MethodTurnSteer:              (*Server).turnSteer,
		oupwire.MethodTurnStateGet:           (*Server).turnState,
		oupwire.MethodApprovalRespond:        (*Server).approvalRespond,
		oupwire.MethodApprovalScopesList:     (*Server).approvalScopes,
		oupwire.MethodUserQuestionRespond:    (*Server).questionRespond,
		oupwire.MethodPermissionProfileList:  (*Server).permissionList,
		oupwire.MethodPermissionProfileSet:   (*Server).permissionSet,
		oupwire.MethodDiffPreviewGet:         (*Server).previewGet,
		oupwire.MethodSnapshotList:           (*Server).snapshotList,
		oupwire.MethodSnapshotRestore:        (*Server).snapshotRestore,
		oupwire.MethodServerShutdown:         (*Server).shutdown,
		oupwire.MethodTaskList:               (*Server).taskList,
		oupwire.MethodTaskCancel:             (*Server).taskCancel,
		oupwire.MethodTaskRestartFromNode:    (*Server).taskRestart,
		oupwire.MethodTaskOutputRead:         (*Server).taskOutput,
		oupwire.MethodTaskArtifactList:       (*Server).artifactList,
		oupwire.MethodTaskArtifactRead:       (*Server).artifactRead,
	}
	maps.Copy(handlers, serviceHandlers())
}

func (s *Server) turnStart(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodTurnStart, p)
	if f != nil {
		return nil, f, nil
	}
	if s.does("takes turns of opened sessions alone") && !c.opened[ses] {
		return nil, fail(oupwire.ErrInvalidRequest, "open the session first", nil), nil
	}
	id, input := text(p, "turn_id"), list(p, "input")
	if joined(input) == "" && !s.does("takes empty inputs") {
		return nil, fail(oupwire.ErrInvalidParams, "the input has no text", nil), nil
	}
	if s.does("refuses unknown inputs") && slices.ContainsFunc(input, func(i any) bool { return text(i.(object), "kind") != "text" }) {
		return nil, fail(oupwire.ErrInvalidParams, "unknown input", nil), nil
	}
	if s.does("takes new ids alone") && id[14] != '7' {
		return nil, fail(oupwire.ErrInvalidParams, "the turn id is of no version 7", nil), nil
	}
	if _, there := p["media"]; !there && s.does("needs every list") {
		return nil, fail(oupwire.ErrInvalidParams, "media is missing", nil), nil
	}
	if kind := text(child(p, "origin"), "kind"); kind == "system_agent" && !s.does("lets everybody be the system") {
		return nil, failKind(oupwire.ErrPermissionDenied, "turn_origin_not_allowed", "the origin may not be named", nil), nil
	}
	accepted := object{"accepted": true}
	if ses.running != nil && !s.does("runs two turns") {
		if ses.running.id == id && !s.does("refuses a turn that is sent again") {
			if s.does("starts a turn again that is sent again") {
				ses.running.user(joined(input))
			}
			return accepted, nil, nil
		}
		detail := object{"turn_id": ses.running.id}
		if s.does("does not name the running turn") {
			delete(detail, "turn_id")
		}
		return nil, failKind(oupwire.ErrInvalidRequest, "turn_in_progress", "a turn runs", detail), nil
	}
	if ses.used[id] != nil && !s.does("takes ids again") {
		return nil, failKind(oupwire.ErrInvalidRequest, "turn_id_in_use", "the turn ended before", nil), nil
	}
	t := s.begin(c, ses, id, input)
	s.turns.Add(1)
	s.alive[t] = true
	go func() {
		defer s.turns.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		t.run(input)
		delete(s.alive, t)
		s.changed.Broadcast()
	}()
	if s.does("answers behind the start") {
		ses.tell(oupwire.MethodTurnStarted, object{"turn_id": t.id, "timestamp": t.started})
	}
	if strings.Contains(joined(input), "PLAY failure") && s.does("refuses a turn that will fail") {
		return nil, fail(oupwire.ErrInternalError, "the model failed", nil), nil
	}
	return accepted, nil, nil
}

func (t *turn) end() string {
	switch t.state {
	case active, interrupting:
		return ""
	}
	return t.state
}

func (s *Server) turnInterrupt(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodTurnInterrupt, p)
	if f != nil {
		return nil, f, nil
	}
	id := text(p, "turn_id")
	if ses.used[id] == nil || len(ses.turns) == 0 {
		if s.does("knows every turn") {
			return object{"interrupted": false}, nil, nil
		}
		return nil, failKind(oupwire.ErrUnknownTurn, "unknown_turn", "no turn "+id, object{"turn_id": id}), nil
	}
	last := ses.turns[len(ses.turns)-1]
	switch {
	case last.id != id && s.does("stops another turn"):
		last.interrupt()
		return object{"interrupted": true}, nil, nil
	case last.id != id:
		return object{"interrupted": false, "reason": "turn_id_mismatch"}, nil, nil
	case last.state != active && s.does("is stopped once"):
		return object{"interrupted": false}, nil, nil
	case last.end() != "":
		result := object{"interrupted": last.state == interrupted, "terminal_state": last.state}
		if s.does("forgets how a turn ended") {
			delete(result, "terminal_state")
		}
		return result, nil, nil
	}
	if s.does("never stops") {
		return object{"interrupted": true, "ack_timeout": true}, nil, nil
	}
	last.interrupt()
	return object{"interrupted": true}, nil, nil
}

func (s *Server) turnSteer(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodTurnSteer, p)
	if f != nil {
		return nil, f, nil
	}
	input := list(p, "input")
	if joined(input) == "" {
		return nil, fail(oupwire.ErrInvalidParams, "the input has no text", nil), nil
	}
	expected := text(p, "expected_turn_id")
	if ses.running == nil {
		if s.does("steers nothing") {
			return nil, fail(oupwire.ErrInvalidRequest, "no turn runs", nil), nil
		}
		p = object{"session_id": text(p, "session_id"), "turn_id": s.newID(), "input": input}
		_, f, then := s.turnStart(c, p)
		return object{"turn_id": p["turn_id"], "steered": s.does("steers what it starts")}, f, then
	}
	if expected != "" && expected != ses.running.id && !s.does("steers another turn") {
		return nil, fail(oupwire.ErrInvalidParams, "another turn runs", nil), nil
	}
	ses.running.steers = append(ses.running.steers, input)
	if s.does("stops a turn to steer it") {
		ses.running.interrupt()
	}
	return object{"turn_id": ses.running.id, "steered": true}, nil, nil
}

func (s *Server) turnState(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodTurnStateGet, p)
	if f != nil {
		return nil, f, nil
	}
	id := text(p, "turn_id")
	result := object{"session_id": ses.key, "turn_id": id, "state": "unknown", "running": false}
	for _, t := range ses.turns {
		if t.id != id {
			continue
		}
		result["state"], result["started_at"], result["thread_id"] = t.state, t.started, t.id
		if len(t.rows) > 0 && !s.does("lists no rows of a turn") {
			result["committed_seqs"] = t.rows
		}
		if t.end() == "" {
			delete(result, "running")
			if s.does("does not count a turn that waits") && slices.ContainsFunc(ses.approvals, func(a *approval) bool { return a.state == pending }) {
				result["state"] = interrupting
			}
			if s.does("says that a turn runs") {
				result["running"] = true
			}
			continue
		}
		result["completed_at"] = t.ended
	}
	if result["state"] == "unknown" && s.does("refuses unknown turns") {
		return nil, failKind(oupwire.ErrUnknownTurn, "unknown_turn", "no turn "+id, object{"turn_id": id}), nil
	}
	return result, nil, nil
}

func (s *Server) sorted() []*session {
	var all []*session
	for _, key := range sortedKeys(s.sessions) {
		all = append(all, s.sessions[key])
	}
	return all
}

func (s *Server) sessionList(c *conn, p object) (object, *failure, []func()) {
	if text(p, "cwd") != "" && !c.features.open(oupwire.FeatureSessionWorkspaceCwdV1) && !s.does("needs no feature to list a workspace") {
		return nil, failKind(oupwire.ErrInvalidParams, "feature_required", "cwd needs its feature", object{"feature": oupwire.FeatureSessionWorkspaceCwdV1}), nil
	}
	if len(p) == 0 && s.does("needs a member to list") {
		return nil, fail(oupwire.ErrInvalidParams, "profile_id is missing", nil), nil
	}
	sessions := []any{}
	for _, ses := range s.sorted() {
		if len(ses.rows) == 0 && s.does("lists sessions with messages alone") || text(p, "cwd") != "" && ses.workspace != text(p, "cwd") {
			continue
		}
		row := object{"id": ses.key, "message_count": len(ses.rows)}
		if ses.title != "" {
			row["title"] = ses.title
		}
		sessions = append(sessions, row)
	}
	result := object{"sessions": sessions}
	if cwd := text(p, "cwd"); cwd != "" {
		result["workspace_root"], result["profile_id"] = cwd, defaultProfile
		if s.does("names no profile of a workspace") {
			delete(result, "profile_id")
		}
	}
	return result, nil, nil
}

func sortedKeys(m map[string]*session) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (ses *session) activity() object {
	a := object{"active": ses.running != nil}
	if ses.s.does("is never at work") {
		a["active"] = false
	}
	return a
}

func (s *Server) sessionSnapshot(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionSnapshot, p)
	if f != nil {
		if s.does("takes a snapshot of everything") {
			return object{"status": object{"active": false}, "files": []any{}, "tasks": []any{}}, nil, nil
		}
		return nil, f, nil
	}
	return object{"status": ses.activity(), "files": ses.files(), "tasks": ses.taskRows()}, nil, nil
}

func (s *Server) statusGet(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionStatusGet, p)
	if f != nil {
		return nil, f, nil
	}
	result := object{"status": ses.activity()}
	if c.features.open(oupwire.FeatureContextLifecycleV1) || s.does("tells the context to everybody") {
		result["context"], result["context_state"] = ses.context(), ses.contextState()
	}
	return result, nil, nil
}

func (s *Server) statusRead(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionStatusRead, p)
	if f != nil {
		return nil, f, nil
	}
	capabilities := s.capabilities(c)
	if s.does("tells capabilities of nobody") {
		capabilities = s.capabilities(&conn{s: s, transport: c.transport, features: s.defaults(oupwire.TransportWebsocket)})
	}
	profile := cmp.Or(text(p, "profile_id"), ses.profile, c.profile, defaultProfile)
	if s.does("binds no profile") {
		profile = "another"
	}
	result := object{
		"session_id": ses.key, "profile_id": profile, "runtime_policy_stamp": object{"runtime_mode": s.runtimeMode(), "profile_id": profile, "approval_policy": ses.policy},
		"permission_profile": ses.mode, "sandbox": strings.ReplaceAll(ses.mode, "_", "-"), "health": object{"status": "healthy"},
		"mcp_summary": mcpSummary(), "tool_summary": object{"visible": 1, "enabled": 1, "denied": 0, "policy_id": "default"},
		"usage": object{}, "cursor": object{"healthy": true, "replay_supported": true}, "capabilities": capabilities,
	}
	if s.does("names half a model") {
		result["model"] = object{"model": "scripted", "provider": nil}
	}
	return result, nil, nil
}

func (ses *session) files() []any {
	files := []any{
		object{"filename": "b", "path": "b", "size_bytes": 1, "modified_at": "2026-01-02T00:00:00Z"},
		object{"filename": "a", "path": "a", "size_bytes": 1, "modified_at": "2026-01-01T00:00:00Z"},
	}
	if ses.s.does("lists old files first") {
		slices.Reverse(files)
	}
	return files
}

func (s *Server) filesList(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionFilesList, p)
	if f != nil {
		return nil, f, nil
	}
	return object{"files": ses.files()}, nil, nil
}

func (s *Server) tasksList(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionTasksList, p)
	if f != nil {
		return nil, f, nil
	}
	return object{"tasks": ses.taskRows()}, nil, nil
}

func (s *Server) workspaceGet(c *conn, p object) (object, *failure, []func()) {
	_, f := s.find(oupwire.MethodSessionWorkspaceGet, p)
	return object{"contracts": []any{}}, f, nil
}

func (s *Server) titleSet(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionTitleSet, p)
	if f != nil {
		if s.does("changes what it refuses") {
			for _, any := range s.sessions {
				any.title = text(p, "title")
			}
		}
		return nil, f, nil
	}
	title := text(p, "title")
	if !s.does("keeps white space of titles") {
		title = strings.TrimSpace(title)
	}
	if (title == "" || utf8.RuneCountInString(title) > oupwire.MaxTitleCharacters) && !s.does("takes every title") {
		return nil, fail(oupwire.ErrInvalidParams, "the title is blank or too long", nil), nil
	}
	ses.title = title
	if c.transport == oupwire.TransportStdio && s.does("names sessions otherwise over standard streams") {
		title = strings.ToUpper(title)
	}
	return object{"session_id": ses.key, "title": title}, nil, nil
}

func (s *Server) deleteSession(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionDelete, p)
	if f != nil {
		if s.does("deletes what is not there") {
			return object{}, nil, nil
		}
		return nil, f, nil
	}
	if t := ses.running; t != nil && !s.does("deletes beside a running turn") {
		t.state = interrupting
		s.changed.Broadcast()
		for s.alive[t] && !t.orphan {
			s.changed.Wait()
		}
	}
	s.numbers[ses.key] = ses.last
	if !s.does("forgets ids with a session") {
		s.used[ses.key] = ses.used
	}
	if s.does("keeps what was deleted") {
		return object{}, nil, nil
	}
	delete(s.sessions, ses.key)
	for c := range s.conns {
		delete(c.opened, ses)
	}
	if s.does("keeps rows of a deleted session") {
		again := s.make(ses.key)
		again.rows = ses.rows
	}
	return object{}, nil, nil
}

func (s *Server) messagesPage(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodSessionMessagesPage, p)
	if f != nil {
		return nil, f, nil
	}
	limit, there := number(p, "limit")
	if !there {
		limit = oupwire.MessagesPageDefault
	}
	if limit > oupwire.MaxMessagesPage {
		if s.does("refuses a long page") {
			return nil, fail(oupwire.ErrInvalidParams, "the page is too long", nil), nil
		}
		limit = oupwire.MaxMessagesPage
	}
	offset, _ := number(p, "offset")
	if offset > oupwire.MaxMessagesOffset && s.does("refuses a far offset") {
		return nil, fail(oupwire.ErrInvalidParams, "the offset is too far", nil), nil
	}
	offset = min(offset, oupwire.MaxMessagesOffset)
	rows := slices.Clone(ses.rows)
	if since, there := number(p, "since_seq"); there && !s.does("applies an offset first") {
		rows = slices.DeleteFunc(rows, func(r object) bool { return rowSeq(r) <= since })
	}
	if s.does("gives the newest rows first") {
		slices.Reverse(rows)
	}
	from := min(int(offset), len(rows))
	if s.does("fails behind the end") && from == len(rows) {
		return nil, fail(oupwire.ErrInvalidParams, "there is no such row", nil), nil
	}
	to := min(from+int(limit), len(rows))
	page := rows[from:to]
	if since, there := number(p, "since_seq"); there && s.does("applies an offset first") {
		page = slices.DeleteFunc(slices.Clone(page), func(r object) bool { return rowSeq(r) <= since })
	}
	messages := []any{}
	for _, r := range page {
		messages = append(messages, object{"seq": r["seq"], "role": r["role"], "content": r["content"], "timestamp": r["persisted_at"], "thread_id": r["thread_id"]})
	}
	next := int(offset) + len(page)
	if s.does("gives the offset of this page") {
		next = from
	}
	return object{"messages": messages, "has_more": to < len(rows), "next_offset": next}, nil, nil
}

func rowSeq(r object) int64 {
	seq, _ := r["seq"].(int64)
	return seq
}

// judgeWorkspace refuses a workspace that cannot be used.
func (s *Server) judgeWorkspace(cwd string) *failure {
	if s.does("takes every workspace") {
		return nil
	}
	real, err := filepath.EvalSymlinks(cwd)
	if s.does("judges a path as it is spelled") {
		real = cwd
	}
	if err != nil {
		return failKind(oupwire.ErrInvalidParams, "cwd_not_accessible", "the workspace cannot be reached", object{"cwd": cwd, "error": "no such folder"})
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return failKind(oupwire.ErrInvalidParams, "cwd_not_directory", "the workspace is no folder", object{"cwd": cwd})
	}
	for _, name := range oupwire.TableBannedWorkspaceRoots {
		root := "/" + name
		if real == root || strings.HasPrefix(real, root+"/") {
			return failKind(oupwire.ErrInvalidParams, "cwd_system_path_banned", "the workspace belongs to the system", object{"cwd": cwd, "banned_root": root})
		}
	}
	return nil
}

func (s *Server) shutdown(c *conn, p object) (object, *failure, []func()) {
	again := s.stopping
	s.stopping = true
	if again && s.does("is ended once") {
		return nil, fail(oupwire.ErrInvalidRequest, "the server is ending", nil), nil
	}
	if s.does("only says that it ends") {
		return object{"stopping": true}, nil, nil
	}
	if !again {
		return object{"stopping": true}, nil, []func(){s.endSoon}
	}
	return object{"stopping": true}, nil, nil
}

func (ses *session) contextState() object {
	state := object{
		"session_id": ses.key, "transcript_hash": fmt.Sprintf("%d", len(ses.rows)), "recovery_state": "exact", "generation": ses.generation,
		"item_count": len(ses.rows), "token_estimate": 10 * len(ses.rows),
	}
	if ses.s.does("tells of a cache that nobody named") {
		state["semantic_head_id"], state["semantic_head_kind"] = "1", "root"
	}
	return state
}

func (ses *session) context() object {
	return object{"schema": "octos.context.lifecycle.v1", "state": ses.contextState(), "compaction": object{"count": ses.compactions, "last": nil}}
}
