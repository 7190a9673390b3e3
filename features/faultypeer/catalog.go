package faultypeer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Tools of the peer. The manifest that goes with it declares them.
const (
	ToolEcho  = "echo"  // says what it was given, and more
	ToolFail  = "fail"  // fails
	ToolSlow  = "slow"  // runs until it is cancelled
	ToolLarge = "large" // says more than fits a small frame
	ToolTour  = "tour"  // uses every service; of a full peer only
	ToolExtra = "extra" // is there for a while during a tour
)

// CommandGreet is the command of a full peer, and Secret what it asks for.
const (
	CommandGreet = "greet"
	Secret       = "peer_key"
)

// Full reports whether a peer with this fault uses every service.
func (f Fault) Full() bool { return f.quirk.full }

// Capabilities is what the manifest of a peer with this fault asks for.
func (f Fault) Capabilities() map[string]any {
	if !f.quirk.full || f.API == frozen {
		return nil
	}
	return obj{"secrets": list(Secret)}
}

// everything is what the manifest of a full peer declares.
func everything(api string) obj {
	hooks := []any{}
	for _, h := range featurewire.Hooks {
		if slices.Contains(h.Versions, api) {
			hooks = append(hooks, h.Name)
		}
	}
	all := obj{
		"tools": list(ToolEcho, ToolFail, ToolLarge, ToolSlow, ToolTour), "commands": list(CommandGreet), "hooks": hooks,
		"ui": list("status", "header"), "context": true, "tool_renderers": list(ToolEcho), "notifications": true, "confirmations": true,
	}
	if api != frozen {
		all["presentation"], all["menu"] = true, true
	}
	return all
}

// Contributes is what the manifest of a peer with this fault declares.
func (f Fault) Contributes() map[string]any {
	all := obj{"tools": list(ToolEcho, ToolFail, ToolLarge, ToolSlow), "notifications": true, "confirmations": true}
	if f.quirk.full {
		all = everything(f.API)
	}
	for name, v := range f.quirk.contributes {
		all[name] = v
	}
	return all
}

func (p *peer) row(name string) (wirejson.ErrorCode, error) {
	find := featurewire.ErrorByName
	if p.canonical() {
		find = canonicalwire.ErrorByName
	}
	row, ok := find(name)
	if !ok {
		return row, fmt.Errorf("%q: %w", name, errNoRow)
	}
	return row, nil
}

