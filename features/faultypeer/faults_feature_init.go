package faultypeer

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// answeringInit changes the result of initialize.
func answeringInit(f func(r obj)) quirk { return changingResult(featurewire.MethodInitialize, f) }

// defining changes the definition of the first tool, which has an output schema where it may.
func defining(f func(tool obj)) quirk {
	return answeringInit(func(r obj) { f(r["tools"].([]any)[0].(obj)) })
}

// selecting changes what initialize selects.
func selecting(f func(protocol obj)) quirk {
	return answeringInit(func(r obj) { f(r["protocol"].(obj)) })
}

// commanding declares a command and answers with another definition of it.
func commanding(name string, definition obj) quirk {
	q := answeringInit(func(r obj) { r["commands"] = []any{definition} })
	q.contributes = obj{"commands": list(name)}
	return q
}

var featureInitFaults = []Fault{
	on(frozen, "EXT04-INIT-001", "drops-initialize", "never answers initialize", acting("drop-initialize")),
	on(middle, "EXT04-INIT-002", "answers-another-version", "answers with a version of its own choice", answeringInit(func(r obj) { r["api_version"] = "0.9" })),
	on(current, "EXT04-INIT-002", "writes-camel-case", "writes members in camel case", answeringInit(func(r obj) {
		r["apiVersion"] = r["api_version"]
		delete(r, "api_version")
	})),
	on(frozen, "EXT04-INIT-002", "null-for-no-commands", "writes null for an empty list", answeringInit(func(r obj) { r["commands"] = nil })),
	on(current, "EXT04-INIT-002", "leaves-out-empty-lists", "leaves out empty lists", answeringInit(func(r obj) { delete(r, "commands") })),
	on(middle, "EXT04-INIT-002", "tools-as-object", "writes its tools as an object", answeringInit(func(r obj) {
		byName := obj{}
		for _, t := range r["tools"].([]any) {
			byName[t.(obj)["name"].(string)] = t
		}
		r["tools"] = byName
	})),
	on(frozen, "EXT04-INIT-003", "lacks-declared-tool", "lacks a tool that its manifest declares", answeringInit(func(r obj) {
		r["tools"] = r["tools"].([]any)[1:]
	})),
	on(middle, "EXT04-INIT-003", "prefixes-tool-names", "puts its own name in front of the names of tools", defining(func(t obj) { t["name"] = "peer." + t["name"].(string) })),
	on(current, "EXT04-INIT-003", "doubles-a-tool", "names a tool twice", answeringInit(func(r obj) {
		tools := r["tools"].([]any)
		r["tools"] = append(tools, tools[0])
	})),
	on(current, "EXT04-INIT-003", "undeclared-command", "has a command that its manifest does not declare", answeringInit(func(r obj) {
		r["commands"] = []any{obj{"name": "greet", "description": "Greets."}}
	})),
	on(frozen, "EXT04-INIT-003", "lacks-declared-command", "lacks a command that its manifest declares", quirk{
		contributes: obj{"commands": list("greet")},
		message:     answeringInit(func(r obj) { r["commands"] = []any{} }).message,
	}),
	on(frozen, "EXT04-INIT-004", "takes-any-version", "does not look at the version", lax("api-version")),
	on(current, "EXT04-INIT-004", "repeats-any-version", "answers with whatever version was asked for", acting("echo-version")),
	on(middle, "EXT04-INIT-004", "matches-version-prefix", "takes a version that starts like its own", acting("match-version-prefix")),
	on(frozen, "EXT04-INIT-005", "waits-behind-refusal", "waits for another initialize behind the one it refused", acting("survive-refusal")),
	on(current, "EXT04-INIT-006", "needs-session", "refuses a host that names no session", acting("need-session")),
	on(middle, "EXT04-INIT-006", "needs-flags", "refuses an empty list of flags", acting("need-flags")),
	on(current, "EXT04-INIT-007", "refuses-with-internal-error", "refuses a version with internal_error", acting("vague-refusal")),

	on(frozen, "EXT01-INIT-001", "negotiates-on-frozen", "answers with a selection nobody asked for", answeringInit(func(r obj) {
		r["protocol"] = obj{"version": "0.1", "features": []any{}, "limits": obj{"max_concurrent_requests": 1}}
	})),
	on(frozen, "EXT01-INIT-002", "takes-offer-on-frozen", "passes over an offer of features", lax("frozen-protocol")),
}

