package faultypeer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// using is a fault of a peer that otherwise uses every service soundly.
func using(api, rule, name, doc string, q quirk) Fault {
	q.full = true
	return on(api, rule, name, doc, q)
}

// asking changes the params of what the peer sends under a method.
func asking(method string, f func(params obj)) quirk {
	return change(method, func(m obj) {
		if params, ok := m["params"].(obj); ok {
			f(params)
		}
	})
}

// setting sets one member of the params of a method.
func setting(method, member string, v any) quirk {
	return asking(method, func(params obj) { params[member] = v })
}

// leaving leaves one member of the params of a method out.
func leaving(method, member string) quirk {
	return asking(method, func(params obj) { delete(params, member) })
}

// answering changes the result of a handler.
func answering(method string, f func(r obj)) quirk {
	return change(method, func(m obj) {
		if r, ok := m["result"].(obj); ok {
			f(r)
		}
	})
}

// replacing gives another result of a handler.
func replacing(method string, result any) quirk {
	return change(method, func(m obj) { m["result"] = result })
}

// onTour acts while the peer serves the call that uses every service.
func onTour(act func(p *peer)) quirk { return moment("call "+ToolTour, act) }

// askOnTour sends one more request while the peer serves that call, under an id of its own.
func askOnTour(method string, params func(p *peer) obj) quirk {
	return onTour(func(p *peer) {
		all := params(p)
		if _, given := all["parent_request_id"]; !given {
			all["parent_request_id"] = json.RawMessage(p.last)
		}
		p.ask("x-"+strconv.Itoa(p.served), method, all)
	})
}

func nothing(*peer) obj { return obj{} }

// long is a text over a bound.
func long(bound int) string { return strings.Repeat("x", bound+1) }

