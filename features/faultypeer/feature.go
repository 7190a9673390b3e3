package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
)

// takeFeature reads one line of the feature wire, which tolerates more.
func (p *peer) takeFeature(l line) {
	if l.size > featurewire.MaxLineBytes && !p.ignores("frame-bound") {
		fmt.Fprintln(p.log, "a line over the bound")
		p.end(exitRefused)
		return
	}
	payload := bytes.TrimSpace(l.payload)
	if len(payload) == 0 {
		return
	}
	if !json.Valid(payload) {
		if !p.does("drop-malformed") {
			p.failure(json.RawMessage("null"), "parse_error", nil)
		}
		return
	}
	m := members(payload)
	if m == nil {
		p.failure(json.RawMessage("null"), "invalid_request", nil)
		return
	}
	id, hasID := m["id"]
	method, isText := text(m["method"])
	version, _ := text(m["jsonrpc"])
	switch {
	case (version != "2.0" || !isText) && hasID && m["result"] == nil && m["error"] == nil:
		if !p.ignores("envelope-value") {
			p.failure(id, "invalid_request", nil)
			return
		}
		if isText {
			p.dispatchFeature(id, method, m["params"])
		}
	case !isText:
	case !hasID:
		p.notifiedFeature(method, m["params"])
	default:
		p.dispatchFeature(id, method, m["params"])
	}
}

func (p *peer) notifiedFeature(method string, params json.RawMessage) {
	if method == featurewire.MethodCancelRequest && !p.frozen() {
		p.cancel(bytes.TrimSpace(at(params, "id")), at(params, "reason"))
		return
	}
	if p.does("answer-notifications") {
		p.failure(json.RawMessage("null"), "invalid_request", nil)
	}
}

func (p *peer) dispatchFeature(id json.RawMessage, method string, params json.RawMessage) {
	if p.live[key(id)] != nil && !p.ignores("live-id") {
		if p.does("drop-live-id") {
			return
		}
		name := "invalid_request"
		if p.does("vague-live-id") {
			name = "internal_error"
		}
		p.failure(id, name, nil)
		return
	}
	switch {
	case method == featurewire.MethodInitialize && (!p.ready || p.ignores("second-initialize")):
		p.initializeFeature(id, params)
	case method == featurewire.MethodInitialize:
		p.failure(id, "invalid_request", nil)
		if p.does("end-after-second-initialize") {
			p.end(exitRefused)
		}
	case !p.ready && !p.ignores("first-request"):
		p.failure(id, "invalid_request", nil)
		if p.does("end-after-early-request") {
			p.end(exitRefused)
		}
	case method == featurewire.MethodToolCall:
		p.toolCallFeature(id, params)
	case method == featurewire.MethodShutdown:
		p.shutdown(id)
	case p.does("drop-unknown"):
	case p.does("serve-anything"):
		p.result(method, id, obj{})
	default:
		p.failure(id, "unknown_method", obj{"method": method})
	}
}

func (p *peer) initializeFeature(id, params json.RawMessage) {
	p.offer = params
	if fault, data := p.refusal(params); fault != "" {
		p.refuseInitialize(id, fault, data)
		return
	}
	p.moment("initialize")
	if p.does("drop-initialize") {
		return
	}
	result := obj{"api_version": p.api, "tools": p.catalog(), "commands": []any{}}
	if p.negotiates() {
		offered := texts(at(params, "protocol", "optional_features"))
		p.features = texts(at(params, "protocol", "required_features"))
		if slices.Contains(offered, featurewire.FeatureRequestProgress) {
			p.features = append(p.features, featurewire.FeatureRequestProgress)
		}
		version, _ := text(at(params, "protocol", "version"))
		result["protocol"] = obj{"version": version, "features": list(p.features...), "limits": obj{"max_concurrent_requests": 8}}
	}
	p.ready = true
	p.result(featurewire.MethodInitialize, id, result)
	p.moment("initialized")
}

// refusal names why an initialize is refused, or nothing.
func (p *peer) refusal(params json.RawMessage) (string, any) {
	version, _ := text(at(params, "api_version"))
	if version != p.api && !p.ignores("api-version") {
		return "unsupported API version", nil
	}
	if p.frozen() && at(params, "protocol") != nil && !p.ignores("frozen-protocol") {
		return "protocol is not part of this API version", nil
	}
	known := []string{featurewire.FeatureRequestCancellation, featurewire.FeatureContentParts, featurewire.FeatureRequestProgress}
	var unsupported []any
	for _, name := range texts(at(params, "protocol", "required_features")) {
		if !slices.Contains(known, name) {
			unsupported = append(unsupported, name)
		}
	}
	if len(unsupported) > 0 && !p.ignores("required-features") {
		return "required features are unsupported", obj{"unsupported_features": unsupported}
	}
	if p.does("need-host-state") && at(params, "host", "session_id") == nil {
		return "the host state is empty", nil
	}
	return "", nil
}

func (p *peer) refuseInitialize(id json.RawMessage, why string, data any) {
	e := obj{"code": featurewire.CodeServerError, "message": why}
	if p.does("vague-refusal") {
		e["code"] = featurewire.CodeInternalError
	}
	if data != nil && !p.does("unnamed-features") {
		e["data"] = data
	}
	p.write("error", obj{"id": id, "error": e})
	if !p.does("survive-refusal") {
		p.end(exitRefused)
	}
}

func (p *peer) toolCallFeature(id, params json.RawMessage) {
	name, named := text(at(params, "name"))
	arguments := at(params, "arguments")
	switch {
	case (!named || members(arguments) == nil) && !p.ignores("call-model"):
		p.failure(id, "invalid_params", nil)
		return
	case at(params, "catalog_revision") != nil && !p.ignores("catalog-revision"):
		p.failure(id, "invalid_params", nil)
		return
	case !slices.Contains([]string{ToolEcho, ToolFail, ToolLarge, ToolSlow}, name) && !p.ignores("tool-name"):
		p.failure(id, "unknown_method", obj{"method": name})
		return
	case p.does("need-owner") && at(params, "context", "resource_owner") == nil:
		p.failure(id, "invalid_params", nil)
		return
	case p.does("strict-params") && at(params, "conform_extra") != nil:
		p.failure(id, "invalid_params", nil)
		return
	case p.does("low-concurrency") && p.calls >= 1:
		return
	}
	p.callTool(id, name, arguments)
}
