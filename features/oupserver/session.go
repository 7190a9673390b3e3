package oupserver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// session is one session with all that was ever told of it.
type session struct {
	s                       *Server
	key, base, topic        string
	profile                 string // of the key; empty for none
	events                  []event
	last                    int64 // number of the newest event
	rows                    []object
	turns                   []*turn
	used                    object // turn ids
	running                 *turn
	title                   string
	approvals               []*approval
	questions               []*question
	remembered              []object // decisions, newest last
	mode, network, policy   string   // permissions
	workspace               string
	plan                    object
	added                   map[string]object // answers to session/append_message
	compaction              string
	compactions, generation int64
	snapshots               []object
	previews                []object
	tasks                   []*task // oldest first
}

// event is one event of the ledger.
type event struct {
	seq    int64
	method string
	params object
}

// key splits a session key.
func splitKey(key string) (base, topic, profile string) {
	base, topic, _ = strings.Cut(key, "#")
	parts := strings.Split(base, ":")
	if len(parts) >= 3 && !isChannel(parts[0]) && isChannel(parts[1]) {
		profile = parts[0]
	}
	return base, topic, profile
}

func isChannel(name string) bool { return slices.Contains(oupwire.TableChannels, name) }

// defaultProfile is that of clients that name none.
var defaultProfile = protocolText("default_profile")

// reach resolves the session that a request names: its topic folded in, its scope checked.
func (s *Server) reach(method string, p object) (string, *failure) {
	key := text(p, "session_id")
	for _, row := range oupwire.TableMethodReach {
		if row.Method != method {
			continue
		}
		topic := strings.TrimSpace(text(p, "topic"))
		folds := row.Topic == "fold" && !s.does("passes topics over") || s.does("folds topics everywhere")
		if folds && (topic != "" || s.does("takes a blank topic") && p["topic"] != nil) {
			base, _, _ := strings.Cut(key, "#")
			if at := strings.LastIndexByte(key, '#'); at >= 0 && s.does("cuts a key at its last number sign") {
				base = key[:at]
			}
			key = base + "#" + topic
		}
	}
	if profile, there := p["profile_id"].(string); there && profile == "" && !s.does("takes an empty profile") {
		return "", fail(oupwire.ErrInvalidParams, "profile_id is empty", nil)
	}
	base, _, own := splitKey(key)
	if first, _, more := strings.Cut(base, ":"); more && s.does("takes every first part for a profile") && strings.Count(base, ":") > 1 {
		own = first
	}
	if !strings.Contains(base, ":") && s.does("needs a channel in a key") {
		return "", fail(oupwire.ErrInvalidParams, "the key has no channel", nil)
	}
	named := text(p, "profile_id")
	if named != "" && own != "" && named != own && !s.does("takes two profiles") {
		return "", fail(oupwire.ErrInvalidParams, "profile_id and session_id name two profiles", object{"expected_profile_id": own, "actual_profile_id": named})
	}
	if s.does("checks no scope of an interrupt") && method == oupwire.MethodTurnInterrupt {
		return key, nil
	}
	for _, profile := range []string{named, own} {
		if profile != "" && !s.knowsProfile(profile) && !s.does("makes profiles up") {
			return "", failKind(oupwire.ErrInvalidParams, "profile_unresolved", "no profile "+profile, object{
				"profile_id": profile, "recoverable": true, "recovery": "create the profile",
			})
		}
	}
	return key, nil
}

// find is the session that a request names.
func (s *Server) find(method string, p object) (*session, *failure) {
	key, f := s.reach(method, p)
	if f != nil {
		return nil, f
	}
	if ses := s.sessions[key]; ses != nil {
		return ses, nil
	}
	if s.does("makes sessions of a " + method) {
		return s.make(key), nil
	}
	if s.does("does not name an unknown session") {
		return nil, failKind(oupwire.ErrUnknownSession, "unknown_session", "no such session", nil)
	}
	return nil, failKind(oupwire.ErrUnknownSession, "unknown_session", "no session "+key, object{"session_id": key})
}

func (s *Server) make(key string) *session {
	ses := &session{s: s, key: key, last: s.numbers[key], mode: "workspace_write", network: "deny", policy: "on-request", compaction: "heuristic", used: object{}, added: map[string]object{}}
	if used := s.used[key]; used != nil {
		ses.used = used
	}
	if s.does("counts anew behind a delete") {
		ses.last = 0
	}
	ses.base, ses.topic, ses.profile = splitKey(key)
	s.sessions[key] = ses
	return ses
}

