// Package service_test holds the services of the host against extensions that send whatever they like.
package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/artifact"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/lifecycle"
	"github.com/octet-dev/octet/host/service/policyintent"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/service/promptcontext"
	"github.com/octet-dev/octet/host/service/secret"
	"github.com/octet-dev/octet/host/service/shortcut"
	"github.com/octet-dev/octet/host/service/status"
	"github.com/octet-dev/octet/host/service/tools"
)

// everybody answers whatever is asked.
type everybody struct{}

func (everybody) Confirm(context.Context, dialog.Question) (bool, error) { return true, nil }
func (everybody) Input(context.Context, dialog.Input) (string, bool, error) {
	return "text", true, nil
}
func (everybody) SetActive(context.Context, string, []string) error { return nil }

// all are the services that answer by themselves.
func all() []extension.Binding {
	var pool promptcontext.Pool
	intents := policyintent.New(policyintent.Options{
		Judge:   func(context.Context, policyintent.Question) policyintent.Decision { return policyintent.Ask },
		Approve: func(context.Context, policyintent.Question) bool { return true },
	})
	bindings := []extension.Binding{
		artifact.New().Binding(), dialog.Binding(everybody{}), lifecycle.New().Binding(), (&presentation.Board{}).Binding(), pool.Binding(),
		secret.Binding(secret.Map{"demo": {"TOKEN": "x"}}), shortcut.New(nil).Binding(), status.Binding(func(status.Contribution) {}), tools.Active(everybody{}),
	}
	return append(append(bindings, tools.New(tools.Options{}).Bindings()...), intents.Bindings()...)
}

// values are what no member expects.
var values = []string{
	`null`, `true`, `-1`, `0`, `9007199254740992`, `1e400`, `-0.5`, `123456789012345678901234567890`, `""`, `" "`, `"\u0000"`, `"\ud800"`, `"\u001b[2J"`, `"../../x"`, `[]`, `[null]`, `[[]]`,
	`{}`, `{"":{}}`, `{"a":1,"a":2}`, strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300), `"` + strings.Repeat("x", 20000) + `"`,
}

// samples are params that are served, by method; %d is the parent.
var samples = map[string]string{
	featurewire.MethodArtifactPublish:     `{"parent_request_id":%d,"mime_type":"image/gif","size":6,"sha256":"610f5ae4d76e332636a17bd357fd6ce99029316a99d320280d4d77a746bf29e8","data":{"encoding":"base64","data":"R0lGODlh"}}`,
	featurewire.MethodConfirmationRequest: `{"parent_request_id":%d,"prompt":"x","detail":"x","destructive":true,"default":true}`,
	featurewire.MethodInputRequest:        `{"parent_request_id":%d,"prompt":"x","secret":true}`,
	featurewire.MethodPolicyEvaluate:      `{"parent_request_id":%d,"intent":{"kind":"x","operation":"x","target":{},"data_classes":["x"],"adapter_hints":{"read_only":true,"destructive":null}},"approval_token":"` + strings.Repeat("a", 64) + `"}`,
	featurewire.MethodSecretGet:           `{"parent_request_id":%d,"name":"TOKEN"}`,
	featurewire.MethodToolsSetActive:      `{"parent_request_id":%d,"names":["work"]}`,
	featurewire.MethodToolsRegister:       `{"tools":[{"name":"x","description":"x","parameters":{"type":"object"},"output_schema":{"type":"object"},"prompt_guidelines":[],"constrained_sampling":{}}]}`,
	featurewire.MethodToolsUnregister:     `{"names":["x"]}`,
	featurewire.MethodShortcutRegister:    `{"parent_request_id":1,"id":"x","key":"x","description":"x"}`,
}

