package faultypeer

import (
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// changeProgress changes progress events of one type.
func changeProgress(name, rule, doc, kind string, f func(params, event obj)) Fault {
	return Fault{Name: name, Rule: rule, Doc: doc, quirk: change(featurewire.MethodProgress, func(m obj) {
		params := m["params"].(obj)
		if event := params["event"].(obj); event["type"] == kind {
			f(params, event)
		}
	})}
}

// noticing sends a notification of its own once initialized.
func noticing(name, rule, doc string, params obj) Fault {
	return Fault{Name: name, Rule: rule, Doc: doc, quirk: quirk{acts: when("initialized", func(p *peer) { p.notify(featurewire.MethodNotification, params) })}}
}

var featureCancelFaults = onFeature(
	doing("ignore-cancel", "f-ignores-cancel", "EXT04-CANCEL-001", "lets a cancelled call run on"),
	Fault{
		Name: "f-other-cancel-code", Rule: "EXT04-CANCEL-002", Doc: "answers a cancelled call with an error of its own",
		quirk: changeError(func(e obj) {
			if e["code"] == int64(featurewire.CodeRequestCancelled) {
				e["code"] = featurewire.CodeServerError
			}
		}),
	},
	doing("drop-early-cancel", "f-drops-early-cancel", "EXT04-CANCEL-003", "forgets a call whose cancellation comes right behind it"),
	Fault{
		Name: "f-answers-unknown-cancel", Rule: "EXT04-CANCEL-004", Doc: "answers the cancellation of an id that is not live",
		quirk: quirk{acts: when("cancel unknown", func(p *peer) { p.failure(p.cancelling, "request_cancelled", p.cancelData(nil)) })},
	},
	doing("remember-cancel", "f-remembers-cancel", "EXT04-CANCEL-005", "remembers the cancellation of an id that was not live"),
	doing("cancel-all", "f-cancels-all", "EXT04-CANCEL-006", "cancels every running call"),
	Fault{
		Name: "f-cancels-by-itself", Rule: "EXT04-CANCEL-007", Doc: "answers an unknown method as cancelled",
		quirk: changeError(func(e obj) { e["code"] = featurewire.CodeRequestCancelled }),
	},
	Fault{
		Name: "f-cancels-foreign", Rule: "EXT04-CANCEL-008", Doc: "cancels a request it never made",
		quirk: quirk{acts: when("initialized", func(p *peer) { p.notify(featurewire.MethodCancelRequest, obj{"id": "none"}) })},
	},
	Fault{
		Name: "f-unexplained-cancel", Rule: "EXT04-CANCEL-009", Doc: "sends no reason with a cancelled call",
		quirk: changeError(func(e obj) { delete(e, "data") }),
	},
	frozen(Fault{
		Name: "frozen-cancelled", Rule: "EXT01-CANCEL-001", Doc: "answers interrupted calls as cancelled, as later versions do",
		quirk: quirk{does: "cancel-at-shutdown"},
	}),

	Fault{
		Name: "f-unselected-progress", Rule: "EXT04-PROG-001", Doc: "sends progress nobody offered",
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.progress(p.id(p.last), obj{"type": "status", "message": "working"}) })},
	},
	Fault{
		Name: "f-late-progress", Rule: "EXT04-PROG-002", Doc: "sends progress of a call that is answered",
		quirk: quirk{acts: when("answered "+ToolEcho, func(p *peer) { p.progress(p.id(p.last), obj{"type": "status", "message": "done"}) })},
	},
	changeProgress("f-standing-sequence", "EXT04-PROG-003", "sends every progress under sequence 1", "output", func(params, _ obj) { params["sequence"] = 1 }),
	changeProgress("f-decoration", "EXT04-PROG-004", "sends a decoration without the feature", "status", func(params, _ obj) {
		params["event"] = obj{"type": "decoration", "label": "working"}
	}),
	changeProgress("f-fraction", "EXT04-PROG-005", "counts in fractions", "status", func(_, event obj) { event["current"] = "1/2" }),
	changeProgress("f-broken-base64", "EXT04-PROG-006", "sends output that is not the base64 it claims to be", "output", func(_, event obj) { event["data"] = "octet!" }),
	changeProgress("f-late-sequence", "EXT04-PROG-007", "starts its sequence at 10", "status", func(params, _ obj) { params["sequence"] = 10 }),
	changeProgress("f-large-chunk", "EXT04-PROG-008", "sends output in large pieces", "output", func(_, event obj) {
		event["encoding"], event["data"] = "utf8", strings.Repeat("o", 8193)
	}),
	frozen(Fault{
		Name: "frozen-progress", Rule: "EXT01-PROG-001", Doc: "sends progress",
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.progress(p.id(p.last), obj{"type": "status", "message": "working"}) })},
	}),

	Fault{
		Name: "f-undeclared-notice", Rule: "EXT04-NOTE-001", Doc: "notifies although its manifest declares nothing of the kind",
		quirk: quirk{contributes: obj{"notifications": false}, acts: when("initialized", func(p *peer) {
			p.notify(featurewire.MethodNotification, obj{"message": "ready"})
		})},
	},
	noticing("f-notice-level", "EXT04-NOTE-002", "notifies at a level that does not exist", obj{"level": "debug", "message": "ready"}),
	noticing("f-notice-parent", "EXT04-NOTE-003", "hangs a notification on a request", obj{"message": "ready", "parent_request_id": 1}),
	noticing("f-notice-escape", "EXT04-NOTE-004", "colours its notifications", obj{"message": "\x1b[31mready\x1b[0m"}),
)

