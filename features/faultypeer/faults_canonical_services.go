package faultypeer

import (
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// changeParams changes the params of every message of one method that the peer sends.
func changeParams(method, name, rule, doc string, f func(params obj)) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: change(method, func(m obj) {
		if params, ok := m["params"].(obj); ok {
			f(params)
		}
	})}
}

// changeResult changes the result of every request of one method, where there is one.
func changeAnswer(method, name, rule, doc string, f func(result obj)) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: change(method, func(m obj) {
		if result, ok := m["result"].(obj); ok {
			f(result)
		}
	})}
}

// hooked is a fault that shows only when the manifest declares session hooks.
func hooked(f Fault) Fault {
	f.quirk.contributes = hooks
	return f
}

var canonicalOwnFaults = []Fault{
	{
		Name: "asks-without-a-name", Rule: "EXT03-ENV-024", API: "0.3", Doc: "asks under the empty id",
		quirk: change(canonicalwire.MethodThemeSelect, func(m obj) { m["id"] = "" }),
	},
	{
		Name: "asks-with-a-negative-id", Rule: "EXT03-ENV-024", API: "0.3", Doc: "asks under a negative id",
		quirk: change(canonicalwire.MethodThemeSelect, func(m obj) { m["id"] = -1 }),
	},
	{
		Name: "asks-twice-as-one", Rule: "EXT03-ENV-025", API: "0.3", Doc: "uses a request id twice",
		quirk: quirk{acts: when("services", func(p *peer) { p.opt.asked--; p.seek(canonicalwire.MethodSessionReload, obj{}, whatever) })},
	},
	{
		Name: "completes-with-an-id", Rule: "EXT03-ENV-026", API: "0.3", Doc: "sends a notification with an id",
		quirk: change(canonicalwire.MethodProvidersComplete, func(m obj) { m["id"] = "complete" }),
	},
	{
		Name: "asks-without-an-id", Rule: "EXT03-ENV-026", API: "0.3", Doc: "sends a request without an id",
		quirk: change(canonicalwire.MethodThemeSelect, func(m obj) { delete(m, "id") }),
	},
	changeContract("bus-without-notices", "EXT03-CONTRACT-023", "selects the bus and none of its notices", func(c obj) {
		c["methods"] = drop(c["methods"], canonicalwire.MethodBusLifecycle)
	}),
	ignoring("service-model", "takes-any-service-params", "EXT03-METHOD-009", "does not look at the shape of a detection"),
	doing("end-when-refused", "ends-when-refused", "EXT03-METHOD-010", "ends when its host refuses a request"),
	doing("one-id-space", "knows-one-id-space", "EXT03-ORDER-012", "takes a request under an id of its own for a repetition"),
	doing("block-on-requests", "blocks-on-requests", "EXT03-ORDER-013", "reads nothing while it waits for its host"),

	hooked(changeAnswer(canonicalwire.MethodHookRun, "strange-disposition", "EXT03-HOOK-001", "answers a hook with an unknown disposition", func(r obj) {
		r["disposition"] = obj{"kind": "allow"}
	})),
	hooked(changeAnswer(canonicalwire.MethodHookRun, "chatty-hook", "EXT03-HOOK-001", "answers a hook with more than its disposition", func(r obj) {
		r["context"] = []any{}
	})),
	hooked(changeAnswer(canonicalwire.MethodHookRun, "denies-and-says-no-more", "EXT03-HOOK-002", "denies and does not say why", func(r obj) {
		r["disposition"] = obj{"kind": string(canonicalwire.DispositionKindDeny)}
	})),
	hooked(changeAnswer(canonicalwire.MethodHookRun, "says-nothing-as-reason", "EXT03-HOOK-002", "gives an empty reason", func(r obj) {
		r["disposition"].(obj)["reason"] = ""
	})),
	hooked(changeAnswer(canonicalwire.MethodHookRun, "talks-on-and-on", "EXT03-HOOK-002", "gives a reason over the bound", func(r obj) {
		r["disposition"].(obj)["reason"] = strings.Repeat("r", canonicalwire.MaxReasonBytes+1)
	})),
	hooked(doing("late-hook", "late-for-hooks", "EXT03-HOOK-003", "answers a hook when it is asked for something else")),

	changeParams(canonicalwire.MethodSessionSwitch, "switches-by-name", "EXT03-SESSION-001", "names a session otherwise than by its id", func(params obj) {
		params["name"] = "first"
	}),
	changeParams(canonicalwire.MethodSessionFork, "forks-a-session", "EXT03-SESSION-001", "names the session to fork", func(params obj) {
		params["session_id"] = "conform"
	}),

	changeAnswer(canonicalwire.MethodMigrationDetect, "detects-perhaps", "EXT03-MIGRATE-001", "detects a setup without saying so", func(r obj) {
		delete(r, "detected")
	}),
	changeAnswer(canonicalwire.MethodMigrationImport, "imports-environment", "EXT03-MIGRATE-002", "imports the environment of a tool server", func(r obj) {
		r["mcp_servers"] = []any{obj{"path": settingsFile, "name": "n", "command": "c", "args": []any{}, "env": obj{}}}
	}),
	changeAnswer(canonicalwire.MethodMigrationImport, "reports-absolute-paths", "EXT03-MIGRATE-003", "reports an absolute path", func(r obj) {
		r["diagnostics"] = []any{obj{"path": "/" + settingsFile, "severity": "warning", "reason": "r"}}
	}),
	ignoring("source-root", "looks-anywhere", "EXT03-MIGRATE-004", "takes any source root"),
	ignoring("config-paths", "reads-anything", "EXT03-MIGRATE-005", "takes paths that it does not report"),
	doing("mark-source", "marks-source", "EXT03-MIGRATE-006", "leaves a file in the source"),
	doing("fail-at-bad-settings", "fails-at-bad-settings", "EXT03-MIGRATE-007", "answers a malformed configuration with an error"),
}

