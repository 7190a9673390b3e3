package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/agents"
	"github.com/octet-dev/octet/host/service/autocomplete"
	"github.com/octet-dev/octet/host/service/bulk"
	"github.com/octet-dev/octet/host/service/bus"
	"github.com/octet-dev/octet/host/service/composer"
	"github.com/octet-dev/octet/host/service/composition"
	"github.com/octet-dev/octet/host/service/entries"
	"github.com/octet-dev/octet/host/service/remoteui"
	"github.com/octet-dev/octet/host/service/resource"
	"github.com/octet-dev/octet/host/service/sessions"
	"github.com/octet-dev/octet/host/service/terminal"
	"github.com/octet-dev/octet/host/service/theme"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
	"github.com/octet-dev/octet/runtime/canonical"
)

// host is everything that stands behind the services of a session, and is content with all.
type host struct{}

func (host) AppendEntry(context.Context, string, entries.Entry) (string, error) { return "e-1", nil }
func (host) SetName(context.Context, string, string) error                      { return nil }
func (host) SetLabel(context.Context, string, string, string) error             { return nil }
func (host) Inject(context.Context, string, string, conversation.Message) error { return nil }
func (host) Text() (string, error)                                              { return "text", nil }
func (host) Replace(string) error                                               { return nil }
func (host) Insert(string, int) error                                           { return nil }
func (host) Recall([]string) error                                              { return nil }
func (host) Cede(context.Context, int) (uint16, uint16, error)                  { return 80, 24, nil }
func (host) Reclaim()                                                           {}
func (host) Room(remoteui.Mount) (remoteui.Size, error) {
	return remoteui.Size{Columns: 80, Rows: 24}, nil
}
func (host) Leave(string)                                        {}
func (host) Wake()                                               {}
func (host) ToolsExpanded() bool                                 { return false }
func (host) Focused(string) bool                                 { return true }
func (host) Idle(context.Context) (string, func(), error)        { return "s", func() {}, nil }
func (host) Create(context.Context) (string, error)              { return "s", nil }
func (host) Fork(context.Context) (string, error)                { return "s", nil }
func (host) Switch(_ context.Context, id string) (string, error) { return "s", nil }
func (host) Reload(context.Context) (string, error)              { return "s", nil }
func (host) Compacting() bool                                    { return false }
func (host) Compact(context.Context, string) (sessions.Compaction, error) {
	return sessions.Compaction{}, nil
}

func (host) Composed(context.Context, string, string) (map[string]json.RawMessage, error) {
	return nil, nil
}

func (host) Compose(context.Context, string, string, map[string]json.RawMessage, []string) error {
	return nil
}

func (host) Find(id string) (theme.Theme, bool) {
	return theme.Theme{ID: id, Trust: theme.User}, id == "x"
}

func (host) Select(context.Context, theme.Selection) (theme.Verdict, error) {
	return theme.Verdict{Status: canonicalwire.ThemeSelectStatusSelected}, nil
}

// family has sessions whose children have nothing to say.
type family struct{}

func (family) Active(string) bool              { return true }
func (family) Ceilings(string) agents.Ceilings { return agents.Ceilings{} }
func (family) Models(context.Context, string) ([]model.Info, error) {
	return []model.Info{{Provider: "p", Model: "m"}}, nil
}

func (family) Open(context.Context, agents.Child) (agents.Opened, error) {
	return agents.Opened{Kernel: silent{}, Session: "child"}, nil
}
func (family) Book(context.Context, string, session.UsageRecord, bool) error { return nil }

type silent struct{}

func (silent) Run(context.Context, agent.Prompt) (agent.Outcome, error) {
	return agent.Outcome{Status: agent.Completed}, nil
}
func (silent) Steer(string) error    { return agent.ErrIdle }
func (silent) FollowUp(string) error { return agent.ErrIdle }

// toolless calls no tool, for there is none.
type toolless struct{}

func (toolless) Tools() tool.Snapshot {
	none, err := tool.Of()
	if err != nil {
		panic(err)
	}
	return none
}

func (toolless) Call(context.Context, string, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, errors.New("there is no tool")
}

// sessionServices are the services that a session stands behind.
func sessionServices(t *testing.T) []extension.Binding {
	t.Helper()
	storage, err := bulk.Open(bulk.Options{Directory: filepath.Join(t.TempDir(), "bulk")})
	if err != nil {
		t.Fatal(err)
	}
	control, children, drawn := sessions.New(host{}), agents.New(agents.Options{Roots: family{}}), remoteui.New(remoteui.Options{Frontend: host{}})
	resources, loan := resource.New(), terminal.New(host{})
	t.Cleanup(func() {
		control.Close()
		children.Close()
		drawn.Close()
		loan.Close()
		resources.Close()
	})
	return []extension.Binding{
		storage.Binding(), resources.Binding(), children.Binding(), drawn.Binding(), terminal.Binding(loan), sessions.Control(control),
		sessions.Compact(control, host{}), entries.Binding(host{}), composer.Binding(host{}, drawn), composition.New(host{}).Binding(),
		autocomplete.New(func() bool { return true }).Binding(),
	}
}