var featureEndFaults = onFeature(
	Fault{
		Name: "f-speaks-first", Rule: "EXT04-ORDER-001", Doc: "writes a frame at once after its start",
		quirk: quirk{acts: when("start", func(p *peer) { p.notify(featurewire.MethodNotification, obj{"message": "hello"}) })},
	},
	Fault{
		Name: "f-speaks-during-initialize", Rule: "EXT04-ORDER-001", Doc: "writes a frame in front of its answer to initialize",
		quirk: quirk{acts: when("initialize", func(p *peer) { p.notify(featurewire.MethodNotification, obj{"message": "hello"}) })},
	},
	ignoring("first-request", "f-serves-before-initialize", "EXT04-ORDER-002", "serves requests before initialize"),
	ignoring("second-initialize", "f-initializes-twice", "EXT04-ORDER-003", "answers a second initialize like the first"),
	doing("end-after-second-initialize", "f-ends-after-second-initialize", "EXT04-ORDER-003", "ends behind a second initialize"),
	ignoring("live-id", "f-overwrites-live-id", "EXT04-ORDER-004", "forgets the running call whose id is used again"),
	asking("f-calls-host-methods", "EXT04-ORDER-005", "calls a method that is for hosts to call", func(p *peer) {
		p.ask("x-1", featurewire.MethodToolCall, obj{"name": "read", "arguments": obj{}})
	}),
	doing("vague-live-id", "f-vague-live-id", "EXT04-ORDER-006", "refuses a live id with internal_error"),
	doing("end-after-early-request", "f-ends-after-early-request", "EXT04-ORDER-007", "ends behind a request that came before initialize"),

	Fault{
		Name: "f-leaves-without-a-word", Rule: "EXT04-SHUT-001", Doc: "exits without answering shutdown",
		quirk: change(featurewire.MethodShutdown, func(m obj) { clear(m) }),
	},
	Fault{
		Name: "f-null-farewell", Rule: "EXT04-SHUT-002", Doc: "answers shutdown with null",
		quirk: change(featurewire.MethodShutdown, func(m obj) { m["result"] = nil }),
	},
	doing("leave-calls", "f-leaves-calls", "EXT04-SHUT-003", "leaves running calls unanswered at shutdown"),
	Fault{
		Name: "f-speaks-behind-farewell", Rule: "EXT04-SHUT-004", Doc: "writes a frame behind its answer to shutdown",
		quirk: quirk{acts: when("shutdown answered", func(p *peer) { p.notify(featurewire.MethodNotification, obj{"message": "bye"}) })},
	},
	Fault{
		Name: "f-lingers", Rule: "EXT04-SHUT-005", Doc: "does not exit behind its answer to shutdown",
		quirk: quirk{acts: when("leaving", func(p *peer) { <-p.ctx.Done() })},
	},
	doing("fail-at-shutdown", "f-fails-at-shutdown", "EXT04-SHUT-006", "answers interrupted calls as failed"),

	doing("survive-end-of-input", "f-survives-end-of-input", "EXT04-PROC-001", "runs on when its input ends"),
	Fault{
		Name: "f-waits-for-calls", Rule: "EXT04-PROC-001", Doc: "waits for running calls when its input ends",
		quirk: quirk{acts: when("input ended", func(p *peer) {
			if len(p.live) > 0 {
				<-p.ctx.Done()
			}
		})},
	},
	ignoring("broken-output", "f-survives-broken-output", "EXT04-PROC-002", "runs on when nobody reads its output"),
	doing("quit-early", "f-quits-early", "EXT04-PROC-003", "exits behind its third answer"),
	Fault{
		Name: "f-leaves-a-child", Rule: "EXT04-PROC-004", Doc: "leaves a process behind that holds its output open", Process: true,
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.fork() })},
	},
)
