package faultypeer

import (
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

var featureOrderFaults = []Fault{
	on(frozen, "EXT04-ORDER-001", "greets-by-notice", "sends a notice at its start", moment("start", func(p *peer) {
		p.notify(featurewire.MethodNotification, obj{"message": "hello"})
	})),
	on(current, "EXT04-ORDER-001", "notice-before-answer", "sends a notice in front of its answer to initialize", moment("initialize", func(p *peer) {
		p.notify(featurewire.MethodNotification, obj{"message": "starting"})
	})),
	on(frozen, "EXT04-ORDER-002", "serves-early-requests", "serves requests before initialize", lax("first-request")),
	on(middle, "EXT04-ORDER-002", "drops-what-comes-early", "passes over requests before initialize", acting("drop-early")),
	on(current, "EXT04-ORDER-002", "vague-about-early-request", "refuses requests before initialize with an error of its own", acting("vague-early")),
	on(frozen, "EXT04-ORDER-003", "serves-second-initialize", "answers a second initialize like the first", lax("second-initialize")),
	on(middle, "EXT04-ORDER-003", "ends-at-second-initialize", "ends behind a second initialize", acting("end-after-second-initialize")),
	on(current, "EXT04-ORDER-003", "drops-second-initialize", "passes over a second initialize", acting("drop-second-initialize")),
	on(current, "EXT04-ORDER-003", "vague-about-second-initialize", "refuses a second initialize with an error of its own", acting("vague-second-initialize")),
	on(frozen, "EXT04-ORDER-004", "takes-used-id", "lets a request take the place of the running call that has its id", acting("replace-live-id")),
	on(middle, "EXT04-ORDER-004", "drops-used-id", "passes over a request under the id of a running call", acting("drop-live-id")),
	on(current, "EXT04-ORDER-004", "serves-call-under-live-id", "serves a call under the id of a running call, whose place it takes", acting(serveUnderLiveID+featurewire.MethodToolCall)),
	on(middle, "EXT04-ORDER-004", "shuts-down-under-live-id", "shuts down for a request that has the id of a running call", acting(serveUnderLiveID+featurewire.MethodShutdown)),
	on(current, "EXT04-ORDER-004", "ends-call-of-used-id", "ends the running call whose id is used again", acting("forget-first-of-id")),
	on(middle, "EXT04-ORDER-005", "says-initialized", "says that it is initialized, as clients of language servers do", moment("initialized", func(p *peer) {
		p.notify("initialized", obj{})
	})),
	on(frozen, "EXT04-ORDER-005", "sends-log-messages", "sends its log to the host", moment("call "+ToolEcho, func(p *peer) {
		p.notify("log/message", obj{"level": "debug", "text": "echoing"})
	})),
	on(current, "EXT04-ORDER-005", "calls-host-methods", "calls a method that is for hosts to call", moment("initialized", func(p *peer) {
		p.ask("c-1", featurewire.MethodToolCall, obj{"name": "read", "arguments": obj{}})
	})),
	on(current, "EXT04-ORDER-005", "registers-tools-unasked", "registers a tool without the feature for it", moment("initialized", func(p *peer) {
		p.ask("c-1", featurewire.MethodToolsRegister, obj{"tools": []any{}})
	})),
	on(middle, "EXT04-ORDER-005", "sends-empty-method", "sends a notification with an empty method", moment("call "+ToolEcho, func(p *peer) {
		p.notify("", obj{})
	})),
	on(middle, "EXT04-ORDER-006", "vague-about-used-id", "refuses a used id with internal_error", acting("vague-live-id")),
	on(frozen, "EXT04-ORDER-007", "ends-at-early-request", "ends behind a request before initialize", acting("end-after-early-request")),
	on(current, "EXT04-ORDER-007", "spoiled-by-early-request", "refuses initialize behind a request that came before it", acting("refuse-initialize-after-early-request")),
}

var featureErrorFaults = []Fault{
	on(frozen, "EXT04-ERR-001", "drops-unknown-method", "passes over requests of an unknown method", acting("drop-unknown")),
	on(middle, "EXT04-ERR-001", "serves-any-method", "answers every method with an empty result", acting("serve-anything")),
	on(current, "EXT04-ERR-001", "unknown-method-as-bad-request", "refuses an unknown method with invalid_request", acting("vague-unknown-method")),
	on(middle, "EXT04-ERR-002", "names-no-method", "does not say which method is unknown", changeError(func(e obj) { e["message"] = "Method not found" })),
	on(frozen, "EXT04-ERR-003", "drops-malformed-line", "passes over a line that is not JSON", acting("drop-malformed")),
	on(middle, "EXT04-ERR-003", "dies-of-malformed-line", "dies of a line that is not JSON", acting("end-at-malformed")),
	on(current, "EXT04-ERR-003", "dies-of-invalid-byte", "dies of one byte that is no UTF-8",
		quirk{refuses: func(line []byte) bool { return !utf8.Valid(line) }}),
	on(current, "EXT04-ERR-003", "malformed-line-as-bad-request", "refuses a line that is not JSON with invalid_request", acting("vague-malformed")),
	on(frozen, "EXT04-ERR-004", "reads-any-version", "does not look at the version of an envelope", lax("envelope-version")),
	on(current, "EXT04-ERR-004", "drops-nameless-request", "passes over a request whose method is no string", lax("envelope-method")),
	on(middle, "EXT04-ERR-004", "bad-envelope-as-internal-error", "refuses a bad envelope with internal_error", acting("vague-envelope")),
	on(frozen, "EXT04-ERR-005", "codes-of-the-web", "uses codes of the web", changeError(func(e obj) { e["code"] = 404 })),
	on(current, "EXT04-ERR-005", "invents-code", "invents a code in the reserved range", changeError(func(e obj) { e["code"] = -32650 })),
}
