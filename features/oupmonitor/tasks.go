package oupmonitor

import (
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// work is a task as it is heard.
type work struct {
	began time.Time // zero: nothing was said of it
	end   string    // its terminal state
	whole bool      // heard from its beginning, or from a piece of its output on
	at    int64     // where the newest piece of its output begins
	next  int64     // where the next one does
}

func (m *Monitor) task(id string) *work {
	if m.tasks[id] == nil {
		m.tasks[id] = &work{}
	}
	return m.tasks[id]
}

// terminal states are those that a task does not leave.
func ended(state string) bool {
	switch oupwire.TaskRuntimeState(state) {
	case oupwire.TaskRuntimeStateCompleted, oupwire.TaskRuntimeStateFailed, oupwire.TaskRuntimeStateCancelled:
		return true
	}
	return false
}

// taskMoves judges task/updated.
func (m *Monitor) taskMoves(index int, params object) {
	id, state := text(params, "task_id"), text(params, "state")
	t := m.task(id)
	m.taskBegan(index, id, text(params, "started_at"))
	if m.replays(params) {
		if ended(state) {
			t.end = state
		}
		return
	}
	if state == string(oupwire.TaskRuntimeStatePending) && t.end == "" {
		t.whole = true
	}
	m.taskStays(index, id, state)
}

// taskStays holds a task that has ended to its end.
func (m *Monitor) taskStays(index int, id, state string) {
	t := m.task(id)
	switch {
	case t.end == "":
		if ended(state) {
			t.end = state
		}
	case state == t.end:
	case t.end == string(oupwire.TaskRuntimeStateCancelled):
		m.add(index, "OUP-TASK-006", "the task %s was cancelled, and is %s then", id, state)
	default:
		m.add(index, "OUP-TASK-005", "the task %s has ended %s, and is %s then", id, t.end, state)
	}
}

// taskBegan holds a task to one beginning.
func (m *Monitor) taskBegan(index int, id, said string) {
	began, err := time.Parse(time.RFC3339Nano, said)
	if err != nil {
		return
	}
	t := m.task(id)
	if !t.began.IsZero() && !began.Equal(t.began) {
		m.add(index, "OUP-TASK-036", "the task %s began at %s, and now at %s", id, t.began.Format(time.RFC3339Nano), said)
	}
	t.began = began
}

// taskWrites judges a piece of the output of a task. What is replayed is where it goes on from.
func (m *Monitor) taskWrites(index int, params object) {
	id := text(params, "task_id")
	t := m.task(id)
	from := number(child(params, "cursor"), "offset")
	if t.whole && !m.replays(params) {
		switch {
		case from < t.at:
			m.add(index, "OUP-TASK-030", "a piece of output of the task %s begins at %d, behind one that begins at %d", id, from, t.at)
		case from < t.next:
			m.add(index, "OUP-TASK-031", "a piece of output of the task %s begins at %d, and the one before ends at %d", id, from, t.next)
		case from > t.next:
			m.add(index, "OUP-TASK-032", "output of the task %s from byte %d to %d is not told, and %s does not say so", id, t.next, from, oupwire.MethodProtocolReplayLossy)
		}
	}
	t.whole, t.at, t.next = true, from, from+int64(len(text(params, "text")))
}

// tasksLost forgets where output goes on, because pieces of it may be among what was lost.
func (m *Monitor) tasksLost() {
	for _, t := range m.tasks {
		t.whole = false
	}
}

// tasksListed judges the rows of task/list.
func (m *Monitor) tasksListed(index int, result object) {
	for _, each := range list(result, "tasks") {
		row, _ := each.(object)
		id, state := text(row, "id"), text(row, "state")
		if want := stateOf(row); state != want {
			m.add(index, "OUP-TASK-004", "the task %s is %s, and its labels %s, %s and %s make it %s", id, state, text(row, "lifecycle_state"), text(row, "runtime_state"), text(row, "status"), want)
		}
		m.taskBegan(index, id, text(row, "started_at"))
		if m.task(id).end != "" {
			m.taskStays(index, id, state)
		}
	}
}

// stateOf is the state that follows from the labels of a row.
func stateOf(row object) string {
	for _, name := range []string{"lifecycle_state", "runtime_state", "status"} {
		for _, known := range oupwire.TableTaskStateLabels {
			if known.Label == text(row, name) {
				return known.State
			}
		}
	}
	return string(oupwire.TaskRuntimeStateRunning)
}
