package faultypeer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// step is one message of a tour of the services.
type step struct {
	method string
	params func(p *peer) obj
	then   func(p *peer, result json.RawMessage) // nil for nothing
}

// tour serves the tool that uses every service it may, one behind the other, and then answers.
func (p *peer) tour(id json.RawMessage) {
	if p.does("compose-without-end") && slices.Contains(p.features, featurewire.FeatureToolCompositionV1) {
		p.compose(id, featurewire.MaxCompositionCalls+1)
		return
	}
	p.walk(id, slices.Concat(peopleSteps, agentSteps, sessionSteps, objectSteps, screenSteps, catalogSteps), func() {
		p.settle(id, func() { p.result(featurewire.MethodToolCall, id, p.tourResult()) })
		p.walk(id, behindSteps, func() {})
	})
}

// tourResult shows the artifact, if there is one.
func (p *peer) tourResult() obj {
	r := p.toolResult("toured", false)
	delete(r, "structured_content")
	if p.artifact != "" {
		r["content"] = append(r["content"].([]any), obj{"type": "image", "artifact_id": p.artifact, "mime_type": "image/png", "alt": "grey dot"})
	}
	if p.api == current {
		r["metadata"] = obj{"octet_diagnostics_v1": []any{obj{"severity": "note", "code": "toured", "message": "All services were used."}}}
	}
	return r
}

// walk sends the messages that are open to the peer. A request waits for its answer, unless the call it belongs to has
// ended meanwhile.
func (p *peer) walk(id json.RawMessage, steps []step, done func()) {
	began := p.live[key(id)] != nil
	for i, s := range steps {
		row := featurewire.LookupMethod(s.method)
		if !p.may(row) {
			continue
		}
		params := s.params(p)
		p.tie(row, id, began, params)
		if row.Notification {
			p.notify(s.method, params)
			continue
		}
		p.asked++
		own := "t-" + strconv.Itoa(p.asked)
		p.waiting[own] = func(result json.RawMessage) {
			if s.then != nil {
				s.then(p, result)
			}
			if (p.live[key(id)] != nil) == began {
				p.walk(id, steps[i+1:], done)
			}
		}
		p.ask(own, s.method, params)
		return
	}
	done()
}

// tie adds what a message hangs on: the call, and its owner once the call is answered.
func (p *peer) tie(row *wirejson.Method, id json.RawMessage, live bool, params obj) {
	if p.frozen() {
		return
	}
	switch row.Parent {
	case wirejson.ParentNone, wirejson.ParentOwner:
	case wirejson.ParentOptional:
		if params["resource_owner"] == nil {
			params["parent_request_id"] = id
		}
	default:
		params["parent_request_id"] = id
		if !live {
			params["resource_owner"] = p.owner
		}
	}
}

// may reports whether a method is open to the peer.
func (p *peer) may(row *wirejson.Method) bool {
	if !slices.Contains(row.Versions, p.api) {
		return false
	}
	if member, ok := strings.CutPrefix(row.Gate, "contributes."); ok {
		return p.declares(member) || len(texts(at(p.offer, "contributes", member))) > 0
	}
	return featurewire.LookupFeature(row.Gate) == nil || slices.Contains(p.features, row.Gate)
}

// answered takes the answer to a request of the peer.
func (p *peer) answered(id, result json.RawMessage) {
	p.heard(id, result)
	own, _ := text(id)
	then := p.waiting[own]
	if then == nil {
		p.strayAnswer(id)
		return
	}
	if p.does("end-at-late-answer") && p.gaveUp {
		p.end(exitRefused)
		return
	}
	delete(p.waiting, own)
	then(result)
}

// strayAnswer is an answer that the peer does not wait for.
func (p *peer) strayAnswer(id json.RawMessage) {
	switch {
	case p.does("answer-stray-answer"):
		p.failure(id, "invalid_request", nil)
	case p.does("end-at-stray-answer"):
		p.end(exitRefused)
	}
}

// named takes a member of an answer.
func named(member string, keep func(p *peer, value string)) func(*peer, json.RawMessage) {
	return func(p *peer, result json.RawMessage) {
		if s, ok := text(at(result, member)); ok {
			keep(p, s)
		}
	}
}

// with makes params that are always the same.
func with(params obj) func(*peer) obj {
	return func(*peer) obj {
		c := obj{}
		for name, v := range params {
			c[name] = v
		}
		return c
	}
}

// grown numbers the messages whose revisions grow.
func (p *peer) grown() int {
	p.revision++
	return p.revision
}

var peopleSteps = []step{
	{method: featurewire.MethodContextContribution, params: with(obj{"label": "peer", "content": "on tour", "placement": "prompt_suffix"})},
	{method: featurewire.MethodStatusContribution, params: with(obj{"surface": "status", "text": "on tour", "style_role": nil, "priority": -1})},
	{method: featurewire.MethodConfirmationRequest, params: with(obj{"prompt": "Go on?", "detail": nil, "destructive": false, "default": true})},
	{method: featurewire.MethodInputRequest, params: with(obj{"prompt": "Where to?", "secret": false})},
	{method: featurewire.MethodPresentationUpdate, params: func(p *peer) obj { return obj{"snapshot": p.snapshot("tree")} }},
	{method: featurewire.MethodPresentationUpdate, params: func(p *peer) obj {
		return obj{"snapshot": p.snapshot("list"), "resource_owner": p.owner}
	}},
	{
		method: featurewire.MethodPolicyEvaluate, params: func(p *peer) obj { return obj{"intent": intent()} },
		then: named("approval_token", func(p *peer, token string) { p.token = token }),
	},
	{method: featurewire.MethodPolicyEvaluate, params: func(p *peer) obj {
		params := obj{"intent": intent()}
		if p.token != "" {
			params["approval_token"] = p.token
		}
		return params
	}},
	{method: featurewire.MethodSecretGet, params: with(obj{"name": Secret})},
}