// registered changes the declaration of the first provider, and how it is declared anew.
func registered(name, rule, doc string, f func(params obj)) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: quirk{message: func(_ *peer, what string, m obj) {
		if what == canonicalwire.MethodProvidersRegister {
			f(m["params"].(obj))
		}
	}}}
}

// firstModel is the first model of a declaration.
func firstModel(params obj) obj { return params["models"].([]any)[0].(obj) }

var canonicalProviderFaults = []Fault{
	registered("declares-endpoint", "EXT03-PROVIDER-001", "declares the endpoint of a provider", func(params obj) {
		params["provider"].(obj)["endpoint"] = "https://models.example"
	}),
	changeParams(canonicalwire.MethodProvidersComplete, "completes-with-count", "EXT03-PROVIDER-001", "says how many providers are complete", func(params obj) {
		params["count"] = 1
	}),
	registered("slashed-model", "EXT03-PROVIDER-002", "has a model with a slash in its id", func(params obj) { firstModel(params)["id"] = "a/b" }),
	registered("empty-window", "EXT03-PROVIDER-002", "has a model with no context window", func(params obj) { firstModel(params)["context_window"] = 0 }),
	registered("model-twice", "EXT03-PROVIDER-002", "has two models of one id", func(params obj) {
		params["models"] = append(params["models"].([]any), firstModel(params))
	}),
	changeParams(canonicalwire.MethodProvidersUnregister, "removes-foreign", "EXT03-PROVIDER-003", "removes a provider it never registered", func(params obj) {
		params["provider_id"] = "foreign"
	}),
	changeParams(canonicalwire.MethodProvidersUpdate, "updates-foreign", "EXT03-PROVIDER-003", "updates a provider it never registered", func(params obj) {
		params["provider"].(obj)["id"] = "foreign"
	}),
	changeParams(canonicalwire.MethodProviderAuthRequest, "authorizes-with-token", "EXT03-AUTH-001", "sends a token along", func(params obj) {
		params["token"] = "t"
	}),
	changeParams(canonicalwire.MethodProviderAuthRevoke, "authorizes-by-revoking", "EXT03-AUTH-002", "refreshes with the method that revokes", func(params obj) {
		params["action"] = string(canonicalwire.ProviderAuthorizationActionRefresh)
	}),
	changeParams(canonicalwire.MethodThemeSelect, "paints-the-moon", "EXT03-THEME-001", "chooses a theme for an unknown role", func(params obj) {
		params["role"] = "moon"
	}),
	changeParams(canonicalwire.MethodThemeSelect, "paints-for-others", "EXT03-THEME-002", "chooses a theme in another namespace", func(params obj) {
		params["namespace"] = "other"
	}),

	changeAnswer(canonicalwire.MethodProviderStream, "accepts-with-more", "EXT03-STREAM-001", "says how long a stream will be", func(r obj) { r["events"] = 3 }),
	changeAnswer(canonicalwire.MethodProviderStream, "accepts-another", "EXT03-STREAM-001", "accepts a stream under another id", func(r obj) { r["stream_id"] = "mine" }),
	changeParams(canonicalwire.MethodProviderEvent, "event-of-no-kind", "EXT03-STREAM-002", "sends an event of an unknown kind", func(params obj) {
		if params["sequence"] == 1 {
			params["kind"] = "image_delta"
		}
	}),
	changeParams(canonicalwire.MethodProviderEvent, "event-over-bound", "EXT03-STREAM-002", "sends an event over its bound", func(params obj) {
		params["payload"] = strings.Repeat("p", canonicalwire.MaxProviderStreamEventBytes)
	}),
	changeParams(canonicalwire.MethodProviderEvent, "counts-by-two", "EXT03-STREAM-003", "counts events by two", func(params obj) {
		params["sequence"] = params["sequence"].(int) * 2
	}),
	changeParams(canonicalwire.MethodProviderEvent, "begins-with-a-beat", "EXT03-STREAM-004", "begins a stream with a heartbeat", func(params obj) {
		if params["sequence"] == 0 {
			params["kind"] = string(canonicalwire.ProviderStreamEventKindHeartbeat)
		}
	}),
	doing("speak-behind-the-end", "speaks-behind-the-end", "EXT03-STREAM-005", "sends an event behind the last one"),
	doing("endless-stream", "never-finishes", "EXT03-STREAM-006", "never ends a stream"),
	doing("speak-before-accepting", "speaks-before-accepting", "EXT03-STREAM-007", "sends an event in front of its answer"),
	doing("zombie-stream", "streams-on", "EXT03-STREAM-008", "goes on with a stream that was cancelled"),
	{
		Name: "answers-stream-cancel", Rule: "EXT03-STREAM-009", API: "0.3", Doc: "answers the cancellation of a stream",
		quirk: quirk{acts: when("stream cancelled", func(p *peer) { p.failure(p.id("0"), "invalid_params", nil) })},
	},
}