func (ses *session) cursor(seq int64) object { return object{"stream": ses.key, "seq": seq} }

// tell stores one event and sends it to every connection that has the session open.
func (ses *session) tell(method string, params object) {
	if ses.gone() {
		return
	}
	seq := ses.last + 1
	ses.last = seq
	all := object{"session_id": ses.key}
	if ses.topic != "" && !ses.s.does("leaves topics out") {
		all["topic"] = ses.topic
	}
	for name, v := range params {
		all[name] = v
	}
	if method == oupwire.MethodProjectionEnvelope || method == oupwire.MethodSessionOpen {
		all["cursor"] = ses.cursor(seq)
		if ses.s.does("shows the cursor of the event before") {
			all["cursor"] = ses.cursor(seq - 1)
		}
		if ses.s.does("shows no cursor") && method == oupwire.MethodProjectionEnvelope {
			delete(all, "cursor")
		}
	}
	e := event{seq: seq, method: method, params: all}
	if !ses.s.fault.unstored(method, all) {
		ses.events = append(ses.events, e)
	}
	for c := range ses.s.conns {
		if c.opened[ses] || ses.s.does("tells everybody") || ses.s.does("tells every topic") && c.hears(ses.base) {
			c.show(e)
			if c.opens[ses] > 1 && ses.s.does("keeps the lane before") {
				c.show(e)
			}
		}
	}
}

// tellNow sends what is not stored.
func (ses *session) tellNow(method string, params object) {
	for c := range ses.s.conns {
		if c.opened[ses] {
			c.show(event{method: method, params: params})
		}
	}
}

func (c *conn) hears(base string) bool {
	for ses := range c.opened {
		if ses.base == base {
			return true
		}
	}
	return false
}

func (ses *session) gone() bool { return ses.s.sessions[ses.key] != ses }

// show sends one event as far as this connection may see it.
func (c *conn) show(e event) {
	s := c.s
	row := oupwire.LookupNotification(e.method)
	if strings.HasPrefix(e.method, "context/") && s.does("replays what a gate closes") && s.replays {
	} else if needs := gates(row); len(needs) > 0 {
		open := c.features.open(needs...)
		if row.GateStrict {
			open = c.features.has(needs...)
		}
		open = open || e.method == oupwire.MethodBackgroundActivity && s.does("tells everybody of the background")
		if !open && !s.does("sends what a gate closes") {
			return
		}
	}
	if e.method == oupwire.MethodProjectionEnvelope && !c.features.has(oupwire.FeatureProjectionEnvelopeV2) &&
		(s.does("tells pieces to those alone who name them") || s.does("tells pieces to those alone who ask for the second form")) {
		return
	}
	params := copied(e.params)
	if e.method == oupwire.MethodApprovalRequested && !c.features.open(oupwire.FeatureApprovalTypedV1) && !s.does("shows typed members to everybody") {
		if s.does("asks those alone that know types") {
			return
		}
		for _, name := range typed {
			delete(params, name)
		}
	}
	if s.fault.event != nil && !s.fault.event(s, c, e.method, params) {
		return
	}
	c.send(e.method, object{"jsonrpc": version, "method": e.method, "params": params})
}

// typed are the members of approval/requested that need a feature.
var typed = []string{"approval_kind", "risk", "typed_details", "render_hints"}

// oldest is the number of the oldest event that is kept.
func (ses *session) oldest() int64 {
	if len(ses.events) == 0 {
		return ses.last + 1
	}
	return ses.events[0].seq
}

