package faultypeer

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// optional is what the peer keeps about the optional services of the canonical wire.
type optional struct {
	methods []string                                // those selected
	own     map[string]func(result json.RawMessage) // unanswered requests of the peer by id as spelled; nil stands for a refusal
	asked   int
	used    bool     // the services that a call uses have been used
	late    []func() // answers that wait for the next line
	bus     bus
	beats   int
	zombie  string // a stream that goes on although it was cancelled
}

// bus is what the peer knows of the session bus.
type bus struct {
	binding  string
	dead     bool // a notice could not be understood
	declared bool // the peer's own topic, under the binding
}

// Topics of the peer: its own, and one that it waits for.
const (
	topicOwn     = "bus.peer.news"
	topicForeign = "bus.other.news"
)

// seek sends a request. Then is called with the result, or with nil once the host has refused.
func (p *peer) seek(method string, params obj, then func(result json.RawMessage)) {
	p.opt.asked++
	var id any = fmt.Sprintf("peer-%d", p.opt.asked)
	if p.does("number-requests") {
		id = p.opt.asked
	}
	if p.opt.own == nil {
		p.opt.own = map[string]func(json.RawMessage){}
	}
	spelled := string(encode(id))
	p.opt.own[spelled] = then
	p.ask(id, method, params)
	if p.does("block-on-requests") {
		p.waitFor(spelled)
	}
}

// waitFor reads nothing but responses until a request has its own.
func (p *peer) waitFor(id string) {
	var queued []line
	for p.opt.own[id] != nil && !p.ended {
		select {
		case <-p.ctx.Done():
			return
		case l, ok := <-p.lines:
			if !ok {
				p.end(exitDone)
				return
			}
			if at(l.payload, "method") == nil {
				p.take(l)
				continue
			}
			queued = append(queued, l)
		}
	}
	for _, l := range queued {
		p.take(l)
	}
}

// whatever is for requests whose outcome changes nothing.
func whatever(json.RawMessage) {}

// outcome takes the outcome of a request of the peer, or ends at one of a request that it never made.
func (p *peer) outcome(m map[string]json.RawMessage) {
	then := p.opt.own[key(m["id"])]
	if then == nil {
		if !p.ignores("foreign-response") {
			p.refuse("a response to nothing")
		}
		return
	}
	delete(p.opt.own, key(m["id"]))
	if m["error"] != nil && p.does("end-when-refused") {
		p.end(exitRefused)
		return
	}
	then(m["result"])
}

// chose reports whether the peer has selected a method.
func (p *peer) chose(method string) bool { return slices.Contains(p.opt.methods, method) }

// selectOptional adds what is offered beyond the required names, except session hooks that nobody declared.
func (p *peer) selectOptional(capabilities, methods []any) (moreCapabilities, moreMethods []any) {
	if p.does("select-nothing") {
		return capabilities, methods
	}
	offered := texts(at(p.offer, "contract", "optional_methods"))
	for _, name := range texts(at(p.offer, "contract", "optional_capabilities")) {
		usable := slices.ContainsFunc(offered, func(method string) bool {
			m := canonicalwire.LookupMethod(method)
			return m != nil && m.Gate == name
		})
		switch name {
		case canonicalwire.CapabilityLifecycleEvents:
			usable = p.hooksWanted()
		case canonicalwire.CapabilityEventBus:
			usable = slices.Contains(offered, canonicalwire.MethodBusLifecycle)
		}
		if usable {
			capabilities = append(capabilities, name)
		}
	}
	for _, name := range offered {
		if m := canonicalwire.LookupMethod(name); m != nil && slices.Contains(capabilities, any(m.Gate)) {
			methods = append(methods, name)
		}
	}
	return capabilities, methods
}

// serveOptional answers a request to an optional service. It returns false for a method that is none.
func (p *peer) serveOptional(method string, id, params json.RawMessage) bool {
	serve := map[string]func(id, params json.RawMessage){
		canonicalwire.MethodHookRun:         p.hookRun,
		canonicalwire.MethodMigrationDetect: p.migrationDetect,
		canonicalwire.MethodMigrationImport: p.migrationImport,
		canonicalwire.MethodProviderStream:  p.providerStream,
	}[method]
	if serve == nil || !p.chose(method) {
		return false
	}
	shape, _ := canonicalwire.LookupMethod(method).Shape(p.api)
	if fault := p.model(shape.Params, params, "service-model"); fault != "" {
		p.failure(id, fault, nil)
		return true
	}
	serve(id, params)
	return true
}

