package methods

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transcript"
)

func (r *Rows) statuses() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSessionSnapshot:   rpc.Handle(oupwire.DecodeSessionSnapshotParams, later(r.snapshot)),
		oupwire.MethodSessionStatusGet:  rpc.Handle(oupwire.DecodeSessionStatusGetParams, later(r.activity)),
		oupwire.MethodSessionStatusRead: rpc.Handle(oupwire.DecodeSessionStatusReadParams, later(r.status)),
		oupwire.MethodSessionFilesList:  rpc.Handle(oupwire.DecodeSessionFilesListParams, later(r.files)),
		oupwire.MethodSessionTasksList:  rpc.Handle(oupwire.DecodeSessionTasksListParams, later(r.sessionTasks)),
	}
}

// snapshot reads status, files and tasks at once.
//
// Rule: OUP-SESSION-006.
func (r *Rows) snapshot(ctx context.Context, call *rpc.Call, _ oupwire.SessionSnapshotParams) (oupwire.SessionSnapshotResult, error) {
	var result oupwire.SessionSnapshotResult
	status, err := r.activity(ctx, call, oupwire.SessionStatusGetParams{})
	if err != nil {
		return result, err
	}
	files, err := r.files(ctx, call, oupwire.SessionFilesListParams{})
	if err != nil {
		return result, err
	}
	tasks, err := r.sessionTasks(ctx, call, oupwire.SessionTasksListParams{})
	if err != nil {
		return result, err
	}
	result.Status = status.Status
	var allFiles, allTasks bool
	result.Files, allFiles = transcript.First(files.Files, transcript.Room/2)
	result.Tasks, allTasks = transcript.Newest(tasks.Tasks, transcript.Room/2)
	if !allFiles || !allTasks {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// activity reads whether a session is at work.
func (r *Rows) activity(ctx context.Context, call *rpc.Call, _ oupwire.SessionStatusGetParams) (oupwire.SessionStatusGetResult, error) {
	var result oupwire.SessionStatusGetResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	tasks, err := r.Tasks.List(s.Key())
	if err != nil {
		return result, err
	}
	busy := false
	for i := range tasks {
		busy = busy || !tasks[i].Terminal()
	}
	result.Status = oupwire.SessionActivity{
		Active: s.Running() != "", HasDeferredFiles: wirejson.Some(false), HasBgTasks: wirejson.Some(busy),
	}
	if call.Set().Open(oupwire.FeatureContextLifecycleV1) {
		result.ContextState = wirejson.Some(s.ContextState(ctx))
		result.Status.ContextState = result.ContextState
	}
	return result, nil
}

// status reads the policy and the health of a session.
//
// Rule: OUP-SESSION-019.
func (r *Rows) status(ctx context.Context, call *rpc.Call, _ oupwire.SessionStatusReadParams) (oupwire.SessionStatusReadResult, error) {
	var result oupwire.SessionStatusReadResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return result, r.fail(call, err)
	}
	stamp := r.stamp(call, s)
	result = oupwire.SessionStatusReadResult{
		SessionID: s.Key(), ProfileID: call.Scope.Profile, RuntimePolicyStamp: stamp,
		Context: wirejson.Null[oupwire.ContextLifecycle](), ContextState: wirejson.Null[oupwire.ContextState](),
		PermissionProfile: selection(s.Profile()).Mode, Sandbox: stamp.SandboxMode.Or(oupwire.SandboxModeWorkspaceWrite),
		Health: oupwire.SessionHealth{Status: "ok"}, ToolSummary: oupwire.ToolSummary{PolicyID: toolPolicy},
		Cursor: oupwire.CursorHealth{Healthy: true, ReplaySupported: true}, Capabilities: call.Capabilities(),
	}
	if call.Set().Open(oupwire.FeatureContextLifecycleV1) {
		result.ContextState = wirejson.Some(s.ContextState(ctx))
	}
	if e := r.House.Engines()[house.PlaceOf(s)]; e != nil {
		tools := int64(len(e.Taken()))
		result.ToolSummary.Visible, result.ToolSummary.Enabled = tools, tools
	}
	if u := info.Usage; !u.Uncertain {
		result.Usage = oupwire.SessionUsage{
			InputTokens: wirejson.Some(u.Usage.Input), OutputTokens: wirejson.Some(u.Usage.Output),
			CachedInputTokens: wirejson.Some(u.Usage.CacheRead), CacheWriteInputTokens: wirejson.Some(u.Usage.CacheWrite),
		}
		if cost := u.Usage.CostMicrodollars; cost != nil {
			result.Usage.EstimatedCostMicrosUsd = wirejson.Some(*cost)
		}
	}
	if provider, model, _, known := s.Model(); known && provider != "" && model != "" {
		result.Model = wirejson.Some(oupwire.SelectedModel{Model: wirejson.Some(model), Provider: wirejson.Some(provider), Selected: wirejson.Some(true)})
	}
	return result, nil
}

// Words of the stamp that are the same for every session. Source: core 11.6.
const (
	toolPolicy  = "profile"
	memoryScope = "profile-session"
)

// stamp is the policy that is in force for a session.
func (r *Rows) stamp(call *rpc.Call, s *live.Session) oupwire.RuntimePolicyStamp {
	profile := s.Profile()
	now := selection(profile)
	stamp := oupwire.RuntimePolicyStamp{
		RuntimeMode: wirejson.Some(oupwire.RuntimeModeMultiTenant), ProfileID: wirejson.Some(call.Scope.Profile), WorkspaceRoot: wirejson.Some(s.Workspace()),
		ApprovalPolicy: wirejson.Some(oupwire.ApprovalPolicyOnRequest), PermissionProfile: wirejson.Some(now.Mode),
		SandboxMode:     wirejson.Some(oupwire.SandboxMode(strings.ReplaceAll(string(now.Mode), "_", "-"))),
		FilesystemScope: wirejson.Some(oupwire.FilesystemScopeWorkspace), Network: wirejson.Some(oupwire.StampedNetworkBlocked),
		ToolPolicyID: wirejson.Some(toolPolicy), MCPServers: wirejson.Some([]json.RawMessage{}), MemoryScope: wirejson.Some(memoryScope),
	}
	if r.solo(call) {
		stamp.RuntimeMode = wirejson.Some(oupwire.RuntimeModeSolo)
	}
	if profile.Never {
		stamp.ApprovalPolicy = wirejson.Some(oupwire.ApprovalPolicyNever)
	}
	if now.Mode == oupwire.PermissionModeDangerFullAccess {
		stamp.FilesystemScope, stamp.Network = wirejson.Some(oupwire.FilesystemScopeHost), wirejson.Some(oupwire.StampedNetworkAllowed)
	}
	if provider, model, _, known := s.Model(); known {
		stamp.Model, stamp.Provider = wirejson.Some(model), wirejson.Some(provider)
	}
	return stamp
}

// files lists the files of the workspace that were attached or changed in the session, by people and by tools, and
// that are there, newest first.
//
// Rule: OUP-SESSION-013.
func (r *Rows) files(ctx context.Context, call *rpc.Call, _ oupwire.SessionFilesListParams) (oupwire.SessionFilesListResult, error) {
	result := oupwire.SessionFilesListResult{Files: []oupwire.SessionFile{}}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	named, changed := map[string]bool{}, map[string]time.Time{}
	_, err = r.Ledger.Replay(ctx, s.Key(), nil, func(e ledger.Stored) error { return attached(e, named) })
	if r.readable(err) != nil {
		return result, r.fail(call, err)
	}
	root, err := os.OpenRoot(s.Workspace())
	if err != nil {
		return result, nil //nolint:nilerr // a workspace that is gone has no files
	}
	defer func() { _ = root.Close() }()
	for name := range named {
		handle, ok := handleOf(s.Workspace(), name)
		if !ok {
			continue
		}
		info, err := root.Stat(filepath.FromSlash(handle)) // links are followed inside of the root alone
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if _, has := changed[handle]; has { // under another spelling of its path
			continue
		}
		changed[handle] = info.ModTime()
		result.Files = append(result.Files, oupwire.SessionFile{
			Filename: path.Base(handle), Path: handle, SizeBytes: info.Size(), ModifiedAt: event.Time(info.ModTime()),
		})
	}
	slices.SortFunc(result.Files, func(a, b oupwire.SessionFile) int {
		return cmp.Or(changed[b.Path].Compare(changed[a.Path]), cmp.Compare(a.Path, b.Path))
	})
	kept, all := transcript.First(result.Files, transcript.Room)
	if result.Files = kept; !all {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// attached notes the files that an event attaches, or tells a change of.
func attached(s ledger.Stored, named map[string]bool) error {
	if s.Method == oupwire.MethodProgressUpdated {
		news, err := oupwire.DecodeProgressUpdatedEvent(s.Body)
		if mutation, has := news.Metadata.FileMutation.Get(); has {
			named[mutation.Path] = true
		}
		return err
	}
	if !bytes.Contains(s.Body, []byte(`"path":`)) {
		return nil // no file is in it, and most of a session need not be read
	}
	e, is, err := event.EnvelopeOf(s)
	if err != nil || !is {
		return err
	}
	switch p := e.Payload.(type) {
	case oupwire.UserMessagePayload:
		for _, f := range p.Data.Files.Or(nil) {
			named[f.Path] = true
		}
	case oupwire.FileAttachedPayload:
		named[p.Data.Path] = true
	}
	return nil
}

// handleOf is the path of a file inside of a workspace.
func handleOf(workspace, name string) (string, bool) {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		inside, err := filepath.Rel(workspace, name)
		if err != nil {
			return "", false
		}
		name = inside
	}
	return filepath.ToSlash(filepath.Clean(name)), filepath.IsLocal(name)
}

// sessionTasks lists the tasks of a session.
func (r *Rows) sessionTasks(ctx context.Context, call *rpc.Call, _ oupwire.SessionTasksListParams) (oupwire.SessionTasksListResult, error) {
	result := oupwire.SessionTasksListResult{Tasks: []oupwire.SessionTask{}}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	tasks, err := r.Tasks.List(s.Key())
	if err != nil {
		return result, err
	}
	for i := range tasks {
		result.Tasks = append(result.Tasks, tasks[i].Row())
	}
	kept, all := transcript.Newest(result.Tasks, transcript.Room)
	if result.Tasks = kept; !all {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}