func intent() obj {
	return obj{
		"kind": "file", "operation": "read", "target": obj{"path": "README.md"}, "data_classes": list("public"),
		"adapter_hints": obj{"read_only": true, "destructive": nil},
	}
}

// snapshot is what the peer shows of itself.
func (p *peer) snapshot(kind string) obj {
	child := obj{"id": "n-2", "parent_id": "n-1", "state": "running", "label": "second", "secondary": "", "action_ids": []any{}, "references": []any{}}
	if kind == "list" {
		child["parent_id"] = nil
	}
	return obj{
		"revision": p.grown(), "status": obj{"state": "active", "label": "on tour"},
		"activities": []any{obj{
			"id": "a-1", "kind": "tour", "state": "running", "summary": "On tour.", "provenance": "peer", "started_at_ms": 1,
			"metrics": obj{
				"tool_calls": 1, "input_tokens": 5, "cache_read_tokens": 0, "cache_write_tokens": 0, "output_tokens": 3, "reasoning_tokens": 2,
			},
			"references": []any{obj{"kind": "url", "id": "https://example.com/tour", "label": "map"}},
		}},
		"collection": obj{
			"kind": kind, "title": "Stops",
			"nodes":            []any{obj{"id": "n-1", "parent_id": nil, "state": "succeeded", "label": "first", "secondary": "", "action_ids": list("x-1"), "references": []any{}}, child},
			"selected_node_id": "n-1",
			"detail":           obj{"node_id": "n-1", "title": "First", "body": "The first stop.", "references": []any{}},
		},
		"actions": []any{obj{"id": "x-1", "label": "Greet", "command": CommandGreet, "arguments": list("you"), "destructive": false}},
	}
}

var agentSteps = []step{
	{method: featurewire.MethodAgentSpawn, params: func(p *peer) obj {
		p.spawned++
		policy := obj{
			"tools": list("read", "search"), "max_depth": 1, "max_concurrent_children": 2, "max_turns": 8, "max_tokens": nil,
			"max_cost_microdollars": nil, "max_output_bytes": 4096, "timeout_ms": 60000,
		}
		if slices.Contains(p.features, featurewire.FeatureAgentModelSelectionV1) {
			policy["model_selection"] = obj{"provider": "conform", "model": "conform-model", "reasoning": "off"}
		}
		return obj{"task_name": "look-up", "message": "Find the entry point.", "idempotency_key": fmt.Sprintf("k-%d", p.spawned), "policy": policy}
	}, then: named("agent_id", func(p *peer, id string) { p.agent = id })},
	{method: featurewire.MethodAgentMessage, params: func(p *peer) obj { return obj{"target": p.agent, "message": "Look below src."} }},
	{method: featurewire.MethodAgentFollowUp, params: func(p *peer) obj { return obj{"target": p.agent, "message": "Once more."} }},
	{method: featurewire.MethodAgentList, params: with(nil)},
	{method: featurewire.MethodAgentWait, params: with(obj{"timeout_ms": 1000})},
	{method: featurewire.MethodAgentInterrupt, params: func(p *peer) obj { return obj{"target": p.agent} }},
	{method: featurewire.MethodAgentModels, params: with(obj{"query": "conform", "limit": 5})},
	{method: featurewire.MethodAgentEvents, params: func(p *peer) obj { return obj{"target": p.agent, "after_sequence": 0, "timeout_ms": 100} }},
	{method: featurewire.MethodAgentStop, params: func(p *peer) obj { return obj{"target": p.agent} }},
}

var sessionSteps = []step{
	{method: featurewire.MethodComposerGet, params: with(nil)},
	{method: featurewire.MethodComposerSet, params: with(obj{"text": "hello\tyou\n"})},
	{method: featurewire.MethodComposerInsert, params: with(obj{"text": "é"})},
	{method: featurewire.MethodComposerHistory, params: func(p *peer) obj { return obj{"entries": list("newest", "oldest"), "resource_owner": p.owner} }},
	{
		method: featurewire.MethodSessionAppendEntry, params: with(obj{"entry_type": "peer.tour", "data": obj{"stop": 1}}),
		then: named("entry_id", func(p *peer, id string) { p.entry = id }),
	},
	{method: featurewire.MethodSessionSetName, params: with(obj{"name": "Tour"})},
	{method: featurewire.MethodSessionSetLabel, params: func(p *peer) obj { return obj{"entry_id": p.entry, "label": "stop"} }},
	{method: featurewire.MethodSessionSendMessage, params: with(obj{"role": "assistant", "text": "On tour."})},
	{method: featurewire.MethodSessionSendUserMessage, params: with(obj{"text": "Go on."})},
	{method: featurewire.MethodToolsSetActive, params: with(obj{"names": list(ToolEcho, ToolTour)})},
	{method: featurewire.MethodSessionWaitForIdle, params: with(nil)},
	{
		method: featurewire.MethodSessionCreate, params: with(obj{"session_id": nil}),
		then: named("session_id", func(p *peer, id string) { p.session = id }),
	},
	{method: featurewire.MethodSessionFork, params: with(nil)},
	{method: featurewire.MethodSessionSwitch, params: func(p *peer) obj { return obj{"session_id": p.session} }},
	{method: featurewire.MethodSessionReload, params: with(nil)},
}

// behindSteps are those that the peer takes when the call is answered.
var behindSteps = []step{
	{method: featurewire.MethodComposerGet, params: with(nil)},
	{method: featurewire.MethodSessionCompact, params: with(obj{"custom_instructions": "Keep file names."})},
}