func (p *peer) hookRun(id, _ json.RawMessage) {
	answer := func() {
		p.result(canonicalwire.MethodHookRun, id, obj{"disposition": obj{"kind": string(canonicalwire.DispositionKindContinue)}})
	}
	if p.does("late-hook") {
		p.opt.late = append(p.opt.late, answer)
		return
	}
	answer()
}

// overdue does what waited for the next line.
func (p *peer) overdue() {
	late := p.opt.late
	p.opt.late = nil
	for _, f := range late {
		f()
	}
	if p.opt.zombie != "" {
		p.opt.beats++
		p.streamEvent(p.opt.zombie, p.opt.beats, canonicalwire.ProviderStreamEventKindHeartbeat)
	}
}

// told takes a notification of an optional service. It returns false for a method that is none.
func (p *peer) told(method string, params json.RawMessage) bool {
	switch {
	case !p.chose(method):
		return false
	case method == canonicalwire.MethodBusLifecycle:
		p.busNotice(params)
	case method == canonicalwire.MethodProviderCancel:
		p.moment("stream cancelled")
		if p.does("zombie-stream") {
			p.opt.zombie, _ = text(at(params, "stream_id"))
		}
	}
	return true
}

// busNotice follows the bus from one incarnation to the next.
func (p *peer) busNotice(params json.RawMessage) {
	if canonicalwire.ValidateModel("BusLifecycleParams", params) != nil {
		p.opt.bus.dead = !p.ignores("bus-notice-model")
		if p.does("end-at-nonsense") {
			p.end(exitRefused)
		}
		return
	}
	notice, err := canonicalwire.DecodeBusLifecycleParams(params)
	if err != nil || p.opt.bus.dead {
		return
	}
	switch n := notice.(type) {
	case canonicalwire.BusBindingNotice:
		if p.opt.bus.binding != "" && p.does("keep-first-binding") {
			return
		}
		first := p.opt.bus.binding == ""
		p.opt.bus = bus{binding: n.BindingID}
		if !first || !p.does("join-late") {
			p.joinBus(first || !p.ignores("resubscribe"))
		}
	case canonicalwire.BusTopicAvailable:
		if n.Topic == topicForeign && !p.ignores("resubscribe") {
			p.onTopic(canonicalwire.MethodBusSubscribe, topicForeign)
		}
	}
}

// onTopic sends a request about a topic.
func (p *peer) onTopic(method, topic string) {
	p.seek(method, obj{"binding_id": p.opt.bus.binding, "topic": topic}, whatever)
}

// joinBus declares the peer's topic, says something on it, and subscribes to both.
func (p *peer) joinBus(subscribe bool) {
	binding := p.opt.bus.binding
	if p.chose(canonicalwire.MethodBusDeclare) {
		p.seek(canonicalwire.MethodBusDeclare, obj{"binding_id": binding, "topic": topicOwn, "fields": topicFields()}, func(result json.RawMessage) {
			p.opt.bus.declared = result != nil && p.opt.bus.binding == binding
			p.sayNews()
		})
	}
	if subscribe && p.chose(canonicalwire.MethodBusSubscribe) && p.chose(canonicalwire.MethodBusEvent) {
		p.onTopic(canonicalwire.MethodBusSubscribe, topicOwn)
		p.onTopic(canonicalwire.MethodBusSubscribe, topicForeign)
	}
}

// topicFields has a field of each kind.
func topicFields() []any {
	field := func(name string, kind canonicalwire.BusFieldKind, required bool, more obj) obj {
		f := obj{"name": name, "kind": string(kind), "required": required, "max_bytes": 64, "values": []any{}}
		for k, v := range more {
			f[k] = v
		}
		return f
	}
	return []any{
		field("title", canonicalwire.BusFieldKindString, true, nil),
		field("count", canonicalwire.BusFieldKindInteger, false, obj{"minimum": -1, "maximum": 100}),
		field("urgent", canonicalwire.BusFieldKindBoolean, false, nil),
		field("mood", canonicalwire.BusFieldKindEnum, false, obj{"values": list("good", "bad")}),
	}
}

// sayNews says something on the peer's topic.
func (p *peer) sayNews() {
	if b := p.opt.bus; b.declared && !b.dead && p.chose(canonicalwire.MethodBusPublish) {
		p.seek(canonicalwire.MethodBusPublish, obj{
			"binding_id": b.binding, "topic": topicOwn,
			"payload": obj{"title": "octet", "count": 1, "urgent": false, "mood": "good"},
		}, whatever)
	}
}

