package faultypeer

import (
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// changeResult changes tool results on the canonical wire.
func changeResult(name, rule, doc string, f func(result obj)) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: change(toolCall, func(m obj) { f(m["result"].(obj)) })}
}

var canonicalToolFaults = []Fault{
	doing("serve-anything", "serves-anything", "EXT03-METHOD-001", "answers every method with an empty result"),
	doing("serve-unselected", "serves-unselected", "EXT03-METHOD-002", "serves methods it did not select"),
	doing("serve-own-methods", "serves-own-methods", "EXT03-METHOD-003", "serves methods that are for extensions to call"),
	doing("answer-notifications", "answers-notifications", "EXT03-METHOD-004", "answers notifications it does not know"),
	doing("end-after-error", "ends-after-error", "EXT03-METHOD-005", "ends behind the first error it sends"),

	changeResult("extra-result", "EXT03-TOOL-001", "adds a member to tool results", func(r obj) { r["duration"] = 1 }),
	changeResult("content-as-text", "EXT03-TOOL-002", "sends content as a string, as API 0.1 did", func(r obj) { r["content"] = "octet" }),
	changeResult("many-parts", "EXT03-TOOL-002", "sends a part for every line", func(r obj) {
		part := r["content"].([]any)[0]
		parts := make([]any, 257)
		for i := range parts {
			parts[i] = part
		}
		r["content"] = parts
	}),
	changeResult("no-is-error", "EXT03-TOOL-003", "sends is_error as a number", func(r obj) { r["is_error"] = 0 }),
	changeResult("no-metadata", "EXT03-TOOL-004", "leaves metadata out", func(r obj) { delete(r, "metadata") }),
	changeResult("image-part", "EXT03-TOOL-005", "sends an image", func(r obj) {
		r["content"] = []any{obj{"type": "image", "artifact_id": "a", "mime_type": "image/png"}}
	}),
	changeResult("extra-part-member", "EXT03-TOOL-006", "adds a member to text parts", func(r obj) {
		r["content"].([]any)[0].(obj)["lang"] = "en"
	}),
	doing("fail-by-error", "fails-by-error", "EXT03-TOOL-008", "answers a failing tool with internal_error"),
	ignoring("tool-name", "serves-any-tool", "EXT03-TOOL-009", "serves tools it does not have"),
	doing("vague-unknown-tool", "vague-about-tool", "EXT03-TOOL-010", "does not say which tool is unknown"),
	ignoring("call-model", "takes-any-call", "EXT03-TOOL-011", "does not look at the shape of a call"),
	ignoring("tool-name-length", "vague-about-length", "EXT03-TOOL-012", "answers a long tool name with invalid_params"),
	ignoring("arguments", "takes-any-arguments", "EXT03-TOOL-013", "runs a tool with arguments its schema forbids"),
	ignoring("live-id", "overwrites-live-id", "EXT03-TOOL-014", "serves a request under the id of a running call"),
	doing(serveUnderLiveID+toolCall, "overwrites-live-call", "EXT03-TOOL-014", "serves a call under the id of a running call, and refuses everything else there"),
	doing("low-concurrency", "low-concurrency", "EXT03-LIMIT-001", "refuses the second call that comes along with the first"),
	doing("drop-second-call", "drops-second-call", "EXT03-ORDER-005", "never answers the second call"),
	doing("busy-shutdown", "busy-shutdown", "EXT03-LIMIT-003", "counts shutdown towards the bound on requests"),
	doing("vague-about-size", "vague-about-size", "EXT03-LIMIT-004", "answers with internal_error when a result does not fit"),
}

