package faultypeer

import (
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// changeFeatureInit changes the result of initialize on the feature wire.
func changeFeatureInit(name, rule, doc string, f func(result obj)) Fault {
	return Fault{Name: name, Rule: rule, Doc: doc, quirk: change(featurewire.MethodInitialize, func(m obj) { f(m["result"].(obj)) })}
}

func changeFeatureTool(name, rule, doc string, f func(tool obj)) Fault {
	return changeFeatureInit(name, rule, doc, func(r obj) { f(r["tools"].([]any)[0].(obj)) })
}

func changeProtocol(name, rule, doc string, f func(protocol obj)) Fault {
	return changeFeatureInit(name, rule, doc, func(r obj) { f(r["protocol"].(obj)) })
}

func changeFeatureResult(name, rule, doc string, f func(result obj)) Fault {
	return Fault{Name: name, Rule: rule, Doc: doc, quirk: change(toolCall, func(m obj) { f(m["result"].(obj)) })}
}

// frozen moves a fault to API 0.1.
func frozen(f Fault) Fault {
	f.API = "0.1"
	return f
}

// deep nests objects.
func deep(levels int) any {
	var v any = 0
	for range levels {
		v = obj{"k": v}
	}
	return v
}

// wide is a list of many values.
func wide(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = 0
	}
	return list
}

var featureInitFaults = onFeature(
	doing("drop-initialize", "f-never-initializes", "EXT04-INIT-001", "never answers initialize"),
	changeFeatureInit("f-other-api-version", "EXT04-INIT-002", "answers with another API version", func(r obj) { r["api_version"] = "0.2" }),
	changeFeatureInit("f-no-commands", "EXT04-INIT-002", "leaves the list of commands out", func(r obj) { delete(r, "commands") }),
	changeFeatureTool("f-undeclared-tool", "EXT04-INIT-003", "names a tool otherwise than its manifest", func(t obj) { t["name"] = "say" }),
	changeFeatureInit("f-tool-twice", "EXT04-INIT-003", "names a tool twice", func(r obj) {
		tools := r["tools"].([]any)
		r["tools"] = append(tools, tools[0])
	}),
	changeFeatureInit("f-undeclared-command", "EXT04-INIT-003", "names a command its manifest does not declare", func(r obj) {
		r["commands"] = []any{obj{"name": "echo", "description": "Echo."}}
	}),
	ignoring("api-version", "f-speaks-any-version", "EXT04-INIT-004", "takes any API version for its own"),
	doing("survive-refusal", "f-survives-refusal", "EXT04-INIT-005", "goes on after refusing initialize"),
	doing("need-host-state", "f-needs-host-state", "EXT04-INIT-006", "refuses an empty host object"),
	doing("vague-refusal", "f-vague-refusal", "EXT04-INIT-007", "refuses a version with internal_error"),

	changeProtocol("f-other-protocol-version", "EXT04-NEG-001", "answers with another protocol version", func(p obj) { p["version"] = "0.2" }),
	changeFeatureInit("f-no-protocol", "EXT04-NEG-001", "leaves protocol out", func(r obj) { delete(r, "protocol") }),
	changeProtocol("f-lacks-required", "EXT04-NEG-002", "leaves a required feature out", func(p obj) {
		p["features"] = drop(p["features"], featurewire.FeatureContentParts)
	}),
	changeProtocol("f-unoffered-feature", "EXT04-NEG-003", "selects a feature nobody offered", func(p obj) {
		p["features"] = add(p["features"], featurewire.FeatureArtifacts)
	}),
	changeProtocol("f-feature-twice", "EXT04-NEG-004", "selects a feature twice", func(p obj) {
		p["features"] = add(p["features"], featurewire.FeatureContentParts)
	}),
	changeProtocol("f-no-limits", "EXT04-NEG-005", "leaves the limits out", func(p obj) { delete(p, "limits") }),
	changeProtocol("f-zero-limit", "EXT04-NEG-005", "selects a concurrency of zero", func(p obj) { p["limits"] = obj{"max_concurrent_requests": 0} }),
	changeProtocol("f-events-without-feature", "EXT04-NEG-006", "subscribes to events without the feature", func(p obj) {
		p["lifecycle_events"] = list("turn/started")
	}),
	changeProtocol("f-feature-alone", "EXT04-NEG-020", "selects a feature without the one it depends on", func(p obj) {
		p["features"] = add(drop(p["features"], featurewire.FeatureRequestProgress), featurewire.FeatureProgressDecoration)
	}),
	Fault{
		Name: "f-refuses-unknown-feature", Rule: "EXT04-NEG-007", Doc: "ends at an offer with a feature it does not know",
		quirk: quirk{refuses: func(line []byte) bool {
			return strings.Contains(string(at(line, "params", "protocol", "optional_features")), "telepathy")
		}},
	},
	ignoring("required-features", "f-takes-any-required", "EXT04-NEG-008", "takes required features it does not support"),
	doing("unnamed-features", "f-unnamed-features", "EXT04-NEG-009", "does not say which required features it lacks"),

	changeFeatureTool("f-empty-description", "EXT04-TOOL-002", "has a tool without a description", func(t obj) { t["description"] = "" }),
	changeFeatureTool("f-parameters-without-type", "EXT04-TOOL-003", "has parameters without a type", func(t obj) { t["parameters"] = obj{} }),
	changeFeatureTool("f-schema-keyword", "EXT04-TOOL-004", "uses a keyword that output schemas do not have", func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{"bytes": obj{"type": "integer", "format": "int64"}}}
	}),
	changeFeatureTool("f-deep-schema", "EXT04-TOOL-005", "has an output schema that is too deep", func(t obj) {
		t["output_schema"] = obj{"type": "object", "default": deep(40)}
	}),
	changeFeatureTool("f-long-property", "EXT04-TOOL-005", "has an output schema with a long property name", func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{strings.Repeat("p", 257): obj{}}}
	}),
	Fault{
		Name: "f-command-with-slash", Rule: "EXT04-TOOL-006", Doc: "writes a command with its slash",
		quirk: quirk{contributes: obj{"commands": list("/echo")}, message: change(featurewire.MethodInitialize, func(m obj) {
			m["result"].(obj)["commands"] = []any{obj{"name": "/echo", "description": "Echo."}}
		}).message},
	},

	frozen(changeFeatureInit("frozen-protocol", "EXT01-INIT-001", "answers with a protocol", func(r obj) {
		r["protocol"] = obj{"version": "0.1", "features": []any{}, "limits": obj{"max_concurrent_requests": 1}}
	})),
	frozen(ignoring("frozen-protocol", "frozen-takes-protocol", "EXT01-INIT-002", "takes an initialize with a protocol")),
	frozen(changeFeatureTool("frozen-output-schema", "EXT01-TOOL-001", "has a tool with an output schema", func(t obj) {
		t["output_schema"] = obj{"type": "object"}
	})),
)

