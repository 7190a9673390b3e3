package oupserver

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The states of a task that those of a turn have no word for.
const (
	queued = string(oupwire.TaskRuntimeStatePending)
	atWork = string(oupwire.TaskRuntimeStateRunning)
	failed = string(oupwire.TaskRuntimeStateFailed)
)

// task is work that a turn has started and that goes on beside the conversation. What it does is known from the
// start, so that nothing of it has to wait.
type task struct {
	ses                     *session
	id, turn, call          string
	from                    string // the one that it repeats
	state                   string
	started, updated, ended string
	goesOn                  bool // does not end by itself
	output                  string
	files                   []file
}

// taskTool is what the model uses to start a task.
const taskTool = "begin"

// startTask has the model start a task, which is at work once the turn has ended.
func (t *turn) startTask(goesOn bool) {
	var made *task
	t.tool(taskTool, "{}", nil, func() (string, error) {
		made = &task{turn: t.id, call: fmt.Sprintf("call-%s-%d", t.id, t.calls), goesOn: goesOn}
		t.ses.register(made)
		return "begun", nil
	})
	t.say("It is at work.")
	if made != nil {
		t.later = append(t.later, made.work)
	}
}

// late tells what comes behind the end of a turn, in a stream of its own.
func (t *turn) late(row object, source string) {
	parent, work := t.id, t.ses.s.newID()
	t.id = parent + ":background:" + work
	if t.ses.s.does("counts late work on from its turn") {
		t.number = 7
	}
	t.envelope("background/spawn_complete", object{
		"parent_turn_id": parent, "task_id": work, "content": row["content"], "message_id": row["message_id"], "source": source, "persisted_at": row["persisted_at"],
	})
}

func (ses *session) register(k *task) {
	k.ses, k.id, k.state, k.started = ses, ses.s.newID(), queued, ses.s.now()
	ses.tasks = append(ses.tasks, k)
	k.tell()
}

// move gives a task another state. One that has ended stays as it is.
func (k *task) move(state string) {
	if k.over() && !k.ses.s.does("hears workers of tasks that have ended") && !k.ses.s.does("lets a worker end what was cancelled") {
		return
	}
	k.state = state
	k.tell()
}

func (k *task) over() bool { return slices.Contains([]string{completed, failed, cancelled}, k.state) }

func (k *task) tell() {
	k.updated = k.ses.s.now()
	if k.over() && k.ended == "" {
		k.ended = k.updated
	}
	k.ses.tell(oupwire.MethodTaskUpdated, k.update())
}

// update is what an event tells of the task.
func (k *task) update() object {
	s := k.ses.s
	p := object{
		"session_id": k.ses.key, "task_id": k.id, "turn_id": k.turn, "tool_call_id": k.call, "title": "Work", "state": k.state,
		"artifact_count": len(k.files), "started_at": k.started,
	}
	if s.does("begins tasks anew with every word") {
		p["started_at"] = k.updated
	}
	if k.from != "" && (k.state == queued || !s.does("names a predecessor once")) {
		p["relaunched_from"] = k.from
	}
	return p
}

// work is what the task does.
func (k *task) work() {
	if k.over() {
		return
	}
	s := k.ses.s
	k.move(atWork)
	pieces := []string{"éé", " at work\n", strings.Repeat("o", oupwire.TaskOutputDefaultBytes)}
	if k.goesOn {
		pieces = pieces[:2]
	}
	var told []object
	for i, piece := range pieces {
		at := len(k.output)
		switch {
		case s.does("counts pieces of output"):
			at = i
		case s.does("counts output from one"):
			at++
		}
		told = append(told, object{"task_id": k.id, "cursor": object{"offset": at}, "text": piece})
		k.output += piece
	}
	switch {
	case s.does("tells output in another order"):
		slices.Reverse(told)
	case s.does("keeps the end of output to itself"):
		told = told[:len(told)-1]
	case s.does("loses a piece of output without a word"):
		told = slices.Delete(told, 0, 1)
	}
	for _, piece := range told {
		k.ses.tell(oupwire.MethodTaskOutputDelta, piece)
	}
	if k.goesOn {
		return
	}
	k.files = []file{{"kept/list.txt", "one\ntwo\n", true}, {"kept/picture.png", "\x00\x01", false}}
	if s.does("names files by their path") {
		k.files[0].handle = "/var/lib/server/kept/list.txt"
	}
	k.move(completed)
	if s.does("hears workers of tasks that have ended") {
		k.move(failed)
	}
}

