package oupreferee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// What turns do that start a task.
const (
	startsTask        = "starts a task"
	startsEndlessTask = "starts a task that goes on"
)

// taskPhrases are those about tasks.
func taskPhrases() []phrase {
	return []phrase{
		{`a task starts( that goes on)?`, (*world).startsTask},
		{`the task writes something`, (*world).taskWrites},
		{`the task (?:"([^"]+)" )?ends (completed|failed|cancelled)`, (*world).taskEnds},
		{`(each piece|all) of what the task has written was told(?: where it stands)?`, (*world).taskToldAll},
		{`the task is told once at most`, (*world).taskToldOnce},
		{`each artifact of the task is shown as what it is`, (*world).artifactsShown},
		{`tasks are listed, or nobody looks after them`, (*world).tasksListed},
	}
}

// startsTask has a turn start a task, lets the turn do so where it asks, and waits for its end.
func (w *world) startsTask(goesOn string) error {
	known := w.tasksHeard()
	kind := startsTask
	if goesOn != "" {
		kind = startsEndlessTask
	}
	if err := w.startsTurn(kind); err != nil {
		return err
	}
	if err := w.letsStart(known); err != nil {
		return err
	}
	if err := w.turnEnds("completed", ""); err != nil {
		return missing("%v", err)
	}
	if w.vars["task"] != nil {
		w.vars["task before"] = w.vars["task"]
	}
	for id := range w.tasksHeard() {
		if !known[id] {
			w.vars["task"] = id
		}
	}
	return nil
}

// letsStart waits for a task that was not known, and approves what the turn asks for on the way.
func (w *world) letsStart(known map[string]bool) error {
	decided := map[any]bool{}
	for {
		var asked any
		err := w.until(w.cur, func() bool {
			for _, f := range w.cur.frames {
				params, _ := f.root["params"].(object)
				id, _ := params["task_id"].(string)
				switch {
				case f.method() == oupwire.MethodTaskUpdated && !known[id]:
					asked = nil
					return true
				case f.method() == oupwire.MethodApprovalRequested && params["turn_id"] == w.vars["turn"] && !decided[params["approval_id"]]:
					asked = params["approval_id"]
				}
			}
			return asked != nil
		})
		if err != nil {
			return missing("no task starts: %s does not come within %s", oupwire.MethodTaskUpdated, w.setup.Wait)
		}
		if asked == nil {
			return nil
		}
		decided[asked] = true
		w.vars["approval"] = asked
		if err := w.decides("approves", ""); err != nil {
			return err
		}
	}
}

// tasksHeard are the tasks that the connection was told of.
func (w *world) tasksHeard() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := map[string]bool{}
	for _, f := range w.cur.frames {
		params, _ := f.root["params"].(object)
		if id, is := params["task_id"].(string); is && f.method() == oupwire.MethodTaskUpdated {
			ids[id] = true
		}
	}
	return ids
}

func (w *world) taskWrites() error {
	if _, _, err := w.seek(w.cur, 0, oupwire.MethodTaskOutputDelta, object{"task_id": w.vars["task"]}); err != nil {
		return missing("the task writes nothing within %s", w.setup.Wait)
	}
	return nil
}

// taskEnds waits for the end of a task, and of all that was told before it.
func (w *world) taskEnds(name, end string) error {
	if name == "" {
		name = "task"
	}
	var state any
	err := w.until(w.cur, func() bool {
		for _, f := range w.cur.frames {
			params, _ := f.root["params"].(object)
			if f.method() != oupwire.MethodTaskUpdated || params["task_id"] != w.vars[name] {
				continue
			}
			switch state = params["state"]; state {
			case "completed", "failed", "cancelled":
				w.event = params
				return true
			}
		}
		return false
	})
	if err != nil {
		return noAnswer("the task does not end within %s%s", w.setup.Wait, w.why(w.cur))
	}
	if state != end {
		return failed("the task ends %s, want %s", short(state), end)
	}
	return nil
}

// maxStretches bounds how often the output of a task is read.
const maxStretches = 1024

// written reads all that the task has written.
func (w *world) written() (string, error) {
	var text strings.Builder
	for range maxStretches {
		w.note()
		r, err := w.call(w.cur, oupwire.MethodTaskOutputRead, object{
			"session_id": w.vars["session"], "task_id": w.vars["task"], "cursor": object{"offset": text.Len()}, "limit_bytes": oupwire.MaxTaskOutputBytes,
		})
		if err != nil {
			return "", err
		}
		if err := w.offered(r); err != nil {
			return "", err
		}
		if r.fault != nil {
			return "", missing("%s is refused: %s", oupwire.MethodTaskOutputRead, short(r.fault))
		}
		part, _ := at(r.result, "text")
		stretch, _ := part.(string)
		if stretch == "" {
			return text.String(), nil
		}
		text.WriteString(stretch)
	}
	return "", missing("the output of the task has no end within %d stretches", maxStretches)
}

