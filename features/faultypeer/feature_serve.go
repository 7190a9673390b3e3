package faultypeer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

func (p *peer) initializeFeature(id, params json.RawMessage) {
	p.offer = params
	if why, data := p.refusal(params); why != "" {
		p.refuseInitialize(id, why, data)
		return
	}
	p.moment("initialize")
	if p.does("drop-initialize") {
		return
	}
	version := p.api
	if p.does("echo-version") {
		version, _ = text(at(params, "api_version"))
	}
	result := obj{"api_version": version, "commands": p.commands()}
	if p.negotiates() {
		result["protocol"] = p.selectionFeature(at(params, "protocol"))
	}
	result["tools"] = p.catalog()
	p.registerShortcut(id)
	p.opening(id, func() {
		p.ready = true
		p.result(featurewire.MethodInitialize, id, result)
		p.moment("initialized")
	})
}

// opening sends what a play has for the time before initialize is answered, and answers it then.
func (p *peer) opening(id json.RawMessage, answer func()) {
	if p.stage == nil {
		answer()
		return
	}
	p.stage.initID = string(id)
	p.perform(p.stage.Early, answer)
}

// selectionFeature selects what is required and, of the rest, progress.
func (p *peer) selectionFeature(offer json.RawMessage) obj {
	offered := texts(at(offer, "optional_features"))
	p.features = texts(at(offer, "required_features"))
	for _, name := range offered {
		if p.does("select-decoration-alone") {
			p.features = append(p.features, featurewire.FeatureProgressDecoration)
			break
		}
		if p.stage != nil {
			p.features = append(p.features, p.stage.selectsByPlay(offered)...)
			break
		}
		if name == featurewire.FeatureRequestProgress || p.does("select-everything") || p.full && featurewire.LookupFeature(name) != nil {
			p.features = append(p.features, name)
		}
	}
	if p.does("select-unasked") && !slices.Contains(p.features, featurewire.FeatureRequestProgress) {
		p.features = append(p.features, featurewire.FeatureRequestProgress)
	}
	version, _ := text(at(offer, "version"))
	selection := obj{"version": version, "limits": obj{"max_concurrent_requests": 8}}
	if p.stage != nil && p.stage.Requests > 0 {
		selection["limits"] = obj{"max_concurrent_requests": p.stage.Requests}
	}
	if p.does("choose-little") {
		p.features = p.chooseLittle()
		if slices.Contains(p.features, featurewire.FeatureLifecycleEvents) {
			selection["lifecycle_events"] = list(featurewire.MethodTurnStarted, featurewire.MethodToolSettled)
		}
	}
	selection["features"] = list(p.features...)
	return selection
}

// commands are those that the manifest declares, each with the least a command has.
func (p *peer) commands() []any {
	all := []any{}
	for _, name := range texts(at(p.offer, "contributes", "commands")) {
		all = append(all, obj{"name": name, "description": "Does " + name + ".", "usage": nil})
	}
	return all
}

// refusal says why an initialize is refused, or nothing.
func (p *peer) refusal(params json.RawMessage) (string, any) {
	version, _ := text(at(params, "api_version"))
	prefix := p.does("match-version-prefix") && strings.HasPrefix(version, p.api)
	switch {
	case version != p.api && !p.ignores("api-version") && !p.does("echo-version") && !prefix:
		return "unsupported API version", nil
	case p.spoiled:
		return "already refused", nil
	case p.frozen() && at(params, "protocol") != nil && !p.ignores("frozen-protocol"):
		return "protocol is not part of this API version", nil
	case p.does("need-session") && at(params, "host", "session_id") == nil:
		return "the host names no session", nil
	case p.does("need-flags") && len(texts(at(params, "flag_values"))) == 0 && at(params, "flag_values") != nil:
		return "the list of flags is empty", nil
	case p.does("strict-initialize") && at(params, "conform_extra") != nil:
		return "unknown member", nil
	}
	if unknown := p.unsupported(texts(at(params, "protocol", "required_features"))); len(unknown) > 0 && !p.ignores("required-features") {
		return "required features are unsupported", obj{"unsupported_features": unknown}
	}
	if p.does("refuse-unknown-optional") && len(p.unsupported(texts(at(params, "protocol", "optional_features")))) > 0 {
		return "optional features are unsupported", nil
	}
	return "", nil
}