// labels are the words beside the state.
func (k *task) labels() (status, lifecycle, runtime string) {
	switch k.state {
	case queued:
		return "spawned", "queued", "spawned"
	case atWork:
		return "running", "running", "executing_tool"
	case completed:
		return completed, "ready", completed
	}
	return k.state, k.state, k.state
}

func (k *task) handles() []any {
	var handles []any
	for _, f := range k.files {
		handles = append(handles, f.handle)
	}
	return handles
}

// entry is the row of task/list.
func (k *task) entry() object {
	status, lifecycle, runtime := k.labels()
	e := object{
		"id": k.id, "tool_name": taskTool, "tool_call_id": k.call, "state": k.state, "status": status, "lifecycle_state": lifecycle, "runtime_state": runtime,
		"artifact_count": len(k.files), "started_at": k.started, "updated_at": k.updated,
	}
	if k.ses.s.does("calls every task running") {
		e["state"] = atWork
	}
	if k.ended != "" {
		e["completed_at"] = k.ended
	}
	if len(k.files) > 0 {
		e["output_files"] = k.handles()
	}
	return e
}

// row is the row of session/tasks.list.
func (k *task) row() object {
	status, _, _ := k.labels()
	r := object{"id": k.id, "tool_name": taskTool, "status": status, "started_at": k.started, "completed_at": nil, "error": nil}
	if k.ended != "" {
		r["completed_at"] = k.ended
	}
	return r
}

func (ses *session) taskRows() []any {
	rows := []any{}
	for _, k := range ses.tasks {
		rows = append(rows, k.row())
	}
	return rows
}

// offerTasks tells a connection that opens a session of its tasks.
func (ses *session) offerTasks(c *conn) {
	for _, k := range ses.tasks {
		if ses.s.does("stores the tasks that it tells on open") {
			c.opened[ses] = true
			ses.tell(oupwire.MethodTaskUpdated, k.update())
			continue
		}
		p := k.update()
		if ses.topic != "" {
			p["topic"] = ses.topic
		}
		c.show(event{method: oupwire.MethodTaskUpdated, params: p})
	}
}

// settleTasks ends what was at work when the server died.
func (ses *session) settleTasks() {
	if ses.s.does("forgets tasks at a restart") {
		ses.tasks = nil
	}
	for _, k := range ses.tasks {
		if !k.over() && !ses.s.does("leaves tasks at work at a restart") {
			k.move(failed)
		}
	}
}

func (s *Server) taskList(_ *conn, p object) (object, *failure, []func()) {
	if s.does("has nobody to look after tasks") {
		return nil, fail(oupwire.ErrInternalError, "no supervisor", nil), nil
	}
	key, f := s.reach(oupwire.MethodTaskList, p)
	if f != nil {
		return nil, f, nil
	}
	if topic := strings.TrimSpace(text(p, "topic")); topic != "" && !s.does("lists tasks of every topic") {
		key = baseOf(key) + "#" + topic
	}
	ses := s.sessions[key]
	if ses == nil && s.does("lists no tasks of unknown sessions") {
		return nil, failKind(oupwire.ErrUnknownSession, "unknown_session", "no session", object{"session_id": key}), nil
	}
	entries := []any{}
	if ses != nil {
		for _, k := range ses.tasks {
			entries = append(entries, k.entry())
		}
	}
	result := object{"session_id": text(p, "session_id"), "tasks": entries}
	if s.does("echoes no session of tasks") {
		result["session_id"] = "another"
	}
	if topic, there := p["topic"]; there {
		result["topic"] = topic
	}
	return result, nil, nil
}

// findTask is the task that a request names.
func (s *Server) findTask(method string, p object) (*task, *failure) {
	key, f := s.reach(method, p)
	if f != nil {
		return nil, f
	}
	id := text(p, "task_id")
	for _, ses := range s.sessions {
		if ses.key != key && !s.does("lets every session look after a task") {
			continue
		}
		if i := slices.IndexFunc(ses.tasks, func(k *task) bool { return k.id == id }); i >= 0 {
			return ses.tasks[i], nil
		}
	}
	return nil, failKind(oupwire.ErrUnknownTaskID, "unknown_task", "no task "+id, object{"task_id": id})
}