// useContract uses everything the host offers once, and asks for a session last: whoever calls waits for that.
// It returns false when the call need not wait.
func (p *peer) useContract(then func()) bool {
	if p.opt.used {
		p.sayNews()
		return false
	}
	p.opt.used = true
	if p.does("join-late") && p.opt.bus.binding != "" && !p.opt.bus.dead {
		p.joinBus(true)
	}
	ask := func(method string, params obj) {
		if p.chose(method) {
			p.seek(method, params, whatever)
		}
	}
	p.sayNews()
	if !p.opt.bus.dead && p.opt.bus.binding != "" && p.chose(canonicalwire.MethodBusUnsubscribe) {
		p.onTopic(canonicalwire.MethodBusUnsubscribe, topicOwn)
	}
	ask(canonicalwire.MethodProvidersRegister, providerOf("peer", "small", "large"))
	ask(canonicalwire.MethodProvidersRegister, providerOf("spare", "small"))
	ask(canonicalwire.MethodProvidersUpdate, providerOf("peer", "small"))
	ask(canonicalwire.MethodProvidersUnregister, obj{"provider_id": "spare"})
	if p.chose(canonicalwire.MethodProvidersComplete) {
		p.notify(canonicalwire.MethodProvidersComplete, obj{})
	}
	ask(canonicalwire.MethodProviderAuthRequest, authorization(canonicalwire.ProviderAuthorizationActionAuthorize))
	ask(canonicalwire.MethodProviderAuthRevoke, authorization(canonicalwire.ProviderAuthorizationActionRevoke))
	ask(canonicalwire.MethodThemeSelect, obj{
		"namespace": "peer", "theme_id": "dark", "role": string(canonicalwire.ThemeRoleAccent), "scope": string(canonicalwire.ThemeScopeExtension),
	})
	ask(canonicalwire.MethodSessionFork, obj{})
	ask(canonicalwire.MethodSessionSwitch, obj{"session_id": "conform"})
	ask(canonicalwire.MethodSessionReload, obj{})
	p.moment("services")
	if !p.chose(canonicalwire.MethodSessionCreate) {
		return false
	}
	p.seek(canonicalwire.MethodSessionCreate, obj{}, func(json.RawMessage) { then() })
	return true
}

// providerOf is the declaration of a provider with some models.
func providerOf(id string, models ...string) obj {
	var defined []any
	for _, model := range models {
		defined = append(defined, obj{
			"id": model, "api_name": model, "protocol": string(canonicalwire.ProviderModelProtocolOpenaiChat),
			"context_window": 8192, "max_output_tokens": 1024,
			"capabilities": obj{"tools": true, "parallel_tool_calls": false, "structured_output": true, "reasoning": false},
		})
	}
	auth := obj{"kind": string(canonicalwire.ProviderAuthKindHostCredential), "subject": id}
	return obj{"provider": obj{"id": id, "label": "A provider", "auth": auth}, "models": defined}
}

func authorization(action canonicalwire.ProviderAuthorizationAction) obj {
	return obj{"provider_id": "peer", "action": string(action), "interactive": false, "scopes": list("models")}
}

// providerStream accepts a stream and ends it at once.
func (p *peer) providerStream(id, params json.RawMessage) {
	stream, _ := text(at(params, "stream_id"))
	p.moment("stream asked")
	if p.does("speak-before-accepting") {
		p.streamEvent(stream, 0, canonicalwire.ProviderStreamEventKindStarted)
	}
	p.result(canonicalwire.MethodProviderStream, id, obj{"stream_id": stream, "accepted": true})
	if p.does("keep-quiet") {
		return
	}
	if !p.does("speak-before-accepting") {
		p.streamEvent(stream, 0, canonicalwire.ProviderStreamEventKindStarted)
	}
	if p.does("zombie-stream") {
		return
	}
	p.streamEvent(stream, 1, canonicalwire.ProviderStreamEventKindTextDelta)
	if p.does("endless-stream") {
		return
	}
	p.streamEvent(stream, 2, canonicalwire.ProviderStreamEventKindFinished)
	if p.does("speak-behind-the-end") {
		p.streamEvent(stream, 3, canonicalwire.ProviderStreamEventKindHeartbeat)
	}
}

func (p *peer) streamEvent(stream string, sequence int, kind canonicalwire.ProviderStreamEventKind) {
	p.notify(canonicalwire.MethodProviderEvent, obj{"stream_id": stream, "sequence": sequence, "kind": string(kind), "payload": obj{"text": "octet"}})
}
