package faultyhost

import (
	"bytes"
	"slices"
	"strings"

	cw "github.com/octet-dev/octet/generated/canonicalwire"
)

// What a host does otherwise with batches of providers and with the bus.
const (
	endsAtSecondBatch = "ends at second batch"
	neverRebinds      = "never rebinds"
)

// Results that a host may give.
const (
	acknowledged = `{"binding_id":"binding-1"}`
	pending      = `{"binding_id":"binding-1","state":"pending","topic_revision":0}`
	published    = `{"binding_id":"binding-1","published_at_ms":1,"sequence":1}`
	catalogued   = `{"model_ids":[],"provider_ids":[],"revision":1}`
	leased       = `{"lease":"lease","status":"ready"}`
	themed       = `{"status":"selected","theme_id":"dark"}`
)

// bendTold replaces a piece of the notifications of a method that stand behind answers.
func bendTold(part, old, new string) quirk {
	return quirk{frame: func(m string, b []byte) []byte {
		if m != "answer" || !bytes.Contains(b, []byte(part)) {
			return b
		}
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}}
}

// busFaults are faults in what a host makes of requests for the bus.
var busFaults = []Fault{
	{"claims-events", "EXT03-BUS-014", canonical, "names itself as the publisher of what extensions say", bendTold(cw.MethodBusEvent, `"publisher":"peer"`, `"publisher":"octet"`)},
	{"forgets-the-binding", "EXT03-BUS-015", canonical, "names another binding in events", bendTold(cw.MethodBusEvent, `"binding_id":"`, `"binding_id":"another-`)},
	{"counts-from-two", "EXT03-BUS-016", canonical, "counts bindings from two", bend(cw.MethodBusLifecycle, `"binding_revision":1`, `"binding_revision":2`)},
	{"tells-no-binding", "EXT03-BUS-017", canonical, "does not tell of the binding", quirk{frame: func(m string, b []byte) []byte {
		if m == cw.MethodBusLifecycle {
			return nil
		}
		return b
	}}},
	{"takes-the-deaf", "EXT03-BUS-018", canonical, "takes a process to the bus that hears no notices", lax("EXT03-CONTRACT-023")},
	{"takes-any-identifier", "EXT03-BUS-020", canonical, "takes capital letters in topics", grants(cw.MethodBusDeclare, "bus.peer.News", acknowledged)},
	{"takes-patterns", "EXT03-BUS-021", canonical, "takes a pattern for a topic", grants(cw.MethodBusSubscribe, "bus.peer.*", pending)},
	{"mixes-bindings-up", "EXT03-BUS-023", canonical, "takes a binding that is no string for an old one", refuses(cw.MethodBusSubscribe, `"binding_id":7`, mismatch, "")},
	{"takes-any-binding", "EXT03-BUS-024", canonical, "takes a binding that it never gave", grants(cw.MethodBusSubscribe, `"binding_id":"other"`, pending)},
	{"looks-at-models-first", "EXT03-BUS-025", canonical, "judges the model in front of the binding", refuses(cw.MethodBusDeclare, `"binding_id":"other"`, invalid, "")},
	{"mixes-topics-up", "EXT03-BUS-026", canonical, "takes a malformed topic for a long one", refuses(cw.MethodBusSubscribe, `"topic":"news"`, exhausted, "")},
	{"takes-foreign-topics", "EXT03-BUS-027", canonical, "lets an extension declare the topic of another", grants(cw.MethodBusDeclare, "bus.other.news", acknowledged)},
	{"takes-any-field", "EXT03-BUS-028", canonical, "takes the names of fields that carry secrets", grants(cw.MethodBusDeclare, "api-key", acknowledged)},
	{"mixes-fields-up", "EXT03-BUS-029", canonical, "takes too many fields for bad ones", refuses(cw.MethodBusDeclare, `"f24"`, invalid, "")},
	{"screens-nothing", "EXT03-BUS-030", canonical, "passes paths on", grants(cw.MethodBusPublish, "~/secrets", published)},
	{"mixes-lengths-up", "EXT03-BUS-031", canonical, "takes a long text for a bad one", refuses(cw.MethodBusPublish, `"title":"xxxxxxxxxxxxxxxxx"`, invalid, "")},
	{"miscounts-topics", "EXT03-BUS-032", canonical, "tells of a topic with the revision in front of it", bendTold("topic_available", `"topic_revision":1`, `"topic_revision":0`)},
	{"takes-any-interest", "EXT03-BUS-033", canonical, "takes any number of interests", grants(cw.MethodBusSubscribe, "bus.other.more", pending)},
	{"misnames-revisions", "EXT03-BUS-034", canonical, "answers a subscription with another revision than the topic's", miswrites(cw.MethodBusSubscribe, "", `"state":"active","topic_revision":1`, `"state":"active","topic_revision":7`)},
	{"guesses-revisions", "EXT03-BUS-035", canonical, "answers a pending subscription with a revision of its own", miswrites(cw.MethodBusSubscribe, "", `"state":"pending","topic_revision":0`, `"state":"pending","topic_revision":3`)},
	{"takes-one-subscription", "EXT03-BUS-036", canonical, "refuses a subscription that is there", instead(cw.MethodBusSubscribe, "", func(h *host, q question, sound [][]byte) [][]byte {
		again := h.granted.active
		h.granted.active = again || bytes.Contains(sound[0], []byte(`"active"`))
		if again {
			return [][]byte{h.refuse(q.id, refusal{name: invalid}, q.method)}
		}
		return sound
	})},
	{"wants-subscriptions", "EXT03-BUS-037", canonical, "refuses to end a subscription that is not there", instead(cw.MethodBusUnsubscribe, "", func(h *host, q question, sound [][]byte) [][]byte {
		if h.granted.left {
			return [][]byte{h.refuse(q.id, refusal{name: invalid}, q.method)}
		}
		h.granted.left = true
		return sound
	})},
	{"mixes-publishers-up", "EXT03-BUS-038", canonical, "takes an undeclared topic for another's", refuses(cw.MethodBusPublish, "bus.peer.none", mismatch, "")},
	{"takes-any-payload", "EXT03-BUS-039", canonical, "takes values outside of the enumeration", grants(cw.MethodBusPublish, `"mood":"odd"`, published)},
	{"sulks", "EXT03-BUS-040", canonical, "refuses everything behind a refused publication", instead(cw.MethodBusPublish, "", func(h *host, q question, sound [][]byte) [][]byte {
		if h.granted.sulks {
			return [][]byte{h.refuse(q.id, refusal{name: exhausted}, q.method)}
		}
		h.granted.sulks = bytes.Contains(sound[0], []byte(`"error"`))
		return sound
	})},
	{"judges-lengths-first", "EXT03-MODEL-001", canonical, "judges lengths in front of unlisted members", refuses(cw.MethodBusSubscribe, `"more":1`, exhausted, "")},
	{"mixes-violations-up", "EXT03-MODEL-004", canonical, "calls an unlisted member a mismatch", refuses(cw.MethodBusDeclare, `"more":1`, mismatch, "")},
	{"repeats-sequences", "EXT03-PUBLISH-002", canonical, "gives a sequence twice", miswrites(cw.MethodBusPublish, `"title":"heard"`, `"sequence":2`, `"sequence":1`)},
	{"counts-refusals", "EXT03-PUBLISH-003", canonical, "counts publications that it refuses", miswrites(cw.MethodBusPublish, `"unheard"`, `"sequence":1`, `"sequence":9`)},
	{"tells-seconds", "EXT03-PUBLISH-005", canonical, "tells the time of an event in another unit", bendTold(cw.MethodBusEvent, `"published_at_ms":1`, `"published_at_ms":`)},
	{"wants-hearers", "EXT03-PUBLISH-006", canonical, "refuses what nobody hears", refuses(cw.MethodBusPublish, `"unheard"`, exhausted, "")},
	{"tells-others-only", "EXT03-PUBLISH-007", canonical, "does not tell a publisher of its own events", instead(cw.MethodBusPublish, "", func(_ *host, _ question, sound [][]byte) [][]byte { return sound[:1] })},
	{"passes-any-size", "EXT03-PUBLISH-008", canonical, "takes events of any size", grants(cw.MethodBusPublish, `"f0":"x`, published)},
	{"repeats-events", "EXT03-PUBLISH-013", canonical, "tells of an event twice", instead(cw.MethodBusPublish, "", func(_ *host, _ question, sound [][]byte) [][]byte { return append(sound, sound[1:]...) })},
	{"tells-in-front", "EXT03-PUBLISH-014", canonical, "tells of an event in front of the answer that it hangs on", instead("", "bus.peer.news", func(h *host, q question, sound [][]byte) [][]byte {
		switch {
		case q.method == cw.MethodBusSubscribe && bytes.Contains(sound[0], []byte(`"active"`)) && h.granted.held == nil:
			h.granted.held = sound
			return nil
		case q.method == cw.MethodBusPublish && h.granted.held != nil:
			sound, h.granted.held = slices.Concat(sound, h.granted.held), [][]byte{}
		}
		return sound
	})},
}

