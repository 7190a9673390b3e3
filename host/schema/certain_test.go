package schema

import (
	"strings"
	"testing"
)

// What is accepted without a tree is what the validator accepts, and only ordinary values are.
func TestCertain_leavesDoubtsToTheValidator(t *testing.T) {
	const object = `{"type":"object","properties":{"n":{"type":"integer","maximum":9},"t":{"type":"string"}},"required":["t"]}`
	for _, test := range []struct {
		schema, value string
		want          bool
	}{
		{object, `{"t":"a","n":9}`, true},
		{object, `{"t":"a","more":[1,2.5,{"x":null}]}`, true},
		{object, `{"t":"a","n":10}`, false},
		{object, `{"n":1}`, false},
		{object, `{"t":"a","t":"b"}`, false},
		{object, `{"t":"a"} x`, false},
		{object, `{"t":"a","more":[1e3]}`, false},
		{object, `{"t":"a","more":{"x":` + strings.Repeat("1", 33) + `}}`, false},
		{`{"type":"object","patternProperties":{"^a":{"type":"string"}}}`, `{"a":"b"}`, false},
		{`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `1`, false},
		{`true`, `{"a":[1]}`, true},
		{`false`, `1`, false},
	} {
		s, err := Compile(t.Context(), []byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.certain([]byte(test.value)); got != test.want {
			t.Errorf("%s against %s is certain: %v, want %v", test.value, test.schema, got, test.want)
		}
		if err := s.Check(t.Context(), []byte(test.value)); test.want && err != nil {
			t.Errorf("%s against %s is certain and refused: %v", test.value, test.schema, err)
		}
	}
}
