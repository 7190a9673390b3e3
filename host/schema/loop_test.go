package schema_test

import (
	"testing"

	"github.com/octet-dev/octet/host/schema"
)

// A schema that leads back to itself is refused where it is read, and not at the first value.
func TestCompile_refusesCirclesWithoutAStepIntoTheValue(t *testing.T) {
	for text, circle := range map[string]bool{
		`{"$ref":"#"}`: true,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`:                                  true,
		`{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`:          true,
		`{"type":"object","properties":{"x":{"items":{"anyOf":[{"type":"null"},{"$ref":"#/properties/x/items"}]}}}}`:        true,
		`{"type":"object","properties":{"child":{"$ref":"#"}}}`:                                                             false,
		`{"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":{"$ref":"#"}}`:  false,
		`{"$defs":{"a":{"type":"object"}},"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}`:                             false,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":{"$ref":"#"}}}`:           true,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"$ref":"#"}]}}}`: false,
	} {
		if _, err := schema.Compile(t.Context(), []byte(text)); (err != nil) != circle {
			t.Errorf("%s: %v, want an error: %v", text, err, circle)
		}
	}
}
