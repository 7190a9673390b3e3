package oupserver

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
)

// serviceHandlers carry out what is about the server and not about a session at work.
func serviceHandlers() map[string]handler {
	all := map[string]handler{
		oupwire.MethodSystemStatusGet:  (*Server).systemStatus,
		oupwire.MethodAuthStatus:       (*Server).authStatus,
		oupwire.MethodMCPStatusList:    (*Server).mcpStatus,
		oupwire.MethodToolStatusList:   (*Server).toolStatus,
		oupwire.MethodRouterGetMetrics: (*Server).routerMetrics,
		oupwire.MethodRouterSetMode:    (*Server).routerSetMode,
	}
	maps.Copy(all, placeHandlers())
	maps.Copy(all, profileHandlers())
	maps.Copy(all, modelHandlers())
	return all
}

const none = "none" // of a model that is not configured

// systemStatus tells how the server is. Its script is no model that anybody has configured.
func (s *Server) systemStatus(c *conn, p object) (object, *failure, []func()) {
	status := object{"version": "1", "model": none, "provider": none, "uptime_secs": 0, "agent_configured": false, "base_domain": nil}
	if m := s.modelsOf(s.profileOf(c, p)).primary; m != nil {
		status["model"], status["provider"], status["agent_configured"] = m.model, m.family, true
		return object{"status": status}, nil, nil
	}
	switch {
	case s.does("tells of a model that it has not"):
		status["model"], status["provider"] = "plays", "script"
	case s.does("leaves the name of a model that it has not blank"):
		status["model"] = ""
	}
	return object{"status": status}, nil, nil
}

// authStatus says how one signs in, which is with the token of the server; nobody has an identity here.
func (s *Server) authStatus(c *conn, _ object) (object, *failure, []func()) {
	if s.does("needs an identity to say how one gets it") {
		return nil, failKind(oupwire.ErrPermissionDenied, "auth_unavailable", "an identity is needed", nil), nil
	}
	return object{
		"bootstrap_mode": false, "email_login_enabled": false, "admin_token_login_enabled": true, "allow_self_registration": false,
		"authenticated": false, "email_otp": false, "token_login": true, "profile_id": s.profileOf(c, nil),
	}, nil, nil
}

// profileOf is the profile that a request means.
func (s *Server) profileOf(c *conn, p object) string {
	for _, id := range []string{text(p, "profile_id"), c.profile} {
		if id != "" {
			return id
		}
	}
	return defaultProfile
}

// mcpServers are the MCP servers that every session has.
func mcpServers() []any {
	return []any{
		object{"id": "notes", "display_name": "Notes", "transport": "stdio", "status": oupwire.McpServerStatusConnected, "tool_count": 1, "tools": []string{"find_note"}},
		object{"id": "attic", "display_name": "Attic", "transport": "stdio", "status": oupwire.McpServerStatusFailed, "tool_count": 0, "tools": []string{}, "error": "it has ended"},
		object{"id": "cellar", "display_name": "Cellar", "transport": "stdio", "status": oupwire.McpServerStatusDisabled, "tool_count": 0, "tools": []string{}},
	}
}

// mcpSummary counts the servers by their status.
func mcpSummary() object {
	counts := object{}
	for _, status := range []oupwire.McpServerStatus{oupwire.McpServerStatusConnected, oupwire.McpServerStatusConnecting, oupwire.McpServerStatusFailed, oupwire.McpServerStatusDisabled} {
		n := 0
		for _, row := range mcpServers() {
			if row.(object)["status"] == status {
				n++
			}
		}
		counts[string(status)] = n
	}
	return counts
}

func (s *Server) mcpStatus(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodMCPStatusList, p)
	if f != nil {
		return nil, f, nil
	}
	servers, summary := mcpServers(), mcpSummary()
	if s.does("counts MCP servers that it does not list") {
		servers = servers[:1]
	}
	return object{"profile_id": s.profileOf(c, p), "session_id": ses.key, "servers": servers, "summary": summary}, nil, nil
}

// toolPolicy is the policy of all tools.
const toolPolicy = "default"

