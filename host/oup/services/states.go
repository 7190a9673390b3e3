package services

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) states() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSystemStatusGet:  rpc.Handle(oupwire.DecodeSystemStatusGetParams, r.system),
		oupwire.MethodMCPStatusList:    rpc.Handle(oupwire.DecodeMcpStatusListParams, r.servers),
		oupwire.MethodToolStatusList:   rpc.Handle(oupwire.DecodeToolStatusListParams, r.tools),
		oupwire.MethodRouterGetMetrics: rpc.Handle(oupwire.DecodeRouterGetMetricsParams, r.metrics),
	}
}

const none = "none" // of what is not configured, as older servers say it

// system tells which server this is, and what answers in it.
//
// Rule: OUP-SYSTEM-001.
func (r *Rows) system(_ context.Context, call *rpc.Call, _ oupwire.SystemStatusGetParams) (oupwire.SystemStatusGetResult, error) {
	status := oupwire.SystemStatus{
		Version: r.Release, Model: none, Provider: none, UptimeSecs: int64(r.Now().Sub(r.Started).Seconds()), BaseDomain: wirejson.Null[string](),
	}
	if provider, name := r.inUse(call.Scope.Profile); name != "" {
		status.Provider, status.Model, status.AgentConfigured = provider, name, true
	}
	return oupwire.SystemStatusGetResult{Status: status}, nil
}

// servers lists servers of MCP. This one brings tools by extensions, which tool/status/list tells of.
func (r *Rows) servers(_ context.Context, call *rpc.Call, p oupwire.McpStatusListParams) (oupwire.McpStatusListResult, error) {
	return oupwire.McpStatusListResult{ProfileID: call.Scope.Profile, SessionID: p.SessionID, Servers: []oupwire.McpServerRow{}}, nil
}

const toolPolicy = "profile"

// tools lists what a session can call: the host's own tools, and those of the extensions of its workspace.
func (r *Rows) tools(_ context.Context, call *rpc.Call, p oupwire.ToolStatusListParams) (wirejson.Encoder, error) {
	call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
		workspace := r.House.Workspace()
		var unknown *house.UnknownError
		switch session, err := r.House.Find(ctx, call.Scope.Session); {
		case err == nil:
			workspace = session.Workspace()
		case !errors.As(err, &unknown):
			return nil, err
		}
		engine, err := r.House.Engine(ctx, house.Place{Workspace: workspace, Profile: call.Scope.Profile})
		if err != nil {
			e := rpc.Fail(oupwire.ErrRuntimeNotReady, call.Method+": "+err.Error())
			e.Data = oupwire.RuntimeUnavailableErrorData{Method: wirejson.Some(call.Method)}
			return nil, e
		}
		if err := engine.Ready(ctx); err != nil {
			return nil, err
		}
		result := oupwire.ToolStatusListResult{ProfileID: call.Scope.Profile, SessionID: p.SessionID, PolicyID: toolPolicy, Tools: []oupwire.ToolRow{}}
		taken := engine.Taken()
		for _, name := range slices.Sorted(maps.Keys(taken)) {
			result.Tools = append(result.Tools, row(name, taken[name]))
		}
		return result, nil
	})
	return nil, nil
}

// own is who has the tools of the host.
const own = "octet"

// row tells of one tool. Those that only look are allowed; whether another one asks first is decided by the
// permission profile of the session when it is called.
func row(name, owner string) oupwire.ToolRow {
	row := oupwire.ToolRow{
		Name: name, Category: "extension", Status: oupwire.ToolStatusAvailable, BackendTool: wirejson.Some(owner + "/" + name), Aliases: []string{},
		Policy: oupwire.ToolPolicyApprovalGated,
	}
	if owner == own {
		row.Category, row.BackendTool = "builtin", wirejson.Some(name)
	}
	if owner == own && slices.Contains(looking, name) {
		row.Policy = oupwire.ToolPolicyAllowed
	}
	return row
}

// looking are the tools of the host that change nothing.
var looking = []string{"discover_tools", "glob", "grep", "list", "read"}

// metrics tells how requests to models are routed: always to the one model that is chosen.
//
// Rule: OUP-ROUTER-006.
func (r *Rows) metrics(ctx context.Context, call *rpc.Call, _ oupwire.RouterGetMetricsParams) (oupwire.RouterGetMetricsResult, error) {
	var result oupwire.RouterGetMetricsResult
	session, err := r.House.Find(ctx, call.Scope.Session)
	var unknown *house.UnknownError
	if errors.As(err, &unknown) {
		e := rpc.Fail(oupwire.ErrUnknownSession, call.Method+": "+err.Error())
		e.Data = oupwire.UnknownSessionErrorData{SessionID: unknown.Key}
		return result, e
	}
	if err != nil {
		return result, err
	}
	provider, name, _, known := session.Model()
	if !known {
		provider, name = r.inUse(call.Scope.Profile)
	}
	result = oupwire.RouterGetMetricsResult{
		ProviderName: provider, Mode: oupwire.RouterModeOff, LaneScores: map[string]json.Number{}, CircuitBreakers: map[string]oupwire.BreakerState{},
	}
	if name != "" {
		result.LaneScores[provider+"/"+name], result.CircuitBreakers[provider+"/"+name] = "1", oupwire.BreakerStateClosed
	} else {
		result.ProviderName = none
	}
	return result, nil
}