// after reads a cursor; 0 and false where there is none.
func (ses *session) after(method string, p object) (int64, bool, *failure) {
	cursor := child(p, "after")
	if cursor == nil {
		return 0, false, nil
	}
	seq, there := number(cursor, "seq")
	if !there {
		return 0, false, nil // a fault has let it pass
	}
	s := ses.s
	if stream := text(cursor, "stream"); stream != ses.key && !s.does("takes cursors of other streams") {
		return 0, false, failKind(oupwire.ErrCursorInvalid, "cursor_stream_mismatch", "the cursor is of another stream", object{
			"method": method, "session_id": ses.key, "expected_stream": ses.key, "actual_stream": stream,
		})
	}
	low := ses.oldest() - 1
	if s.does("refuses the oldest cursor") {
		low++
	}
	high := ses.last
	if s.does("refuses the newest cursor") {
		high--
	}
	if (seq < low || seq > high) && !s.does("takes cursors out of range") && !(s.does("hydrates from any cursor") && method == oupwire.MethodSessionHydrate) {
		data := object{
			"method": method, "session_id": ses.key, "cursor": cursor, "ledger_head": ses.cursor(ses.last), "retained_seq": ses.last, "oldest_retained_seq": ses.oldest(),
		}
		if s.does("does not say that a cursor expired") {
			return 0, false, fail(oupwire.ErrCursorOutOfRange, "the cursor is out of range", object{"cursor": cursor, "ledger_head": ses.cursor(ses.last)})
		}
		return 0, false, failKind(oupwire.ErrCursorOutOfRange, "cursor_expired", "the cursor is out of range", data)
	}
	return seq, true, nil
}

// open opens a session on a connection, makes it where it is not there, and replays what came behind a cursor.
func (s *Server) open(c *conn, p object) (object, *failure, []func()) {
	key, f := s.reach(oupwire.MethodSessionOpen, p)
	if f == nil && s.does("confirms another key") && !strings.Contains(key, "#") {
		key += "#here"
	}
	if f == nil && p["after"] != nil {
		switch {
		case s.does("has forgotten what it told"):
			f = failKind(oupwire.ErrCursorOutOfRange, "cursor_expired", "that was long ago", object{"cursor": p["after"], "ledger_head": object{"stream": key, "seq": s.sessions[key].last}})
		case s.does("is another server"):
			f = failKind(oupwire.ErrCursorInvalid, "cursor_stream_mismatch", "that was elsewhere", object{"session_id": key, "expected_stream": key + "!", "actual_stream": key})
		}
		if f != nil && s.played["refused"] > 0 && s.played["hydrated"] > 0 {
			f = nil
		}
		s.played["refused"]++
	}
	if f != nil {
		if s.does("keeps the profile of an open that failed") {
			c.profile = text(p, "profile_id")
		}
		return nil, f, nil
	}
	cwd := strings.TrimSpace(text(p, "cwd"))
	if s.does("takes a blank workspace") {
		cwd = text(p, "cwd")
	}
	for member, feature := range map[string]string{"cwd": oupwire.FeatureSessionWorkspaceCwdV1, "sandbox": oupwire.FeatureSessionSandboxV1} {
		_, there := p[member]
		if there && (member != "cwd" || cwd != "") && !c.features.open(feature) && !s.does("needs no feature for a workspace") {
			return nil, failKind(oupwire.ErrInvalidParams, "feature_required", member+" needs "+feature, object{"feature": feature}), nil
		}
	}
	if cwd != "" {
		if f := s.judgeWorkspace(cwd); f != nil {
			return nil, f, nil
		}
	}
	ses := s.sessions[key]
	fresh := ses == nil
	if fresh {
		if s.does("opens what is there alone") {
			return nil, failKind(oupwire.ErrUnknownSession, "unknown_session", "no session", object{"session_id": key}), nil
		}
		ses = s.make(key)
	}
	after, replay, f := ses.after(oupwire.MethodSessionOpen, p)
	if replay && s.does("tells again what it told") {
		after = max(after-4, 0)
	}
	if f != nil {
		if fresh && !s.does("keeps a session whose open failed") && !s.does("attaches though an open failed") {
			delete(s.sessions, key)
		}
		if s.does("attaches though an open failed") {
			c.opened[ses] = true
			ses.tell(oupwire.MethodWarning, object{"code": "open", "message": "an open failed"})
		}
		return nil, f, nil
	}
	if cwd != "" && (ses.workspace == "" || s.does("changes the workspace of a session")) {
		ses.workspace = cwd
	}
	c.profile = cmp.Or(text(p, "profile_id"), ses.profile, defaultProfile)
	s.visited(c, ses)
	result, notice := s.opened(c, ses, p)
	return result, nil, []func(){func() { s.replay(c, ses, after, replay, notice) }}
}