// taskToldAll holds the pieces of output that came to what there is to be read: each stands where it says, and together
// they are all of it, but for what was said to be lost.
func (w *world) taskToldAll(which string) error {
	whole, err := w.written()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	told := 0
	for _, f := range w.cur.frames {
		params, _ := f.root["params"].(object)
		if f.method() == oupwire.MethodProtocolReplayLossy {
			told = len(whole)
		}
		if f.method() != oupwire.MethodTaskOutputDelta || params["task_id"] != w.vars["task"] {
			continue
		}
		var offset int
		from, _ := at(params, "cursor.offset")
		if _, err := fmt.Sscan(fmt.Sprint(from), &offset); err != nil {
			return failed("a piece of output begins at %s", short(from))
		}
		piece, _ := params["text"].(string)
		if offset < 0 || offset > len(whole) || !strings.HasPrefix(whole[offset:], piece) {
			if which == "all" {
				continue
			}
			return failed("the piece of output %s says that it begins at byte %d, and does not stand there", short(piece), offset)
		}
		told = max(told, offset+len(piece))
	}
	if which == "all" && told < len(whole) {
		return failed("of %d bytes of output %d were told, and %s does not say that others were lost", len(whole), told, oupwire.MethodProtocolReplayLossy)
	}
	return nil
}

// taskToldOnce counts what was told of the task since the newest call.
func (w *world) taskToldOnce() error {
	from := w.cur.mark
	if err := w.fence(w.cur); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	told := 0
	for _, f := range w.cur.frames[from:] {
		params, _ := f.root["params"].(object)
		if f.method() == oupwire.MethodTaskUpdated && params["task_id"] == w.vars["task"] {
			told++
		}
	}
	if told > 1 {
		return failed("%s comes %d times for a task that has not moved: what was told on open is replayed", oupwire.MethodTaskUpdated, told)
	}
	return nil
}

// artifactsShown reads every artifact: what is text has content and both cursors, and all else has none of the three. Each
// kind is there. What is text is remembered.
func (w *world) artifactsShown() error {
	whose := object{"session_id": w.vars["session"], "task_id": w.vars["task"]}
	w.note()
	r, err := w.call(w.cur, oupwire.MethodTaskArtifactList, whose)
	if err != nil {
		return err
	}
	w.answer = r
	if err := w.offered(r); err != nil {
		return err
	}
	all, _ := at(r.result, "artifacts")
	artifacts, _ := all.([]any)
	texts, others := 0, 0
	for _, each := range artifacts {
		id, _ := at(each, "id")
		w.note()
		r, err := w.call(w.cur, oupwire.MethodTaskArtifactRead, object{"session_id": whose["session_id"], "task_id": whose["task_id"], "artifact_id": id})
		if err != nil {
			return err
		}
		if r.fault != nil {
			return failed("%s is refused for the artifact %s: %s", oupwire.MethodTaskArtifactRead, short(id), short(r.fault))
		}
		var has []string
		for _, name := range []string{"content", "cursor", "next_cursor"} {
			if v, there := at(r.result, name); there && v != nil {
				has = append(has, name)
			}
		}
		switch len(has) {
		case 0:
			others++
		case 3:
			texts++
			w.vars["artifact"] = id
			w.vars["content"], _ = at(r.result, "content")
		default:
			return failed("the artifact %s has %s, want content, cursor and next_cursor, or none of them", short(id), strings.Join(has, " and "))
		}
	}
	if texts == 0 || others == 0 {
		return failed("of %d artifacts %d are shown as text; the task leaves one that is text and one that is not", len(artifacts), texts)
	}
	return nil
}

// tasksListed asks for the tasks of a session that is there.
func (w *world) tasksListed() error {
	w.note()
	r, err := w.call(w.cur, oupwire.MethodTaskList, object{"session_id": w.vars["session"]})
	if err != nil {
		return err
	}
	w.answer = r
	if r.fault == nil {
		return nil
	}
	if err := w.offered(r); err != nil {
		return err
	}
	d, err := w.unlike(r, oupwire.MethodTaskList, oupwire.ErrRuntimeNotReady.Name, "runtime_unavailable", "")
	switch {
	case err != nil:
		return errored("%v", err)
	case d != "":
		return failed("%s", d)
	}
	return nil
}

// isHandle reports whether a name of a file is a handle, and not a path of the host.
func isHandle(name string) bool {
	driven := len(name) > 1 && name[1] == ':'
	return name != "" && !driven && !strings.HasPrefix(name, "/") && !strings.Contains(name, `\`) && !slices.Contains(strings.Split(name, "/"), "..")
}
