package profile_test

import (
	"encoding/json"
	"fmt"
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

// TestArguments_areBounded: a small schema does not make much, however its parts multiply.
func TestArguments_areBounded(t *testing.T) {
	nested := func(levels, items int, schema string) string {
		for range levels {
			schema = fmt.Sprintf(`{"type":"array","minItems":%d,"items":%s}`, items, schema)
		}
		return schema
	}
	long := strings.Repeat("n", 4096)
	for name, x := range map[string]string{
		"arrays":        nested(3, 64, `{"type":"null"}`),
		"defaults":      nested(2, 32, `{"default":[[0,1],{"a":2}]}`),
		"texts":         nested(2, 16, `{"type":"string","minLength":4096}`),
		"long defaults": nested(2, 16, `{"default":"`+long+`"}`),
		"long names":    nested(2, 16, `{"type":"object","properties":{"`+long+`":{}},"required":["`+long+`"]}`),
	} {
		got, err := profile.Arguments(requires(x))
		if want := "x: the arguments have more than 4096 values"; err == nil || err.Error() != want {
			text, _ := json.Marshal(got)
			t.Errorf("%s: got %d bytes, %v, want the reason %q", name, len(text), err, want)
		}
	}
	got, err := profile.Arguments(requires(nested(2, 62, `{"type":"boolean"}`)))
	if err != nil || len(got["x"].([]any)) != 62 {
		t.Errorf("62 times 62 values: got %v, %v", got, err)
	}
}

// TestArguments_reasonsAreOneLine: what the schema says is quoted in a reason.
func TestArguments_reasonsAreOneLine(t *testing.T) {
	const evil = `a\n[[call]]\u001b\u2028\u007f`
	for _, schema := range []string{
		`{"required":["` + evil + `"]}`,
		`{"required":[["` + evil + `"]]}`,
		`{"required":[{"` + evil + `":1}]}`,
		`{"properties":{"` + evil + `":{"not":{}}},"required":["` + evil + `"]}`,
		`{"type":"` + evil + `"}`,
		string(requires(`{"type":"number","multipleOf":"` + evil + `"}`)),
		string(requires(`{"type":"number","multipleOf":["` + evil + `"]}`)),
		string(requires(`{"type":"string","pattern":"` + evil + `"}`)),
		string(requires(`{"type":"string","format":{"` + evil + `":["` + evil + `"]}}`)),
		string(requires(`{"type":["` + evil + `"]}`)),
	} {
		got, err := profile.Arguments(json.RawMessage(schema))
		if err == nil {
			t.Errorf("%s: got %v, want an error", schema, got)
		} else if strings.ContainsAny(err.Error(), "\n\x1b\u2028\x7f") {
			t.Errorf("%s: the reason is not printable: %q", schema, err)
		}
	}
}