// unsupported returns the names of features that the peer does not know.
func (p *peer) unsupported(names []string) []any {
	var unknown []any
	for _, name := range names {
		if featurewire.LookupFeature(name) == nil {
			unknown = append(unknown, name)
		}
	}
	return unknown
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
	second := p.burst
	p.burst = true
	p.owner = at(params, "context", "resource_owner")
	switch {
	case (!named || members(arguments) == nil) && !p.ignores("call-model"):
		p.failure(id, p.instead("vague-call", "invalid_request", "invalid_params"), nil)
	case !p.revised(at(params, "catalog_revision")) && !p.ignores("catalog-revision"):
		p.failure(id, p.instead("vague-revision", "internal_error", "invalid_params"), nil)
	case !p.hasTool(name, at(params, "catalog_revision")) && p.does("unknown-tool-as-result"):
		p.result(featurewire.MethodToolCall, id, p.toolResult("no such tool", true))
	case !p.hasTool(name, at(params, "catalog_revision")) && !p.ignores("tool-name"):
		p.failure(id, p.instead("vague-tool", "invalid_params", "unknown_method"), obj{"method": name})
	case p.does("need-owner") && at(params, "context", "resource_owner") == nil,
		p.does("need-host-state") && at(params, "context", "host", "session_id") == nil,
		p.does("strict-params") && at(params, "conform_extra") != nil:
		p.failure(id, "invalid_params", nil)
	case p.does("drop-call-behind-call") && second, p.does("hang-after-failure") && p.failed:
	case p.does("refuse-call-behind-call") && second:
		p.failure(id, "server_error", nil)
	case name == ToolFail:
		p.failed = true
		p.failFeature(id)
	default:
		if p.does("end-in-call") {
			p.end(exitRefused)
			return
		}
		p.callTool(id, name, arguments)
		if p.does("one-shot") {
			p.end(exitDone)
		}
	}
}

// revised reports whether a call may name a revision of the catalog, and this one.
func (p *peer) revised(revision json.RawMessage) bool {
	if revision == nil {
		return true
	}
	n, err := strconv.Atoi(string(revision))
	return err == nil && slices.Contains(p.features, featurewire.FeatureDynamicTools) && n >= 0 && n <= len(p.extras)
}

// hasTool reports whether a tool is in the catalog of a revision, the newest one where none is named.
func (p *peer) hasTool(name string, revision json.RawMessage) bool {
	n := len(p.extras)
	if revision != nil && !p.does("serve-newest-only") {
		n = integer(revision)
	}
	switch name {
	case ToolEcho, ToolFail, ToolLarge, ToolSlow:
		return true
	case ToolTour:
		return p.full
	case ToolAsk:
		return p.stage != nil
	case ToolExtra:
		return n > 0 && n <= len(p.extras) && p.extras[n-1]
	}
	return false
}

// failFeature serves the tool that fails.
func (p *peer) failFeature(id json.RawMessage) {
	switch {
	case p.does("failure-as-error"):
		p.failure(id, "internal_error", nil)
	case p.does("failure-as-cancelled"):
		p.failure(id, "request_cancelled", obj{"reason": "failed"})
	default:
		p.callTool(id, ToolFail, nil)
	}
	if p.does("end-after-failure") {
		p.end(exitRefused)
	}
}

// cancelFeature looks at what a cancellation names.
func (p *peer) cancelFeature(id, reason json.RawMessage) {
	k := key(id)
	if p.does("match-id-by-text") {
		k = p.byText(id)
	}
	c := p.live[k]
	switch {
	case p.does("need-reason") && reason == nil, p.does("ignore-cancel"):
	case c == nil:
		p.cancelStray(id)
	case p.does("drop-call-cancelled-at-once") && p.last == string(c.id):
		p.settle(c.id, func() {})
	case p.does("cancel-oldest"):
		p.cancelled(p.live[p.order[0]].id, reason)
	case p.stage != nil && p.stage.callID == string(c.id) && p.stage.Cancelled != nil:
		p.perform(p.stage.Cancelled, func() { p.cancelled(c.id, reason) })
	default:
		p.cancelled(c.id, reason)
		for p.does("cancel-all") && len(p.order) > 0 {
			p.cancelled(p.live[p.order[0]].id, reason)
		}
	}
}