var featureCallFaults = onFeature(
	ignoring("tool-name", "f-serves-any-tool", "EXT04-CALL-001", "serves tools it does not have"),
	ignoring("call-model", "f-takes-any-call", "EXT04-CALL-002", "does not look at the shape of a call"),
	ignoring("catalog-revision", "f-takes-revision", "EXT04-CALL-003", "takes a catalog revision it did not negotiate"),
	doing("need-owner", "f-needs-owner", "EXT04-CALL-004", "does not serve a call without an owner"),
	doing("break-after-failure", "f-breaks-after-failure", "EXT04-CALL-005", "answers no call behind one that failed"),
	doing("fail-by-error", "f-fails-by-error", "EXT04-CALL-006", "answers a failing tool with internal_error"),

	changeFeatureResult("f-no-parts", "EXT04-RESULT-001", "sends no content part", func(r obj) { r["content"] = []any{} }),
	changeFeatureResult("f-content-as-text", "EXT04-RESULT-001", "sends content as a string, as API 0.1 did", func(r obj) { r["content"] = "octet" }),
	changeFeatureResult("f-part-without-text", "EXT04-RESULT-002", "sends a text part without text", func(r obj) {
		r["content"] = []any{obj{"type": "text", "text": "octet"}, obj{"type": "text"}}
	}),
	changeFeatureResult("f-extra-part-member", "EXT04-RESULT-002", "adds a member to text parts", func(r obj) {
		r["content"].([]any)[0].(obj)["lang"] = "en"
	}),
	changeFeatureResult("f-image-part", "EXT04-RESULT-003", "sends an image without the feature", func(r obj) {
		r["content"] = add2(r["content"], obj{"type": "image", "artifact_id": "a", "mime_type": "image/png"})
	}),
	changeFeatureResult("f-no-is-error", "EXT04-RESULT-004", "leaves is_error out", func(r obj) { delete(r, "is_error") }),
	changeFeatureResult("f-extra-result", "EXT04-RESULT-004", "adds a member to tool results", func(r obj) { r["duration"] = 1 }),
	changeFeatureResult("f-no-structured", "EXT04-RESULT-005", "leaves structured content out", func(r obj) { delete(r, "structured_content") }),
	changeFeatureResult("f-misfit-structured", "EXT04-RESULT-006", "sends structured content that breaks its schema", func(r obj) {
		if r["structured_content"] != nil {
			r["structured_content"] = obj{"bytes": "many"}
		}
	}),
	changeFeatureResult("f-large-structured", "EXT04-RESULT-007", "sends too much structured content", func(r obj) {
		if c, ok := r["structured_content"].(obj); ok {
			c["text"] = strings.Repeat("x", 262144)
		}
	}),
	changeFeatureResult("f-wide-structured", "EXT04-RESULT-007", "sends structured content of too many values", func(r obj) {
		if c, ok := r["structured_content"].(obj); ok {
			c["list"] = wide(16384)
		}
	}),
	changeFeatureResult("f-metadata-as-text", "EXT04-RESULT-008", "sends metadata as a string", func(r obj) { r["metadata"] = "fast" }),
	changeFeatureResult("f-deep-metadata", "EXT04-RESULT-008", "sends metadata that is too deep", func(r obj) { r["metadata"] = deep(40) }),
	frozen(changeFeatureResult("frozen-content-parts", "EXT01-RESULT-001", "sends content parts", func(r obj) {
		r["content"] = []any{obj{"type": "text", "text": "octet"}}
	})),
	doing("low-concurrency", "f-low-concurrency", "EXT04-LIMIT-001", "answers one call and drops those that come along with it"),
)

// add2 appends one value to a list.
func add2(have, v any) []any { return append(append([]any{}, have.([]any)...), v) }
