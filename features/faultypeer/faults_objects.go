package faultypeer

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/featurewire"
)

// starts counts the peers of this process that announce their commands by chance.
var starts atomic.Int64

// byChance is another word at every start.
func byChance() string { return strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(starts.Add(1), 10) }

// tourResults changes the result of the call that uses every service.
func tourResults(f func(r obj)) quirk {
	return changingResult(featurewire.MethodToolCall, func(r obj) {
		if parts := r["content"].([]any); parts[0].(obj)["text"] == "toured" {
			f(r)
		}
	})
}

// picture changes the part of that result that shows an image.
func picture(f func(part obj)) quirk {
	return tourResults(func(r obj) {
		if parts := r["content"].([]any); len(parts) > 1 {
			f(parts[1].(obj))
		}
	})
}

// publishing changes the artifacts of a peer.
func publishing(f func(params obj)) quirk { return asking(featurewire.MethodArtifactPublish, f) }

// publishingFile publishes under a path in place of data.
func publishingFile(path string) quirk {
	return publishing(func(params obj) {
		delete(params, "data")
		params["path"] = path
	})
}

var featureObjectFaults = []Fault{
	using(middle, "EXT04-ART-001", "publishes-text", "publishes text", publishing(func(params obj) { params["mime_type"] = "text/plain" })),
	using(current, "EXT04-ART-001", "digest-in-capitals", "writes digests in capitals", publishing(func(params obj) { params["sha256"] = strings.ToUpper(params["sha256"].(string)) })),
	using(current, "EXT04-ART-001", "huge-artifact", "publishes more than the bound", publishing(func(params obj) { params["size"] = featurewire.MaxArtifactBytes + 1 })),
	using(middle, "EXT04-ART-002", "publishes-twice-over", "publishes data and a path", publishing(func(params obj) { params["path"] = "pixel.png" })),
	using(current, "EXT04-ART-002", "publishes-nothing", "publishes neither data nor a path", publishing(func(params obj) { delete(params, "data") })),
	using(middle, "EXT04-ART-003", "climbing-artifact", "publishes a path that climbs", publishingFile("../pixel.png")),
	using(current, "EXT04-ART-003", "absolute-artifact", "publishes an absolute path", publishingFile("/tmp/pixel.png")),
	using(current, "EXT04-ART-003", "hexadecimal-artifact", "encodes data in hexadecimal", publishing(func(params obj) { params["data"].(obj)["encoding"] = "hex" })),
	using(middle, "EXT04-ART-004", "wrong-size", "counts the bytes of the encoding", publishing(func(params obj) { params["size"] = len(pixel) })),
	using(current, "EXT04-ART-004", "wrong-digest", "digests the encoding", publishing(func(params obj) { params["sha256"] = digest([]byte(pixel)) })),
	using(middle, "EXT04-ART-004", "missing-file", "publishes a file that is not there", publishingFile("missing.png")),
	using(middle, "EXT04-ART-005", "shows-unpublished", "shows what it has not published", picture(func(part obj) { part["artifact_id"] = "mine" })),
	using(current, "EXT04-ART-005", "shows-as-another-type", "shows an image under another type", picture(func(part obj) { part["mime_type"] = "image/jpeg" })),
	using(current, "EXT04-ART-005", "plays-an-image", "plays an image", picture(func(part obj) {
		part["type"] = "audio"
		delete(part, "alt")
	})),

	using(middle, "EXT04-DYN-001", "registers-twins", "registers two tools of one name", setting(featurewire.MethodToolsRegister, "tools", []any{extra(), extra()})),
	using(current, "EXT04-DYN-001", "registers-undescribed", "registers a tool without a description", asking(featurewire.MethodToolsRegister, func(params obj) {
		delete(params["tools"].([]any)[0].(obj), "description")
	})),
	using(middle, "EXT04-DYN-002", "unregisters-twice", "names a tool twice", setting(featurewire.MethodToolsUnregister, "names", list(ToolExtra, ToolExtra))),
	using(current, "EXT04-DYN-002", "unregisters-definitions", "names tools by their definitions", setting(featurewire.MethodToolsUnregister, "names", []any{extra()})),
	using(middle, "EXT04-DYN-003", "serves-any-revision", "serves calls under any revision", lax("catalog-revision")),
	using(current, "EXT04-DYN-003", "unknown-revision-as-internal-error", "refuses an unknown revision with internal_error", acting("vague-revision")),
	using(middle, "EXT04-DYN-004", "serves-newest-only", "serves calls by the newest catalog alone", acting("serve-newest-only")),
	using(middle, "EXT04-DYN-005", "registers-nothing", "registers nothing", setting(featurewire.MethodToolsRegister, "tools", []any{})),
	using(current, "EXT04-DYN-005", "unregisters-nothing", "takes nothing out", setting(featurewire.MethodToolsUnregister, "names", []any{})),

	using(middle, "EXT04-AGENT-001", "names-task-in-words", "names a task in words", setting(featurewire.MethodAgentSpawn, "task_name", "Look it up")),
	using(current, "EXT04-AGENT-001", "leaves-out-ceiling", "leaves a ceiling out", spawning(func(policy obj) { delete(policy, "max_turns") })),
	using(current, "EXT04-AGENT-001", "empty-task", "gives a child nothing to do", setting(featurewire.MethodAgentSpawn, "message", "")),
	using(middle, "EXT04-AGENT-002", "unbounded-children", "lets a child have children of its own", spawning(func(policy obj) { policy["max_depth"] = 2 })),
	using(current, "EXT04-AGENT-002", "no-tools-for-child", "gives a child no tool", spawning(func(policy obj) { policy["tools"] = []any{} })),
	using(current, "EXT04-AGENT-002", "impatient-with-child", "gives a child no time", spawning(func(policy obj) { policy["timeout_ms"] = 100 })),
	using(middle, "EXT04-AGENT-003", "provider-without-model", "chooses a provider and no model", spawning(func(policy obj) { policy["model_selection"] = obj{"provider": "conform"} })),
	using(current, "EXT04-AGENT-003", "temperature-of-child", "chooses more than a model", spawning(func(policy obj) {
		policy["model_selection"] = obj{"model": "conform-model", "temperature": 1}
	})),
	using(middle, "EXT04-AGENT-004", "target-by-number", "names a child by a number", setting(featurewire.MethodAgentMessage, "target", 1)),
	using(current, "EXT04-AGENT-004", "asks-for-all-models", "asks for more models than the bound", setting(featurewire.MethodAgentModels, "limit", featurewire.MaxAgentModels+1)),
	using(current, "EXT04-AGENT-005", "waits-too-long-for-events", "waits longer for events than the bound",
		setting(featurewire.MethodAgentEvents, "timeout_ms", featurewire.MaxAgentEventsTimeoutMs+1)),
	using(current, "EXT04-AGENT-005", "events-from-nowhere", "does not say which events it has seen", leaving(featurewire.MethodAgentEvents, "after_sequence")),
	using(middle, "EXT04-AGENT-006", "owner-of-agents", "names the owner of a child without the feature for it", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodAgentList {
			m["params"].(obj)["resource_owner"] = p.owner
		}
	}}),
	using(middle, "EXT04-AGENT-007", "agents-of-a-hook", "asks for its children on behalf of a hook", quirk{acts: when("hook", func(p *peer) {
		p.ask("x-"+p.last, featurewire.MethodAgentList, obj{"parent_request_id": json.RawMessage(p.last)})
	})}),

	using(current, "EXT04-NEST-001", "composes-unasked", "composes whether it was selected or not", defining(func(t obj) { t["composition"] = obj{"mode": "on", "inline_budget": 0} })),
	using(current, "EXT04-NEST-001", "budget-over-bound", "composes with a budget over the bound", defining(func(t obj) {
		t["composition"] = obj{"mode": "only", "inline_budget": featurewire.MaxInlineBudget + 1}
	})),
	using(current, "EXT04-NEST-002", "composes-with-more", "composes with a member of its own", setting(featurewire.MethodCompositionCall, "timeout_ms", 5)),
	using(current, "EXT04-NEST-002", "composes-deeply", "composes with arguments over the bound of levels",
		setting(featurewire.MethodCompositionCall, "arguments", obj{"deep": nested(featurewire.MaxCompositionDepth)})),
	using(current, "EXT04-NEST-002", "stores-large-value", "stores a value over the bound", setting(featurewire.MethodCompositionStore, "set", obj{"stop": long(featurewire.MaxCompositionValueBytes)})),
	using(current, "EXT04-NEST-003", "stores-twice", "stores twice under one call", askOnTour(featurewire.MethodCompositionStore, func(*peer) obj { return obj{"set": obj{}, "delete": []any{}} })),
	using(current, "EXT04-NEST-003", "composes-without-end", "composes more than the bound under one call", acting("compose-without-end")),
	using(current, "EXT04-NEST-004", "leaves-file", "leaves the file of an answer where it is", acting("leave-file")),

	using(current, "EXT04-RES-001", "releases-its-own", "releases what the host has not issued", setting(featurewire.MethodResourceRelease, "resource", obj{"$resource": "mine", "type": "peer.Stop"})),
	using(current, "EXT04-RES-001", "wordy-reference", "adds a member of its own to a reference", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodResourceRelease {
			m["params"].(obj)["resource"] = obj{"$resource": textOf(at(p.resource, "$resource")), "type": "peer.Stop", "since": 1}
		}
	}}),
	using(current, "EXT04-RES-002", "type-with-space", "registers a type with a space", setting(featurewire.MethodResourceRegister, "type", "peer stop")),
	using(current, "EXT04-RES-002", "releases-by-token", "releases by the token alone", setting(featurewire.MethodResourceRelease, "resource", "resource-1")),
	using(current, "EXT04-RES-004", "operates-unasked", "describes an operation whether it was selected or not", defining(func(t obj) {
		t["operation"] = obj{"id": "echo", "resource_inputs": []any{}, "resource_outputs": []any{}}
	})),
	using(current, "EXT04-RES-004", "operates-on-nothing", "describes an operation on what its schema does not have", defining(func(t obj) {
		t["operation"] = obj{"id": "echo", "resource_inputs": []any{obj{"path": "/text", "type": "peer.Stop", "access": "exclusive"}}, "resource_outputs": []any{}}
	})),
	using(current, "EXT04-BULK-001", "bulk-by-network", "writes by a profile of its own", setting(featurewire.MethodBulkWrite, "profile", "network.v1")),
	using(current, "EXT04-BULK-001", "digest-of-its-own", "digests by an algorithm of its own", asking(featurewire.MethodBulkCommit, func(params obj) {
		params["digest"].(obj)["algorithm"] = "md5"
	})),
	using(current, "EXT04-BULK-002", "commits-more", "commits more than it has written", setting(featurewire.MethodBulkCommit, "bytes", len(object)+1)),
	using(current, "EXT04-BULK-002", "commits-another", "commits another object than it has written", asking(featurewire.MethodBulkCommit, func(params obj) {
		params["digest"].(obj)["value"] = digest(nil)
	})),
	using(current, "EXT04-BULK-002", "releases-the-ticket", "releases a ticket that it has used", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodBulkRelease {
			m["params"].(obj)["id"] = p.ticket
		}
	}}),
	using(current, "EXT04-DIAG-001", "diagnoses-in-words", "diagnoses in plain words", tourResults(func(r obj) {
		r["metadata"] = obj{"octet_diagnostics_v1": list("all is well")}
	})),
	using(current, "EXT04-DIAG-001", "diagnoses-without-code", "leaves the code of a diagnosis out", tourResults(func(r obj) {
		delete(r["metadata"].(obj)["octet_diagnostics_v1"].([]any)[0].(obj), "code")
	})),
}

// spawning changes the policy that a peer gives its children.
func spawning(f func(policy obj)) quirk {
	return asking(featurewire.MethodAgentSpawn, func(params obj) { f(params["policy"].(obj)) })
}
