// Package task supervises shell commands that run beside the conversation: they are started by a tool, go on
// when their turn or their client has ended, are watched and cancelled by clients, and end with the server. What
// they were and what they wrote outlives the process.
//
// Sheet: OUP services 1. Machine: machine_task.
package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// What can be wrong with a request for a task.
var (
	ErrUnknown     = errors.New("no such task in this session")
	ErrEnded       = errors.New("the task has ended already")
	ErrStillActive = errors.New("the task has not ended yet; cancel it or wait for its end")
	ErrNoArtifact  = errors.New("the task has no such artifact")
	ErrClosed      = errors.New("the server is ending; no task is started any more")
)

// BusyError is a session with as many tasks at work as it may have.
type BusyError struct{ Most int }

// Error names the bound.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%d tasks are at work in this session, which is the most; wait for one or cancel it", e.Most)
}

// Reasons why a task failed that is not its own doing.
const (
	orphaned = "orphaned_by_restart"
	shutDown = "server_shutdown"
)

// Spec says what to run.
type Spec struct {
	Session   string // key of the session that owns it
	Turn      string // it comes from, or empty
	Tool      string // that made it, or empty
	CallID    string // of the tool, or empty
	Title     string // for people; the command where it is empty
	Role      string // free label, or empty
	Source    oupwire.TaskSource
	Command   string // of the shell
	Workspace string // absolute path of the folder it runs in
}

// Record is what is kept of a task.
type Record struct {
	ID string
	Spec
	State          oupwire.TaskRuntimeState
	Summary        string
	Error          string // why it failed
	Detail         string // of the step
	Started        time.Time
	Updated        time.Time
	Ended          time.Time // zero while it has not ended
	RelaunchedFrom string
	Artifacts      []string // handles, ascending
}

// Terminal reports whether the task has ended.
func (r *Record) Terminal() bool {
	switch r.State {
	case oupwire.TaskRuntimeStateCompleted, oupwire.TaskRuntimeStateFailed, oupwire.TaskRuntimeStateCancelled:
		return true
	}
	return false
}

// labels are the three words that stand beside the state. Source: services 1.1.
func (r *Record) labels() (status oupwire.TaskStatusLabel, lifecycle oupwire.TaskLifecycleLabel, runtime oupwire.TaskRuntimeLabel) {
	switch r.State {
	case oupwire.TaskRuntimeStatePending:
		return oupwire.TaskStatusLabelSpawned, oupwire.TaskLifecycleLabelQueued, oupwire.TaskRuntimeLabelSpawned
	case oupwire.TaskRuntimeStateCompleted:
		return oupwire.TaskStatusLabelCompleted, oupwire.TaskLifecycleLabelReady, oupwire.TaskRuntimeLabelCompleted
	case oupwire.TaskRuntimeStateFailed:
		return oupwire.TaskStatusLabelFailed, oupwire.TaskLifecycleLabelFailed, oupwire.TaskRuntimeLabelFailed
	case oupwire.TaskRuntimeStateCancelled:
		return oupwire.TaskStatusLabelCancelled, oupwire.TaskLifecycleLabelCancelled, oupwire.TaskRuntimeLabelCancelled
	}
	return oupwire.TaskStatusLabelRunning, oupwire.TaskLifecycleLabelRunning, oupwire.TaskRuntimeLabelExecutingTool
}

// Entry is the row of task/list.
func (r *Record) Entry() oupwire.TaskListEntry {
	status, lifecycle, runtime := r.labels()
	e := oupwire.TaskListEntry{
		ID: oupwire.TaskId(r.ID), ToolName: r.Tool, ToolCallID: r.CallID, State: r.State, Status: status, LifecycleState: lifecycle,
		RuntimeState: runtime, Role: optional(r.Role), Summary: optional(r.Summary), ArtifactCount: wirejson.Some(int64(len(r.Artifacts))),
		StartedAt: Stamp(r.Started), UpdatedAt: Stamp(r.Updated), Error: optional(r.Error),
		SessionKey: wirejson.Some(oupwire.SessionKey(r.Session)),
	}
	if r.Source != "" {
		e.Source = wirejson.Some(r.Source)
	}
	if r.Detail != "" {
		e.RuntimeDetail = wirejson.Some(json.RawMessage(wirejson.AppendString(nil, r.Detail)))
	}
	if !r.Ended.IsZero() {
		e.CompletedAt = wirejson.Some(Stamp(r.Ended))
	}
	if len(r.Artifacts) > 0 {
		e.OutputFiles = wirejson.Some(r.Artifacts)
	}
	return e
}

// Row is the row of session/tasks.list.
func (r *Record) Row() oupwire.SessionTask {
	status, _, _ := r.labels()
	row := oupwire.SessionTask{
		ID: r.ID, ToolName: r.Tool, Status: string(status), StartedAt: Stamp(r.Started),
		CompletedAt: wirejson.Null[oupwire.Timestamp](), Error: wirejson.Null[string](),
		SessionKey: wirejson.Some(oupwire.SessionKey(r.Session)),
	}
	if r.CallID != "" {
		row.ToolCallID = wirejson.Some(oupwire.ToolCallId(r.CallID))
	}
	if !r.Ended.IsZero() {
		row.CompletedAt = wirejson.Some(Stamp(r.Ended))
	}
	if r.Error != "" {
		row.Error = wirejson.Some(r.Error)
	}
	if len(r.Artifacts) > 0 {
		row.OutputFiles = wirejson.Some(r.Artifacts)
	}
	return row
}

// Update is the event that tells where the task stands.
//
// OUP-TASK-015, OUP-TASK-036.
func (r *Record) Update() oupwire.TaskUpdatedEvent {
	e := oupwire.TaskUpdatedEvent{
		SessionID: oupwire.SessionKey(r.Session), Topic: topic(r.Session), TaskID: oupwire.TaskId(r.ID), Title: r.Title, State: r.State,
		RuntimeDetail: optional(r.Detail), Role: optional(r.Role), Summary: optional(r.Summary),
		ArtifactCount: wirejson.Some(int64(len(r.Artifacts))), StartedAt: wirejson.Some(Stamp(r.Started)),
	}
	if r.CallID != "" {
		e.ToolCallID = wirejson.Some(oupwire.ToolCallId(r.CallID))
	}
	if r.Source != "" {
		e.Source = wirejson.Some(r.Source)
	}
	if r.Turn != "" {
		e.TurnID = wirejson.Some(oupwire.TurnId(r.Turn))
	}
	if r.RelaunchedFrom != "" {
		e.RelaunchedFrom = wirejson.Some(oupwire.TaskId(r.RelaunchedFrom))
	}
	return e
}

// topic is what a key has behind its mark.
func topic(session string) wirejson.Opt[oupwire.Topic] {
	if _, text, has := strings.Cut(session, "#"); has {
		return wirejson.Some(oupwire.Topic(text))
	}
	return wirejson.Opt[oupwire.Topic]{}
}

func optional(text string) wirejson.Opt[string] {
	if text == "" {
		return wirejson.Opt[string]{}
	}
	return wirejson.Some(text)
}

// Stamp spells a time as the protocol does.
func Stamp(t time.Time) oupwire.Timestamp {
	return oupwire.Timestamp(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}