// opened makes the answer of an open, and the event that tells the same.
func (s *Server) opened(c *conn, ses *session, p object) (result, notice object) {
	opened := object{
		"session_id": ses.key, "active_profile_id": c.profile, "capabilities": s.capabilities(c), "cursor": ses.cursor(ses.last + 1),
	}
	if ses.workspace != "" {
		opened["workspace_root"] = ses.workspace
	}
	if s.does("tells capabilities of nobody") {
		opened["capabilities"] = s.capabilities(&conn{s: s, transport: c.transport, features: s.defaults(oupwire.TransportWebsocket)})
	}
	if _, declared := p["client_commands"]; declared {
		c.commands = s.commands(c, list(p, "client_commands"))
		accepted := []any{}
		for _, word := range list(p, "client_commands") {
			name := strings.TrimPrefix(word.(string), "/")
			if at, there := c.commands[name]; there && at == len(accepted) {
				accepted = append(accepted, name)
			}
		}
		opened["accepted_client_commands"] = accepted
	} else if s.does("accepts commands of nobody") {
		opened["accepted_client_commands"] = []any{}
	}
	if c.features.open(oupwire.FeatureContextLifecycleV1) || s.does("tells the context to everybody") {
		opened["context"], opened["context_state"] = ses.context(), ses.contextState()
	}
	notice = copied(opened)
	if s.does("tells something else than it answered") {
		notice["active_profile_id"] = "another"
	}
	return object{"opened": opened}, notice
}

// commands are those that a client may declare, with their place.
func (s *Server) commands(c *conn, words []any) map[string]int {
	taken := map[string]int{}
	if s.does("adds commands up") {
		for name, at := range c.commands {
			taken[name] = at
		}
	}
	for _, word := range words {
		name := strings.TrimPrefix(word.(string), "/")
		good := name != "" && len(name) <= oupwire.MaxClientCommandBytes && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
		if s.does("takes every name of a command") {
			good = true
		}
		if slices.Contains(oupwire.TableServerCommands, name) && !s.does("gives its commands away") {
			good = false
		}
		if _, again := taken[name]; !good || again || len(taken) >= oupwire.MaxClientCommands {
			continue
		}
		taken[name] = len(taken)
	}
	return taken
}

// replay sends what came behind a cursor, what waits, and then the event of the open.
func (s *Server) replay(c *conn, ses *session, after int64, asked bool, notice object) {
	delete(c.opened, ses)
	told := map[string]bool{}
	s.replays = true
	defer func() { s.replays = false }()
	c.opens[ses]++
	replayAll := s.does("replays without being asked")
	if asked || replayAll {
		events := slices.Clone(ses.events)
		if s.does("replays the newest first") {
			slices.Reverse(events)
		}
		for _, e := range events {
			switch {
			case e.seq <= after && !replayAll:
				continue
			case e.method == oupwire.MethodProjectionEnvelope && s.does("replays no envelopes"):
				continue
			case isDelta(e) && s.does("replays no pieces"):
				continue
			}
			if id := text(e.params, "approval_id"); id != "" && e.method == oupwire.MethodApprovalRequested {
				told[id] = true
			}
			if id := text(e.params, "question_id"); id != "" {
				told[id] = true
			}
			c.show(e)
			if s.does("replays twice") {
				c.show(e)
			}
		}
	}
	finish := func() {
		for _, a := range ses.approvals {
			if a.state == pending && !told[a.id] && !s.does("does not ask again") {
				c.show(event{method: oupwire.MethodApprovalRequested, params: a.request})
			}
		}
		for _, q := range ses.questions {
			if q.state == pending && !told[q.id] && !s.does("does not ask again") {
				c.show(event{method: oupwire.MethodUserQuestionRequested, params: q.request})
			}
		}
		ses.offerTasks(c)
		if ses.plan != nil && !s.does("forgets the plan") {
			c.show(event{method: oupwire.MethodPlanUpdated, params: ses.plan})
		}
	}
	if !s.does("tells the open first") {
		finish()
	}
	c.opened[ses] = true
	if !s.does("opens without a word") {
		delete(notice, "cursor")
		ses.tell(oupwire.MethodSessionOpen, notice)
	}
	if s.does("tells the open first") {
		finish()
	}
}

func isDelta(e event) bool {
	kind := text(child(e.params, "payload"), "type")
	return strings.HasSuffix(kind, "_delta")
}
