package extensiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// Answer is how one request of the extension ended: with a result, a refusal, or called off by the host.
type Answer struct {
	Result    json.RawMessage
	Refusal   *Refusal
	CalledOff string // the reason; empty if it was not
}

// Refusal is an error answer.
type Refusal struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// OK fails the test unless the answer is this result; the spelling does not matter. Empty: any result.
func (a Answer) OK(t testing.TB, want string) {
	t.Helper()
	switch {
	case a.Refusal != nil:
		t.Errorf("refused with %d %q, want a result", a.Refusal.Code, a.Refusal.Message)
	case a.Result == nil:
		t.Errorf("called off (%s), want a result", a.CalledOff)
	case want != "" && string(canonical(a.Result)) != string(canonical([]byte(want))):
		t.Errorf("result %s, want %s", a.Result, want)
	}
}

// Refused fails the test unless the answer is an error of this code whose message begins so.
func (a Answer) Refused(t testing.TB, code int64, beginning string) {
	t.Helper()
	switch {
	case a.Refusal == nil:
		t.Errorf("answered %s %s, want the error %d", a.Result, a.CalledOff, code)
	case a.Refusal.Code != code || !strings.HasPrefix(a.Refusal.Message, beginning):
		t.Errorf("refused with %d %q, want %d %q", a.Refusal.Code, a.Refusal.Message, code, beginning)
	}
}

// Decode reads the result, or fails the test.
func (a Answer) Decode(t testing.TB, into any) {
	t.Helper()
	a.OK(t, "")
	if err := json.Unmarshal(a.Result, into); err != nil {
		t.Errorf("result %s: %v", a.Result, err)
	}
}

// Pending is a request that was sent.
type Pending struct {
	// ID is the id as JSON.
	ID     string
	answer chan Answer
}

// Wait waits for the end of the request.
func (p *Pending) Wait() Answer { return <-p.answer }

// Send sends a request of the extension. Params are JSON.
func (r *Rig) Send(method, params string) *Pending { return r.SendWith(method, params) }

// SendAs is Send with an id of the caller's, as JSON.
func (r *Rig) SendAs(id, method, params string) *Pending {
	p, frame := r.pending(id, method, params)
	r.Raw(frame)
	return p
}

// SendWith is Send with more frames behind the request in one write; the line feeds are added.
func (r *Rig) SendWith(method, params string, behind ...string) *Pending {
	r.mu.Lock()
	r.last++
	id := fmt.Sprintf(`"x-%d"`, r.last)
	r.mu.Unlock()
	p, frame := r.pending(id, method, params)
	r.Raw(strings.Join(append([]string{frame}, behind...), "\n"))
	return p
}

// pending has the answer to a request waited for, and spells the request.
func (r *Rig) pending(id, method, params string) (*Pending, string) {
	p := &Pending{ID: id, answer: make(chan Answer, 1)}
	r.mu.Lock()
	r.answers[id] = p.answer
	r.mu.Unlock()
	return p, spelled(map[string]any{"id": json.RawMessage(id), "method": method, "params": json.RawMessage(params)})
}

// Ask sends a request of the extension and waits for its end.
func (r *Rig) Ask(method, params string) Answer { return r.Send(method, params).Wait() }

// Cancel asks the host to give a request up.
func (r *Rig) Cancel(p *Pending) {
	r.send(map[string]any{"method": featurewire.MethodCancelRequest, "params": map[string]any{"id": json.RawMessage(p.ID)}})
}

// Tell sends a notification of the extension. What the host makes of it is done once Flush has returned.
func (r *Rig) Tell(method, params string) {
	r.send(map[string]any{"method": method, "params": json.RawMessage(params)})
}

// Flush returns once the host has taken in everything that was sent so far.
func (r *Rig) Flush() {
	r.t.Helper()
	if _, err := r.X.Call(context.Background(), extension.Request{Tool: r.X.Agreement().Tools[0].Name}); err != nil {
		r.t.Errorf("flush: %v", err)
	}
}

// Serve replaces what the extension does with a method of the host: the result is marshalled. A
// *RefuseError is answered as it is, Silence not at all, any other error as an internal one. Every request
// runs on a goroutine of its own.
func (r *Rig) Serve(method string, f func(id int64, params json.RawMessage) (any, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[method] = f
}

// During runs f while the host waits for the tool call of a scope, whose id f gets, and returns when the
// call has returned. The tool is the first one of the manifest.
func (r *Rig) During(s extension.Scope, f func(parent int64)) *extension.ToolResult {
	r.t.Helper()
	return r.DuringCall(extension.Request{Scope: s}, f)
}

// DuringCall is During for a request of the test's.
func (r *Rig) DuringCall(q extension.Request, f func(parent int64)) *extension.ToolResult {
	r.t.Helper()
	if q.Tool == "" && q.Definition == nil {
		q.Tool = r.X.Agreement().Tools[0].Name
	}
	r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
		f(id)
		return r.ToolText("done"), nil
	})
	result, err := r.X.Call(context.Background(), q)
	r.mu.Lock()
	delete(r.handlers, featurewire.MethodToolCall)
	r.mu.Unlock()
	if err != nil {
		r.t.Errorf("the tool call: %v", err)
	}
	return result
}

// DuringCommand runs f while the host waits for the command "do", or the one that the execution names.
func (r *Rig) DuringCommand(e extension.Execution, f func(parent int64)) *extension.CommandResult {
	r.t.Helper()
	if e.Command == "" {
		e.Command = "do"
	}
	r.Serve(featurewire.MethodCommandExecute, func(id int64, _ json.RawMessage) (any, error) {
		f(id)
		return map[string]any{"text": "done"}, nil
	})
	result, err := r.X.Execute(context.Background(), e)
	r.mu.Lock()
	delete(r.handlers, featurewire.MethodCommandExecute)
	r.mu.Unlock()
	if err != nil {
		r.t.Errorf("the command: %v", err)
	}
	return result
}

// Owner is the owner triple of a session as params spell it.
func (r *Rig) Owner(session string) string {
	return string(r.X.OwnerOf(session).Wire().AppendJSON(nil))
}

// WaitTold waits until the host has told something n times by this method, and returns all of it.
func (r *Rig) WaitTold(method string, n int) []Told {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var list []Told
		for _, told := range r.told {
			if told.Method == method {
				list = append(list, told)
			}
		}
		if len(list) >= n {
			return list
		}
		r.changed.Wait()
	}
}

// Told is what the host has told so far by this method.
func (r *Rig) Told(method string) []Told { return r.WaitTold(method, 0) }