var notices = map[string]string{
	featurewire.MethodPresentationUpdate: `{"parent_request_id":%d,"snapshot":{"revision":1,"status":{"state":"active","label":"x","detail":"x"},"activities":[{"id":"x","kind":"x","state":"active","summary":"x","provenance":"x",` +
		`"started_at_ms":1,"metrics":{"tool_calls":1,"input_tokens":1,"cache_read_tokens":1,"cache_write_tokens":1,"output_tokens":1,"reasoning_tokens":1},"references":[{"kind":"url","id":"https://x.example","label":"x"}]}],` +
		`"collection":{"kind":"tree","title":"x","nodes":[{"id":"x","parent_id":null,"state":"active","label":"x","action_ids":["x"]}],"selected_node_id":"x","detail":{"node_id":"x","title":"x","body":"x"}},` +
		`"actions":[{"id":"x","label":"x","command":"do","arguments":["x"],"destructive":true}]}}`,
	featurewire.MethodContextContribution: `{"label":"x","content":"x","placement":"prompt_suffix"}`,
	featurewire.MethodStatusContribution:  `{"surface":"status","text":"x","style_role":"x","priority":1}`,
	featurewire.MethodProgress:            `{"request_id":%d,"sequence":1,"event":{"type":"status","message":"x","current":1,"total":1,"unit":"x"}}`,
}

// spoiled yields every params in which one member, however deep, is gone or is a value that it should not be.
func spoiled(text string) []string {
	var list []string
	var walk func(path string, value any, with func(replacement string) string)
	walk = func(path string, value any, with func(string) string) {
		for _, bad := range values {
			list = append(list, with(bad))
		}
		switch v := value.(type) {
		case map[string]any:
			for name := range v {
				rest := func(replacement string) string {
					var members []string
					for other := range v {
						quoted, _ := json.Marshal(other)
						encoded, _ := json.Marshal(v[other])
						if other == name {
							encoded = []byte(replacement)
						}
						if len(encoded) > 0 {
							members = append(members, string(quoted)+":"+string(encoded))
						}
					}
					return "{" + strings.Join(members, ",") + "}"
				}
				list = append(list, with(rest("")))
				walk(path+"/"+name, v[name], func(replacement string) string { return with(rest(replacement)) })
			}
		case []any:
			for i := range v {
				walk(fmt.Sprint(path, "/", i), v[i], func(replacement string) string { return with("[" + replacement + "]") })
			}
		}
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	walk("", value, func(replacement string) string { return replacement })
	return list
}

// Whatever is wrong with what an extension sends, it is answered with a refusal that names the fault or
// served, never with an internal error, and the extension lives on.
func TestServices_hostileParams(t *testing.T) {
	const contributes = "tools = [\"work\"]\ncommands = [\"do\"]\npresentation = true\nconfirmations = true\ncontext = true\nui = [\"status\"]\n[capabilities]\nsecrets = [\"TOKEN\"]"
	rig := extensiontest.Start(t, extensiontest.Setup{Contributes: contributes, Options: extension.Options{Bindings: all()}})
	sent := 0
	rig.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
		for method, sample := range samples {
			if strings.Contains(sample, "%d") {
				sample = fmt.Sprintf(sample, parent)
			}
			for _, params := range spoiled(sample) {
				sent++
				id := fmt.Sprintf(`"hostile-%d"`, sent)
				answer := ask(rig, id, method, params)
				if answer.Refusal != nil && (answer.Refusal.Code == featurewire.CodeInternalError || answer.Refusal.Code == featurewire.CodeUnknownMethod) {
					t.Errorf("%s %.200s: %+v", method, params, answer.Refusal)
				}
			}
		}
		for method, sample := range notices {
			if strings.Contains(sample, "%d") {
				sample = fmt.Sprintf(sample, parent)
			}
			for _, params := range spoiled(sample) {
				sent++
				rig.Raw(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
			}
		}
		rig.Ask(featurewire.MethodSecretGet, fmt.Sprintf(samples[featurewire.MethodSecretGet], parent)).OK(t, `{"value":"x"}`)
	})
	if sent < 2000 {
		t.Errorf("only %d messages were sent", sent)
	}
	rig.Flush()
}

// ask sends params as they are. What is no strict JSON could be answered without an id, so nobody waits.
func ask(rig *extensiontest.Rig, id, method, params string) extensiontest.Answer {
	doc, err := wirejson.Parse([]byte(params), wirejson.DefaultMaxDepth)
	if err != nil {
		rig.Raw(`{"id":` + id + `,"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
		return extensiontest.Answer{}
	}
	doc.Release()
	return rig.SendAs(id, method, params).Wait()
}
