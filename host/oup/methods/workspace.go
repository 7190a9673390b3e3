package methods

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/preview"
	"github.com/octet-dev/octet/host/oup/repository"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/snapshot"
)

func (r *Rows) workspaces() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSessionWorkspaceGet: rpc.Handle(oupwire.DecodeSessionWorkspaceGetParams, later(r.contracts)),
		oupwire.MethodDiffPreviewGet:      rpc.Handle(oupwire.DecodeDiffPreviewGetParams, later(r.preview)),
		oupwire.MethodSnapshotList:        rpc.Handle(oupwire.DecodeSnapshotListParams, later(r.snapshots)),
		oupwire.MethodSnapshotRestore:     rpc.Handle(oupwire.DecodeSnapshotRestoreParams, r.restore),
	}
}

// contracts reads what the repositories of a workspace promise.
func (r *Rows) contracts(ctx context.Context, call *rpc.Call, _ oupwire.SessionWorkspaceGetParams) (oupwire.SessionWorkspaceGetResult, error) {
	result := oupwire.SessionWorkspaceGetResult{Contracts: []oupwire.WorkspaceContract{}}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	found, has := repository.Look(ctx, s.Workspace())
	if !has {
		return result, nil
	}
	contract := oupwire.WorkspaceContract{
		RepoLabel: found.Label, Kind: found.Kind, Slug: found.Label, Dirty: found.Dirty, Ready: found.Problem == "" && !found.Dirty,
		Revision: wirejson.Null[string](), Error: wirejson.Null[string](),
		TurnEndChecks: wirejson.Some([]oupwire.ContractCheck{}), CompletionChecks: wirejson.Some([]oupwire.ContractCheck{}),
		Artifacts: wirejson.Some([]oupwire.ContractArtifact{}),
	}
	if found.Revision != "" {
		contract.Revision = wirejson.Some(found.Revision)
	}
	if found.Problem != "" {
		contract.Error = wirejson.Some(found.Problem)
	}
	result.Contracts = append(result.Contracts, contract)
	return result, nil
}

// preview reads a change that was announced.
//
// Rules: OUP-PREVIEW-001, OUP-PREVIEW-002.
func (r *Rows) preview(ctx context.Context, call *rpc.Call, p oupwire.DiffPreviewGetParams) (oupwire.DiffPreviewGetResult, error) {
	var none oupwire.DiffPreviewGetResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	found, err := r.Previews.Get(s.Key(), p.PreviewID)
	switch {
	case errors.Is(err, preview.ErrUnknown):
		return none, detailed(call, oupwire.ErrUnknownPreviewID, err, oupwire.UnknownPreviewErrorData{
			Method: wirejson.Some(call.Method), SessionID: s.Key(), PreviewID: p.PreviewID, LegacyKind: wirejson.Some("diff_preview_not_found"),
		})
	case err != nil:
		return none, err
	}
	return oupwire.DiffPreviewGetResult{Status: oupwire.DiffPreviewStatusReady, Source: oupwire.DiffPreviewSourcePendingStore, Preview: found}, nil
}

// snapshots lists the snapshots of the workspace.
//
// Rule: OUP-PREVIEW-004.
func (r *Rows) snapshots(ctx context.Context, call *rpc.Call, _ oupwire.SnapshotListParams) (oupwire.SnapshotListResult, error) {
	var none oupwire.SnapshotListResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	list, err := r.Snapshots.List(s.Workspace())
	if err == nil && len(list) == 0 { // there is something to go back to from the first look on
		list, err = r.firstSnapshot(ctx, s.Workspace())
	}
	if err != nil {
		return none, err
	}
	return oupwire.SnapshotListResult{SessionID: s.Key(), Enabled: true, Available: len(list) > 0, Snapshots: list}, nil
}

// firstSnapshot takes the first snapshot of a workspace, if it can be done in time.
func (r *Rows) firstSnapshot(ctx context.Context, workspace string) ([]oupwire.SnapshotInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, preparation)
	defer cancel()
	first, err := r.Snapshots.Take(ctx, workspace, "first look")
	var large *snapshot.TooLargeError
	switch {
	case errors.As(err, &large), ctx.Err() != nil:
		return []oupwire.SnapshotInfo{}, nil
	case err != nil:
		return nil, err
	}
	return []oupwire.SnapshotInfo{first}, nil
}

// restore puts the files of the workspace back. No turn of any session may be at work there meanwhile.
//
// Rules: OUP-PREVIEW-005, OUP-PREVIEW-006.
func (r *Rows) restore(ctx context.Context, call *rpc.Call, p oupwire.SnapshotRestoreParams) (oupwire.SnapshotRestoreResult, error) {
	var none oupwire.SnapshotRestoreResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	for _, other := range r.House.Sessions() {
		if other.Workspace() == s.Workspace() && other.Running() != "" {
			return none, invalid(call, "a turn of the session %q works on these files; wait for its end, or interrupt it", other.Key())
		}
	}
	if _, err := r.Snapshots.Restore(ctx, s.Workspace(), p.SnapshotID); err != nil {
		return none, invalid(call, "%v", err)
	}
	list, err := r.Snapshots.List(s.Workspace())
	if err != nil {
		return none, err
	}
	return oupwire.SnapshotRestoreResult{SessionID: s.Key(), Restored: p.SnapshotID, Snapshots: list}, nil
}
