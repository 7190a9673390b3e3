package methods

import (
	"context"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transcript"
	"github.com/octet-dev/octet/host/session"
)

func (r *Rows) listing() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSessionList:        rpc.Handle(oupwire.DecodeSessionListParams, later(r.list)),
		oupwire.MethodSessionHistoryList: rpc.Handle(oupwire.DecodeSessionHistoryListParams, later(r.history)),
	}
}

// later makes a handler that answers beside the requests that follow it. What came in front of it is done.
func later[P any, R wirejson.Encoder](do func(context.Context, *rpc.Call, P) (R, error)) func(context.Context, *rpc.Call, P) (wirejson.Encoder, error) {
	return func(_ context.Context, call *rpc.Call, p P) (wirejson.Encoder, error) {
		call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
			result, err := do(ctx, call, p)
			if err != nil {
				return nil, err
			}
			return result, nil
		})
		return nil, nil
	}
}

// list lists sessions, those that were used last first.
//
// Rules: OUP-SESSION-001 to OUP-SESSION-005.
func (r *Rows) list(ctx context.Context, call *rpc.Call, p oupwire.SessionListParams) (oupwire.SessionListResult, error) {
	result := oupwire.SessionListResult{Sessions: []oupwire.SessionInfo{}}
	only := ""
	if cwd := p.Cwd.Or(""); strings.TrimSpace(cwd) != "" {
		if !call.Set().Has(oupwire.FeatureSessionWorkspaceCwdV1) {
			return result, featureRequired(call, "cwd", oupwire.FeatureSessionWorkspaceCwdV1)
		}
		root, err := place.Resolve(cwd, r.Home)
		if err != nil {
			return result, r.fail(call, err)
		}
		only = root
		result.WorkspaceRoot, result.ProfileID = wirejson.Some(root), wirejson.Some(call.Scope.Profile)
	}
	infos, err := r.House.Store().List(ctx, session.Filter{Keyed: true, Children: true, Workspace: only})
	if err != nil {
		return result, err
	}
	profile := reachable(call)
	if only != "" {
		profile = call.Scope.Profile
	}
	kept, whole := transcript.First(describe(listed(infos, profile)), transcript.Room)
	result.Sessions = kept
	if !whole {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// reachable is the profile that a connection is held to, empty for none.
func reachable(call *rpc.Call) string { return call.Info().Identity.Profile }

// listed are the sessions of a profile, or of all where it is empty, without internal ones.
func listed(infos []session.Info, profile string) []session.Info {
	return slices.DeleteFunc(infos, func(info session.Info) bool {
		k, err := key.Parse(info.Key)
		return err != nil || internal(k) || profile != "" && house.Owner(info) != profile
	})
}

// describe makes rows of sessions, without a look at what was said in them.
func describe(infos []session.Info) []oupwire.SessionInfo {
	list := make([]oupwire.SessionInfo, 0, len(infos))
	for _, info := range infos {
		row := oupwire.SessionInfo{ID: info.Key, MessageCount: info.Messages}
		if title := titleOf(info); title != "" {
			row.Title = wirejson.Some(title)
		}
		list = append(list, row)
	}
	return list
}

// titleOf is the name that somebody gave a session, or the beginning of what was said first.
func titleOf(info session.Info) string {
	if info.Name != "" {
		return info.Name
	}
	return info.Title
}

// internal reports whether a topic is none of people.
//
// Rule: OUP-SESSION-003.
func internal(k key.Key) bool {
	return strings.HasPrefix(k.Topic, "child-") || strings.HasSuffix(k.Topic, ".tasks")
}

// history lists sessions of many workspaces, page by page.
//
// Rule: OUP-APPEND-005.
func (r *Rows) history(ctx context.Context, call *rpc.Call, p oupwire.SessionHistoryListParams) (oupwire.SessionHistoryListResult, error) {
	result := oupwire.SessionHistoryListResult{
		Sessions: []oupwire.SessionInfo{}, Workspaces: []string{}, UnavailableWorkspaces: []string{}, Coverage: "complete",
		NextOffset: wirejson.Null[int64](),
	}
	named := p.Workspaces.Or(nil)
	if len(named) > oupwire.MaxHistoryWorkspaces {
		return result, tooMany(call, "workspaces", len(named), oupwire.MaxHistoryWorkspaces)
	}
	filters := []session.Filter{}
	for _, cwd := range named {
		root, err := place.Resolve(cwd, r.Home)
		if err != nil {
			result.UnavailableWorkspaces = append(result.UnavailableWorkspaces, cwd)
			continue
		}
		result.Workspaces = append(result.Workspaces, cwd)
		filters = append(filters, session.Filter{Keyed: true, Children: true, Workspace: root})
	}
	switch {
	case len(named) == 0:
		filters = append(filters, session.Filter{Keyed: true, Children: true})
	case len(filters) == 0:
		result.Coverage = "none"
	case len(result.UnavailableWorkspaces) > 0:
		result.Coverage = "partial"
	}
	all, err := r.historyOf(ctx, call, filters)
	if err != nil {
		return result, err
	}
	result.Total = int64(len(all))
	offset := min(p.Offset.Or(0), result.Total)
	limit := min(p.Limit.Or(oupwire.HistoryPageDefault), oupwire.MaxHistoryPage)
	page, whole := transcript.First(describe(all[offset:min(offset+limit, result.Total)]), transcript.Room)
	result.Sessions = page
	if !whole {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	if next := offset + int64(len(page)); next < result.Total {
		result.NextOffset = wirejson.Some(next)
	}
	return result, nil
}

// historyOf lists what passes any of the filters, each session once.
func (r *Rows) historyOf(ctx context.Context, call *rpc.Call, filters []session.Filter) ([]session.Info, error) {
	var found []session.Info
	seen := map[string]bool{}
	for _, f := range filters {
		infos, err := r.House.Store().List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if !seen[info.ID] {
				seen[info.ID] = true
				found = append(found, info)
			}
		}
	}
	return listed(found, reachable(call)), nil
}

// tooMany refuses a list that is too long.
func tooMany(call *rpc.Call, member string, has, most int) *rpc.Error {
	return invalid(call, "%s has %d elements, at most %d", member, has, most)
}