func (s *Server) toolStatus(c *conn, p object) (object, *failure, []func()) {
	ses, f := s.find(oupwire.MethodToolStatusList, p)
	if f != nil {
		return nil, f, nil
	}
	tool := func(name string, status oupwire.ToolStatus) object {
		return object{"name": name, "category": "files", "status": status, "backend_tool": nil, "aliases": []string{}, "policy": oupwire.ToolPolicyAllowed}
	}
	result := object{
		"profile_id": s.profileOf(c, p), "session_id": ses.key, "policy_id": toolPolicy, "tools": []any{tool("read", oupwire.ToolStatusAvailable)},
	}
	there := s.serves(oupwire.FeatureCodingToolContractV1) && !s.does("keeps its contract of tools back")
	if !there && !s.does("has a contract of tools that it does not offer") {
		return result, nil, nil
	}
	wanted := []any{}
	for _, row := range []object{tool("read", oupwire.ToolStatusAvailable), tool("apply_patch", oupwire.ToolStatusMissing)} {
		row["capability"] = row["name"]
		wanted = append(wanted, row)
	}
	contract := object{
		"id": "codex-compatible-coding-v1", "version": "1", "feature": oupwire.FeatureCodingToolContractV1, "status": oupwire.CodingToolContractStatusIncomplete,
		"required_tool_names": []string{"read", "apply_patch"}, "required_tools": wanted, "missing_required_tools": []any{"apply_patch"},
		"deferred_model_tools": []any{}, "role_templates": []any{},
		"policy": object{"tool_policy_id": toolPolicy, "sandbox_mode": "workspace-write", "approval_policy": ses.policy},
	}
	if s.does("calls a contract ready that lacks a tool") {
		contract["status"] = oupwire.CodingToolContractStatusReady
	}
	result["coding_tool_contract"] = contract
	return result, nil, nil
}

// routes reports whether the server has a router.
func (s *Server) routes() bool { return !s.does(little) }

// routed refuses what needs a router that is not there.
func (s *Server) routed(method string) *failure {
	switch {
	case s.routes():
		return nil
	case s.does("calls a missing router a wrong request"):
		return failKind(oupwire.ErrInvalidParams, "runtime_unavailable", "there is no router", object{"method": method})
	}
	return failKind(oupwire.ErrRuntimeNotReady, "runtime_unavailable", "there is no router", object{"method": method})
}

// router is how the router does.
func (s *Server) router() object {
	scores, breakers := `{"script/plain":1,"script/quick":0.5}`, `{"script/plain":"closed","script/quick":"open"}`
	switch {
	case s.does("names lanes by their model alone"):
		scores = `{"plain":1,"quick":0.5}`
	case s.does("lists lanes by their score"):
		scores = `{"script/quick":0.5,"script/plain":1}`
	}
	return object{
		"provider_name": "script", "mode": s.mode, "qos_ranking": false, "lane_scores": json.RawMessage(scores), "circuit_breakers": json.RawMessage(breakers),
	}
}

func (s *Server) routerMetrics(_ *conn, p object) (object, *failure, []func()) {
	if _, f := s.find(oupwire.MethodRouterGetMetrics, p); f != nil {
		return nil, f, nil
	}
	if f := s.routed(oupwire.MethodRouterGetMetrics); f != nil && !s.does("tells of a router that it has not") {
		return nil, f, nil
	}
	return s.router(), nil, nil
}

// modes are those of a router.
var modes = []oupwire.RouterMode{oupwire.RouterModeOff, oupwire.RouterModeHedge, oupwire.RouterModeLane}

func (s *Server) routerSetMode(_ *conn, p object) (object, *failure, []func()) {
	if _, f := s.find(oupwire.MethodRouterSetMode, p); f != nil {
		return nil, f, nil
	}
	if f := s.routed(oupwire.MethodRouterSetMode); f != nil {
		return nil, f, nil
	}
	mode := oupwire.RouterMode(text(p, "mode"))
	if !slices.Contains(modes, mode) && !s.does("takes every mode of a router") {
		f := fail(oupwire.ErrInvalidParams, "the mode is unknown", nil)
		switch {
		case s.does("has details of an unknown mode"):
			f.data = object{"kind": "mode_unknown"}
		case s.does("takes a mode that it refuses"):
			s.mode = oupwire.RouterModeLane
		}
		return nil, f, nil
	}
	s.mode = mode
	return object{"mode": mode}, nil, nil
}

// tellRouter tells how the router does, which is not stored.
func (ses *session) tellRouter() {
	if !ses.s.routes() && !ses.s.does("tells turns of a router that it has not") {
		return
	}
	params := ses.s.router()
	params["kind"], params["session_id"] = "router_status", ses.key
	if ses.topic != "" {
		params["topic"] = ses.topic
	}
	ses.tellNow(oupwire.MethodRouterStatus, params)
}
