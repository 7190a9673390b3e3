package policyintent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/tool"
)

var front = extension.Scope{Owner: extensiontest.DefaultFront}

func start(t *testing.T, name string, s *Service) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{
		Name: name, Contributes: "tools = [\"mcp_files_read\", \"other\"]\ncommands = [\"do\", \"mcp_files_read\"]", Options: extension.Options{Bindings: s.Bindings()},
	})
}

const plain = `{"kind":"network","operation":"fetch","target":{"host":"example.com"}}`

func evaluate(rig *extensiontest.Rig, parent int64, intent, token string) extensiontest.Answer {
	if token != "" {
		token = `,"approval_token":"` + token + `"`
	}
	return rig.Ask(featurewire.MethodPolicyEvaluate, fmt.Sprintf(`{"parent_request_id":%d,"intent":%s%s}`, parent, intent, token))
}

var fullAccess = policy.Settings{Effect: policy.UnsafeHost, AllowProcess: true, AllowShell: true}

// The product denies what is not its own business, and gives out no tokens.
//
// EXT04-POLICY-003, EXT04-POLICY-004, EXT04-POLICY-005, EXT04-POLICY-011.
func TestEvaluate_product(t *testing.T) {
	s := New(Options{Settings: func() policy.Settings { return fullAccess }})
	rig := start(t, "demo", s)
	if slices.Contains(rig.X.Agreement().Features, featurewire.FeatureApprovals) {
		t.Error("approvals are offered")
	}
	rig.During(front, func(parent int64) {
		evaluate(rig, parent, plain, "").OK(t, `{"decision":"deny"}`)
		evaluate(rig, parent, mcp("files", "mcp_files_read", `{"a":1}`), "").OK(t, `{"decision":"deny"}`)
		evaluate(rig, parent, plain, strings.Repeat("a", 64)).Refused(t, featurewire.CodeInvalidParams, "")
		for _, bad := range []string{
			`{}`, `{"kind":" ","operation":"x","target":{}}`, `{"kind":"x","operation":"","target":{}}`, `{"kind":"x","operation":"x","target":[]}`,
			`{"kind":"x","operation":"x","target":{},"more":1}`, `{"kind":"x","operation":"x","target":{},"adapter_hints":{"more":true}}`, `7`,
		} {
			evaluate(rig, parent, bad, "").Refused(t, featurewire.CodeInvalidParams, "")
		}
	})
	evaluate(rig, 999, plain, "").Refused(t, featurewire.CodeNotForegroundOwner, "")
	for name, o := range map[string]Options{
		"nobody approves": {Judge: func(context.Context, Question) Decision { return Ask }},
		"nobody judges":   {Approve: func(context.Context, Question) bool { return true }},
	} {
		if got := New(o).Bindings(); len(got) != 1 || slices.Contains(got[0].Features, featurewire.FeatureApprovals) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func mcp(server, name, arguments string) string {
	return fmt.Sprintf(`{"kind":"external_side_effect","operation":"mcp.tool.call","target":{"server":%q,"tool":%q,"server_catalog_revision":1,"arguments":%s},`+
		`"data_classes":["tool_arguments"],"adapter_hints":{"read_only":false,"destructive":true}}`, server, name, arguments)
}

// EXT04-POLICY-012, MAN-GATE-003.
func TestEvaluate_mcp(t *testing.T) {
	settings := fullAccess
	s := New(Options{
		Settings: func() policy.Settings { return settings },
		Judge:    func(context.Context, Question) Decision { t.Error("the gate was left to a judge"); return Allow },
	})
	const arguments = `{"path":"a","deep":{"x":[1,2]}}`
	call := func(rig *extensiontest.Rig, scope extension.Scope, f func(parent int64)) {
		c := &tool.Call{Name: "mcp_files_read", Arguments: json.RawMessage(arguments)}
		rig.DuringCall(extension.Request{Tool: c.Name, Arguments: c.Arguments, Scope: scope, Value: c}, f)
	}
	rig := start(t, "octet-mcp", s)
	allow, deny := `{"decision":"allow"}`, `{"decision":"deny"}`
	exact := mcp("files", "mcp_files_read", `{ "deep" : {"x":[1,2]}, "path":"\u0061"}`)
	var settled int64
	call(rig, front, func(parent int64) {
		settled = parent
		evaluate(rig, parent, exact, "").OK(t, allow)
		for name, intent := range map[string]string{
			"other arguments":  mcp("files", "mcp_files_read", `{"path":"b","deep":{"x":[1,2]}}`),
			"fewer arguments":  mcp("files", "mcp_files_read", `{"path":"a"}`),
			"no arguments":     mcp("files", "mcp_files_read", `null`),
			"another tool":     mcp("files", "mcp_files_write", arguments),
			"another own tool": mcp("files", "other", arguments),
			"another server":   mcp("mail", "mcp_files_read", arguments),
			"no server":        mcp("", "mcp_files_read", arguments),
			"a server in caps": mcp("Files", "mcp_files_read", arguments),
			"no target":        `{"kind":"external_side_effect","operation":"mcp.tool.call","target":{}}`,
			"a wrong target":   `{"kind":"external_side_effect","operation":"mcp.tool.call","target":{"server":7}}`,
		} {
			if answer := evaluate(rig, parent, intent, ""); string(answer.Result) != deny {
				t.Errorf("%s: %+v", name, answer)
			}
		}
		settings.Effect = policy.Controlled
		evaluate(rig, parent, exact, "").OK(t, deny)
		settings = fullAccess.Safe()
		evaluate(rig, parent, exact, "").OK(t, deny)
		settings = fullAccess
	})
	evaluate(rig, settled, exact, "").Refused(t, featurewire.CodeNotForegroundOwner, "")
	call(rig, extension.Scope{}, func(parent int64) { evaluate(rig, parent, exact, "").OK(t, deny) }) // nobody's
	command := extension.Execution{Command: "mcp_files_read", Scope: front, Value: &tool.Call{Name: "mcp_files_read", Arguments: json.RawMessage(arguments)}}
	rig.DuringCommand(command, func(parent int64) { evaluate(rig, parent, exact, "").OK(t, deny) })
	rig.DuringCall(extension.Request{Tool: "other", Scope: front, Value: &tool.Call{Name: "other"}}, func(parent int64) {
		evaluate(rig, parent, exact, "").OK(t, deny)
	})
	rig.DuringCall(extension.Request{Tool: "mcp_files_read", Arguments: json.RawMessage(arguments), Scope: front}, func(parent int64) {
		evaluate(rig, parent, exact, "").OK(t, deny) // no call of the model is known
	})
	bare := start(t, "octet-mcp", New(Options{}))
	call(bare, front, func(parent int64) { evaluate(bare, parent, exact, "").OK(t, deny) })
}

// The gate is for its own extension and its own intent; everything else is for the judge.
func TestEvaluate_beyondTheGate(t *testing.T) {
	s := New(Options{Judge: func(context.Context, Question) Decision { return Ask }})
	rig := start(t, "demo", s)
	rig.During(front, func(parent int64) {
		evaluate(rig, parent, mcp("files", "mcp_files_read", `{}`), "").OK(t, `{"decision":"ask"}`)
	})
	rig = start(t, "octet-mcp", s)
	rig.During(front, func(parent int64) {
		for _, other := range []string{plain, strings.Replace(mcp("files", "other", `{}`), "mcp.tool.call", "mcp.other", 1), strings.Replace(mcp("files", "other", `{}`), "external_", "internal_", 1)} {
			evaluate(rig, parent, other, "").OK(t, `{"decision":"ask"}`)
		}
	})
}

// approving is a service whose person says yes, and counts.
func approving(asked *int) *Service {
	return New(Options{
		Judge: func(_ context.Context, q Question) Decision {
			if q.Intent.Kind == "free" {
				return Allow
			}
			return Ask
		},
		Approve: func(_ context.Context, q Question) bool {
			*asked++
			return q.Intent.Operation != "refused"
		},
	})
}

var spelling = regexp.MustCompile(`^[0-9a-f]{64}$`)

// issue has an intent approved and returns the token.
func issue(t *testing.T, rig *extensiontest.Rig, parent int64, intent string) string {
	t.Helper()
	answer := evaluate(rig, parent, intent, "")
	var result map[string]string
	answer.Decode(t, &result)
	if result["decision"] != "ask" || !spelling.MatchString(result["approval_token"]) {
		t.Errorf("issued %s", answer.Result)
	}
	return result["approval_token"]
}

// EXT04-POLICY-003, EXT04-POLICY-004, EXT04-POLICY-006, EXT04-POLICY-007, EXT04-POLICY-008.
func TestEvaluate_tokens(t *testing.T) {
	asked := 0
	s := approving(&asked)
	rig := start(t, "demo", s)
	const allow, deny = `{"decision":"allow"}`, `{"decision":"deny"}`
	const same = `{"target":{"host":"example.com"}, "operation":"fetch","kind":"network"}`
	other := strings.Replace(plain, "example.com", "example.org", 1)
	var left string
	var oldParent int64
	rig.During(front, func(parent int64) {
		oldParent = parent
		good := issue(t, rig, parent, plain)
		evaluate(rig, parent, same, good).OK(t, allow)
		evaluate(rig, parent, plain, good).OK(t, deny) // used
		changed := issue(t, rig, parent, plain)
		evaluate(rig, parent, other, changed).OK(t, deny)
		evaluate(rig, parent, plain, changed).OK(t, deny) // used up by the mismatch
		evaluate(rig, parent, plain, strings.Repeat("0", 64)).OK(t, deny)
		for _, bad := range []string{"x", strings.Repeat("0", 63), strings.Repeat("0", 65), strings.Repeat("A", 64)} {
			evaluate(rig, parent, plain, bad).Refused(t, featurewire.CodeInvalidParams, "")
		}
		evaluate(rig, parent, strings.Replace(plain, "fetch", "refused", 1), "").OK(t, deny)
		evaluate(rig, parent, strings.Replace(plain, "network", "free", 1), "").OK(t, allow)
		if asked != 3 {
			t.Errorf("the person was asked %d times, want 3", asked)
		}
		left = issue(t, rig, parent, plain)
		rig.DuringCommand(extension.Execution{Scope: front}, func(second int64) {
			moved := issue(t, rig, parent, plain)
			evaluate(rig, second, plain, moved).OK(t, deny) // another parent
			evaluate(rig, parent, plain, moved).OK(t, deny) // used up by that
		})
	})
	rig.During(front, func(parent int64) { evaluate(rig, parent, plain, left).OK(t, deny) })
	evaluate(rig, oldParent, plain, left).Refused(t, featurewire.CodeNotForegroundOwner, "")
}

// EXT04-POLICY-006, EXT04-POLICY-008, EXT04-POLICY-009.
func TestEvaluate_tokensEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := approving(&asked)
		rig := start(t, "demo", s)
		long := extension.Request{Scope: front, Timeout: time.Hour}
		rig.DuringCall(long, func(parent int64) {
			young, old := issue(t, rig, parent, plain), issue(t, rig, parent, plain)
			time.Sleep(featurewire.ApprovalTokenMs*time.Millisecond - 1)
			evaluate(rig, parent, plain, young).OK(t, `{"decision":"allow"}`)
			time.Sleep(time.Nanosecond)
			evaluate(rig, parent, plain, old).OK(t, `{"decision":"deny"}`)

			theirs := issue(t, rig, parent, plain)
			next := start(t, "demo", s) // another generation, whose ids are the same
			next.During(front, func(id int64) { evaluate(next, id, plain, theirs).OK(t, `{"decision":"deny"}`) })
			evaluate(rig, parent, plain, theirs).OK(t, `{"decision":"allow"}`) // not known over there, so not used up
		})
		rig.X.Close()
		if len(s.issued) != 1 {
			t.Errorf("%d generations have tokens, want the one that lives", len(s.issued))
		}
	})
}