var canonicalEndFaults = []Fault{
	{
		Name: "confirms-cancel", Rule: "EXT03-CANCEL-001", API: "0.3", Doc: "answers the cancellation itself",
		quirk: quirk{acts: when("cancel", func(p *peer) { p.write("cancel", obj{"id": nil, "result": obj{"terminal": "cancelled"}}) })},
	},
	{
		Name: "answers-cancelled-twice", Rule: "EXT03-CANCEL-002", API: "0.3", Doc: "sends a result behind the error of a cancelled call",
		quirk: quirk{frame: func(_ *peer, what string, b []byte) []byte {
			if what == "error" && strings.Contains(string(b), `"terminal":"cancelled"`) {
				return append(b, b...)
			}
			return b
		}},
	},
	doing("ignore-cancel", "ignores-cancel", "EXT03-CANCEL-003", "lets a cancelled call run on"),
	{
		Name: "answers-unknown-cancel", Rule: "EXT03-CANCEL-004", API: "0.3", Doc: "answers the cancellation of an id that is not live",
		quirk: quirk{acts: when("cancel unknown", func(p *peer) { p.failure(p.cancelling, "request_cancelled", p.cancelData(nil)) })},
	},
	doing(rememberCancel, "remembers-cancel", "EXT03-CANCEL-005", "remembers the cancellation of an id that was not live"),
	doing(rememberCancelOfSlow, "remembers-cancel-in-slow-tool", "EXT03-CANCEL-005", "remembers the cancellation of an id that was not live, which its quick tools do not look at"),
	doing(rememberCancelOfFailing, "remembers-cancel-in-one-tool", "EXT03-CANCEL-005", "remembers the cancellation of an id that was not live, which one of its tools looks at"),
	doing("cancel-by-text", "cancels-by-text", "EXT03-CANCEL-006", "takes the string of an id for the id"),
	ignoring("cancel-model", "takes-any-cancel", "EXT03-CANCEL-007", "does not look at the shape of a cancellation"),
	doing("cancel-all", "cancels-all", "EXT03-CANCEL-008", "cancels every running call"),
	{
		Name: "cancels-foreign", Rule: "EXT03-CANCEL-009", API: "0.3", Doc: "cancels a request it never made",
		quirk: quirk{acts: when("initialized", func(p *peer) { p.notify(canonicalwire.MethodCancelRequest, obj{"id": "none"}) })},
	},

	{
		Name: "empty-farewell", Rule: "EXT03-SHUT-001", API: "0.3", Doc: "answers shutdown with an empty object",
		quirk: change("shutdown", func(m obj) { m["result"] = obj{} }),
	},
	{
		Name: "leaves-without-a-word", Rule: "EXT03-SHUT-002", API: "0.3", Doc: "exits without answering shutdown",
		quirk: change("shutdown", func(m obj) { clear(m) }),
	},
	{
		Name: "speaks-behind-farewell", Rule: "EXT03-SHUT-003", API: "0.3", Doc: "writes a frame behind its answer to shutdown",
		quirk: quirk{acts: when("shutdown answered", func(p *peer) { p.failure(p.id("4711"), "internal_error", nil) })},
	},
	doing("leave-calls", "leaves-calls", "EXT03-SHUT-004", "leaves running calls unanswered at shutdown"),
	{
		Name: "lingers", Rule: "EXT03-SHUT-005", API: "0.3", Doc: "does not exit behind its answer to shutdown",
		quirk: quirk{acts: when("leaving", func(p *peer) { <-p.ctx.Done() })},
	},
	doing("fail-after-shutdown", "fails-after-shutdown", "EXT03-SHUT-006", "exits with a failure behind shutdown"),
	ignoring("shutdown-model", "takes-any-shutdown", "EXT03-SHUT-007", "does not look at the params of shutdown"),
	doing("end-after-bad-shutdown", "ends-after-bad-shutdown", "EXT03-SHUT-007", "ends behind a shutdown it refused"),
	doing("serve-behind-shutdown", "serves-behind-shutdown", "EXT03-SHUT-008", "serves a call that comes behind shutdown"),

	{
		Name: "speaks-first", Rule: "EXT03-ORDER-001", API: "0.3", Doc: "writes a frame at once after its start",
		quirk: quirk{acts: when("start", func(p *peer) { p.notify("hello", obj{}) })},
	},
	{
		Name: "speaks-during-initialize", Rule: "EXT03-ORDER-002", API: "0.3", Doc: "writes a frame in front of its answer to initialize",
		quirk: quirk{acts: when("initialize", func(p *peer) { p.notify("hello", obj{}) })},
	},
	{
		Name: "calls-unselected", Rule: "EXT03-ORDER-004", API: "0.3", Doc: "calls a method it did not select",
		quirk: quirk{acts: when("initialized", func(p *peer) { p.ask("x-1", canonicalwire.MethodContextCollect, obj{}) })},
	},
	{
		Name: "answers-twice", Rule: "EXT03-ORDER-006", API: "0.3", Doc: "answers a request twice",
		quirk: quirk{frame: func(_ *peer, what string, b []byte) []byte {
			if what == "error" {
				return append(b, b...)
			}
			return b
		}},
	},
	{
		Name: "answers-nobody", Rule: "EXT03-ORDER-007", API: "0.3", Doc: "answers a request that nobody made",
		quirk: quirk{acts: when("initialized", func(p *peer) { p.failure(p.id("4711"), "internal_error", nil) })},
	},

	{
		Name: "prints", Rule: "EXT03-PROC-001", API: "0.3", Doc: "prints into the stream",
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.raw([]byte("echoing now\n")) })},
	},
	doing("survive-end-of-input", "survives-end-of-input", "EXT03-PROC-003", "runs on when its input ends"),
	ignoring("broken-output", "survives-broken-output", "EXT03-PROC-004", "runs on when nobody reads its output"),
	{
		Name: "leaves-a-child", Rule: "EXT03-PROC-005", API: "0.3", Doc: "leaves a process behind that holds its output open", Process: true,
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.fork() })},
	},
	ignoring("version-variable", "ignores-version-variable", "EXT03-PROC-006", "starts although the environment names another version"),
	doing("need-version-variable", "needs-version-variable", "EXT03-PROC-007", "does not start unless the environment names its version"),
	doing("quit-early", "quits-early", "EXT03-PROC-008", "exits behind its third answer"),
	{
		Name: "needs-its-directory", Rule: "EXT03-PROC-009", API: "0.3", Doc: "does not start outside of one directory", Process: true,
		quirk: quirk{does: "need-directory"},
	},
}

// when acts at one moment.
func when(moment string, act func(p *peer)) func(*peer, string) {
	return func(p *peer, now string) {
		if now == moment {
			act(p)
		}
	}
}
