package profile_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/profile"
)

// requires is the schema of an object with one required member, x.
func requires(x string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"x":` + x + `},"required":["x"]}`)
}

// TestArguments_boundsOutOfRange: a bound that no count can have is nothing, or a reason.
func TestArguments_boundsOutOfRange(t *testing.T) {
	for x, want := range map[string]any{
		`{"type":"array","minItems":-1}`:       []any{},
		`{"type":"array","minItems":-1e300}`:   []any{},
		`{"type":"array","minItems":"3"}`:      []any{},
		`{"type":"string","minLength":-1e300}`: "octet",
		`{"type":"string","maxLength":1e300}`:  "octet",
		`{"type":"string","maxLength":2.5}`:    "oc",
	} {
		got, err := profile.Arguments(requires(x))
		if err != nil || !reflect.DeepEqual(got["x"], want) {
			t.Errorf("%s: got %v, %v, want %v", x, got, err, want)
		}
	}
	for x, want := range map[string]string{
		`{"type":"array","minItems":1e300}`:             "x: an array has at least 1e+300 items",
		`{"type":"array","minItems":65}`:                "x: an array has at least 65 items",
		`{"type":"string","minLength":1e300}`:           "x: a string has at least 1e+300 characters",
		`{"type":"string","minLength":3,"maxLength":2}`: "x: a string has at least 3 and at most 2 characters",
		`{"type":"string","maxLength":-1e300}`:          "x: a string has at least 0 and at most -1e+300 characters",
	} {
		if got, err := profile.Arguments(requires(x)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want the reason %q", x, got, err, want)
		}
	}
}
