package services

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/subject"
	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// view is a conversation in which everything is served.
type view struct{ result, refusal string }

func (v view) Result() json.RawMessage { return json.RawMessage(v.result) }
func (v view) Refusal(int) string      { return v.refusal }

func host(t *testing.T, v view) *Host {
	t.Helper()
	d, err := dialect.For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	return New(d, dialect.Extension{Scratch: t.TempDir(), Transfer: t.TempDir()}, v)
}

// ask returns the result and the error code of one request.
func ask(t *testing.T, h *Host, method, params string) (result json.RawMessage, code int64) {
	t.Helper()
	answer := slices.Concat(h.Answer(subject.Message{ID: `"c-1"`, Method: method, Fields: map[string]json.RawMessage{"params": json.RawMessage(params)}})...)
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		t.Fatalf("%s %s: the answer %q is no message: %v", method, params, answer, err)
	}
	return m.Result, m.Error.Code
}

func TestHost_servesEveryRequestOfAnExtension(t *testing.T) {
	n := 0
	for _, m := range fw.Methods {
		if m.Direction == wirejson.HostToExtension || m.Notification {
			continue
		}
		n++
		if served[m.Name] == nil {
			t.Errorf("%s has no answer", m.Name)
		}
	}
	if n < 40 || n != len(served) {
		t.Errorf("%d requests of extensions and %d answers, want as many of both and at least 40", n, len(served))
	}
}

// What a host says keeps the models that the spec has for it.
func TestHost_answersByTheModels(t *testing.T) {
	h := host(t, view{result: `{"protocol":{"version":"0.4","features":["approvals"],"limits":{"max_concurrent_requests":1}},"api_version":"0.4","commands":[],"tools":[]}`})
	const policy = `{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}`
	digest := fmt.Sprintf(`{"algorithm":"sha256","value":"%s"}`, strings.Repeat("0", 64))
	for _, q := range []struct{ method, params string }{
		{fw.MethodConfirmationRequest, `{}`},
		{fw.MethodInputRequest, `{}`},
		{fw.MethodArtifactPublish, `{}`},
		{fw.MethodPolicyEvaluate, `{"parent_request_id":1,"intent":{"kind":"a","operation":"b","target":{}}}`},
		{fw.MethodPolicyEvaluate, `{"parent_request_id":1,"intent":{"kind":"a","operation":"b","target":{}},"approval_token":"` + strings.Repeat("0", 64) + `"}`},
		{fw.MethodToolsRegister, `{"tools":[{"name":"a","description":"A.","parameters":{"type":"object"}}]}`},
		{fw.MethodToolsUnregister, `{"names":["a"]}`},
		{fw.MethodAgentSpawn, `{"parent_request_id":1,"task_name":"a","message":"m","idempotency_key":"k","policy":` + policy + `}`},
		{fw.MethodAgentMessage, `{"parent_request_id":1,"target":"/a","message":"m"}`},
		{fw.MethodAgentFollowUp, `{"parent_request_id":1,"target":"/a","message":"m"}`},
		{fw.MethodAgentList, `{}`},
		{fw.MethodAgentWait, `{}`},
		{fw.MethodAgentInterrupt, `{"parent_request_id":1,"target":"/a"}`},
		{fw.MethodAgentModels, `{}`},
		{fw.MethodAgentEvents, `{"parent_request_id":1,"target":"/a","after_sequence":0}`},
		{fw.MethodAgentStop, `{"parent_request_id":1,"target":"/a"}`},
		{fw.MethodComposerGet, `{}`},
		{fw.MethodComposerSet, `{"parent_request_id":1,"text":"a"}`},
		{fw.MethodSessionCompact, `{}`},
		{fw.MethodTerminalAcquire, `{}`},
		{fw.MethodUIOpen, `{"parent_request_id":1,"surface_id":"a","title":"A","placement":"editor"}`},
		{fw.MethodUIChrome, `{}`},
		{fw.MethodCompositionContext, `{}`},
		{fw.MethodCompositionCall, `{"parent_request_id":1,"name":"conform_say","arguments":{}}`},
		{fw.MethodResourceRegister, `{"parent_request_id":1,"type":"a.B"}`},
		{fw.MethodBulkWrite, `{"parent_request_id":1,"profile":"local-file.v1","capacity":5,"media_type":"text/plain"}`},
		{fw.MethodSessionCreate, `{}`},
	} {
		result, code := ask(t, h, q.method, q.params)
		if result == nil {
			t.Errorf("%s %s is refused with %d, want a result", q.method, q.params, code)
			continue
		}
		if v, broken := h.dialect.Violation(h.dialect.Shape(q.method).Result, result); broken {
			t.Errorf("%s: the result %s breaks its model: %v", q.method, result, v)
		}
	}
	if _, code := ask(t, h, fw.MethodBulkCommit, `{"parent_request_id":1,"ticket":"none","bytes":0,"digest":`+digest+`}`); code != fw.CodeNotForegroundOwner {
		t.Errorf("a commit of nothing: code %d, want %d", code, int64(fw.CodeNotForegroundOwner))
	}
}

func TestHost_refusesAsTheConversationSays(t *testing.T) {
	h := host(t, view{refusal: "not_foreground_owner"})
	if _, code := ask(t, h, fw.MethodComposerGet, `{}`); code != fw.CodeNotForegroundOwner {
		t.Errorf("code %d, want %d", code, int64(fw.CodeNotForegroundOwner))
	}
	if _, code := ask(t, host(t, view{}), "conform/other", `{}`); code != fw.CodeUnknownMethod {
		t.Errorf("an unknown method: code %d, want %d", code, int64(fw.CodeUnknownMethod))
	}
}

func TestHost_countsRevisionsOfTheCatalog(t *testing.T) {
	h := host(t, view{result: `{"tools":[{"name":"fixed","parameters":{"type":"object"}}]}`})
	if h.Former() != nil {
		t.Error("there is a former catalog before any change")
	}
	for i, q := range []struct{ method, params, want string }{
		{fw.MethodToolsRegister, `{"tools":[{"name":"a","description":"A.","parameters":{"type":"object"}}]}`, `{"revision":1,"tools":["a","fixed"]}`},
		{fw.MethodToolsUnregister, `{"names":["a","none"]}`, `{"revision":2,"tools":["fixed"]}`},
	} {
		result, _ := ask(t, h, q.method, q.params)
		if string(result) != q.want || h.Revision() != i+1 {
			t.Errorf("%s: %s at revision %d, want %s", q.method, result, h.Revision(), q.want)
		}
	}
	var names []string
	for _, tool := range h.Former() {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"a", "fixed"}) {
		t.Errorf("the former catalog is %q, want the tool that was taken out first", names)
	}
}

func TestHost_answersEveryIDThatTheWireAllows(t *testing.T) {
	for _, id := range []string{"0", "9007199254740992", "18446744073709551615", `"é"`} {
		answers := host(t, view{}).Answer(subject.Message{ID: id, Method: fw.MethodInputRequest, Fields: map[string]json.RawMessage{"params": json.RawMessage(`{"prompt":"p","secret":false}`)}})
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if len(answers) != 1 || json.Unmarshal(answers[0], &m) != nil || string(m.ID) != id {
			t.Errorf("request %s is answered by %q", id, answers)
		}
	}
}
