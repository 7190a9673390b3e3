package methods

import (
	"context"
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/task"
	"github.com/octet-dev/octet/host/oup/transcript"
)

func (r *Rows) tasking() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodTaskList:            rpc.Handle(oupwire.DecodeTaskListParams, later(r.taskList)),
		oupwire.MethodTaskCancel:          rpc.Handle(oupwire.DecodeTaskCancelParams, later(r.taskCancel)),
		oupwire.MethodTaskRestartFromNode: rpc.Handle(oupwire.DecodeTaskRestartFromNodeParams, r.taskRestart),
		oupwire.MethodTaskOutputRead:      rpc.Handle(oupwire.DecodeTaskOutputReadParams, later(r.taskOutput)),
		oupwire.MethodTaskArtifactList:    rpc.Handle(oupwire.DecodeTaskArtifactListParams, later(r.artifacts)),
		oupwire.MethodTaskArtifactRead:    rpc.Handle(oupwire.DecodeTaskArtifactReadParams, later(r.artifact)),
	}
}

// taskList lists tasks. A session that is not there has none.
//
// Rules: OUP-TASK-001, OUP-TASK-002, OUP-TASK-003.
func (r *Rows) taskList(_ context.Context, call *rpc.Call, p oupwire.TaskListParams) (oupwire.TaskListResult, error) {
	result := oupwire.TaskListResult{SessionID: p.SessionID, Topic: p.Topic}
	records, err := r.Tasks.List(call.Scope.Session.String())
	if err != nil {
		return result, err
	}
	entries := make([]oupwire.TaskListEntry, 0, len(records))
	for i := range records {
		entries = append(entries, records[i].Entry())
	}
	kept, all := transcript.Newest(entries, transcript.Room)
	result.Tasks = wirejson.Some(kept)
	if !all {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// failTask spells what is wrong with a request for a task.
//
// Rules: OUP-TASK-008, OUP-TASK-009, OUP-TASK-012.
func (r *Rows) failTask(call *rpc.Call, id string, err error) error {
	var busy *task.BusyError
	switch {
	case errors.Is(err, task.ErrUnknown):
		return detailed(call, oupwire.ErrUnknownTaskID, err, oupwire.UnknownTaskErrorData{TaskID: id})
	case errors.Is(err, task.ErrEnded):
		return refuse(call, "task_already_terminal", err.Error())
	case errors.Is(err, task.ErrStillActive):
		return refuse(call, "task_still_active", err.Error())
	case errors.Is(err, task.ErrClosed):
		return detailed(call, oupwire.ErrRuntimeNotReady, err, oupwire.RuntimeUnavailableErrorData{Method: wirejson.Some(call.Method)})
	case errors.As(err, &busy):
		return rpc.Fail(oupwire.ErrInvalidRequest, call.Method+": "+err.Error())
	}
	return err
}

// named refuses a request that does not say whose task it is about.
//
// Rules: OUP-TASK-007, OUP-TASK-011.
func named(call *rpc.Call, session wirejson.Opt[oupwire.SessionKey]) error {
	if session.Or("") == "" {
		return invalid(call, "session_id is missing; name the session that owns the task")
	}
	return nil
}

// taskCancel ends a task with everything that it has started.
//
// Rule: OUP-TASK-010.
func (r *Rows) taskCancel(_ context.Context, call *rpc.Call, p oupwire.TaskCancelParams) (oupwire.TaskCancelResult, error) {
	var none oupwire.TaskCancelResult
	if err := named(call, p.SessionID); err != nil {
		return none, err
	}
	done, err := r.Tasks.Cancel(call.Scope.Session.String(), p.TaskID)
	if err != nil {
		return none, r.failTask(call, p.TaskID, err)
	}
	return oupwire.TaskCancelResult{TaskID: done.ID, Status: done.State}, nil
}

// stay keeps the session of a call from being deleted until leave is called: nothing is begun in one that is going. Where
// there is none, there are no tasks either.
func (r *Rows) stay(ctx context.Context, call *rpc.Call) (leave func(), err error) {
	session, err := r.House.Find(ctx, call.Scope.Session)
	if err == nil {
		leave, err = session.Enter()
	}
	if errors.As(err, new(*house.UnknownError)) || errors.Is(err, live.ErrRetired) {
		err = task.ErrUnknown
	}
	return leave, err
}

// taskRestart runs an ended task again. A command has no nodes: none is accepted, and the answer names none.
//
// Rules: OUP-TASK-013, OUP-TASK-014.
func (r *Rows) taskRestart(ctx context.Context, call *rpc.Call, p oupwire.TaskRestartFromNodeParams) (oupwire.TaskRestartFromNodeResult, error) {
	var none oupwire.TaskRestartFromNodeResult
	if err := named(call, p.SessionID); err != nil {
		return none, err
	}
	leave, err := r.stay(ctx, call)
	if err != nil {
		return none, r.failTask(call, p.TaskID, err)
	}
	defer leave()
	made, err := r.Tasks.Restart(call.Scope.Session.String(), p.TaskID)
	if err != nil {
		return none, r.failTask(call, p.TaskID, err)
	}
	return oupwire.TaskRestartFromNodeResult{OriginalTaskID: made.RelaunchedFrom, NewTaskID: made.ID}, nil
}

// taskOutput reads a stretch of the output of a task.
//
// Rules: OUP-TASK-016 to OUP-TASK-021.
func (r *Rows) taskOutput(ctx context.Context, call *rpc.Call, p oupwire.TaskOutputReadParams) (oupwire.TaskOutputReadResult, error) {
	var none oupwire.TaskOutputReadResult
	if _, err := r.House.Find(ctx, call.Scope.Session); err != nil {
		return none, r.fail(call, err)
	}
	limit := min(p.LimitBytes.Or(oupwire.TaskOutputDefaultBytes), oupwire.MaxTaskOutputBytes)
	stretch, record, err := r.Tasks.Output(call.Scope.Session.String(), p.TaskID, p.Cursor.Or(oupwire.OutputCursor{}).Offset, limit)
	if err != nil {
		return none, r.failTask(call, p.TaskID, err)
	}
	entry := record.Entry()
	result := oupwire.TaskOutputReadResult{
		SessionID: p.SessionID, TaskID: p.TaskID, Source: oupwire.TaskOutputSourceRuntimeProjection,
		Cursor: oupwire.OutputCursor{Offset: stretch.From}, NextCursor: oupwire.OutputCursor{Offset: stretch.Next}, Text: stretch.Text,
		BytesRead: int64(len(stretch.Text)), TotalBytes: stretch.Total, Truncated: stretch.Next < stretch.Total, Complete: stretch.Next == stretch.Total,
		TaskStatus: entry.Status, RuntimeState: entry.RuntimeState, LifecycleState: entry.LifecycleState, RuntimeDetail: entry.RuntimeDetail,
		OutputFiles: entry.OutputFiles, Limitations: []oupwire.TaskOutputLimitation{},
	}
	if stretch.Base > 0 {
		result.Limitations = append(result.Limitations, oupwire.TaskOutputLimitation{
			Code: "output_dropped", Message: sprintf("the first %d bytes are no longer kept", stretch.Base),
		})
	}
	return result, nil
}

// owned is the task of a request, which no agent record stands in for.
func (r *Rows) owned(call *rpc.Call, id string, agent wirejson.Opt[string]) (task.Record, error) {
	record, err := r.Tasks.Get(call.Scope.Session.String(), id)
	if err != nil {
		return record, r.failTask(call, id, err)
	}
	if name := agent.Or(""); name != "" && !strings.EqualFold(name, id) {
		e := rpc.Fail(oupwire.ErrResourceNotFound, sprintf("%s: there is no agent %q here", call.Method, name))
		e.Data = oupwire.NotFoundErrorData{ResourceType: "agent", Identifier: name}
		return record, e
	}
	return record, nil
}

// artifacts lists what a task has left.
//
// Rule: OUP-TASK-026.
func (r *Rows) artifacts(_ context.Context, call *rpc.Call, p oupwire.TaskArtifactListParams) (oupwire.TaskArtifactListResult, error) {
	record, err := r.owned(call, p.TaskID, p.AgentID)
	if err != nil {
		return oupwire.TaskArtifactListResult{}, err
	}
	return oupwire.TaskArtifactListResult{SessionID: p.SessionID, TaskID: p.TaskID, Artifacts: record.ArtifactRecords()}, nil
}

// artifact reads a stretch of what a task has left.
//
// Rules: OUP-TASK-024, OUP-TASK-025, OUP-TASK-027, OUP-TASK-028.
func (r *Rows) artifact(_ context.Context, call *rpc.Call, p oupwire.TaskArtifactReadParams) (oupwire.TaskArtifactReadResult, error) {
	var none oupwire.TaskArtifactReadResult
	id, handle := p.ArtifactID.Or(""), p.Path.Or("")
	if id == "" && handle == "" {
		return none, refuse(call, "task_artifact_selector_invalid", "name the artifact by artifact_id or path")
	}
	if _, err := r.owned(call, p.TaskID, p.AgentID); err != nil {
		return none, err
	}
	limit := p.LimitBytes.Or(0)
	if limit == 0 {
		limit = oupwire.TaskArtifactDefaultBytes
	}
	found, stretch, text, err := r.Tasks.Artifact(call.Scope.Session.String(), p.TaskID, id, handle, p.Cursor.Or(oupwire.OutputCursor{}).Offset, limit)
	if errors.Is(err, task.ErrNoArtifact) {
		data := oupwire.TaskArtifactNotFoundErrorData{}
		if id != "" {
			data.ArtifactID = wirejson.Some(id)
		}
		return none, detailed(call, oupwire.ErrResourceNotFound, err, data)
	}
	if err != nil {
		return none, r.failTask(call, p.TaskID, err)
	}
	result := oupwire.TaskArtifactReadResult{SessionID: p.SessionID, TaskID: p.TaskID, Artifact: found, HasMore: wirejson.Some(false)}
	if text {
		result.Content = wirejson.Some(stretch.Text)
		result.Cursor = wirejson.Some(oupwire.OutputCursor{Offset: stretch.From})
		result.NextCursor = wirejson.Some(oupwire.OutputCursor{Offset: stretch.Next})
		result.HasMore = wirejson.Some(stretch.Next < stretch.Total)
	}
	return result, nil
}
