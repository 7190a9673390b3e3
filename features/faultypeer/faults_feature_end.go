package faultypeer

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

var featureCancelFaults = []Fault{
	on(middle, "EXT04-CANCEL-001", "runs-on-when-cancelled", "lets a cancelled call run on", acting("ignore-cancel")),
	on(current, "EXT04-CANCEL-001", "needs-reason", "passes over a cancellation without a reason", acting("need-reason")),
	on(middle, "EXT04-CANCEL-002", "cancelled-as-internal-error", "answers a cancelled call with internal_error", acting("vague-cancelled")),
	on(current, "EXT04-CANCEL-003", "forgets-call-cancelled-at-once", "forgets a call that is cancelled before it has begun", acting("drop-call-cancelled-at-once")),
	on(middle, "EXT04-CANCEL-004", "answers-stray-cancel", "answers a cancellation of what does not run as if it ran", acting("answer-stray-cancel")),
	on(current, "EXT04-CANCEL-004", "refuses-stray-cancel", "answers a cancellation of what does not run with an error", acting("refuse-stray-cancel")),
	on(current, "EXT04-CANCEL-004", "matches-ids-by-text", "takes a string for the number it spells", acting("match-id-by-text")),
	on(middle, "EXT04-CANCEL-005", "remembers-stray-cancel", "remembers a cancellation of what does not run", acting("remember-stray-cancel")),
	on(current, "EXT04-CANCEL-006", "cancels-every-call", "cancels every call that runs", acting("cancel-all")),
	on(middle, "EXT04-CANCEL-006", "cancels-oldest", "cancels the call that has run longest", acting("cancel-oldest")),
	on(middle, "EXT04-CANCEL-007", "failure-as-cancelled", "answers a tool that fails as cancelled", acting("failure-as-cancelled")),
	on(current, "EXT04-CANCEL-008", "cancels-host-request", "cancels the host's request instead of its own", moment("call "+ToolEcho, func(p *peer) {
		p.notify(featurewire.MethodCancelRequest, obj{"id": json.RawMessage(p.last), "reason": "no use"})
	})),
	on(middle, "EXT04-CANCEL-008", "cancels-nothing", "cancels a request it never made", moment("initialized", func(p *peer) {
		p.notify(featurewire.MethodCancelRequest, obj{"id": "c-0"})
	})),
	on(current, "EXT04-CANCEL-008", "cancels-what-is-answered", "cancels a question that is answered", quirk{acts: func(p *peer, moment string) {
		switch moment {
		case "call " + ToolEcho:
			p.confirm("c-1", p.last)
		case "call " + ToolSlow:
			p.notify(featurewire.MethodCancelRequest, obj{"id": "c-1"})
		}
	}}),
	on(current, "EXT04-CANCEL-009", "keeps-reason", "does not repeat the reason of a cancellation", cancelError(func(e obj) { delete(e, "data") })),
	on(middle, "EXT04-CANCEL-009", "own-words-for-cancelled", "says cancelled in its own words", cancelError(func(e obj) { e["message"] = "Stopped" })),

	on(frozen, "EXT01-CANCEL-001", "cancels-on-frozen", "answers interrupted calls as cancelled, as later versions do", acting("cancel-on-frozen")),
	on(frozen, "EXT01-CANCEL-001", "sends-cancel-on-frozen", "cancels a question of its own, as later versions may", moment("call "+ToolEcho, func(p *peer) {
		p.confirm("c-1", p.last)
		p.notify(featurewire.MethodCancelRequest, obj{"id": "c-1"})
	})),
}

// cancelError changes errors that say cancelled.
func cancelError(f func(e obj)) quirk {
	return changeError(func(e obj) {
		if e["code"] == int64(featurewire.CodeRequestCancelled) {
			f(e)
		}
	})
}

// progressing changes progress of one kind of event.
func progressing(kind string, f func(params, event obj)) quirk {
	return change(featurewire.MethodProgress, func(m obj) {
		params := m["params"].(obj)
		if event := params["event"].(obj); event["type"] == kind {
			f(params, event)
		}
	})
}

