package faultypeer

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// handleFeature serves the requests that ask for what the manifest declares. It returns false for a method that
// the peer does not have.
func (p *peer) handleFeature(id json.RawMessage, method string, params json.RawMessage) bool {
	if p.stage != nil && method == featurewire.MethodResourceDispose {
		p.dispose(id, params)
		return true
	}
	if !p.full {
		return false
	}
	switch method {
	case featurewire.MethodCommandExecute:
		p.execute(id, params)
	case featurewire.MethodHookRun:
		p.runHook(id, params)
	case featurewire.MethodContextCollect:
		if !p.declares("context") && !p.ignores("undeclared-context") {
			return false
		}
		p.result(method, id, []any{obj{"label": "peer", "content": "sound", "placement": "system_suffix"}})
	case featurewire.MethodStatusCollect:
		p.collectStatus(id, params)
	case featurewire.MethodMenuCollect:
		p.result(method, id, menu())
	case featurewire.MethodToolRender:
		if p.does("need-session-to-render") && at(params, "context", "host", "session_id") == nil {
			p.failure(id, "invalid_params", nil)
			return true
		}
		p.result(method, id, obj{"segments": []any{obj{"text": textOf(at(params, "output")), "style_role": nil}}})
	case featurewire.MethodUIAutocompleteComplete:
		p.result(method, id, p.complete(params))
	case featurewire.MethodResourceDispose:
		p.dispose(id, params)
	case featurewire.MethodUITerminalInputIntercept:
		p.result(method, id, obj{"data": textOf(at(params, "data"))})
	default:
		return false
	}
	return true
}

func (p *peer) execute(id, params json.RawMessage) {
	p.last = string(id)
	p.moment("execute")
	name, named := text(at(params, "name"))
	var arguments []*string
	wellFormed := json.Unmarshal(at(params, "arguments"), &arguments) == nil && arguments != nil && !slices.Contains(arguments, nil)
	switch {
	case (!named || !wellFormed) && !p.ignores("command-model"):
		p.failure(id, p.instead("vague-command", "internal_error", "invalid_params"), nil)
	case name != CommandGreet && !p.ignores("command-name"):
		p.failure(id, p.instead("vague-command-name", "invalid_params", "unknown_method"), obj{"method": name})
	default:
		p.result(featurewire.MethodCommandExecute, id, obj{
			"text": "Hello.", "notifications": []any{obj{"level": "info", "message": "greeted"}},
			"context": []any{obj{"label": "greeting", "content": "Hello."}},
		})
	}
}

func (p *peer) collectStatus(id, params json.RawMessage) {
	if p.does("need-owner-for-status") && at(params, "context", "resource_owner") == nil {
		p.failure(id, "invalid_params", nil)
		return
	}
	var status any
	if surface := textOf(at(params, "surface")); surface != "header" {
		status = obj{"surface": surface, "text": "ready", "style_role": nil, "priority": 1}
	}
	p.result(featurewire.MethodStatusCollect, id, status)
}

// runHook answers a hook with its own member, where it has one.
func (p *peer) runHook(id, params json.RawMessage) {
	hook := textOf(at(params, "hook"))
	p.hook, p.last = hook, string(id)
	p.moment("hook")
	declared := slices.Contains(texts(at(p.offer, "contributes", "hooks")), hook)
	row := featurewire.LookupHook(hook)
	if (!declared || row == nil) && !p.ignores("hook-name") || row != nil && !p.ignores("hook-payload") && p.malformedPayload(row.Payload, at(params, "payload")) {
		p.failure(id, p.instead("vague-hook", "unknown_method", "invalid_params"), obj{"method": hook})
		return
	}
	result := obj{"disposition": obj{"action": "continue"}, "context": []any{}, "notifications": []any{}}
	switch hook {
	case featurewire.HookBeforePrompt:
		result["context"] = []any{obj{"label": "hook", "content": "seen"}}
	case featurewire.HookBeforeToolCall:
		result["disposition"] = obj{"action": "deny", "reason": "not now"}
	case featurewire.HookProviderRetry:
		result["provider_retry"] = obj{"delay": obj{"additional_delay_ms": 500}}
	case featurewire.HookBeforePersistence:
		result["persistence_metadata"] = obj{"value": obj{"run": at(params, "payload", "run_id")}, "public": true}
	case featurewire.HookPostMutation:
		result["post_mutation"] = obj{"action": "request_rescan", "resource_ids": at(params, "payload", "affected_resources")}
	case featurewire.HookModelTurnStart, featurewire.HookModelTurnEnd, featurewire.HookSessionCompact:
		result["session_operation"] = obj{"action": "continue"}
	case featurewire.HookSessionBeforeCompact:
		result["session_operation"] = obj{"action": "cancel"}
	case featurewire.HookCacheWarmingDecision:
		result["cache_warming_decision"] = "stop"
	case featurewire.HookCompactionStrategy:
		result["compaction_frames"] = list(pixel)
	case featurewire.HookResourcesDiscover:
		result = obj{"resource_paths": obj{"skill_paths": list("/skills"), "theme_paths": list("/themes/dark.json"), "default_theme": "/themes/dark.json"}}
	}
	p.result(featurewire.MethodHookRun, id, result)
}

// malformedPayload reports whether a payload is not one of the hook.
func (p *peer) malformedPayload(model string, payload json.RawMessage) bool {
	return payload == nil || featurewire.ValidateModel(model, payload) != nil
}

func menu() obj {
	return obj{
		"title": "Peer", "status": obj{"state": "active", "label": "sound"}, "detail": "A sound menu.",
		"items": []any{
			obj{"id": "greet", "label": "Greet", "description": nil, "command": CommandGreet, "arguments": list("you"), "destructive": false, "recommended": true, "items": nil},
			obj{"id": "more", "label": "More", "items": []any{obj{"id": "greet", "label": "Greet", "command": CommandGreet, "recommended": true}}},
		},
	}
}

// complete offers one completion of a word that begins with a slash.
func (p *peer) complete(params json.RawMessage) obj {
	typed := textOf(at(params, "text"))
	cursor := min(max(integer(at(params, "cursor")), 0), len(typed))
	if !strings.HasSuffix(typed[:cursor], "/he") {
		return obj{"prefix": "", "items": []any{}}
	}
	item := obj{"value": "/hello", "label": "/hello", "description": nil}
	if slices.Contains(p.features, featurewire.FeatureAutocompleteEditV1) {
		item["replace_after_bytes"], item["cursor_offset_bytes"] = 0, len("/hello")
	}
	return obj{"prefix": "/he", "items": []any{item}}
}

func (p *peer) dispose(id, params json.RawMessage) {
	var resources []json.RawMessage
	results := []any{}
	if json.Unmarshal(at(params, "resources"), &resources) == nil {
		for _, r := range resources {
			results = append(results, obj{"resource": r, "status": "completed"})
		}
	}
	p.result(featurewire.MethodResourceDispose, id, obj{"results": results})
}

// registerShortcut asks for a shortcut before initialize is answered.
func (p *peer) registerShortcut(id json.RawMessage) {
	if !p.full || !slices.Contains(p.features, featurewire.FeatureShortcuts) {
		return
	}
	p.ask("s-1", featurewire.MethodShortcutRegister, obj{"parent_request_id": id, "id": "peer:greet", "key": "ctrl+shift+g", "description": "Greet"})
}
