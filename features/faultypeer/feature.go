package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
)

// nullID answers a line whose id nobody can read.
var nullID = json.RawMessage("null")

// takeFeature reads one line of the feature wire, which tolerates more than the canonical one.
func (p *peer) takeFeature(l line) {
	if l.size > featurewire.MaxLineBytes && !p.ignores("frame-bound") {
		fmt.Fprintln(p.log, "a line over the bound")
		p.end(exitRefused)
		return
	}
	payload := bytes.TrimSpace(l.payload)
	if len(payload) == 0 {
		if p.does("answer-blank-line") {
			p.failure(nullID, "parse_error", nil)
		}
		return
	}
	m := members(payload)
	switch {
	case !json.Valid(payload):
		p.malformed()
	case m == nil:
		p.failure(nullID, "invalid_request", nil)
	default:
		p.envelopeFeature(payload, m)
	}
}

// malformed answers a line that is not JSON.
func (p *peer) malformed() {
	switch {
	case p.does("drop-malformed"):
	case p.does("end-at-malformed"):
		p.end(exitRefused)
	default:
		p.failure(nullID, p.instead("vague-malformed", "invalid_request", "parse_error"), nil)
	}
}

// envelopeFeature tells requests, notifications and responses apart.
func (p *peer) envelopeFeature(payload []byte, m map[string]json.RawMessage) {
	if p.does("fold-case") {
		m = folded(payload)
	}
	id, hasID := m["id"]
	method, named := text(m["method"])
	version, _ := text(m["jsonrpc"])
	bad := version != "2.0" && !p.ignores("envelope-version") || !named && !p.ignores("envelope-method")
	switch {
	case p.does("strict-envelope") && len(m) > 4:
		p.failure(id, "invalid_request", nil)
	case hasID && bad && m["result"] == nil && m["error"] == nil:
		p.failure(id, p.instead("vague-envelope", "internal_error", "invalid_request"), nil)
	case !named && hasID && (m["result"] != nil || m["error"] != nil):
		p.answered(id, m["result"])
	case !named, p.does("take-empty-method-for-response") && method == "":
	case !hasID, p.does("take-zero-for-no-id") && string(id) == "0":
		p.notifiedFeature(method, m["params"])
	case p.does("need-params") && m["params"] == nil:
	default:
		p.dispatchFeature(id, method, m["params"])
	}
}

// instead returns the wrong value for a peer that commits an act, and the right one for any other.
func (p *peer) instead(act, wrong, right string) string {
	if p.does(act) {
		return wrong
	}
	return right
}

// folded reads the members of an envelope as decoders do that do not tell cases apart.
func folded(payload []byte) map[string]json.RawMessage {
	var e struct {
		ID      json.RawMessage `json:"id"`
		Version json.RawMessage `json:"jsonrpc"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	// The text is known to be an object.
	_ = json.Unmarshal(payload, &e)
	m := map[string]json.RawMessage{}
	for name, v := range map[string]json.RawMessage{"id": e.ID, "jsonrpc": e.Version, "method": e.Method, "params": e.Params} {
		if v != nil {
			m[name] = v
		}
	}
	return m
}

func (p *peer) notifiedFeature(method string, params json.RawMessage) {
	switch {
	case method == featurewire.MethodCancelRequest && !p.frozen():
		p.cancelFeature(bytes.TrimSpace(at(params, "id")), at(params, "reason"))
	case p.does("answer-notifications"):
		p.failure(nullID, "invalid_request", nil)
	case p.does("run-calls-without-id") && method == featurewire.MethodToolCall:
		p.toolCallFeature(nullID, params)
	case p.does("end-at-unknown-notification"):
		p.end(exitRefused)
	}
}

// serveUnderLiveID begins the name of an act: to serve requests of the method that follows under the id of a running
// call, whose place they take.
const serveUnderLiveID = "serve-under-live-id "

func (p *peer) dispatchFeature(id json.RawMessage, method string, params json.RawMessage) {
	p.burst = p.burst && method == featurewire.MethodToolCall
	if p.live[key(id)] != nil && !p.does(serveUnderLiveID+method) {
		p.usedAgain(id)
		return
	}
	switch {
	case method == featurewire.MethodInitialize && (!p.ready || p.ignores("second-initialize")):
		p.initializeFeature(id, params)
	case method == featurewire.MethodInitialize:
		p.initializedAlready(id)
	case !p.ready && !p.ignores("first-request"):
		p.tooEarlyFeature(id)
	case method == featurewire.MethodToolCall:
		p.toolCallFeature(id, params)
	case method == featurewire.MethodShutdown:
		p.shutdownFeature(id)
	case p.handleFeature(id, method, params):
	default:
		p.unknownFeature(id, method)
	}
}

// maxNamed bounds how much of an unknown name an error repeats: a name can fill a line.
const maxNamed = 256

// unknownFeature refuses a method that the peer does not have.
func (p *peer) unknownFeature(id json.RawMessage, method string) {
	if len(method) > maxNamed && !p.does("repeat-whole-name") {
		method = method[:maxNamed]
	}
	switch {
	case p.does("drop-unknown"):
	case p.does("serve-anything"):
		p.result(method, id, obj{})
	default:
		p.failure(id, p.instead("vague-unknown-method", "invalid_request", "unknown_method"), obj{"method": method})
		if p.does("end-after-error") {
			p.end(exitRefused)
		}
	}
}

// usedAgain refuses a request under the id of a running call.
func (p *peer) usedAgain(id json.RawMessage) {
	switch {
	case p.does("drop-live-id"):
		return
	case p.does("replace-live-id"):
		p.settle(id, func() { p.failure(id, "unknown_method", obj{"method": "of a used id"}) })
		return
	}
	p.failure(id, p.instead("vague-live-id", "internal_error", "invalid_request"), nil)
	if p.does("forget-first-of-id") {
		p.settle(id, func() {})
	}
}

// initializedAlready refuses a second initialize.
func (p *peer) initializedAlready(id json.RawMessage) {
	if p.does("drop-second-initialize") {
		return
	}
	p.failure(id, p.instead("vague-second-initialize", "server_error", "invalid_request"), nil)
	if p.does("end-after-second-initialize") {
		p.end(exitRefused)
	}
}

// tooEarlyFeature refuses what comes before initialize.
func (p *peer) tooEarlyFeature(id json.RawMessage) {
	if p.does("drop-early") {
		return
	}
	p.failure(id, p.instead("vague-early", "server_error", "invalid_request"), nil)
	if p.does("end-after-early-request") {
		p.end(exitRefused)
	}
	p.spoiled = p.does("refuse-initialize-after-early-request")
}
