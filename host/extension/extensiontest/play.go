package extensiontest

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
)

const canonicalVersion = canonicalwire.Version03

// message is any frame of the host.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Refusal        `json:"error"`
}

// take handles one frame of the host.
func (r *Rig) take(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		panic("extensiontest: the host sent no JSON: " + err.Error())
	}
	switch {
	case m.Method == "":
		r.answered(string(m.ID), Answer{Result: m.Result, Refusal: m.Error})
	case m.ID == nil:
		r.notified(m)
	default:
		id, _ := strconv.ParseInt(string(m.ID), 10, 64)
		go r.serve(m.Method, id, m.Params)
	}
}

// notified notes a notification. A cancellation of one of our requests ends it.
func (r *Rig) notified(m message) {
	if m.Method == featurewire.MethodCancelRequest {
		var p struct {
			ID     json.RawMessage `json:"id"`
			Reason string          `json:"reason"`
		}
		if json.Unmarshal(m.Params, &p) == nil && r.answered(string(p.ID), Answer{CalledOff: p.Reason}) {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, Told{m.Method, m.Params})
	r.changed.Broadcast()
}

// answered settles one of our requests.
func (r *Rig) answered(id string, a Answer) bool {
	r.mu.Lock()
	waiting := r.answers[id]
	delete(r.answers, id)
	r.mu.Unlock()
	if waiting == nil {
		return false
	}
	waiting <- a
	return true
}

// serve answers one request of the host.
func (r *Rig) serve(method string, id int64, params json.RawMessage) {
	r.mu.Lock()
	handler := r.handlers[method]
	r.mu.Unlock()
	var result any
	var err error
	switch {
	case method == featurewire.MethodInitialize:
		result = r.initialize(id, params)
	case handler != nil:
		result, err = handler(id, params)
	default:
		result, err = r.standard(method, params)
	}
	var refused *RefuseError
	switch {
	case errors.As(err, &refused) && refused == Silence:
		return
	case errors.As(err, &refused):
		r.send(map[string]any{"id": id, "error": map[string]any{"code": refused.Code, "message": refused.Message}})
	case err != nil:
		r.send(map[string]any{"id": id, "error": map[string]any{"code": featurewire.CodeInternalError, "message": err.Error()}})
	default:
		r.send(map[string]any{"id": id, "result": result})
	}
	if method == featurewire.MethodShutdown {
		r.program.exit(process.StageSelf, process.State{})
	}
}

// standard is what an extension does that nobody told otherwise.
func (r *Rig) standard(method string, params json.RawMessage) (any, error) {
	switch method {
	case featurewire.MethodToolCall:
		var p struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		return r.ToolText(string(p.Arguments)), nil
	case featurewire.MethodCommandExecute:
		var p struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(params, &p)
		return map[string]any{"text": p.Name}, err
	case featurewire.MethodHookRun:
		if r.setup.API == canonicalVersion {
			return map[string]any{"disposition": map[string]any{"kind": canonicalwire.DispositionKindContinue}}, nil
		}
		return map[string]any{}, nil
	case featurewire.MethodContextCollect:
		return []any{}, nil
	case featurewire.MethodShutdown:
		if r.setup.API == canonicalVersion {
			return map[string]any{"terminal": canonicalwire.ShutdownTerminalShutdown}, nil
		}
	}
	return map[string]any{}, nil
}

// ToolText is the result of a tool call that says a text, in the form of the API version.
func (r *Rig) ToolText(text string) map[string]any {
	if r.setup.API == featurewire.Version01 {
		return map[string]any{"content": text, "is_error": false}
	}
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "is_error": false, "metadata": nil}
}

// offered is what of initialize decides the answer.
type offered struct {
	Contributes struct {
		Tools    []string `json:"tools"`
		Commands []string `json:"commands"`
	} `json:"contributes"`
	Protocol json.RawMessage `json:"protocol"`
	Contract json.RawMessage `json:"contract"`
}

func (r *Rig) initialize(id int64, params json.RawMessage) any {
	var o offered
	if err := json.Unmarshal(params, &o); err != nil {
		panic("extensiontest: initialize: " + err.Error())
	}
	r.mu.Lock()
	r.offer = o.Protocol
	if o.Contract != nil {
		r.offer = o.Contract
	}
	r.mu.Unlock()
	if r.setup.Early != nil {
		r.setup.Early(r, id, params)
	}
	tools, commands := []any{}, []any{}
	for _, name := range o.Contributes.Tools {
		tools = append(tools, map[string]any{"name": name, "description": "Does " + name + ".", "parameters": map[string]any{"type": "object"}})
	}
	for _, name := range o.Contributes.Commands {
		commands = append(commands, map[string]any{"name": name, "description": "Does " + name + "."})
	}
	result := map[string]any{"api_version": r.setup.API, "tools": tools}
	switch r.setup.API {
	case canonicalVersion:
		result["contract"] = r.contract(o.Contract)
	case featurewire.Version01:
		result["commands"] = commands
	default:
		result["commands"] = commands
		result["protocol"] = r.protocol(o.Protocol)
	}
	if r.setup.Initialize != nil {
		r.setup.Initialize(result)
	}
	return result
}

func (r *Rig) selects(name string) bool { return r.setup.Select == nil || r.setup.Select(name) }

func (r *Rig) protocol(offer json.RawMessage) any {
	var o featurewire.ProtocolOffer
	if err := json.Unmarshal(offer, &o); err != nil {
		panic("extensiontest: the protocol offered: " + err.Error())
	}
	features := append([]string{}, o.RequiredFeatures...)
	for _, name := range o.OptionalFeatures {
		if r.selects(name) {
			features = append(features, name)
		}
	}
	return map[string]any{
		"version": o.Version, "features": features, "limits": map[string]any{"max_concurrent_requests": o.Limits.MaxConcurrentRequests},
	}
}

func (r *Rig) contract(offer json.RawMessage) any {
	var o canonicalwire.ContractOffer
	if err := json.Unmarshal(offer, &o); err != nil {
		panic("extensiontest: the contract offered: " + err.Error())
	}
	capabilities, methods := append([]string{}, o.RequiredCapabilities...), append([]string{}, o.RequiredMethods...)
	for _, name := range o.OptionalCapabilities {
		if r.selects(name) {
			capabilities = append(capabilities, name)
		}
	}
	for _, name := range o.OptionalMethods {
		if r.selects(gateOf(name)) && r.selects(name) {
			methods = append(methods, name)
		}
	}
	return map[string]any{"schema": o.Schema, "encoding": o.Encoding, "capabilities": capabilities, "methods": methods, "limits": o.Limits}
}

func gateOf(method string) string {
	for i := range canonicalwire.Methods {
		if canonicalwire.Methods[i].Name == method {
			return canonicalwire.Methods[i].Gate
		}
	}
	return ""
}