const ownerOf = `"resource_owner":{"session_id":"session-1","extension_instance_id":"i","process_generation":0}`

// sessionSamples are params that are served or at least understood, by method; %d is the parent.
var sessionSamples = map[string]string{
	featurewire.MethodAgentSpawn: `{"parent_request_id":%d,` + ownerOf + `,"task_name":"x","profile":"x","message":"x","idempotency_key":"x","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,` +
		`"max_turns":1,"max_tokens":1000,"max_cost_microdollars":1,"max_output_bytes":512,"timeout_ms":5000,"model_selection":{"provider":"p","model":"m","reasoning":"off"}}}`,
	featurewire.MethodAgentModels:            `{"parent_request_id":%d,"query":"x","limit":1}`,
	featurewire.MethodAgentMessage:           `{"parent_request_id":%d,"target":"/x","message":"x"}`,
	featurewire.MethodAgentFollowUp:          `{"parent_request_id":%d,"target":"/x","message":"x"}`,
	featurewire.MethodAgentList:              `{"parent_request_id":%d}`,
	featurewire.MethodAgentWait:              `{"parent_request_id":%d,"timeout_ms":1}`,
	featurewire.MethodAgentInterrupt:         `{"parent_request_id":%d,"target":"/x"}`,
	featurewire.MethodAgentStop:              `{"parent_request_id":%d,"target":"/x"}`,
	featurewire.MethodAgentEvents:            `{"parent_request_id":%d,"target":"/x","after_sequence":0,"timeout_ms":1}`,
	featurewire.MethodComposerGet:            `{"parent_request_id":%d}`,
	featurewire.MethodComposerSet:            `{"parent_request_id":%d,"text":"x","editor_checkpoint":{"surface_id":"x","mount_id":"x","input_revision":0,"checkpoint_revision":1}}`,
	featurewire.MethodComposerInsert:         `{"parent_request_id":%d,"text":"x"}`,
	featurewire.MethodComposerHistory:        `{"parent_request_id":%d,` + ownerOf + `,"entries":["x"]}`,
	featurewire.MethodSessionAppendEntry:     `{"parent_request_id":%d,"entry_type":"x","data":{}}`,
	featurewire.MethodSessionSetName:         `{"parent_request_id":%d,"name":"x"}`,
	featurewire.MethodSessionSetLabel:        `{"parent_request_id":%d,"entry_id":"x","label":"x"}`,
	featurewire.MethodSessionSendMessage:     `{"parent_request_id":%d,"role":"system","text":"x"}`,
	featurewire.MethodSessionSendUserMessage: `{"parent_request_id":%d,"text":"x"}`,
	featurewire.MethodTerminalAcquire:        `{"parent_request_id":%d}`,
	featurewire.MethodTerminalRelease:        `{"parent_request_id":%d}`,
	featurewire.MethodUIAutocompleteRegister: `{"revision":1}`,
	featurewire.MethodSessionWaitForIdle:     `{"parent_request_id":%d,"session_id":null}`,
	featurewire.MethodSessionCreate:          `{"parent_request_id":%d}`,
	featurewire.MethodSessionFork:            `{"parent_request_id":%d}`,
	featurewire.MethodSessionSwitch:          `{"parent_request_id":%d,"session_id":"x"}`,
	featurewire.MethodSessionReload:          `{"parent_request_id":%d}`,
	featurewire.MethodSessionCompact:         `{"parent_request_id":%d,` + ownerOf + `,"custom_instructions":"x"}`,
	featurewire.MethodCompositionContext:     `{"parent_request_id":%d}`,
	featurewire.MethodCompositionCall:        `{"parent_request_id":%d,"name":"x","arguments":{}}`,
	featurewire.MethodCompositionStore:       `{"parent_request_id":%d,"set":{"x":1},"delete":["x"]}`,
	featurewire.MethodResourceRegister:       `{"parent_request_id":%d,"type":"x"}`,
	featurewire.MethodResourceRelease:        `{"parent_request_id":%d,"resource":{"$resource":"x","type":"x"}}`,
	featurewire.MethodBulkWrite:              `{"parent_request_id":%d,"profile":"local-file.v1","capacity":1,"media_type":"x"}`,
	featurewire.MethodBulkCommit:             `{"parent_request_id":%d,"ticket":"x","bytes":1,"digest":{"algorithm":"sha256","value":"` + zeros + `"}}`,
	featurewire.MethodBulkRead:               `{"parent_request_id":%d,"profile":"local-file.v1","blob":{"$blob":"x","bytes":1,"digest":{"algorithm":"sha256","value":"` + zeros + `"},"media_type":"x"}}`,
	featurewire.MethodBulkRelease:            `{"parent_request_id":%d,"id":"x"}`,
	featurewire.MethodUIOpen:                 `{"parent_request_id":%d,"surface_id":"x","title":"x","placement":"header","mouse_capture":false}`,
	featurewire.MethodUIClose:                `{"parent_request_id":%d,"surface_id":"x"}`,
	featurewire.MethodUIChrome:               `{"parent_request_id":%d,` + ownerOf + `,"chrome":{"kind":"desktop_notification","title":"x","body":"x"}}`,
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// The same for the services behind which a session stands.
func TestServices_hostileParamsOfSessions(t *testing.T) {
	rig := extensiontest.Start(t, extensiontest.Setup{
		Name: "octet-subagents", Options: extension.Options{Bindings: sessionServices(t), Instance: "i"},
	})
	call := &tool.Call{Name: "work", Owner: extensiontest.DefaultFront, Nested: toolless{}}
	sent := 0
	rig.DuringCall(extension.Request{Scope: extension.Scope{Owner: call.Owner}, Value: call}, func(parent int64) {
		for method, sample := range sessionSamples {
			if method != featurewire.MethodUIAutocompleteRegister {
				sample = fmt.Sprintf(sample, parent)
			}
			for _, params := range append(spoiled(sample), sample) {
				sent++
				answer := ask(rig, fmt.Sprintf(`"hostile-%d"`, sent), method, params)
				if answer.Refusal != nil && (answer.Refusal.Code == featurewire.CodeInternalError || answer.Refusal.Code == featurewire.CodeUnknownMethod) {
					t.Errorf("%s %.200s: %+v", method, params, answer.Refusal)
				}
			}
		}
		frame := `{` + ownerOf + `,"surface_id":"x","revision":1,"columns":80,"rows":24,"lines":["x"]}`
		for _, params := range spoiled(frame) {
			sent++
			rig.Raw(`{"jsonrpc":"2.0","method":"` + featurewire.MethodUIFrame + `","params":` + params + `}`)
		}
		rig.Ask(featurewire.MethodComposerGet, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).OK(t, `{"text":"text"}`)
	})
	if sent < 4000 {
		t.Errorf("only %d messages were sent", sent)
	}
	rig.Flush()
}

// canonicalSamples are the same on the canonical wire, where what is no canonical JSON ends the stream.
var canonicalSamples = map[string]string{
	canonicalwire.MethodThemeSelect:    `{"namespace":"demo","role":"accent","scope":"extension","theme_id":"x"}`,
	canonicalwire.MethodSessionCreate:  `{}`,
	canonicalwire.MethodSessionFork:    `{}`,
	canonicalwire.MethodSessionReload:  `{}`,
	canonicalwire.MethodSessionSwitch:  `{"session_id":"x"}`,
	canonicalwire.MethodBusDeclare:     `{"binding_id":"x","fields":[{"kind":"enum","max_bytes":4,"name":"a","required":true,"values":["x"]}],"topic":"bus.demo.a"}`,
	canonicalwire.MethodBusSubscribe:   `{"binding_id":"x","topic":"bus.demo.a"}`,
	canonicalwire.MethodBusUnsubscribe: `{"binding_id":"x","topic":"bus.demo.a"}`,
	canonicalwire.MethodBusPublish:     `{"binding_id":"x","payload":{"a":"x"},"topic":"bus.demo.a"}`,
}

func TestServices_hostileParamsOnTheCanonicalWire(t *testing.T) {
	control, events := sessions.New(host{}), bus.New()
	defer control.Close()
	defer events.Close()
	rig := extensiontest.Start(t, extensiontest.Setup{
		API:     canonicalwire.Version03,
		Options: extension.Options{Bindings: []extension.Binding{sessions.Lifecycle(control), theme.Binding(host{}), events.Binding()}},
	})
	var notice struct {
		BindingID string `json:"binding_id"`
	}
	if err := json.Unmarshal(rig.WaitTold(canonicalwire.MethodBusLifecycle, 1)[0].Params, &notice); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for method, sample := range canonicalSamples {
		for _, params := range spoiled(sample) {
			params, ok := speakable(params, notice.BindingID)
			if !ok {
				continue
			}
			sent++
			answer := rig.SendAs(fmt.Sprintf(`"hostile-%d"`, sent), method, params).Wait()
			if answer.Refusal == nil && answer.Result == nil {
				t.Fatalf("%s %.200s: no answer; diagnosed %q", method, params, rig.Diagnostics())
			}
			if answer.Refusal != nil && (answer.Refusal.Code == canonicalwire.CodeInternalError || answer.Refusal.Code == canonicalwire.CodeUnknownMethod) {
				t.Errorf("%s %.200s: %+v", method, params, answer.Refusal)
			}
		}
	}
	if sent < 300 {
		t.Errorf("only %d messages were sent", sent)
	}
	rig.Ask(canonicalwire.MethodSessionCreate, `{}`).OK(t, `{"session_id":"s"}`)
}

// speakable puts the binding in force into params, and reports whether an extension can send them at all.
func speakable(params, binding string) (string, bool) {
	params = strings.ReplaceAll(params, `"binding_id":"x"`, `"binding_id":"`+binding+`"`)
	spelled, err := canonical.Append(nil, []byte(params))
	return string(spelled), err == nil && len(spelled) > 0 && spelled[0] == '{'
}
