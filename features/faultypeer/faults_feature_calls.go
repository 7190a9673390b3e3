package faultypeer

import (
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

var featureCallFaults = []Fault{
	on(frozen, "EXT04-CALL-001", "runs-any-tool", "serves tools it does not have", lax("tool-name")),
	on(current, "EXT04-CALL-001", "unknown-tool-as-bad-params", "refuses an unknown tool with invalid_params", acting("vague-tool")),
	on(middle, "EXT04-CALL-001", "unknown-tool-as-result", "answers a call of an unknown tool with a result that says so", acting("unknown-tool-as-result")),
	on(frozen, "EXT04-CALL-002", "runs-any-call", "does not look at the shape of a call", lax("call-model")),
	on(current, "EXT04-CALL-002", "bad-call-as-bad-request", "refuses a call of the wrong shape with invalid_request", acting("vague-call")),
	on(middle, "EXT04-CALL-003", "takes-any-revision", "passes over a catalog revision", lax("catalog-revision")),
	on(current, "EXT04-CALL-004", "needs-owner", "refuses a call that no session owns", acting("need-owner")),
	on(frozen, "EXT04-CALL-004", "needs-host-state", "refuses a call whose host says nothing of itself", acting("need-host-state")),
	on(frozen, "EXT04-CALL-005", "dies-of-failure", "dies of a tool that fails", acting("end-after-failure")),
	on(current, "EXT04-CALL-005", "hangs-after-failure", "answers no call behind one that failed", acting("hang-after-failure")),
	on(middle, "EXT04-CALL-006", "failure-as-error", "answers a tool that fails with internal_error", acting("failure-as-error")),
	on(current, "EXT04-CALL-006", "failure-as-success", "does not say that a tool failed", changingResult(featurewire.MethodToolCall, func(r obj) {
		if r["is_error"] == true {
			r["is_error"] = false
		}
	})),

	on(current, "EXT04-LIMIT-001", "drops-call-behind-call", "has room for one call and drops the next", acting("drop-call-behind-call")),
	on(frozen, "EXT04-LIMIT-001", "refuses-call-behind-call", "has room for one call and refuses the next", acting("refuse-call-behind-call")),
}

var featureResultFaults = []Fault{
	on(middle, "EXT04-RESULT-001", "no-parts", "answers with no part", changeEcho(func(r obj) { r["content"] = []any{} })),
	on(current, "EXT04-RESULT-001", "plain-content", "writes content as a string, as API 0.1 does", changeEcho(func(r obj) { r["content"] = "octet" })),
	on(current, "EXT04-RESULT-001", "content-as-object", "writes a single part without a list", changeEcho(func(r obj) { r["content"] = r["content"].([]any)[0] })),
	on(middle, "EXT04-RESULT-001", "too-many-parts", "writes a part for every line", changeEcho(func(r obj) {
		parts := make([]any, featurewire.MaxContentParts+1)
		for i := range parts {
			parts[i] = obj{"type": "text", "text": "octet"}
		}
		r["content"] = parts
	})),
	on(middle, "EXT04-RESULT-002", "text-part-without-text", "writes a text part without text", changeEcho(func(r obj) {
		r["content"] = append(r["content"].([]any), obj{"type": "text"})
	})),
	on(current, "EXT04-RESULT-002", "annotated-part", "adds a member to a part", changeEcho(func(r obj) {
		r["content"].([]any)[0].(obj)["annotations"] = obj{"audience": list("user")}
	})),
	on(current, "EXT04-RESULT-002", "unknown-part", "writes a part of a type of its own", changeEcho(func(r obj) {
		r["content"] = append(r["content"].([]any), obj{"type": "resource", "uri": "file:///etc/motd"})
	})),
	on(middle, "EXT04-RESULT-002", "number-for-text", "writes the text of a part as a number", changeEcho(func(r obj) {
		r["content"] = append(r["content"].([]any), obj{"type": "text", "text": 7})
	})),
	on(current, "EXT04-RESULT-003", "image-without-feature", "writes an image without the feature for it", changeEcho(func(r obj) {
		r["content"] = append(r["content"].([]any), obj{"type": "image", "artifact_id": "art-1", "mime_type": "image/png"})
	})),
	on(middle, "EXT04-RESULT-004", "omits-false-flag", "leaves out a flag that is false", changeEcho(func(r obj) { delete(r, "is_error") })),
	on(current, "EXT04-RESULT-004", "is-error-in-camel-case", "writes its flag in camel case", changingResult(featurewire.MethodToolCall, func(r obj) {
		r["isError"] = r["is_error"]
		delete(r, "is_error")
	})),
	on(current, "EXT04-RESULT-004", "timed-result", "adds a member to results", changeEcho(func(r obj) { r["duration_ms"] = 3 })),
	on(middle, "EXT04-RESULT-004", "is-error-as-text", "writes its flag as a string", changeEcho(func(r obj) { r["is_error"] = "false" })),
	on(current, "EXT04-RESULT-005", "no-structured-content", "leaves structured content out", changeEcho(func(r obj) { delete(r, "structured_content") })),
	on(middle, "EXT04-RESULT-005", "structured-content-unasked", "writes null for structured content where no schema is", changingResult(featurewire.MethodToolCall, func(r obj) {
		if r["is_error"] == true {
			r["structured_content"] = nil
		}
	})),
	on(middle, "EXT04-RESULT-006", "misfit-structured-content", "answers with structured content that breaks its schema", changeEcho(func(r obj) {
		r["structured_content"] = obj{"bytes": "many"}
	})),
	on(current, "EXT04-RESULT-006", "empty-structured-content", "leaves out what its schema requires", changeEcho(func(r obj) { r["structured_content"] = obj{} })),
	on(middle, "EXT04-RESULT-007", "large-structured-content", "answers with too many bytes of structured content", changeEcho(func(r obj) {
		r["structured_content"].(obj)["text"] = strings.Repeat("x", featurewire.MaxStructuredContentBytes)
	})),
	on(current, "EXT04-RESULT-007", "deep-structured-content", "answers with too many levels of structured content", changeEcho(func(r obj) {
		r["structured_content"].(obj)["tree"] = nested(featurewire.MaxStructuredDepth)
	})),
	on(current, "EXT04-RESULT-007", "wide-structured-content", "answers with too many values of structured content", changeEcho(func(r obj) {
		r["structured_content"].(obj)["list"] = make([]any, featurewire.MaxStructuredNodes)
	})),
	on(middle, "EXT04-RESULT-008", "metadata-as-text", "writes metadata as a string", changeEcho(func(r obj) { r["metadata"] = "fast" })),
	on(current, "EXT04-RESULT-008", "large-metadata", "answers with too many bytes of metadata", changeEcho(func(r obj) {
		r["metadata"] = obj{"log": strings.Repeat("x", featurewire.MaxMetadataBytes)}
	})),
	on(current, "EXT04-RESULT-008", "deep-metadata", "answers with too many levels of metadata", changeEcho(func(r obj) {
		r["metadata"] = obj{"tree": nested(featurewire.MaxStructuredDepth)}
	})),
	on(middle, "EXT04-RESULT-008", "long-key-in-metadata", "answers with a key over the bound in metadata", changeEcho(func(r obj) {
		r["metadata"] = obj{"by_path": obj{strings.Repeat("k", featurewire.MaxMetadataKeyBytes+1): 1}}
	})),

	on(frozen, "EXT01-RESULT-001", "parts-on-frozen", "answers with parts, as later versions do", changeEcho(func(r obj) {
		r["content"] = []any{obj{"type": "text", "text": r["content"]}}
	})),
	on(frozen, "EXT01-RESULT-001", "no-is-error-on-frozen", "leaves out a flag that is false", changeEcho(func(r obj) { delete(r, "is_error") })),
}
