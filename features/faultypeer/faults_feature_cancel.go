package faultypeer

import (
	"encoding/json"

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
	on(middle, "EXT04-CANCEL-005", "remembers-stray-cancel", "remembers a cancellation of what does not run", acting(rememberCancel)),
	on(current, "EXT04-CANCEL-005", "remembers-stray-cancel-in-slow-tool", "remembers a cancellation of what does not run, which its quick tools do not look at", acting(rememberCancelOfSlow)),
	on(middle, "EXT04-CANCEL-005", "remembers-stray-cancel-in-one-tool", "remembers a cancellation of what does not run, which one of its tools looks at", acting(rememberCancelOfFailing)),
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