func (s *Server) taskCancel(_ *conn, p object) (object, *failure, []func()) {
	id := text(p, "task_id")
	done := object{"task_id": id, "status": cancelled}
	if _, there := p["session_id"]; !there {
		if s.does("cancels without a session") {
			return done, nil, nil
		}
		return nil, fail(oupwire.ErrInvalidParams, "session_id is missing", nil), nil
	}
	if s.does("knows every task") {
		return done, nil, nil
	}
	k, f := s.findTask(oupwire.MethodTaskCancel, p)
	if f != nil {
		return nil, f, nil
	}
	if k.over() && !s.does("cancels what has ended") {
		return nil, failKind(oupwire.ErrInvalidParams, "task_already_terminal", "the task has ended", nil), nil
	}
	k.move(cancelled)
	if s.does("lets a worker end what was cancelled") {
		k.move(completed)
	}
	if s.does("says that a cancelled task has failed") {
		done["status"] = failed
	}
	return done, nil, nil
}

func (s *Server) taskRestart(_ *conn, p object) (object, *failure, []func()) {
	if _, there := p["session_id"]; !there && !s.does("starts a task again without its session") {
		return nil, fail(oupwire.ErrInvalidParams, "session_id is missing", nil), nil
	} else if !there {
		return object{"original_task_id": text(p, "task_id"), "new_task_id": s.newID()}, nil, nil
	}
	old, f := s.findTask(oupwire.MethodTaskRestartFromNode, p)
	if f != nil {
		return nil, f, nil
	}
	if !old.over() && !s.does("starts again what has not ended") {
		return nil, failKind(oupwire.ErrInvalidParams, "task_still_active", "the task has not ended", nil), nil
	}
	made := &task{turn: old.turn, call: old.call, from: old.id, goesOn: old.goesOn}
	old.ses.register(made)
	if s.does("forgets the task that it repeats") {
		old.ses.tasks = slices.DeleteFunc(old.ses.tasks, func(k *task) bool { return k == old })
	}
	result := object{"original_task_id": old.id, "new_task_id": made.id}
	if s.does("repeats a task under its own id") {
		result["new_task_id"] = old.id
	}
	if s.does("names a node that nobody has named") {
		result["from_node"] = "start"
	}
	return result, nil, []func(){made.work}
}

// stretch takes whole characters out of a text: at most so many bytes of it from an offset on.
func (s *Server) stretch(whole string, p object, most int) (from, to int) {
	if cursor := child(p, "cursor"); cursor != nil {
		n, _ := number(cursor, "offset")
		from = int(min(max(n, 0), int64(len(whole))))
	}
	for from < len(whole) && !utf8.RuneStart(whole[from]) && !s.does("begins inside a character") {
		from++
	}
	to = min(from+most, len(whole))
	for to < len(whole) && to > from && !utf8.RuneStart(whole[to]) && !s.does("ends inside a character") {
		to--
	}
	return from, to
}

func (s *Server) taskOutput(_ *conn, p object) (object, *failure, []func()) {
	if _, f := s.find(oupwire.MethodTaskOutputRead, p); f != nil && !s.does("looks for a task before its session") {
		return nil, f, nil
	}
	k, f := s.findTask(oupwire.MethodTaskOutputRead, p)
	if f != nil {
		return nil, f, nil
	}
	limit, there := number(p, "limit_bytes")
	if !there {
		limit = oupwire.TaskOutputDefaultBytes
		if s.does("reads everything that is there") {
			limit = oupwire.MaxTaskOutputBytes
		}
	}
	if n, _ := number(child(p, "cursor"), "offset"); n > int64(len(k.output)) && s.does("refuses a cursor behind the end") {
		return nil, fail(oupwire.ErrInvalidParams, "the output ends before", nil), nil
	}
	from, to := s.stretch(k.output, p, int(min(limit, oupwire.MaxTaskOutputBytes)))
	status, lifecycle, runtime := k.labels()
	result := object{
		"session_id": text(p, "session_id"), "task_id": k.id, "source": string(oupwire.TaskOutputSourceRuntimeProjection),
		"cursor": object{"offset": from}, "next_cursor": object{"offset": to}, "text": k.output[from:to], "bytes_read": to - from, "total_bytes": len(k.output),
		"truncated": to < len(k.output), "complete": to == len(k.output), "live_tail_supported": false, "is_snapshot_projection": false,
		"task_status": status, "lifecycle_state": lifecycle, "runtime_state": runtime, "limitations": []any{},
	}
	switch {
	case s.does("never has more to read"):
		result["truncated"] = false
	case s.does("calls every stretch the last"):
		result["complete"] = true
	case s.does("counts characters of output"):
		result["bytes_read"] = utf8.RuneCountInString(k.output[from:to])
	}
	return result, nil, nil
}