var featureServiceFaults = []Fault{
	using(middle, "EXT04-ENV-019", "answers-an-answer", "answers an answer that it does not wait for", acting("answer-stray-answer")),
	using(frozen, "EXT04-ENV-019", "ends-at-stray-answer", "ends at an answer that it does not wait for", acting("end-at-stray-answer")),
	using(current, "EXT04-ENV-020", "asks-without-id", "sends a request without an id", onTour(func(p *peer) {
		p.notify(featurewire.MethodComposerGet, obj{"parent_request_id": json.RawMessage(p.last)})
	})),
	using(frozen, "EXT04-ENV-020", "confirms-without-id", "asks the person without an id", onTour(func(p *peer) {
		p.notify(featurewire.MethodConfirmationRequest, obj{"prompt": "Go on?", "destructive": false, "default": true})
	})),
	using(current, "EXT04-NEG-022", "forgets-hook-feature", "declares a hook and does not select its feature", quirk{
		message: selecting(func(protocol obj) {
			protocol["features"] = drop(protocol["features"], featurewire.FeatureCacheWarmingDecision)
		}).message,
	}),
	using(middle, "EXT04-CANCEL-016", "withdraws-twice", "withdraws a question twice", onTour(func(p *peer) {
		p.confirm("x-1", p.last)
		for range 2 {
			p.notify(featurewire.MethodCancelRequest, obj{"id": "x-1", "reason": "changed its mind"})
		}
	})),
	using(current, "EXT04-PROG-012", "decorates-with-nothing", "decorates progress with an empty label", progressing("decoration", func(_, event obj) { event["label"] = "" })),
	using(middle, "EXT04-PROG-012", "decorates-in-lines", "decorates progress with lines", progressing("decoration", func(_, event obj) { event["detail"] = "one\ntwo" })),
	using(frozen, "EXT04-TOOL-008", "too-many-commands", "announces more commands than a host takes", answering(featurewire.MethodInitialize, func(r obj) {
		for i := range featurewire.MaxCommands {
			r["commands"] = append(r["commands"].([]any), obj{"name": "c" + strconv.Itoa(i), "description": "One more."})
		}
	})),
	using(current, "EXT04-TOOL-008", "too-many-tools", "announces more tools than a host takes", answering(featurewire.MethodInitialize, func(r obj) {
		for i := range featurewire.MaxTools {
			r["tools"] = append(r["tools"].([]any), obj{"name": "t" + strconv.Itoa(i), "description": "One more.", "parameters": obj{"type": "object"}})
		}
	})),
	using(current, "EXT04-TOOL-009", "prompts-unasked", "has prompt texts whether they were selected or not", defining(func(t obj) { t["prompt_snippet"] = "Say it" })),
	using(current, "EXT04-TOOL-010", "long-prompt", "has a prompt text over the bound", defining(func(t obj) { t["prompt_snippet"] = long(featurewire.MaxPromptTextBytes) })),
	using(current, "EXT04-TOOL-010", "prompt-in-colour", "has a prompt text with control characters", defining(func(t obj) { t["prompt_guidelines"] = list("\x1b[1mOnce\x1b[0m") })),
	using(current, "EXT04-TOOL-010", "too-many-guidelines", "has more prompt texts than the bound", defining(func(t obj) {
		lines := []any{}
		for range featurewire.MaxPromptGuidelines + 1 {
			lines = append(lines, "Once.")
		}
		t["prompt_guidelines"] = lines
	})),
	using(middle, "EXT04-RELOAD-002", "commands-by-chance", "announces its commands in other words at every start", answering(featurewire.MethodInitialize, func(r obj) {
		r["commands"].([]any)[0].(obj)["description"] = "Start " + byChance() + "."
	})),

	using(middle, "EXT04-PARENT-001", "asks-without-parent", "asks for input on behalf of nothing", leaving(featurewire.MethodInputRequest, "parent_request_id")),
	using(current, "EXT04-PARENT-001", "parent-as-text", "names the parent as a string", asking(featurewire.MethodTerminalAcquire, func(params obj) {
		params["parent_request_id"] = string(params["parent_request_id"].(json.RawMessage))
	})),
	using(middle, "EXT04-PARENT-001", "asks-for-the-past", "asks on behalf of a request that is answered", setting(featurewire.MethodPolicyEvaluate, "parent_request_id", 1)),
	using(middle, "EXT04-PARENT-002", "late-without-owner", "goes on behind its answer without an owner", quirk{message: func(p *peer, what string, m obj) {
		if params, ok := m["params"].(obj); ok && what == featurewire.MethodComposerGet {
			delete(params, "resource_owner")
		}
	}}),
	using(current, "EXT04-PARENT-002", "names-no-request", "controls the session on behalf of nothing", leaving(featurewire.MethodSessionCreate, "parent_request_id")),
	using(current, "EXT04-PARENT-003", "composes-with-owner", "composes on behalf of an owner", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodCompositionContext {
			m["params"].(obj)["resource_owner"] = p.owner
		}
	}}),
	using(current, "EXT04-PARENT-003", "registers-from-command", "registers a resource on behalf of a command", quirk{acts: when("execute", func(p *peer) {
		p.ask("x-1", featurewire.MethodResourceRegister, obj{"parent_request_id": json.RawMessage(p.last), "type": "peer.Stop"})
	})}),
	using(middle, "EXT04-PARENT-004", "registers-with-parent", "hangs a change of the catalog on a request", setting(featurewire.MethodToolsRegister, "parent_request_id", 1)),
	using(frozen, "EXT04-PARENT-004", "context-with-parent", "hangs context on a request", setting(featurewire.MethodContextContribution, "parent_request_id", 1)),
	using(middle, "EXT04-OWNER-001", "owner-of-its-own", "makes up an owner", setting(featurewire.MethodComposerHistory, "resource_owner",
		obj{"session_id": "mine", "extension_instance_id": "mine", "process_generation": 1})),
	using(current, "EXT04-OWNER-001", "owner-of-tomorrow", "counts the generation of an owner up", asking(featurewire.MethodUIFrame, func(params obj) {
		params["resource_owner"] = obj{"session_id": "conform-owner", "extension_instance_id": "conform-instance", "process_generation": 2}
	})),
	using(frozen, "EXT04-OWNER-002", "renders-for-sessions", "renders only within a session", acting("need-session-to-render")),
	using(middle, "EXT04-OWNER-002", "status-for-owners", "gives its status only to an owner", acting("need-owner-for-status")),
}