var featureProgressFaults = []Fault{
	on(middle, "EXT04-PROG-001", "progress-unasked", "sends progress that was not selected", moment("call "+ToolEcho, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "working"})
	})),
	on(current, "EXT04-PROG-002", "progress-behind-result", "sends progress behind the result", moment("answered "+featurewire.MethodToolCall, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "done"})
	})),
	on(middle, "EXT04-PROG-002", "progress-under-text", "names the request as a string", progressing("status", func(params, _ obj) {
		params["request_id"] = string(params["request_id"].(json.RawMessage))
	})),
	on(current, "EXT04-PROG-002", "progress-under-token", "names its progress by a token of its own", progressing("output", func(params, _ obj) {
		params["request_id"] = "token-1"
	})),
	on(middle, "EXT04-PROG-003", "sequence-stands", "sends every progress under sequence 1", progressing("output", func(params, _ obj) { params["sequence"] = 1 })),
	on(current, "EXT04-PROG-003", "sequence-falls", "counts down", progressing("output", func(params, _ obj) { params["sequence"] = 0 })),
	on(current, "EXT04-PROG-003", "sequence-as-text", "writes the sequence as a string", progressing("status", func(params, _ obj) { params["sequence"] = "1" })),
	on(middle, "EXT04-PROG-004", "decorates-unasked", "sends decorated progress that was not selected", progressing("status", func(params, _ obj) {
		params["event"] = obj{"type": "decoration", "label": "working"}
	})),
	on(current, "EXT04-PROG-004", "progress-of-its-own", "sends progress of a type of its own", progressing("status", func(_, event obj) { event["type"] = "percent" })),
	on(middle, "EXT04-PROG-005", "progress-in-fractions", "counts in fractions", progressing("status", func(_, event obj) { event["current"] = json.Number("0.5") })),
	on(current, "EXT04-PROG-005", "null-for-no-total", "writes null for a total it does not know", progressing("status", func(_, event obj) { event["total"] = nil })),
	on(middle, "EXT04-PROG-005", "progress-without-message", "leaves the message of its progress out", progressing("status", func(_, event obj) { delete(event, "message") })),
	on(current, "EXT04-PROG-006", "wrong-base64", "leaves out the padding of base64", progressing("output", func(_, event obj) { event["data"] = "b2N0ZQ" })),
	on(middle, "EXT04-PROG-006", "output-without-encoding", "leaves the encoding of output out", progressing("output", func(_, event obj) { delete(event, "encoding") })),
	on(current, "EXT04-PROG-006", "output-on-log", "sends output of a stream of its own", progressing("output", func(_, event obj) { event["stream"] = "log" })),
	on(middle, "EXT04-PROG-007", "sequence-from-zero", "counts progress from 0", quirk{message: func(_ *peer, what string, m obj) {
		if what == featurewire.MethodProgress {
			params := m["params"].(obj)
			params["sequence"] = params["sequence"].(int) - 1
		}
	}}),
	on(current, "EXT04-PROG-008", "large-output", "sends output in large pieces", progressing("output", func(_, event obj) {
		event["encoding"], event["data"] = "utf8", strings.Repeat("o", featurewire.MaxProgressOutputBytes+1)
	})),

	on(frozen, "EXT01-PROG-001", "progress-on-frozen", "sends progress", moment("call "+ToolEcho, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "working"})
	})),
}

// noticing changes the notices of a peer that declares them.
func noticing(f func(params obj)) quirk {
	return change(featurewire.MethodNotification, func(m obj) { f(m["params"].(obj)) })
}

