package faultypeer

import (
	"github.com/octet-dev/octet/generated/featurewire"
)

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
	on(current, "EXT04-PROC-003", "dies-in-call", "ends in the middle of a call", acting("end-in-call")),
	on(middle, "EXT04-PROC-003", "ends-at-unknown-notice", "ends at a notification it does not know", acting("end-at-unknown-notification")),
	on(current, "EXT04-PROC-003", "ends-at-refusal", "ends behind its first error", acting("end-after-error")),
	{
		Name: "leaves-process", Rule: "EXT04-PROC-004", API: current, Doc: "leaves a process behind that holds its output open", Process: true,
		quirk: moment("call "+ToolEcho, func(p *peer) { p.fork() }),
	},
}
