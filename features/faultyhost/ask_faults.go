package faultyhost

import (
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

// answering are faults in what a host answers to an extension that asks, one list for each area.
var answering = slices.Concat(askedEnvelopes)

// twice answers a request again.
func twice(method, with string) quirk {
	return instead(method, with, func(_ *host, _ question, sound [][]byte) [][]byte { return append(sound, sound...) })
}

// misnames answers under another id.
func misnames(method, with string) quirk {
	return instead(method, with, func(h *host, _ question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(`"another"`, dialect.Object{})}
	})
}

var askedEnvelopes = []Fault{
	{"answers-twice", "EXT04-ENV-015", current, "answers a request of the extension twice", twice(featurewire.MethodConfirmationRequest, "")},
	{"answers-under-another-id", "EXT04-ENV-015", frozen, "answers a request of the extension under another id", misnames(featurewire.MethodConfirmationRequest, "")},
	{"never-answers", "EXT04-ENV-015", middle, "leaves a request of the extension unanswered", ignores(featurewire.MethodConfirmationRequest, "")},
	{"serves-used-ids", "EXT04-ENV-018", current, "serves a request under an id that was used", instead(featurewire.MethodConfirmationRequest, "", func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(q.id, dialect.Object{"confirmed": false})}
	})},
	{"words-unknown-otherwise", "EXT04-ORDER-009", frozen, "refuses an unknown method without the word that is agreed", refuses("conform/unknown", "", "unknown_method", "")},
	{"serves-what-was-not-selected", "EXT04-ORDER-009", current, "gives secrets to who did not select them", grants(featurewire.MethodSecretGet, "", `{"value":"x"}`)},
	{"serves-the-bus", "EXT04-BUS-001", middle, "takes a subscription of the event bus", grants("bus/subscribe", "", `{}`)},
}
