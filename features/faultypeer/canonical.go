package faultypeer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/features/spelling"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// takeCanonical reads one line of the canonical wire.
func (p *peer) takeCanonical(l line) {
	if !l.whole && !p.ignores("line-feed") {
		p.refuse("the last line has no line feed")
		return
	}
	if l.size > p.bound && !p.ignores("frame-bound") {
		p.refuse(fmt.Sprintf("a line of %d bytes", l.size))
		return
	}
	for _, d := range spelling.Check(l.payload, canonicalwire.MaxJSONDepth) {
		if !p.ignores(d.Class.String()) {
			p.refuse(d.Error())
			return
		}
	}
	m := members(l.payload)
	if m == nil {
		if p.does("answer-non-object") {
			p.failure(json.RawMessage("0"), "invalid_request", nil)
		}
		return
	}
	p.envelope(m)
}

// envelope sorts a message by its members.
func (p *peer) envelope(m map[string]json.RawMessage) {
	_, hasID := m["id"]
	_, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	if p.does("take-null-for-no-id") && string(m["id"]) == "null" {
		delete(m, "id")
		hasID = false
	}
	if hasID && !legalID(m["id"]) && !p.ignores("id") {
		return
	}
	switch {
	case hasMethod && (hasResult || hasError) && !p.ignores("mixed"):
		p.invalid(m["id"])
	case hasMethod:
		if fault := p.requestFault(m, hasID); fault != "" {
			if hasID {
				p.invalid(m["id"])
			}
			return
		}
		p.dispatchCanonical(m, hasID)
	case hasResult || hasError:
		p.outcome(m)
	default:
		p.invalid(m["id"])
		if p.does("end-at-bad-envelope") {
			p.end(exitRefused)
		}
	}
}

func (p *peer) invalid(id json.RawMessage) {
	if id == nil {
		return
	}
	p.failure(id, "invalid_request", nil)
	if p.does("end-after-error") {
		p.end(exitRefused)
	}
}

