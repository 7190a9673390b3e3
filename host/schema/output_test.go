package schema

import (
	"strings"
	"testing"
)

func TestParametersOK(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"object"}`:                 true,
		`{"type":"object","properties":{}}`: true,
		`{}`:                                false,
		`{"type":["object"]}`:               false,
		`{"type":"string"}`:                 false,
		`[]`:                                false,
		`{"type":"object","type":"object"}`: false,
	} {
		if err := ParametersOK([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v, want accepted %t", text, err, want)
		}
	}
}

func TestOutputOK(t *testing.T) {
	long := strings.Repeat("k", 257)
	for text, want := range map[string]string{
		`{}`: "",
		`{"type":"object","properties":{"a":{"items":{"type":"string"}}},"additionalProperties":false}`: "",
		`{"additionalProperties":{"type":"string"},"enum":[1],"const":{"any":"thing"}}`:                 "",
		`{"properties":{"` + long[1:] + `":{}}}`:                                                        "",
		`{"properties":{"` + long + `":{}}}`:                                                            "257 bytes",
		`{"$ref":"#/x"}`:                                                                                `keyword "$ref"`,
		`{"properties":{"a":true}}`:                                                                     "kind boolean",
		`{"properties":[]}`:                                                                             "as properties",
		`{"items":[{}]}`:                                                                                "kind array",
		`{"anyOf":[{"oneOf":[{"allOf":[{"format":"date"}]}]}]}`:                                         `keyword "format"`,
		`{"additionalProperties":{"pattern":"x"}}`:                                                      `keyword "pattern"`,
		`[]`: "kind array",
		strings.Repeat(`{"items":`, 32) + "{}" + strings.Repeat("}", 32): "",
		strings.Repeat(`{"items":`, 33) + "{}" + strings.Repeat("}", 33): "32 levels",
	} {
		err := OutputOK([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want an error with %q", text, err, want)
		}
	}
}