// catalog is the peer's tools as initialize answers them.
func (p *peer) catalog() []any {
	tool := func(name, description string, properties obj, required []any) obj {
		return obj{
			"name": name, "description": description,
			"parameters": obj{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		}
	}
	echo := tool(ToolEcho, "Says what it was given.", obj{"text": obj{"type": "string", "default": "octet"}}, list("text"))
	if !p.frozen() {
		echo["output_schema"] = obj{"type": "object", "properties": obj{"bytes": obj{"type": "integer"}}, "required": list("bytes")}
	}
	tools := []any{
		echo,
		tool(ToolFail, "Fails.", obj{}, []any{}),
		tool(ToolLarge, "Says a lot.", obj{}, []any{}),
		tool(ToolSlow, "Runs until it is cancelled.", obj{}, []any{}),
	}
	if p.stage != nil {
		tools = append(tools, p.askTool())
	}
	if p.full {
		tour := tool(ToolTour, "Uses every service.", obj{}, []any{})
		p.describe(tour)
		tools = append(tools, tour)
	}
	return tools
}

// describe adds to a tool what the selected features allow.
func (p *peer) describe(tour obj) {
	has := func(feature string) bool { return slices.Contains(p.features, feature) }
	if has(featurewire.FeatureToolPromptMetadataV1) {
		tour["prompt_snippet"], tour["prompt_guidelines"] = "Take a tour", list("Once\tis enough.")
	}
	if has(featurewire.FeatureToolCompositionV1) {
		tour["composition"] = obj{"mode": "on", "inline_budget": 1000}
	}
	if has(featurewire.FeatureOperationDescriptorsV1) && has(featurewire.FeatureResourceRefsV1) {
		reference := obj{
			"type": "object", "additionalProperties": false, "required": list("$resource", "type"),
			"properties": obj{"$resource": obj{"type": "string"}, "type": obj{"const": "peer.Stop"}},
		}
		tour["parameters"].(obj)["properties"] = obj{"from": reference}
		tour["operation"] = obj{
			"id": "tour", "resource_inputs": []any{obj{"path": "/from", "type": "peer.Stop", "access": "exclusive"}}, "resource_outputs": []any{},
		}
	}
}

// exotic is what every echo carries behind the text: one of each kind of character that has, or must
// not have, a spelling of its own.
const exotic = " \"\\\b\t\n\f\r\x01\x1f/<>&\x7f\u0085é\u2028\ufeff\U0001F427"

// callTool serves a tool call whose params are known to be of the right shape.
func (p *peer) callTool(id json.RawMessage, name string, arguments json.RawMessage) {
	p.last = string(id)
	p.calls++
	if p.does("drop-second-call") && p.calls == 2 {
		return
	}
	if p.seen[key(id)] && p.looksAt(name) {
		p.failure(id, "request_cancelled", p.cancelData(nil))
		return
	}
	p.live[key(id)] = &call{id: id}
	p.order = append(p.order, key(id))
	p.moment("call " + name)
	switch name {
	case ToolSlow:
		p.report(id)
	case ToolFail:
		if p.does("fail-by-error") {
			p.settle(id, func() { p.failure(id, "internal_error", nil) })
			return
		}
		p.settle(id, func() { p.result(featurewire.MethodToolCall, id, p.toolResult("it failed", true)) })
	case ToolLarge:
		p.settle(id, func() { p.large(id) })
	case ToolTour:
		p.report(id)
		p.tour(id)
	case ToolAsk:
		said, _ := text(at(arguments, "text"))
		p.callAsk(id, said)
	case ToolExtra:
		p.settle(id, func() {
			r := p.toolResult("still here", false)
			delete(r, "structured_content")
			p.result(featurewire.MethodToolCall, id, r)
		})
	default:
		said, _ := text(at(arguments, "text"))
		p.report(id)
		if !p.canonical() && p.declares("notifications") {
			p.notify(featurewire.MethodNotification, obj{"level": "info", "message": "echoed"})
		}
		answer := func() { p.result(featurewire.MethodToolCall, id, p.toolResult(said+exotic, false)) }
		if p.canonical() && p.useContract(func() { p.settleLive(id, answer) }) {
			return
		}
		p.settle(id, answer)
	}
}

// largeBytes is the length of a large result's text.
const largeBytes = 70_000

// large answers with a result that may not fit the bound.
func (p *peer) large(id json.RawMessage) {
	result := p.toolResult(strings.Repeat("l", largeBytes), false)
	delete(result, "structured_content")
	switch {
	case len(encode(result)) < p.bound-len(id)-len(`{"id":,"jsonrpc":"2.0","result":}`):
		p.result(featurewire.MethodToolCall, id, result)
	case p.does("vague-about-size"):
		p.failure(id, "internal_error", nil)
	default:
		p.failure(id, "resource_exhausted", nil)
	}
}

// settle forgets a call and answers it.
func (p *peer) settle(id json.RawMessage, answer func()) {
	delete(p.live, key(id))
	p.order = slices.DeleteFunc(p.order, func(k string) bool { return k == key(id) })
	answer()
}

// settleLive settles a call that nobody has settled meanwhile.
func (p *peer) settleLive(id json.RawMessage, answer func()) {
	if p.live[key(id)] != nil {
		p.settle(id, answer)
	}
}

func (p *peer) toolResult(said string, failed bool) obj {
	if p.frozen() {
		return obj{"content": said, "is_error": failed}
	}
	r := obj{"content": []any{obj{"type": "text", "text": said}}, "is_error": failed, "metadata": obj{}}
	if !failed {
		r["structured_content"] = obj{"bytes": len(said)}
	}
	return r
}

// report sends progress of a call, if it may.
func (p *peer) report(id json.RawMessage) {
	if !slices.Contains(p.features, featurewire.FeatureRequestProgress) {
		return
	}
	p.progress(id, obj{"type": "status", "message": "working", "current": 1, "total": 2, "unit": "steps"})
	p.progress(id, obj{"type": "output", "stream": "stdout", "encoding": "base64", "data": "b2N0ZXQ="})
	if slices.Contains(p.features, featurewire.FeatureProgressDecoration) {
		p.progress(id, obj{"type": "decoration", "label": "Working", "detail": "step 1"})
	}
}

func (p *peer) progress(id json.RawMessage, event obj) {
	c := p.live[key(id)]
	if c == nil {
		c = &call{}
	}
	c.sequence++
	p.notify(featurewire.MethodProgress, obj{"request_id": id, "sequence": c.sequence, "event": event})
}

// declares reports whether the manifest opens a contribution, as initialize told.
func (p *peer) declares(name string) bool { return string(at(p.offer, "contributes", name)) == "true" }

// cancel ends a live call of the canonical wire on the host's wish.
func (p *peer) cancel(id json.RawMessage, reason json.RawMessage) {
	k := key(id)
	if p.does("cancel-by-text") {
		k = p.byText(id)
	}
	c := p.live[k]
	p.cancelling = id
	if c == nil {
		if p.remembers() {
			p.seen[k] = true
		}
		p.moment("cancel unknown")
		return
	}
	p.moment("cancel")
	if p.does("ignore-cancel") {
		return
	}
	p.settle(c.id, func() { p.failure(c.id, "request_cancelled", p.cancelData(reason)) })
	if p.does("cancel-all") {
		for _, other := range slices.Clone(p.order) {
			id := p.live[other].id
			p.settle(id, func() { p.failure(id, "request_cancelled", p.cancelData(reason)) })
		}
	}
}

// remembers reports whether the peer keeps the cancellation of what does not run.
func (p *peer) remembers() bool { return strings.HasPrefix(p.quirk.does, rememberCancel) }

// Acts of a peer that keeps cancellations of what does not run.
const (
	rememberCancel          = "remember-cancel"
	rememberCancelOfSlow    = rememberCancel + "-of-slow"
	rememberCancelOfFailing = rememberCancel + "-of-failing"
)

// looksAt reports whether a tool of such a peer looks for its cancellation at all: one that is quick may end before.
func (p *peer) looksAt(tool string) bool {
	switch p.quirk.does {
	case rememberCancelOfSlow:
		return tool == ToolSlow
	case rememberCancelOfFailing:
		return tool == ToolFail
	}
	return true
}

// byText finds a live call whose id has the same text, a string's quotes not counted.
func (p *peer) byText(id json.RawMessage) string {
	strip := func(raw string) string {
		if s, ok := text(json.RawMessage(raw)); ok {
			return s
		}
		return raw
	}
	for k := range p.live {
		if strip(k) == strip(string(id)) {
			return k
		}
	}
	return ""
}

func (p *peer) cancelData(reason json.RawMessage) obj {
	data := obj{"terminal": "cancelled"}
	if reason != nil {
		data["reason"] = reason
	}
	return data
}

// shutdown answers what is owed on the canonical wire, answers shutdown, and ends.
func (p *peer) shutdown(id json.RawMessage) {
	for serving := p.does("serve-behind-shutdown"); serving; {
		p.opt.used = true // the call is to be answered at once
		l, more := <-p.lines
		if !more {
			break
		}
		serving = at(l.payload, "method") == nil
		p.take(l)
	}
	if !p.does("leave-calls") {
		for _, k := range slices.Clone(p.order) {
			c := p.live[k]
			p.settle(c.id, func() { p.failure(c.id, "request_cancelled", p.cancelData(nil)) })
		}
	}
	p.result(featurewire.MethodShutdown, id, obj{"terminal": "shutdown"})
	p.moment("shutdown answered")
	code := exitDone
	if p.does("fail-after-shutdown") {
		code = 1
	}
	p.end(code)
}

// key is an id as spelled.
func key(id json.RawMessage) string { return string(id) }
