package exttest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// Service answers one request of the extension. Params are those on the wire, parent and owner included. The
// result is anything that is written as JSON: a model of the wire, a map, nil for the empty object. An *Error
// is answered as it is. The context ends when the extension cancels the request and when the host closes.
type Service func(ctx context.Context, params json.RawMessage) (result any, err error)

// Answer returns a service that gives the same result every time.
func Answer(result any) Service {
	return func(context.Context, json.RawMessage) (any, error) { return result, nil }
}

// Refuse returns a service that answers with an error of the wire's table, whose message may be another.
func Refuse(code int64, message string) Service {
	return func(context.Context, json.RawMessage) (any, error) { return nil, &Error{Code: code, Message: message} }
}

// Hang returns a service that does not answer before its request is cancelled.
func Hang() Service {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

// Malformed is a result that is sent as it is, whatever the model says: for tests of what an extension makes of
// a faulty host. It must be JSON.
type Malformed string

// Message is one message of the extension.
type Message struct {
	Method  string
	Service string // noun and verb, such as "composer.set"; empty for progress and cancellations
	Params  json.RawMessage
}

// Sent returns what the extension has sent so far by itself, in order, progress and cancellations left out.
func (h *Host) Sent() []Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

// NextSent waits for the next message of the extension, from the first one on. It returns false when ctx ends
// first.
func (h *Host) NextSent(ctx context.Context) (Message, bool) {
	for {
		h.mu.Lock()
		if h.looked < len(h.sent) {
			next := h.sent[h.looked]
			h.looked++
			h.mu.Unlock()
			return next, true
		}
		more := h.moreSent
		h.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return Message{}, false
		}
	}
}

// Cancelled returns the ids of the requests that the extension has given up, in the order in which their
// services returned.
func (h *Host) Cancelled() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.cancelled)
}

func (h *Host) keep(m *wirejson.Method, params []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, Message{m.Name, m.Service, slices.Clone(params)})
	close(h.moreSent)
	h.moreSent = make(chan struct{})
}

// methodOf returns the row of a method of the wire in use.
func (h *Host) methodOf(name string) *wirejson.Method {
	if h.api == extension.API03 {
		return canonicalwire.LookupMethod(name)
	}
	return featurewire.LookupMethod(name)
}

func (h *Host) decode(model string, data []byte) (wirejson.Encoder, error) {
	if h.api == extension.API03 {
		return canonicalwire.DecodeAny(model, data)
	}
	return featurewire.DecodeAny(model, data)
}

// serve answers a request of the extension.
func (h *Host) serve(ctx context.Context, r *peer.Request) (peer.Value, error) {
	m := h.methodOf(r.Method)
	h.keep(m, r.Params)
	shape, _ := m.Shape(string(h.api))
	if _, err := h.decode(shape.Params, r.Params); err != nil {
		h.t.Errorf("exttest: params of %s break their model: %v", r.Method, err)
		return nil, err
	}
	h.mu.Lock()
	answer := h.services[m.Service]
	h.mu.Unlock()
	if answer == nil {
		answer = h.builtin(m)
	}
	if answer == nil {
		h.t.Errorf("exttest: the extension asks for %s, which nothing answers: put it into Options.Services", m.Service)
		return nil, peer.Fail(featurewire.ErrInternalError, nil)
	}
	result, err := answer(ctx, r.Params)
	if why := new(peer.CancelledError); errors.As(context.Cause(ctx), &why) {
		h.mu.Lock()
		id, _ := r.ID.Wire().Text() // those of an SDK are texts
		h.cancelled = append(h.cancelled, id)
		h.mu.Unlock()
	}
	if err != nil {
		var refused *Error
		if errors.As(err, &refused) {
			return nil, &peer.Error{Code: refused.Code, Message: refused.Message, Data: refused.Data}
		}
		return nil, err
	}
	return h.encode(m, shape, result)
}

// encode writes the result of a service in the spelling of the wire.
func (h *Host) encode(m *wirejson.Method, shape wirejson.MethodShape, result any) (peer.Value, error) {
	switch given := result.(type) {
	case nil:
		result = struct{}{}
	case Malformed:
		return peer.Raw(given), nil
	}
	text, err := json.Marshal(result)
	if err == nil {
		text, err = shape.Reader(featurewire.MaxDepth, h.decode)(text)
	}
	if err != nil {
		h.t.Errorf("exttest: the result for %s breaks its model: %v", m.Service, err)
		return nil, err
	}
	return peer.Raw(text), nil
}

// builtin answers what a host can answer by itself: shortcuts, and changes of the catalog, all of which it
// admits.
func (h *Host) builtin(m *wirejson.Method) Service {
	switch m.Name {
	case featurewire.MethodShortcutRegister:
		return Answer(nil)
	case featurewire.MethodToolsRegister:
		return func(_ context.Context, params json.RawMessage) (any, error) {
			asked, err := featurewire.DecodeToolsRegisterParams(params)
			if err != nil {
				return nil, err
			}
			return h.changeCatalog(func(names map[string]Tool) {
				for _, t := range asked.Tools {
					names[t.Name] = Tool{t.Name, t.Description, t.Parameters, t.OutputSchema.Or(nil)}
				}
			}), nil
		}
	case featurewire.MethodToolsUnregister:
		return func(_ context.Context, params json.RawMessage) (any, error) {
			asked, err := featurewire.DecodeToolsUnregisterParams(params)
			if err != nil {
				return nil, err
			}
			return h.changeCatalog(func(names map[string]Tool) {
				for _, name := range asked.Names {
					delete(names, name)
				}
			}), nil
		}
	}
	return nil
}