// legalID reports whether an id may name a request on the canonical wire.
func legalID(id json.RawMessage) bool {
	if s, ok := text(id); ok {
		return len(s) >= 1 && len(s) <= canonicalwire.MaxJSONRPCIDBytes
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= 0
}

// requestFault names what is wrong with a request or notification envelope.
func (p *peer) requestFault(m map[string]json.RawMessage, hasID bool) string {
	method, isText := text(m["method"])
	params, hasParams := m["params"]
	unlisted := slices.ContainsFunc(keys(m), func(k string) bool {
		return !slices.Contains([]string{"id", "jsonrpc", "method", "params"}, k)
	})
	version, _ := text(m["jsonrpc"])
	row := canonicalwire.LookupMethod(method)
	switch {
	case unlisted && !p.ignores("envelope-member") && !p.ignores("mixed"):
		return "an unlisted member"
	case (version != "2.0" || !isText || !hasParams || string(params) == "null") && !p.ignores("envelope-value"):
		return "jsonrpc, method or params"
	case len(method) > canonicalwire.MaxMethodNameBytes && !p.ignores("method-length"):
		return "a method name over its bound"
	case method == "" && !p.ignores("empty-method"):
		return "an empty method name"
	case row != nil && row.Notification && hasID && !p.ignores("notification-id"):
		return "a notification with an id"
	case row != nil && !row.Notification && !hasID && !p.ignores("request-id"):
		return "a request without an id"
	}
	return ""
}

func keys(m map[string]json.RawMessage) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// dispatchCanonical serves a message with a sound envelope.
func (p *peer) dispatchCanonical(m map[string]json.RawMessage, hasID bool) {
	method, _ := text(m["method"])
	id, params := m["id"], m["params"]
	if !hasID {
		p.notified(method, params)
		return
	}
	p.overdue()
	if p.live[key(id)] != nil && !p.ignores("live-id") && !p.does(serveUnderLiveID+method) || p.opt.own[key(id)] != nil && p.does("one-id-space") {
		p.failure(id, "invalid_request", nil)
		return
	}
	switch {
	case method == canonicalwire.MethodInitialize && p.ready:
		p.again(id)
	case method == canonicalwire.MethodInitialize:
		p.initializeCanonical(id, params)
	case !p.ready:
		p.tooEarly(id, method)
	case method == canonicalwire.MethodToolCall:
		p.toolCallCanonical(id, params)
	case method == canonicalwire.MethodShutdown:
		p.shutdownCanonical(id, params)
	case p.serveOptional(method, id, params):
	case p.does("drop-unknown"):
	case p.does("serve-anything"):
		p.result(method, id, obj{})
	case p.does("serve-unselected") && canonicalwire.LookupMethod(method) != nil && canonicalwire.LookupMethod(method).Direction == wirejson.HostToExtension:
		p.result(method, id, obj{})
	case p.does("serve-own-methods") && canonicalwire.LookupMethod(method) != nil && canonicalwire.LookupMethod(method).Direction == wirejson.ExtensionToHost:
		p.result(method, id, obj{})
	default:
		p.failure(id, "unknown_method", obj{"method": method})
		if p.does("end-after-error") {
			p.end(exitRefused)
		}
	}
}

func (p *peer) notified(method string, params json.RawMessage) {
	switch method {
	case canonicalwire.MethodCancelRequest:
		if canonicalwire.ValidateModel("CancelRequestParams", params) != nil && !p.ignores("cancel-model") {
			return
		}
		p.cancel(at(params, "id"), at(params, "reason"))
	case canonicalwire.MethodShutdown:
		p.end(exitDone)
	default:
		if !p.told(method, params) && p.does("answer-notifications") {
			p.failure(json.RawMessage("0"), "unknown_method", obj{"method": method})
		}
	}
}

// again refuses a second initialize.
func (p *peer) again(id json.RawMessage) {
	if p.ignores("second-initialize") {
		p.result(canonicalwire.MethodInitialize, id, p.selection())
		return
	}
	p.failure(id, "invalid_request", nil)
	if !p.does("survive-second-initialize") {
		p.end(exitRefused)
	}
}

// tooEarly refuses a request that came before initialize.
func (p *peer) tooEarly(id json.RawMessage, method string) {
	if p.does("serve-early") {
		p.result(method, id, obj{})
		p.end(exitDone)
		return
	}
	p.failure(id, "unknown_method", obj{"method": method})
	if !p.does("survive-early-request") {
		p.end(exitRefused)
	}
}

func (p *peer) toolCallCanonical(id, params json.RawMessage) {
	name, _ := text(at(params, "name"))
	if err := p.model("ToolCallParams", params, "call-model"); err != "" {
		if err == "resource_exhausted" && p.ignores("tool-name-length") {
			err = "invalid_params"
		}
		p.failure(id, err, nil)
		if p.does("end-after-error") {
			p.end(exitRefused)
		}
		return
	}
	if !slices.Contains([]string{ToolEcho, ToolFail, ToolLarge, ToolSlow}, name) && !p.ignores("tool-name") {
		if p.does("vague-unknown-tool") {
			p.failure(id, "invalid_params", nil)
			return
		}
		p.failure(id, "unknown_method", obj{"method": name})
		return
	}
	if _, ok := text(at(params, "arguments", "text")); name == ToolEcho && !ok && !p.ignores("arguments") {
		p.failure(id, "invalid_params", nil)
		return
	}
	if p.does("low-concurrency") && p.calls >= 1 {
		p.failure(id, "resource_exhausted", nil)
		return
	}
	p.callTool(id, name, at(params, "arguments"))
}

func (p *peer) shutdownCanonical(id, params json.RawMessage) {
	if err := p.model("ShutdownParams", params, "shutdown-model"); err != "" {
		p.failure(id, err, nil)
		if p.does("end-after-bad-shutdown") {
			p.end(exitRefused)
		}
		return
	}
	if p.does("busy-shutdown") && len(p.live) >= p.most {
		p.failure(id, "resource_exhausted", nil)
		return
	}
	p.shutdown(id)
}

// model checks params and returns the name of the error they deserve, or nothing.
func (p *peer) model(name string, params json.RawMessage, check string) string {
	err := canonicalwire.ValidateModel(name, params)
	if err == nil || p.ignores(check) {
		return ""
	}
	var v *wirejson.Violation
	if errors.As(err, &v) {
		return v.ErrorName
	}
	return "invalid_params"
}