// cancelled answers a call that was cancelled.
func (p *peer) cancelled(id, reason json.RawMessage) {
	p.gaveUp = true
	if p.does("finish-cancelled") {
		p.report(id)
	}
	p.settle(id, func() {
		switch {
		case p.does("finish-cancelled"):
			p.result(featurewire.MethodToolCall, id, p.toolResult("stopped", true))
		case p.does("vague-cancelled"):
			p.failure(id, "internal_error", nil)
		default:
			p.failure(id, "request_cancelled", because(reason))
		}
		if p.does("answer-cancelled-twice") {
			p.result(featurewire.MethodToolCall, id, p.toolResult("stopped", true))
		}
	})
}

// because is the detail of an error that says cancelled.
func because(reason json.RawMessage) obj {
	if reason == nil {
		return obj{"reason": "cancelled"}
	}
	return obj{"reason": reason}
}

// cancelStray is told to cancel what does not run.
func (p *peer) cancelStray(id json.RawMessage) {
	switch {
	case p.does("answer-stray-cancel"):
		p.failure(id, "request_cancelled", because(nil))
	case p.does("refuse-stray-cancel"):
		p.failure(nullID, "invalid_request", nil)
	case p.does("answer-late-cancel") && p.last == string(id):
		p.failure(id, "request_cancelled", because(nil))
	case p.does("refuse-late-cancel") && p.last == string(id):
		p.failure(nullID, "invalid_request", nil)
	case p.remembers():
		p.seen[key(id)] = true
	}
}

// shutdownFeature answers what is owed, answers shutdown, and ends.
func (p *peer) shutdownFeature(id json.RawMessage) {
	if p.stage != nil && p.stage.Ending != nil {
		part := p.stage.Ending
		p.stage.Ending = nil
		p.perform(part, func() { p.shutdownFeature(id) })
		return
	}
	p.moment("shutdown")
	switch {
	case p.does("drop-shutdown"), p.does("wait-for-calls") && len(p.order) > 0:
		return
	case p.does("exit-before-shutdown-answer"):
		p.end(exitDone)
		return
	case p.does("answer-calls-late"):
		p.result(featurewire.MethodShutdown, id, obj{})
		p.interrupt()
	case p.does("leave-calls"):
		p.result(featurewire.MethodShutdown, id, obj{})
	default:
		p.interrupt()
		p.result(featurewire.MethodShutdown, id, obj{})
	}
	p.moment("shutdown answered")
	if p.does("survive-shutdown") {
		return
	}
	p.end(exitDone)
}

// interrupt answers every call that runs.
func (p *peer) interrupt() {
	for _, k := range slices.Clone(p.order) {
		id := p.live[k].id
		p.settle(id, func() {
			switch {
			case p.frozen() && !p.does("cancel-on-frozen"), p.does("finish-at-shutdown"):
				p.result(featurewire.MethodToolCall, id, p.toolResult("interrupted", true))
			case p.does("vague-interruption"):
				p.failure(id, "internal_error", nil)
			default:
				p.failure(id, "request_cancelled", obj{"reason": "shutdown"})
			}
		})
	}
}

// confirm asks the person something on behalf of a call, under an id of the peer's own.
func (p *peer) confirm(own any, parent string) {
	params := question(parent)
	if p.frozen() {
		delete(params, "parent_request_id")
	}
	p.ask(own, featurewire.MethodConfirmationRequest, params)
}

// question is what the peer asks a person.
func question(parent string) obj {
	return obj{"prompt": "Go on?", "detail": nil, "destructive": false, "default": true, "parent_request_id": json.RawMessage(parent)}
}