var featurePeopleFaults = []Fault{
	using(frozen, "EXT04-CONFIRM-001", "confirms-nothing", "asks the person nothing", leaving(featurewire.MethodConfirmationRequest, "prompt")),
	using(current, "EXT04-CONFIRM-001", "danger-in-words", "says in words how dangerous something is", setting(featurewire.MethodConfirmationRequest, "destructive", "very")),
	using(frozen, "EXT01-CONFIRM-001", "parent-on-frozen", "hangs a question on a request", setting(featurewire.MethodConfirmationRequest, "parent_request_id", 1)),
	using(middle, "EXT04-INPUT-001", "blank-prompt", "asks for input with a blank prompt", setting(featurewire.MethodInputRequest, "prompt", " \t")),
	using(current, "EXT04-INPUT-001", "secret-by-number", "says by a number whether input is secret", setting(featurewire.MethodInputRequest, "secret", 1)),
	using(current, "EXT04-INPUT-001", "long-input-prompt", "asks for input with a prompt over the bound", setting(featurewire.MethodInputRequest, "prompt", long(featurewire.MaxInputPromptBytes))),

	using(middle, "EXT04-PRES-001", "state-of-its-own", "shows a state of its own", showing(func(s obj) { s["status"].(obj)["state"] = "busy" })),
	using(current, "EXT04-PRES-001", "reasons-more-than-it-says", "counts more reasoning than output", showing(func(s obj) {
		s["activities"].([]any)[0].(obj)["metrics"].(obj)["reasoning_tokens"] = 9
	})),
	using(current, "EXT04-PRES-001", "large-snapshot", "shows a snapshot over the bound", showing(func(s obj) {
		s["collection"].(obj)["detail"].(obj)["body"] = long(featurewire.MaxPresentationBodyBytes)
	})),
	using(middle, "EXT04-PRES-001", "many-references", "refers to more than the bound", showing(func(s obj) {
		links := []any{}
		for i := range featurewire.MaxPresentationReferences + 1 {
			links = append(links, obj{"kind": "session", "id": strconv.Itoa(i)})
		}
		s["activities"].([]any)[0].(obj)["references"] = links
	})),
	using(middle, "EXT04-PRES-002", "snapshot-stands", "shows every snapshot under one revision", showing(func(s obj) { s["revision"] = 7 })),
	using(current, "EXT04-PRES-002", "revision-as-text", "writes the revision as a string", showing(func(s obj) { s["revision"] = "7" })),
	using(middle, "EXT04-PRES-003", "parent-and-owner", "names a parent and an owner", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodPresentationUpdate {
			params := m["params"].(obj)
			params["parent_request_id"], params["resource_owner"] = json.RawMessage(p.last), p.owner
		}
	}}),
	using(current, "EXT04-PRES-003", "shows-for-the-past", "shows on behalf of a request that is answered", quirk{message: func(_ *peer, what string, m obj) {
		if params, ok := m["params"].(obj); ok && what == featurewire.MethodPresentationUpdate && params["parent_request_id"] != nil {
			params["parent_request_id"] = 1
		}
	}}),
	using(middle, "EXT04-PRES-004", "list-with-parents", "shows a list whose nodes have parents", showing(func(s obj) { s["collection"].(obj)["kind"] = "list" })),
	using(current, "EXT04-PRES-004", "circle-of-nodes", "shows nodes in a circle", showing(func(s obj) {
		s["collection"].(obj)["kind"] = "tree"
		for i, n := range s["collection"].(obj)["nodes"].([]any) {
			n.(obj)["parent_id"] = []string{"n-2", "n-1"}[i]
		}
	})),
	using(current, "EXT04-PRES-004", "detail-of-another", "details a node that is not selected", showing(func(s obj) { s["collection"].(obj)["selected_node_id"] = "n-2" })),
	using(middle, "EXT04-PRES-005", "undeclared-action", "shows an action with a command that it does not declare", showing(func(s obj) {
		s["actions"].([]any)[0].(obj)["command"] = "leave"
	})),
	using(middle, "EXT04-PRES-006", "links-home", "links to the machine of the person", referring("http://localhost:8080/")),
	using(current, "EXT04-PRES-006", "links-into-network", "links into a private network", referring("https://192.168.1.7/status")),
	using(current, "EXT04-PRES-006", "links-with-password", "links with a password", referring("https://me:secret@example.com/")),

	using(middle, "EXT04-POLICY-001", "blank-intent", "tells an intent without a kind", intending(func(i obj) { i["kind"] = " " })),
	using(current, "EXT04-POLICY-001", "wordy-intent", "adds a member of its own to an intent", intending(func(i obj) { i["why"] = "because" })),
	using(current, "EXT04-POLICY-001", "hints-of-its-own", "gives hints of its own", intending(func(i obj) { i["adapter_hints"] = obj{"harmless": true} })),
	using(middle, "EXT04-POLICY-002", "forged-token", "makes up an approval", setting(featurewire.MethodPolicyEvaluate, "approval_token", strings.Repeat("0a", 32))),
	using(current, "EXT04-POLICY-002", "token-in-capitals", "writes an approval in capitals", quirk{message: func(_ *peer, what string, m obj) {
		if params, ok := m["params"].(obj); ok && what == featurewire.MethodPolicyEvaluate && params["approval_token"] != nil {
			params["approval_token"] = strings.ToUpper(params["approval_token"].(string))
		}
	}}),
	using(middle, "EXT04-SECRET-001", "undeclared-secret", "asks for a secret that it does not declare", setting(featurewire.MethodSecretGet, "name", "other_key")),
}

// showing changes the snapshots of a peer.
func showing(f func(s obj)) quirk {
	return asking(featurewire.MethodPresentationUpdate, func(params obj) { f(params["snapshot"].(obj)) })
}

// referring changes the address that a snapshot refers to.
func referring(address string) quirk {
	return showing(func(s obj) { s["activities"].([]any)[0].(obj)["references"].([]any)[0].(obj)["id"] = address })
}

// intending changes the intents of a peer.
func intending(f func(intent obj)) quirk {
	return asking(featurewire.MethodPolicyEvaluate, func(params obj) { f(params["intent"].(obj)) })
}