// field changes the first declared field of the peer's topic.
func field(name, doc string, f func(field obj)) Fault {
	return changeParams(canonicalwire.MethodBusDeclare, name, "EXT03-BUS-005", doc, func(params obj) { f(params["fields"].([]any)[0].(obj)) })
}

// payload changes what the peer publishes.
func payload(name, doc string, f func(payload obj)) Fault {
	return changeParams(canonicalwire.MethodBusPublish, name, "EXT03-BUS-007", doc, func(params obj) { f(params["payload"].(obj)) })
}

var canonicalBusFaults = []Fault{
	changeParams(canonicalwire.MethodBusSubscribe, "subscribes-to-a-peer", "EXT03-BUS-001", "subscribes to what one publisher says", func(params obj) {
		params["publisher"] = "other"
	}),
	{
		Name: "speaks-unbound", Rule: "EXT03-BUS-002", API: "0.3", Doc: "declares a topic before it knows of a binding",
		quirk: quirk{acts: when("initialized", func(p *peer) { p.joinBus(false) })},
	},
	doing("keep-first-binding", "keeps-first-binding", "EXT03-BUS-003", "speaks under the first binding for ever"),
	changeParams(canonicalwire.MethodBusDeclare, "declares-foreign-topic", "EXT03-BUS-004", "declares a topic of somebody else", func(params obj) {
		params["topic"] = "bus.other.news"
	}),
	changeParams(canonicalwire.MethodBusDeclare, "declares-odd-topic", "EXT03-BUS-004", "declares a topic of four segments", func(params obj) {
		params["topic"] = "bus.peer.news.today"
	}),
	field("declares-secret", "declares a field for a secret", func(f obj) { f["name"] = "api-key" }),
	field("declares-odd-name", "declares a field with a capital letter", func(f obj) { f["name"] = "Title" }),
	field("declares-alternatives", "declares alternatives of a string", func(f obj) { f["values"] = list("a") }),
	field("declares-unbounded", "declares a field of no bytes", func(f obj) { f["max_bytes"] = 0 }),
	field("declares-minimum", "declares the least of a string", func(f obj) { f["minimum"] = 1 }),
	changeParams(canonicalwire.MethodBusPublish, "publishes-undeclared", "EXT03-BUS-006", "publishes on a topic it has not declared", func(params obj) {
		params["topic"] = "bus.peer.weather"
	}),
	payload("publishes-more", "publishes a member that it has not declared", func(v obj) { v["author"] = "me" }),
	payload("publishes-less", "publishes without a required member", func(v obj) { delete(v, "title") }),
	payload("publishes-text-for-number", "publishes a string for an integer", func(v obj) { v["count"] = "1" }),
	payload("publishes-over-maximum", "publishes an integer over its maximum", func(v obj) { v["count"] = 101 }),
	payload("publishes-address", "publishes what looks like an address", func(v obj) { v["title"] = "me@example" }),
	payload("publishes-path", "publishes what looks like a path", func(v obj) { v["title"] = "/home/me" }),
	payload("publishes-key", "publishes what looks like a key", func(v obj) { v["title"] = "sk-0123456789" }),
	payload("publishes-number", "publishes what looks like a telephone number", func(v obj) { v["title"] = "+47 22 33 44 55" }),
	ignoring("resubscribe", "subscribes-once", "EXT03-BUS-008", "subscribes once and never again"),
	ignoring("bus-notice-model", "speaks-behind-nonsense", "EXT03-BUS-009", "speaks on behind a notice it cannot understand"),
}