var featureSelectionFaults = []Fault{
	on(middle, "EXT04-NEG-001", "selects-nothing", "leaves its selection out", answeringInit(func(r obj) { delete(r, "protocol") })),
	on(current, "EXT04-NEG-001", "version-of-selection-as-number", "writes the version of its selection as a number",
		selecting(func(p obj) { p["version"] = json.Number("0.4") })),
	on(current, "EXT04-NEG-001", "another-version-of-selection", "selects an older version", selecting(func(p obj) { p["version"] = "0.2" })),
	on(middle, "EXT04-NEG-002", "lacks-content-parts", "selects one of two required features", selecting(func(p obj) {
		p["features"] = drop(p["features"], featurewire.FeatureContentParts)
	})),
	on(current, "EXT04-NEG-002", "selects-by-flag", "writes the selected features as flags", selecting(func(p obj) {
		flags := obj{}
		for _, name := range p["features"].([]any) {
			flags[name.(string)] = true
		}
		p["features"] = flags
	})),
	on(middle, "EXT04-NEG-003", "selects-all-it-knows", "selects a feature whether it is offered or not", acting("select-unasked")),
	on(current, "EXT04-NEG-003", "selects-fantasy", "selects a feature that does not exist", selecting(func(p obj) {
		p["features"] = append(p["features"].([]any), "mind_reading")
	})),
	on(current, "EXT04-NEG-003", "selects-artifacts", "selects a feature that nobody offered", selecting(func(p obj) {
		p["features"] = add(p["features"], featurewire.FeatureArtifacts)
	})),
	on(middle, "EXT04-NEG-004", "selects-doubles", "joins required and offered features without looking for doubles", selecting(func(p obj) {
		p["features"] = add(p["features"], featurewire.FeatureContentParts)
	})),
	on(middle, "EXT04-NEG-005", "no-limits", "leaves the limits out", selecting(func(p obj) { delete(p, "limits") })),
	on(current, "EXT04-NEG-005", "limit-of-zero", "takes zero for no bound", selecting(func(p obj) { p["limits"] = obj{"max_concurrent_requests": 0} })),
	on(current, "EXT04-NEG-005", "bound-as-text", "writes its bound as a string", selecting(func(p obj) { p["limits"] = obj{"max_concurrent_requests": "8"} })),
	on(middle, "EXT04-NEG-005", "null-limit", "writes null for no bound", selecting(func(p obj) { p["limits"] = obj{"max_concurrent_requests": nil} })),
	on(current, "EXT04-NEG-006", "subscribes-unasked", "subscribes to events without their feature", selecting(func(p obj) {
		p["lifecycle_events"] = list(featurewire.MethodTurnStarted)
	})),
	on(middle, "EXT04-NEG-007", "refuses-unknown-offer", "refuses an offer with a feature it does not know", acting("refuse-unknown-optional")),
	on(current, "EXT04-NEG-007", "selects-everything", "selects every feature it is offered", acting("select-everything")),
	on(middle, "EXT04-NEG-008", "takes-any-requirement", "does not look at what is required", lax("required-features")),
	on(current, "EXT04-NEG-009", "names-no-feature", "does not say which required features it lacks", acting("unnamed-features")),
	on(middle, "EXT04-NEG-009", "refuses-features-with-internal-error", "refuses required features with internal_error", acting("vague-refusal")),
	on(current, "EXT04-NEG-020", "decorates-alone", "selects decorated progress without progress", acting("select-decoration-alone")),
}

var featureDefinitionFaults = []Fault{
	on(frozen, "EXT04-TOOL-002", "empty-description", "describes a tool by nothing", defining(func(t obj) { t["description"] = "" })),
	on(middle, "EXT04-TOOL-002", "no-description", "does not describe a tool", defining(func(t obj) { delete(t, "description") })),
	on(current, "EXT04-TOOL-002", "null-description", "writes null for a description it does not have", defining(func(t obj) { t["description"] = nil })),
	on(frozen, "EXT04-TOOL-003", "null-for-no-parameters", "writes null for no parameters", defining(func(t obj) { t["parameters"] = nil })),
	on(middle, "EXT04-TOOL-003", "parameters-without-type", "leaves out the type of its parameters", defining(func(t obj) { delete(t["parameters"].(obj), "type") })),
	on(current, "EXT04-TOOL-003", "parameters-as-list", "takes its parameters as a list", defining(func(t obj) {
		t["parameters"] = obj{"type": "array", "items": obj{"type": "string"}}
	})),
	on(current, "EXT04-TOOL-003", "parameters-as-text", "writes the schema of its parameters as a string", defining(func(t obj) {
		t["parameters"] = string(encode(t["parameters"]))
	})),
	on(middle, "EXT04-TOOL-004", "schema-with-reference", "uses references in an output schema", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{"bytes": obj{"$ref": "#/$defs/n"}}, "required": list("bytes")}
	})),
	on(current, "EXT04-TOOL-004", "schema-with-format", "uses formats in an output schema", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "anyOf": []any{obj{"properties": obj{"bytes": obj{"type": "integer", "format": "int64"}}}}}
	})),
	on(current, "EXT04-TOOL-004", "schema-with-true", "allows any property by true", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{"bytes": true}}
	})),
	on(middle, "EXT04-TOOL-004", "schema-with-tuple", "uses a list of schemas for the items of a list", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{"pair": obj{"type": "array", "items": []any{obj{}, obj{}}}}}
	})),
	on(middle, "EXT04-TOOL-005", "deep-schema", "has an output schema over the bound of levels", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "default": nested(featurewire.MaxOutputSchemaDepth)}
	})),
	on(current, "EXT04-TOOL-005", "long-property", "has a property with a name over the bound in an output schema", defining(func(t obj) {
		t["output_schema"] = obj{"type": "object", "properties": obj{strings.Repeat("p", featurewire.MaxOutputSchemaKeyBytes+1): obj{}}}
	})),
	on(frozen, "EXT04-TOOL-006", "command-with-slash", "writes a command as the person types it",
		commanding("/greet", obj{"name": "/greet", "description": "Greets."})),
	on(middle, "EXT04-TOOL-006", "command-without-description", "does not describe a command", commanding("greet", obj{"name": "greet"})),
	on(current, "EXT04-TOOL-006", "usage-as-list", "writes the usage of a command as a list",
		commanding("greet", obj{"name": "greet", "description": "Greets.", "usage": list("/greet", "NAME")})),

	on(frozen, "EXT01-TOOL-001", "output-schema-on-frozen", "has a tool with an output schema", defining(func(t obj) { t["output_schema"] = obj{"type": "object"} })),
	on(frozen, "EXT01-TOOL-001", "null-output-schema-on-frozen", "writes null for an output schema it does not have", defining(func(t obj) { t["output_schema"] = nil })),
}

// nested is a value of that many levels.
func nested(levels int) any {
	var v any = 0
	for range levels {
		v = []any{v}
	}
	return v
}