func TestEvaluate_tokensAreBounded(t *testing.T) {
	asked := 0
	rig := start(t, "demo", approving(&asked))
	rig.During(front, func(parent int64) {
		for range maxTokens {
			issue(t, rig, parent, plain)
		}
		evaluate(rig, parent, plain, "").OK(t, `{"decision":"ask"}`)
	})
	rig.During(front, func(parent int64) { issue(t, rig, parent, plain) }) // those of a settled parent make room
}

// EXT04-POLICY-010.
func TestEvaluate_hints(t *testing.T) {
	decision := Allow
	s := New(Options{Judge: func(context.Context, Question) Decision { return decision }})
	rig := start(t, "demo", s)
	hinting := func(hints string) string {
		return strings.TrimSuffix(plain, "}") + `,"adapter_hints":` + hints + `}`
	}
	rig.During(front, func(parent int64) {
		evaluate(rig, parent, hinting(`{"read_only":true,"destructive":false}`), "").OK(t, `{"decision":"allow"}`)
		evaluate(rig, parent, hinting(`{"read_only":null,"destructive":null}`), "").OK(t, `{"decision":"allow"}`)
		evaluate(rig, parent, hinting(`{"destructive":true}`), "").OK(t, `{"decision":"ask"}`)
		decision = Deny
		evaluate(rig, parent, hinting(`{"read_only":true,"destructive":false}`), "").OK(t, `{"decision":"deny"}`)
		decision = Ask
		evaluate(rig, parent, hinting(`{"read_only":true}`), "").OK(t, `{"decision":"ask"}`)
	})
}