var featureNoticeFaults = []Fault{
	on(frozen, "EXT04-NOTE-001", "notice-undeclared", "sends notices that its manifest does not declare", quirk{
		contributes: obj{"notifications": false},
		acts:        when("call "+ToolEcho, func(p *peer) { p.notify(featurewire.MethodNotification, obj{"message": "echoed"}) }),
	}),
	on(middle, "EXT04-NOTE-002", "notice-at-debug", "sends notices at a level of its own", noticing(func(params obj) { params["level"] = "debug" })),
	on(current, "EXT04-NOTE-002", "notice-without-message", "writes the message of a notice as its text", noticing(func(params obj) {
		params["text"] = params["message"]
		delete(params, "message")
	})),
	on(frozen, "EXT04-NOTE-002", "null-level", "writes null for the level it does not give", noticing(func(params obj) { params["level"] = nil })),
	on(current, "EXT04-NOTE-003", "notice-with-parent", "hangs a notice on a request", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodNotification {
			m["params"].(obj)["parent_request_id"] = json.RawMessage(p.last)
		}
	}}),
	on(middle, "EXT04-NOTE-004", "colours-notices", "colours its notices", noticing(func(params obj) { params["message"] = "\x1b[31mechoed\x1b[0m" })),
	on(frozen, "EXT04-NOTE-004", "colours-titles", "sets the title of the terminal by the title of a notice", noticing(func(params obj) { params["title"] = "\x1b]0;peer\a" })),
}

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
		p.ask("c-1", canonicalwire.MethodToolsRegister, obj{"tools": []any{}})
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
	on(current, "EXT04-ERR-003", "malformed-line-as-bad-request", "refuses a line that is not JSON with invalid_request", acting("vague-malformed")),
	on(frozen, "EXT04-ERR-004", "reads-any-version", "does not look at the version of an envelope", lax("envelope-version")),
	on(current, "EXT04-ERR-004", "drops-nameless-request", "passes over a request whose method is no string", lax("envelope-method")),
	on(middle, "EXT04-ERR-004", "bad-envelope-as-internal-error", "refuses a bad envelope with internal_error", acting("vague-envelope")),
	on(frozen, "EXT04-ERR-005", "codes-of-the-web", "uses codes of the web", changeError(func(e obj) { e["code"] = 404 })),
	on(current, "EXT04-ERR-005", "invents-code", "invents a code in the reserved range", changeError(func(e obj) { e["code"] = -32650 })),
}

var featureEndFaults = []Fault{
	on(frozen, "EXT04-SHUT-001", "drops-shutdown", "never answers shutdown", acting("drop-shutdown")),
	on(current, "EXT04-SHUT-001", "waits-for-calls", "answers shutdown once running calls have ended by themselves", acting("wait-for-calls")),
	on(middle, "EXT04-SHUT-001", "exits-before-farewell", "exits before its answer to shutdown is written", acting("exit-before-shutdown-answer")),
	on(frozen, "EXT04-SHUT-002", "null-farewell", "answers shutdown with null", change(featurewire.MethodShutdown, func(m obj) { m["result"] = nil })),
	on(current, "EXT04-SHUT-002", "true-farewell", "answers shutdown with true", change(featurewire.MethodShutdown, func(m obj) { m["result"] = true })),
	on(frozen, "EXT04-SHUT-003", "owes-calls-at-shutdown", "leaves running calls unanswered at shutdown", acting("leave-calls")),
	on(current, "EXT04-SHUT-003", "answers-calls-late", "answers running calls behind shutdown", acting("answer-calls-late")),
	on(middle, "EXT04-SHUT-004", "says-goodbye", "sends a notice behind its answer to shutdown", moment("shutdown answered", func(p *peer) {
		p.notify(featurewire.MethodNotification, obj{"message": "bye"})
	})),
	on(frozen, "EXT04-SHUT-005", "waits-behind-farewell", "waits for the end of its input behind its answer to shutdown", acting("survive-shutdown")),
	on(current, "EXT04-SHUT-006", "interrupted-as-internal-error", "answers interrupted calls with internal_error", acting("vague-interruption")),

	on(frozen, "EXT04-PROC-001", "runs-on-without-input", "runs on when its input ends", acting("survive-end-of-input")),
	on(current, "EXT04-PROC-001", "finishes-calls-first", "waits for running calls when its input ends", moment("input ended", func(p *peer) {
		if len(p.live) > 0 {
			<-p.ctx.Done()
		}
	})),
	on(middle, "EXT04-PROC-001", "waits-for-initialize", "waits for initialize when its input ends before it", moment("input ended", func(p *peer) {
		if !p.ready {
			<-p.ctx.Done()
		}
	})),
	on(current, "EXT04-PROC-002", "survives-lost-output", "runs on when nobody reads its output", lax("broken-output")),
	on(frozen, "EXT04-PROC-003", "serves-one-call", "exits behind its first call", acting("one-shot")),
	on(middle, "EXT04-PROC-003", "ends-at-unknown-notice", "ends at a notification it does not know", acting("end-at-unknown-notification")),
	on(current, "EXT04-PROC-003", "ends-at-refusal", "ends behind its first error", acting("end-after-error")),
	{
		Name: "leaves-process", Rule: "EXT04-PROC-004", API: current, Doc: "leaves a process behind that holds its output open", Process: true,
		quirk: moment("call "+ToolEcho, func(p *peer) { p.fork() }),
	},
}
