package faultyhost

import (
	"slices"
	"strconv"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// answering are faults in what a host answers to an extension that asks, one list for each area.
var answering = slices.Concat(askedEnvelopes, askedPeople, askedTools, askedAgents, askedSessions, askedObjects, askedOffers)

// twice answers a request again.
func twice(method, with string) quirk {
	return instead(method, with, func(_ *host, _ question, sound [][]byte) [][]byte { return append(sound, sound...) })
}

// miscodes gives an error another code, whatever its message says.
func miscodes(method, with string, code, other int) quirk {
	return miswrites(method, with, strconv.Itoa(code), strconv.Itoa(other))
}

// misnames answers under another id.
func misnames(method, with string) quirk {
	return instead(method, with, func(h *host, _ question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(`"another"`, dialect.Object{})}
	})
}

// answersNotices answers what must not be answered.
func answersNotices(method string) quirk {
	return instead(method, "", func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.refuse("null", unsupported, q.method)}
	})
}

var askedEnvelopes = []Fault{
	{"answers-twice", "EXT04-ENV-015", current, "answers a request of the extension twice", twice(featurewire.MethodConfirmationRequest, "")},
	{"answers-under-another-id", "EXT04-ENV-015", frozen, "answers a request of the extension under another id", misnames(featurewire.MethodConfirmationRequest, "")},
	{"never-answers", "EXT04-ENV-015", middle, "leaves a request of the extension unanswered", ignores(featurewire.MethodConfirmationRequest, "")},
	{"serves-used-ids", "EXT04-ENV-018", current, "serves a request under an id that was used", instead(featurewire.MethodConfirmationRequest, "", func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(q.id, dialect.Object{"confirmed": false})}
	})},
	{"ends-at-malformed-answers", "EXT04-ENV-017", middle, "ends at a malformed answer that names no call", quirk{strict: []string{"EXT04-ENV-002"}}},
	{"serves-long-ids", "EXT04-ENV-021", frozen, "serves a request under an id of any length", instead(featurewire.MethodConfirmationRequest, "", func(h *host, q question, sound [][]byte) [][]byte {
		if len(q.id) > featurewire.MaxIDBytes {
			return [][]byte{h.d.Result(q.id, dialect.Object{"confirmed": false})}
		}
		return sound
	})},
	{"serves-its-own-ids", "EXT04-ENV-022", current, "serves a request under the id of its own call", instead(featurewire.MethodInputRequest, "", func(h *host, q question, sound [][]byte) [][]byte {
		if h.desk.issued[q.id] != nil {
			return [][]byte{h.d.Result(q.id, dialect.Object{"value": nil})}
		}
		return sound
	})},
	{"shows-undeclared-notes", "EXT04-NOTE-005", current, "answers a notification that was not declared", answersNotices(featurewire.MethodNotification)},
	{"answers-context", "EXT04-CTX-007", middle, "answers a contribution of context", answersNotices(featurewire.MethodContextContribution)},
	{"answers-status", "EXT04-STATUS-006", frozen, "answers a contribution to the status", answersNotices(featurewire.MethodStatusContribution)},
	{"answers-cancelled-otherwise", "EXT04-CANCEL-014", current, "answers what the extension cancels as failed", miscodes(featurewire.MethodCancelRequest, `"ask-1"`, featurewire.CodeRequestCancelled, featurewire.CodeInternalError)},
	{"keeps-cancelled", "EXT04-CANCEL-014", middle, "never answers what the extension cancels", ignores(featurewire.MethodCancelRequest, `"ask-1"`)},
	{"answers-stray-cancels", "EXT04-CANCEL-017", current, "answers a cancellation of nothing", answersNotices(featurewire.MethodCancelRequest)},
	{"guesses-parents", "EXT04-PARENT-007", middle, "takes a request without a parent for one of its only call", grants(featurewire.MethodInputRequest, `{"prompt":"Name?"`, `{"value":null}`)},
	{"serves-settled-parents", "EXT04-PARENT-008", current, "serves a request whose parent was answered", grants(featurewire.MethodInputRequest, `"parent_request_id":1,`, `{"value":null}`)},
	{"refuses-foreign-parents-otherwise", "EXT04-PARENT-008", middle, "refuses a parent that it never issued as malformed", refuses(featurewire.MethodInputRequest, `"parent_request_id":10000`, "invalid_params", "")},
	{"reads-parents-as-text", "EXT04-PARENT-009", current, "takes the text of an id for the id", grants(featurewire.MethodInputRequest, `"parent_request_id":"`, `{"value":null}`)},
	{"refuses-malformed-otherwise", "EXT04-ERR-007", current, "refuses malformed params as an invalid request", refuses(featurewire.MethodInputRequest, `"prompt":7`, "invalid_request", "")},
	{"refuses-ownerless-otherwise", "EXT04-ERR-007", middle, "refuses what has no active parent as a failure of its own", refuses(featurewire.MethodConfirmationRequest, `"parent_request_id":10000`, "internal_error", "")},
	{"ends-at-stray-progress", "EXT04-PROG-010", current, "ends at progress of what does not run", quirk{strict: []string{"EXT04-PROG-001", "EXT04-PROG-002", "EXT04-PROG-003"}}},
	{"ends-at-long-decorations", "EXT04-PROG-015", middle, "ends at a decoration over its bounds", quirk{strict: []string{"EXT04-PROG-008", "EXT04-PROG-009", "EXT04-PROG-012"}}},
	{"serves-early", "EXT04-ORDER-009", middle, "serves requests before initialize is answered", grants(featurewire.MethodToolsRegister, "", `{"revision":1,"tools":[]}`)},
	{"words-unknown-otherwise", "EXT04-ORDER-009", frozen, "refuses an unknown method without the word that is agreed", refuses("conform/unknown", "", "unknown_method", "")},
	{"serves-what-was-not-selected", "EXT04-ORDER-009", current, "gives secrets to who did not select them", grants(featurewire.MethodSecretGet, "", `{"value":"x"}`)},
	{"serves-the-bus", "EXT04-BUS-001", middle, "takes a subscription of the event bus", grants(canonicalwire.MethodBusSubscribe, "", `{}`)},
}