func (h *Host) changeCatalog(change func(map[string]Tool)) featurewire.ToolsRegisterResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := map[string]Tool{}
	for _, t := range h.tools {
		names[t.Name] = t
	}
	change(names)
	h.revision++
	h.tools = nil
	answer := featurewire.ToolsRegisterResult{Revision: h.revision, Tools: []string{}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h.tools = append(h.tools, names[name])
		answer.Tools = append(answer.Tools, name)
	}
	return answer
}

// Ask sends a request of any method with the params that the test writes, and returns the result as JSON. The
// error is an *Error if the extension answers with one. Where the method has a context and params, a struct or
// a map, name none, it is that of the options.
func (h *Host) Ask(method string, params any) (json.RawMessage, error) {
	h.t.Helper()
	return h.AskContext(context.Background(), method, params)
}

// AskContext is Ask with a context, whose end cancels the request.
func (h *Host) AskContext(ctx context.Context, method string, params any) (json.RawMessage, error) {
	h.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		h.t.Fatalf("exttest: params of %s: %v", method, err)
	}
	m := h.methodOf(method)
	if m == nil {
		h.t.Fatalf("exttest: the wire has no method %q", method)
	}
	shape, _ := m.Shape(string(h.api))
	filled, err := wirejson.Fill(text, featurewire.MaxDepth, nil)
	if err != nil {
		h.t.Fatalf("exttest: params of %s: %v", method, err)
	}
	if _, broken := h.decode(shape.Params, filled); broken != nil {
		where := wirejson.Member{Name: contextMember, Value: h.side.context(&h.options)}
		if with, err := wirejson.Fill(text, featurewire.MaxDepth, []wirejson.Member{where}); err == nil {
			if _, broken := h.decode(shape.Params, with); broken == nil {
				filled = with
			}
		}
	}
	raw, err := h.conn.Call(ctx, method, peer.Raw(filled))
	return raw, asError(err)
}

// contextMember is where the requests of both wires have their context.
const contextMember = "context"

// Tell sends a notification of any method. It fails the test if the method is not open.
func (h *Host) Tell(method string, params any) {
	h.t.Helper()
	text, err := json.Marshal(params)
	if err == nil {
		text, err = wirejson.Fill(text, featurewire.MaxDepth, nil)
	}
	if err == nil {
		err = h.conn.Notify(context.Background(), method, peer.Raw(text))
	}
	if err != nil {
		h.t.Fatalf("exttest: %s: %v", method, err)
	}
}

// Command runs a command and returns its result. It fails the test if the extension answers with an error.
func (h *Host) Command(name string, args ...string) featurewire.CommandExecuteResult {
	h.t.Helper()
	if args == nil {
		args = []string{}
	}
	raw, err := h.Ask(featurewire.MethodCommandExecute, map[string]any{"name": name, "arguments": args})
	return read(h, "command "+name, raw, err, featurewire.DecodeCommandExecuteResult)
}

// Hook runs a hook of API 0.1, 0.2 or 0.4 with a payload, such as featurewire.BeforePromptPayload, and returns
// its result. It fails the test if the extension answers with an error.
func (h *Host) Hook(name string, payload any) featurewire.HookRunResult {
	h.t.Helper()
	raw, err := h.Ask(featurewire.MethodHookRun, map[string]any{"hook": name, "payload": payload})
	return read(h, "hook "+name, raw, err, featurewire.DecodeHookRunResult)
}

// CollectContext collects text for the model; an empty prompt is none. It fails the test if the extension
// answers with an error.
func (h *Host) CollectContext(prompt string) []featurewire.ContextContribution {
	h.t.Helper()
	params := map[string]any{"prompt": nil}
	if prompt != "" {
		params["prompt"] = prompt
	}
	raw, err := h.Ask(featurewire.MethodContextCollect, params)
	return read(h, "context", raw, err, wirejson.DecodeArray(featurewire.MaxDepth, featurewire.DecodeContextContributionValue))
}

// CollectStatus collects what a surface shows, absent for nothing. It fails the test if the extension answers
// with an error.
func (h *Host) CollectStatus(surface featurewire.UiSurface) (featurewire.StatusContribution, bool) {
	h.t.Helper()
	raw, err := h.Ask(featurewire.MethodStatusCollect, map[string]any{"surface": surface})
	return read(h, "status", raw, err, wirejson.DecodeNullable(featurewire.DecodeStatusContribution)).Get()
}

// CollectMenu collects the menu. It fails the test if the extension answers with an error.
func (h *Host) CollectMenu() featurewire.MenuCollectResult {
	h.t.Helper()
	raw, err := h.Ask(featurewire.MethodMenuCollect, map[string]any{})
	return read(h, "menu", raw, err, featurewire.DecodeMenuCollectResult)
}

// read decodes an answer, or fails the test.
func read[T any](h *Host, what string, raw []byte, err error, decode func([]byte) (T, error)) (result T) {
	h.t.Helper()
	if err == nil {
		result, err = decode(raw)
	}
	if err != nil {
		h.t.Fatalf("exttest: %s: %v", what, err)
	}
	return result
}
