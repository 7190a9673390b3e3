package faultyhost

import (
	"github.com/octet-dev/octet/features/dialect"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// askedObjects are faults in what calls hold: composed calls, resources, bulk objects and surfaces.
var askedObjects = []Fault{
	{"composes-without-bounds", "EXT04-NEST-009", current, "does not say how much may be composed", miswrites(fw.MethodCompositionContext, "", `"max_calls":256`, `"max_calls":1000`)},
	{"composes-for-the-settled", "EXT04-NEST-008", current, "composes for what was answered", grants(fw.MethodCompositionContext, `"parent_request_id":1}`, `{"tools":[],"store":{},"limits":{"timeout_ms":30000,"max_calls":256}}`)},
	{"composes-for-owners", "EXT04-NEST-008", current, "composes where an owner is named", grants(fw.MethodCompositionContext, `"resource_owner"`, `{"tools":[],"store":{},"limits":{"timeout_ms":30000,"max_calls":256}}`)},
	{"composes-without-a-value", "EXT04-NEST-010", current, "answers a nested call with its text", grants(fw.MethodCompositionCall, `"marker":10`, `{"text":"octet"}`)},
	{"composes-itself", "EXT04-NEST-012", current, "lets a tool compose itself", grants(fw.MethodCompositionCall, `"marker":12`, `{"value":"octet"}`)},
	{"composes-what-is-not-there", "EXT04-NEST-012", current, "makes a nested call of any name", grants(fw.MethodCompositionCall, "conform_none", `{"value":"octet"}`)},
	{"refuses-nested-otherwise", "EXT04-NEST-015", current, "refuses a malformed nested call as failed", refuses(fw.MethodCompositionCall, `"name":7`, "internal_error", "")},
	{"stores-any-number", "EXT04-NEST-016", current, "takes any number of keys", grants(fw.MethodCompositionStore, `"k4096"`, `{}`)},
	{"stores-twice", "EXT04-NEST-016", current, "commits a store twice", grants(fw.MethodCompositionStore, `"second"`, `{}`)},
	{"composes-without-end", "EXT04-NEST-013", current, "makes any number of nested calls", grants(fw.MethodCompositionCall, `"more":1`, `{"value":"octet"}`)},
	{"registers-another-type", "EXT04-RES-008", current, "registers a resource under another type", grants(fw.MethodResourceRegister, `"parent_request_id":2,"type":"conform.Stop"}`, `{"$resource":"r","type":"conform.Other"}`)},
	{"registers-without-end", "EXT04-RES-008", current, "registers any number of resources", grants(fw.MethodResourceRegister, "conform.More", `{"$resource":"r","type":"conform.More"}`)},
	{"registers-for-the-settled", "EXT04-RES-007", current, "registers a resource for what was answered", grants(fw.MethodResourceRegister, `"parent_request_id":1,`, `{"$resource":"r","type":"conform.Stop"}`)},
	{"releases-without-retiring", "EXT04-RES-009", current, "says of a released resource that it is not retired", miswrites(fw.MethodResourceRelease, "", `"retired":true`, `"retired":false`)},
	{"releases-what-is-foreign", "EXT04-RES-013", current, "releases a resource that it never issued", grants(fw.MethodResourceRelease, "conform-foreign", `{"retired":true,"cleanup":"pending"}`)},
	{"refuses-resources-otherwise", "EXT04-RES-013", current, "refuses a malformed resource as one without authority", refuses(fw.MethodResourceRegister, `"type":7`, "not_foreground_owner", "")},
	{"grants-less-than-asked", "EXT04-BULK-007", current, "does not say how much may be written", miswrites(fw.MethodBulkWrite, `"capacity":16,`, `"capacity":16,`, ``)},
	{"locates-anywhere", "EXT04-BULK-008", current, "locates an object by a path", miswrites(fw.MethodBulkWrite, `"capacity":17,`, `"locator":"`, `"locator":"../`)},
	{"writes-for-the-settled", "EXT04-BULK-006", current, "begins a write for what was answered", grants(fw.MethodBulkWrite, `"parent_request_id":1,`, `{"ticket":"t","profile":"local-file.v1","locator":"l","capacity":16}`)},
	{"writes-any-size", "EXT04-BULK-005", current, "begins a write of any size", grants(fw.MethodBulkWrite, "268435457", `{"ticket":"t","profile":"local-file.v1","locator":"l","capacity":268435457}`)},
	{"writes-without-end", "EXT04-BULK-005", current, "begins any number of writes", grants(fw.MethodBulkWrite, `"capacity":200,`, `{"ticket":"t","profile":"local-file.v1","locator":"l","capacity":200}`)},
	{"commits-twice", "EXT04-BULK-009", current, "takes a ticket twice", secondly(grants(fw.MethodBulkCommit, "", `{"$blob":"b","bytes":0,"digest":{"algorithm":"sha256","value":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"media_type":"text/plain"}`))},
	{"releases-silently", "EXT04-BULK-010", current, "answers the release of a lease with nothing", grants(fw.MethodBulkRelease, "", `{}`)},
	{"opens-without-a-size", "EXT04-UI-008", current, "opens a surface without saying how large it is", grants(fw.MethodUIOpen, `"One"`, `{"columns":80}`)},
	{"opens-occupied-places", "EXT04-UI-010", current, "opens two surfaces in one place", grants(fw.MethodUIOpen, "One again", `{"columns":80,"rows":24,"editor_mount_id":"m"}`)},
	{"closes-foreign-surfaces", "EXT04-UI-014", current, "closes a surface of somebody else", grants(fw.MethodUIClose, `"foreign"`, `{}`)},
	{"notifies-silently", "EXT04-UI-015", current, "does not say whether tools are expanded", grants(fw.MethodUIChrome, "desktop_notification", `{}`)},
	{"operates-editors", "EXT04-UI-016", current, "takes operations of an editor", grants(fw.MethodUIChrome, `"editor"`, `{"tools_expanded":false}`)},
	{"submits-the-composer", "EXT04-UI-027", current, "submits the composer", grants("composer/submit", "", `{}`)},
	{"answers-nothing-at-the-end", "EXT04-ORDER-014", current, "answers nothing while it drains", ignores("conform/unknown", "")},
	{"answers-nothing-at-the-end", "EXT04-ORDER-014", middle, "answers nothing while it drains", ignores("conform/unknown", "")},
	{"serves-owners-at-the-end", "EXT04-ORDER-015", middle, "serves owners while it drains", grants(fw.MethodComposerGet, "", `{"text":""}`)},
}

// offering is more in front of the features that are offered.
const offering = `"optional_features":[`

// askedOffers are faults in what a host offers, and in what it makes of the selection.
var askedOffers = []Fault{
	{"names-relative-paths", "EXT04-INIT-010", frozen, "names the manifest relative to the workspace", bend(dialect.Initialize, `"manifest_path":"/`, `"manifest_path":"`)},
	{"grants-no-secrets", "EXT04-INIT-011", current, "has an empty list of secrets", bend(dialect.Initialize, `"process":false}`, `"process":false,"secrets":[]}`)},
	{"requires-less", "EXT04-INIT-014", middle, "requires one feature only", bend(dialect.Initialize, `"required_features":["request_cancellation","content_parts"]`, `"required_features":["request_cancellation"]`)},
	{"offers-more-requests", "EXT04-INIT-016", current, "offers more requests at a time than there are", bend(dialect.Initialize, `"max_concurrent_requests":64`, `"max_concurrent_requests":65`)},
	{"numbers-sessions", "EXT04-INIT-019", frozen, "names its session by a number", bend(dialect.Initialize, `"session_id":"conform"`, `"session_id":7`)},
	{"offers-later-features", "EXT04-NEG-027", middle, "offers a feature of a later version", bend(dialect.Initialize, offering, offering+`"tool_composition_v1",`)},
	{"offers-the-reserved", "EXT04-NEG-028", current, "offers a feature that is reserved", bend(dialect.Initialize, offering, offering+`"editor_handoff",`)},
	{"shows-terminal-input", "EXT04-ORDER-012", current, "shows what is typed", quirk{opened: func(h *host) { h.notify(reservedNotification(), dialect.Object{}) }}},
	{"tells-of-the-bus", "EXT04-BUS-002", frozen, "tells of an event of the bus", quirk{opened: func(h *host) { h.notify(cw.MethodBusEvent, dialect.Object{}) }}},
	{"offers-plain-progress", "EXT04-PROG-013", middle, "offers progress without decoration", bend(dialect.Initialize, `"progress_decoration",`, ``)},
	{"offers-agents-without-telemetry", "EXT04-AGENT-009", current, "offers agents without their telemetry", bend(dialect.Initialize, `"delegation_telemetry_v1",`, ``)},
	{"offers-events-of-no-agents", "EXT04-AGENT-010", current, "offers the events of agents that it does not have", bend(dialect.Initialize, `"agent_sessions",`, ``)},
	{"offers-edits-of-no-completion", "EXT04-COMPLETE-004", current, "offers edits without completion", bend(dialect.Initialize, `"autocomplete",`, ``)},
	{"offers-interception-alone", "EXT04-UI-007", current, "offers interception without surfaces", bend(dialect.Initialize, `"remote_ui",`, ``)},
	{"offers-approvals-alone", "EXT04-POLICY-004", middle, "offers approvals without intents", bend(dialect.Initialize, `"policy_intents",`, ``)},
	{"offers-fewer-resources", "EXT04-RES-005", current, "offers fewer resources than there are", bend(dialect.Initialize, `"max_records":256`, `"max_records":255`)},
	{"offers-bulk-without-terms", "EXT04-BULK-003", current, "offers bulk objects without a directory", bend(dialect.Initialize, `"transfer_directory":"/`, `"transfer_directory":"`)},
	{"offers-undeclared-secrets", "EXT04-SECRET-002", current, "offers secrets to who asks for none", bend(dialect.Initialize, offering, offering+`"secrets",`)},
	{"minds-higher-bounds", "EXT04-NEG-017", middle, "does not accept a bound above its offer", quirk{rejects: `"max_concurrent_requests":999`}},
	{"takes-unselected-hooks", "EXT04-NEG-023", current, "takes a hook whose feature was not selected", lax("EXT04-NEG-022")},
	{"takes-unselected-strategies", "EXT04-NEG-024", current, "takes a strategy whose feature was not selected", lax("EXT04-NEG-022")},
	{"takes-any-event", "EXT04-NEG-026", middle, "takes a subscription to any event", lax("EXT04-EVENT-001", "EXT04-NEG-006", "EXT04-INIT-002")},
	{"lets-features-grant", "EXT04-NEG-030", current, "serves whoever selected the feature", grants(fw.MethodPolicyEvaluate, `"parent_request_id":1,`, `{"decision":"deny"}`)},
	{"guesses-what-features-need", "EXT04-NEG-030", middle, "finds a parent by itself", grants(fw.MethodPolicyEvaluate, `{"intent"`, `{"decision":"deny"}`)},
}

// reservedNotification is a name that no host may send.
func reservedNotification() string {
	for _, row := range fw.TableReservedNames {
		if row.Kind == "notification from the host" {
			return row.Name
		}
	}
	panic("faultyhost: no notification is reserved")
}
