package oupmonitor

import (
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// kinded are the notifications whose models have a member kind.
var kinded = []string{
	oupwire.MethodSessionEvent, oupwire.MethodRouterStatus, oupwire.MethodRouterFailover, oupwire.MethodVisualGenerating, oupwire.MethodVisualSucceeded,
}

// took looks at an answer; result is nil for an error.
func (m *Monitor) took(index int, asked request, result object) {
	switch asked.method {
	case oupwire.MethodClientHello:
		for _, name := range []string{"supported_features", "features", "requested_features"} {
			var tokens []string
			for _, t := range list(asked.params, name) {
				word, _ := t.(string)
				tokens = append(tokens, word)
			}
			if len(tokens) > 0 {
				m.name(tokens)
				break
			}
		}
		m.capabilities(index, child(result, "capabilities"))
	case oupwire.MethodConfigCapabilitiesList, oupwire.MethodSessionStatusRead:
		m.capabilities(index, child(result, "capabilities"))
	case oupwire.MethodSessionOpen:
		opened := child(result, "opened")
		if opened == nil {
			return
		}
		m.capabilities(index, child(opened, "capabilities"))
		key := text(opened, "session_id")
		if m.opened[key] == nil {
			m.opened[key] = &stream{}
		}
		m.opened[key].replay = true
		m.opened[key].last = 0
		m.opened[key].opens++
	case oupwire.MethodTaskList:
		m.tasksListed(index, result)
	case oupwire.MethodSessionDelete:
		if result != nil {
			delete(m.opened, text(asked.params, "session_id"))
		}
	case oupwire.MethodTurnStart:
		t := m.turn(text(asked.params, "turn_id"))
		if t.here && result != nil && t.started {
			m.add(index, "OUP-TURN-002", "the answer to turn/start comes behind turn/started")
		}
		t.here = false
	case oupwire.MethodTurnSteer:
		if steered, _ := result["steered"].(bool); steered {
			if t := m.turns[text(result, "turn_id")]; t != nil && !t.ended {
				t.steers++
			}
		}
	case oupwire.MethodApprovalRespond:
		id := text(asked.params, "approval_id")
		if result != nil && m.opened[text(asked.params, "session_id")] != nil && !m.answered[id] {
			m.add(index, "OUP-APPROVAL-003", "the answer to approval/respond comes before approval/decided")
		}
	}
}

// unlisted are notifications that only older clients get.
func older(row *wirejson.Method) bool { return row != nil && row.Lane == "legacy" }

// event judges a notification.
func (m *Monitor) event(index int, method string, root object) {
	params := child(root, "params")
	row := oupwire.LookupNotification(method)
	switch {
	case row == nil:
		return // additive
	case older(row):
		m.add(index, "OUP-STREAM-002", "%s is sent, which is for older clients alone", method)
		return
	case method == oupwire.MethodQueueState:
		m.add(index, "OUP-PROGRESS-010", "queue/state is sent")
		return
	case method == oupwire.MethodServerHeartbeat:
		if m.transport == "stdio" {
			m.add(index, "OUP-STDIO-007", "a heartbeat over standard streams")
		}
		if len(params) > 0 {
			m.add(index, "OUP-SOCKET-012", "a heartbeat has params members")
		}
		return
	}
	m.shape(index, row.Shapes[0].Params, root["params"], "the params of "+method)
	if _, there := params["kind"]; there && !slices.Contains(kinded, method) {
		m.add(index, "OUP-PROGRESS-003", "%s has a member kind beside its event", method)
	}
	if needs := row.Gate; needs != "-" && m.asked {
		for need := range strings.SplitSeq(needs, "+") {
			if !slices.Contains(m.named, need) && oupwire.LookupFeature(need).Origin == "registry" && strings.HasPrefix(need, "context.") {
				m.add(index, "OUP-FEATURE-013", "%s is sent, and %s was not named", method, need)
			}
		}
	}
	m.moments(index, method, params)
	m.where(index, method, params)
	m.what(index, method, params)
}

// moments holds texts that are moments to their form.
func (m *Monitor) moments(index int, method string, o object) {
	for name, v := range o {
		switch v := v.(type) {
		case object:
			m.moments(index, method, v)
		case string:
			if name != "timestamp" && !strings.HasSuffix(name, "_at") {
				continue
			}
			if _, err := time.Parse(time.RFC3339Nano, v); err != nil || !strings.HasSuffix(v, "Z") {
				m.add(index, "OUP-PROGRESS-014", "%s of %s is %q, want RFC 3339 in UTC", name, method, v)
			}
		}
	}
}

// where holds an event to the session that it is of.
func (m *Monitor) where(index int, method string, params object) {
	key := text(params, "session_id")
	if key == "" {
		return
	}
	_, topic, hasTopic := strings.Cut(key, "#")
	// The event of an open is its result, which has no topic beside its key.
	if said := text(params, "topic"); method != oupwire.MethodSessionOpen && (said != topic || hasTopic && said == "") {
		m.add(index, "OUP-PROGRESS-005", "%s of %q has the topic %q, want %q", method, key, said, topic)
	}
	s := m.opened[key]
	if s == nil {
		base, _, _ := strings.Cut(key, "#")
		for other := range m.opened {
			if b, _, _ := strings.Cut(other, "#"); b == base {
				m.add(index, "OUP-KEY-006", "%s of %q comes to a connection that opened %q", method, key, other)
				return
			}
		}
		m.add(index, "OUP-TURN-009", "%s of %q comes to a connection that has not opened it", method, key)
		return
	}
	cursor := child(params, "cursor")
	if method == oupwire.MethodTaskOutputDelta {
		return // its cursor is one of the output
	}
	if cursor == nil {
		if method == oupwire.MethodProjectionEnvelope {
			m.add(index, "OUP-STREAM-014", "an envelope has no cursor")
		}
		return
	}
	seq := number(cursor, "seq")
	switch {
	case text(cursor, "stream") != key:
		m.add(index, "OUP-LEDGER-014", "%s of %q shows a cursor of %q", method, key, text(cursor, "stream"))
	case seq < 1:
		m.add(index, "OUP-LEDGER-001", "%s shows the cursor %d; numbers start at 1", method, seq)
	case seq == s.last && s.opens > 1 && !s.replay:
		m.add(index, "OUP-REPLAY-013", "%s comes twice, with the cursor %d", method, seq)
	case seq <= s.last:
		m.add(index, "OUP-REPLAY-016", "%s shows the cursor %d behind %d", method, seq, s.last)
	}
	s.last = max(s.last, seq)
}

// what judges what an event tells.
func (m *Monitor) what(index int, method string, params object) {
	switch method {
	case oupwire.MethodSessionOpen:
		if s := m.opened[text(params, "session_id")]; s != nil {
			s.replay = false
		}
		// Its capabilities are those of its result, whatever was negotiated in between.
	case oupwire.MethodTurnStarted:
		t := m.turn(text(params, "turn_id"))
		t.started, t.whole = true, true
		if t.here && !m.replays(params) {
			m.add(index, "OUP-TURN-002", "turn/started comes before the answer to turn/start")
			t.here = false
		}
	case oupwire.MethodProjectionEnvelope:
		m.envelope(index, params)
	case oupwire.MethodTaskUpdated:
		m.taskMoves(index, params)
	case oupwire.MethodTaskOutputDelta:
		m.taskWrites(index, params)
	case oupwire.MethodBackgroundActivity:
		m.activity(index, params)
	case oupwire.MethodProtocolReplayLossy:
		m.tasksLost()
	case oupwire.MethodTurnSteerDropped:
		t := m.turn(text(params, "turn_id"))
		if t.ended && !m.replays(params) {
			m.add(index, "OUP-STEER-006", "turn/steer_dropped comes behind the end of its turn")
		}
		t.dropped += len(list(params, "inputs"))
	case oupwire.MethodApprovalRequested:
		id := text(params, "approval_id")
		if text(params, "title") == "" || text(params, "body") == "" {
			m.add(index, "OUP-APPROVAL-002", "a request cannot be shown without a title and a body")
		}
		if _, again := m.requests[id]; !again {
			m.requests[id] = text(params, "turn_id")
		}
		m.fresh(index, method, id)
	case oupwire.MethodApprovalDecided, oupwire.MethodApprovalCancelled:
		id := text(params, "approval_id")
		m.answered[id] = true
		m.requests[id] = ""
		if t := m.turns[text(params, "turn_id")]; t != nil && t.ended && method == oupwire.MethodApprovalCancelled && !m.replays(params) {
			m.add(index, "OUP-TURN-015", "approval/cancelled comes behind the end of its turn")
		}
	case oupwire.MethodUserQuestionRequested:
		m.questions(index, params)
		m.fresh(index, method, text(params, "question_id"))
	}
}

func (m *Monitor) replays(params object) bool {
	s := m.opened[text(params, "session_id")]
	return s == nil || s.replay
}

// fresh looks at an id that the server made.
func (m *Monitor) fresh(index int, method, id string) {
	if len(id) == 36 && id[14] != '7' {
		m.add(index, "OUP-PROGRESS-013", "the id %s of %s is no UUID of version 7", id, method)
	}
}

func (m *Monitor) questions(index int, params object) {
	questions := list(params, "questions")
	if n := len(questions); n < 1 || n > oupwire.MaxQuestions {
		m.add(index, "OUP-QUESTION-002", "%d questions in one request, want 1 to %d", n, oupwire.MaxQuestions)
	}
	for _, each := range questions {
		q, _ := each.(object)
		if n := len(list(q, "options")); n < 2 || n > oupwire.MaxQuestionOptions {
			m.add(index, "OUP-QUESTION-002", "a question has %d answers on offer, want 2 to %d", n, oupwire.MaxQuestionOptions)
		}
		if n := len([]rune(text(q, "header"))); n > oupwire.MaxQuestionHeaderCharacters {
			m.add(index, "OUP-QUESTION-003", "the head of a question has %d characters, at most %d", n, oupwire.MaxQuestionHeaderCharacters)
		}
		if free, _ := q["allow_free_text"].(bool); !free {
			m.add(index, "OUP-QUESTION-004", "allow_free_text is not true")
		}
	}
}

// envelope judges one piece of a stream.
func (m *Monitor) envelope(index int, params object) {
	payload := child(params, "payload")
	kind, data := text(payload, "type"), child(payload, "data")
	id, thread, seq := text(params, "turn_id"), text(params, "thread_id"), number(params, "seq")
	if kind == "background/spawn_complete" {
		if parent := text(data, "parent_turn_id"); thread != parent+":background:"+text(data, "task_id") || seq != 1 {
			m.add(index, "OUP-STREAM-011", "the stream of late work is %q with number %d, want PARENT:background:TASK with 1", thread, seq)
		}
		return
	}
	if thread != id {
		m.add(index, "OUP-STREAM-003", "the stream of the turn %s is called %q", id, thread)
	}
	t := m.turn(id)
	if m.replays(params) {
		switch {
		case t.number > 0 && seq <= t.number:
			return // told again
		case t.number == 0:
			t.number = seq - 1
			t.whole = seq == 1
		}
	}
	if t.here {
		m.add(index, "OUP-TURN-002", "a piece of the turn comes before the answer to turn/start")
		t.here = false
	} else if t.ours && !t.started && !m.replays(params) {
		m.add(index, "OUP-TURN-002", "a piece of the turn comes before turn/started")
	}
	if t.number == 0 && !t.whole && seq > 1 {
		t.number = seq - 1 // a session that was opened in the middle of it
	}
	if t.ended {
		rule := "OUP-STREAM-009"
		if kind == "turn_terminal" {
			rule = "OUP-STREAM-010"
		}
		m.add(index, rule, "%s comes behind the end of its stream", kind)
		return
	}
	if seq != t.number+1 {
		m.add(index, "OUP-STREAM-004", "%s has the number %d behind %d", kind, seq, t.number)
	}
	t.number = max(t.number, seq)
	m.piece(index, t, kind, params, data)
}

// piece judges what one piece says.
func (m *Monitor) piece(index int, t *turn, kind string, params, data object) {
	if t.number == 1 && kind != "user_message" && !strings.HasPrefix(text(params, "thread_id"), "appended-") && t.ours {
		m.add(index, "OUP-STREAM-005", "the stream begins with %s, want user_message", kind)
	}
	if _, there := params["client_message_id"]; there && kind != "user_message" {
		m.add(index, "OUP-STREAM-006", "client_message_id stands with %s", kind)
	}
	call := text(data, "tool_call_id")
	switch kind {
	case "user_message":
		t.users++
	case "assistant_delta":
		t.segments[text(data, "assistant_segment_id")] += text(data, "text")
	case "assistant_persisted":
		said, heard := t.segments[text(data, "assistant_segment_id")]
		whole := text(data, "text")
		if data["truncated"] == true && strings.HasPrefix(said, whole) {
			whole = said // a frame holds no more of it
		}
		if heard && t.whole && said != whole && whole != "" {
			m.add(index, "OUP-STREAM-008", "assistant_persisted holds %.60q, and its pieces say %.60q", text(data, "text"), said)
		}
	case "tool_start":
		if _, again := t.tools[call]; again {
			m.add(index, "OUP-STREAM-007", "the call %s starts twice", call)
		}
		t.tools[call] = true
		if n := len([]rune(text(data, "arguments_preview"))); n > oupwire.MaxArgumentsPreviewCharacters {
			m.add(index, "OUP-STREAM-012", "arguments_preview has %d characters, at most %d", n, oupwire.MaxArgumentsPreviewCharacters)
		}
	case "tool_progress", "tool_end":
		if open := t.tools[call]; !open && t.whole {
			m.add(index, "OUP-STREAM-007", "%s of the call %s, which is not open", kind, call)
		}
		if kind == "tool_end" {
			t.tools[call] = false
			m.toolEnd(index, data)
		}
	case "turn_terminal":
		m.terminal(index, t, params, data)
	}
}

func (m *Monitor) toolEnd(index int, data object) {
	for name, most := range map[string]int{"error": oupwire.MaxToolErrorCharacters, "output_preview": oupwire.MaxOutputPreviewCharacters} {
		if n := len([]rune(text(data, name))); n > most {
			m.add(index, "OUP-STREAM-012", "%s has %d characters, at most %d", name, n, most)
		}
	}
}

// orphaned is the code of a turn whose server died, and which cannot end its calls.
var orphaned = func() string {
	for _, row := range oupwire.TableTurnFailureCodes {
		if strings.HasPrefix(row.Code, "orphaned") {
			return row.Code
		}
	}
	panic("oupmonitor: the table has no code for orphans")
}()

// terminal judges what is still open when a turn ends.
func (m *Monitor) terminal(index int, t *turn, params, data object) {
	t.ended = true
	id := text(params, "turn_id")
	died := text(child(data, "error"), "code") == orphaned
	for call, open := range t.tools {
		if open && !died {
			m.add(index, "OUP-STREAM-007", "the turn ends, and the call %s has not", call)
		}
	}
	for approval, of := range m.requests {
		if of == id && !m.replays(params) {
			m.add(index, "OUP-TURN-015", "the turn ends, and the request %s was neither decided nor cancelled", approval)
			m.requests[approval] = ""
		}
	}
	if t.whole && t.steers > 0 && t.users-1+t.dropped != t.steers {
		m.add(index, "OUP-STEER-005", "of %d steers %d were taken and %d dropped", t.steers, t.users-1, t.dropped)
	}
}

// retired is the status of a method and the origin of a feature that no server stands behind any more.
const retired = "retired"

// capabilities judges what a server says of itself.
func (m *Monitor) capabilities(index int, c object) {
	if c == nil {
		return
	}
	v := child(c, "version")
	if text(v, "protocol") != protocol("identifier") || number(v, "schema_version") != oupwire.SchemaVersion || text(v, "jsonrpc") != jsonrpc {
		m.add(index, "OUP-VERSION-001", "the version is protocol %q, schema_version %d, jsonrpc %q, want %q, %d, %q",
			text(v, "protocol"), number(v, "schema_version"), text(v, "jsonrpc"), protocol("identifier"), oupwire.SchemaVersion, jsonrpc)
	}
	supported := words(c, "supported_methods")
	m.offered = supported
	refused := map[string]string{}
	for _, each := range list(c, "unsupported") {
		row, _ := each.(object)
		refused[text(row, "method")] = text(row, "reason")
	}
	notifications := words(c, "supported_notifications")
	for i := range oupwire.Methods {
		row := &oupwire.Methods[i]
		if row.Direction != wirejson.ClientToServer {
			if row.Status != retired && !slices.Contains(notifications, row.Name) {
				m.add(index, "OUP-CAPABILITY-004", "supported_notifications lacks %s", row.Name)
				break
			}
			continue
		}
		if row.Notification {
			continue
		}
		m.listed(index, row, slices.Contains(supported, row.Name), refused)
	}
	m.features(index, words(c, "supported_features"))
}

// listed judges where one method is listed.
func (m *Monitor) listed(index int, row *wirejson.Method, supported bool, refused map[string]string) {
	reason, listed := refused[row.Name]
	hello := row.Name == oupwire.MethodClientHello || row.Name == oupwire.MethodConfigCapabilitiesList
	switch {
	case hello && (!supported || listed) && !(m.narrow && row.Name == oupwire.MethodConfigCapabilitiesList):
		m.add(index, "OUP-CAPABILITY-003", "%s is not listed as supported", row.Name)
	case row.Name == oupwire.MethodServerShutdown && supported && m.transport == "stdio":
		m.add(index, "OUP-CAPABILITY-006", "%s is listed over standard streams", row.Name)
	case supported && listed:
		m.add(index, "OUP-CAPABILITY-002", "%s is listed as supported and as unsupported", row.Name)
	case !supported && (!listed || strings.TrimSpace(reason) == ""):
		m.add(index, "OUP-CAPABILITY-002", "%s is not supported, and no reason is given", row.Name)
	case supported && row.Gate != "-" && m.asked:
		for need := range strings.SplitSeq(row.Gate, "+") {
			if !slices.Contains(m.named, need) && oupwire.LookupFeature(need).Origin == "registry" {
				m.add(index, "OUP-FEATURE-006", "%s is supported, and its feature %s is not in force", row.Name, need)
			}
		}
	}
}

// features judges the list of features.
func (m *Monitor) features(index int, shown []string) {
	at := -1
	for _, name := range shown {
		f := oupwire.LookupFeature(name)
		switch {
		case f == nil:
			continue // one more
		case f.Origin == retired:
			m.add(index, "OUP-FEATURE-010", "the retired feature %s is advertised", name)
			continue
		case f.Origin != "registry":
			continue
		case m.asked && !slices.Contains(m.named, name):
			m.add(index, "OUP-FEATURE-005", "the feature %s is advertised and was not named", name)
		}
		place := slices.IndexFunc(oupwire.Features, func(g wirejson.Feature) bool { return g.Name == name })
		if m.asked && place < at {
			m.add(index, "OUP-FEATURE-003", "the feature %s is not in the order of the registry", name)
		}
		at = place
		for _, need := range f.DependsOn {
			if !slices.Contains(shown, need) {
				m.add(index, "OUP-FEATURE-007", "the feature %s is in force without %s", name, need)
			}
		}
	}
	for _, name := range []string{oupwire.FeaturePermissionProfileV1, oupwire.FeatureRuntimePolicyStampV1} {
		if !slices.Contains(shown, name) {
			m.add(index, "OUP-FEATURE-009", "the feature %s is not advertised", name)
		}
	}
}

func words(o object, name string) []string {
	var out []string
	for _, each := range list(o, name) {
		word, _ := each.(string)
		out = append(out, word)
	}
	return out
}