// sessionFaults are faults in what a host does when a session takes the place of another.
var sessionFaults = []Fault{
	{"keeps-topics", "EXT03-PUBLISH-020", canonical, "keeps topics when the session is replaced", instead(cw.MethodBusDeclare, "", func(h *host, q question, sound [][]byte) [][]byte {
		if strings.HasSuffix(h.granted.binding, "-1") {
			return sound
		}
		return [][]byte{h.refuse(q.id, refusal{name: invalid}, q.method)}
	})},
	{"begins-anew", "EXT03-PUBLISH-021", canonical, "counts publications of each session for itself", miswrites(cw.MethodBusPublish, "", `"sequence":2`, `"sequence":1`)},
	{"stays", "EXT03-SESSION-005", canonical, "stays in the session in front when it is asked to switch", miswrites(cw.MethodSessionSwitch, "", `"session_id":"`, `"session_id":"not-`)},
	{"reads-nothing-again", "EXT03-SESSION-006", canonical, "refuses to read the session in front again", refuses(cw.MethodSessionReload, "", mismatch, "")},
	{"never-rebinds", "EXT03-SESSION-012", canonical, "keeps the binding of the bus when the session is replaced", doing(neverRebinds)},
}

// serviceFaults are faults in what a host makes of requests for its other services.
var serviceFaults = []Fault{
	{"registers-parts", "EXT03-PROVIDER-005", canonical, "drops models of a registration", miswrites(cw.MethodProvidersRegister, `"peer-b"`, `"peer-b/a",`, ``)},
	{"keeps-models", "EXT03-PROVIDER-006", canonical, "keeps models that an update leaves out", miswrites(cw.MethodProvidersUpdate, `"id":"n"`, `"peer-b/n"`, `"peer-b/n","peer-b/z"`)},
	{"keeps-providers", "EXT03-PROVIDER-007", canonical, "keeps providers that were removed", miswrites(cw.MethodProvidersUnregister, "peer-a", `"provider_ids":["peer-b"]`, `"provider_ids":["peer-a","peer-b"]`)},
	{"changes-on-refusal", "EXT03-PROVIDER-008", canonical, "changes the catalog by a request that it refuses", miswrites(cw.MethodProvidersRegister, `"peer-a"`, `"peer-b/z"`, `"peer-b/y"`)},
	{"takes-any-number", "EXT03-PROVIDER-011", canonical, "takes any number of providers", grants(cw.MethodProvidersRegister, "peer-more", catalogued)},
	{"takes-slashes", "EXT03-PROVIDER-012", canonical, "takes ids with a slash", grants(cw.MethodProvidersRegister, "a/b", catalogued)},
	{"registers-again", "EXT03-PROVIDER-013", canonical, "takes the registration of a provider that exists", grants(cw.MethodProvidersRegister, `"models":[],"provider":{"auth":{"kind":"none"},"id":"peer-b"`, catalogued)},
	{"updates-nothing", "EXT03-PROVIDER-014", canonical, "takes the update of a provider that it does not know", grants(cw.MethodProvidersUpdate, "peer-x", catalogued)},
	{"takes-no-window", "EXT03-PROVIDER-015", canonical, "takes models without a window", grants(cw.MethodProvidersRegister, `"context_window":0`, catalogued)},
	{"tells-no-revision", "EXT03-PROVIDER-016", canonical, "leaves the revision of the catalog out", miswrites(cw.MethodProvidersRegister, "peer-a", `"revision":`, `"revisions":`)},
	{"sorts-nothing", "EXT03-PROVIDER-017", canonical, "lists models as they came", miswrites(cw.MethodProvidersRegister, "peer-b", `["peer-b/a","peer-b/z"]`, `["peer-b/z","peer-b/a"]`)},
	{"takes-one-batch", "EXT03-PROVIDER-018", canonical, "ends at a second end of a batch", doing(endsAtSecondBatch)},
	{"takes-credentials", "EXT03-PROVIDER-019", canonical, "takes a credential in a declaration", grants(cw.MethodProvidersRegister, `"credential"`, catalogued)},
	{"takes-any-params", "EXT03-METHOD-011", canonical, "takes params that break their model", grants(cw.MethodProvidersRegister, `"provider":{"id":"peer-c"}`, catalogued)},
	{"counts-characters", "EXT03-MODEL-007", canonical, "counts characters for bytes", grants(cw.MethodProvidersRegister, strings.Repeat("☃", 43), catalogued)},
	{"counts-to-32-bits", "EXT03-MODEL-008", canonical, "takes small integers only", refuses(cw.MethodProvidersRegister, "9007199254740991", invalid, "")},
	{"takes-any-action", "EXT03-AUTH-003", canonical, "takes an action that belongs to the other method", grants(cw.MethodProviderAuthRequest, `"revoke"`, leased)},
	{"invents-a-status", "EXT03-AUTH-004", canonical, "answers with a status of its own", miswrites(cw.MethodProviderAuthRequest, "", `"status":"ready"`, `"status":"granted"`)},
	{"leases-early", "EXT03-AUTH-005", canonical, "gives a lease that is not decided yet", miswrites(cw.MethodProviderAuthRequest, "", `"status":"ready"`, `"status":"pending"`)},
	{"leases-at-length", "EXT03-AUTH-006", canonical, "gives leases of any length", miswrites(cw.MethodProviderAuthRequest, "", `"lease":"`, `"lease":"`+strings.Repeat("l", 256))},
	{"leases-to-anybody", "EXT03-AUTH-008", canonical, "gives a lease for a provider that the process does not own", grants(cw.MethodProviderAuthRequest, "peer-x", leased)},
	{"themes-others", "EXT03-THEME-003", canonical, "takes a theme in the name of another", grants(cw.MethodThemeSelect, `"other"`, themed)},
	{"takes-any-theme", "EXT03-THEME-004", canonical, "takes themes that it does not know", grants(cw.MethodThemeSelect, "no-such-theme", themed)},
	{"fails-at-themes", "EXT03-THEME-007", canonical, "refuses a valid choice of a theme", refuses(cw.MethodThemeSelect, `"role":"accent","scope":"extension","theme_id":"dark"`, "internal_error", "")},
	{"names-another-theme", "EXT03-THEME-008", canonical, "names another theme than it chose", miswrites(cw.MethodThemeSelect, "", `"theme_id":"dark"`, `"theme_id":"light"`)},
	{"serves-no-sessions", "EXT03-SESSION-003", canonical, "refuses to make sessions although it offers to", refuses(cw.MethodSessionCreate, "", mismatch, "")},
	{"switches-by-itself", "EXT03-SESSION-004", canonical, "answers a copy with the session in front", grants(cw.MethodSessionFork, "", `{"session_id":"conform"}`)},
	{"names-no-session", "EXT03-SESSION-007", canonical, "does not name the session it has read again", grants(cw.MethodSessionReload, "", `{}`)},
	{"mixes-failures-up", "EXT03-SESSION-011", canonical, "takes a session that is not there for bad params", refuses(cw.MethodSessionSwitch, "none", invalid, "")},
	{"hides-failures", "EXT03-ERR-014", canonical, "takes what it fails to do for what it does not know", refuses(cw.MethodSessionSwitch, "none", "unknown_method", "")},
}
