package toolschema

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/wirejson"
)

// drawSchema makes schemas of the keywords that quick knows, often beside a type they have no effect on, and
// now and then one that it does not know.
func drawSchema(t *rapid.T, depth int) map[string]any {
	schema := map[string]any{}
	kinds := []string{"", "string", "integer", "number", "boolean", "null", "object", "array"}
	if kind := rapid.SampledFrom(kinds).Draw(t, "type"); kind != "" {
		schema["type"] = kind
	}
	maybe := func(keyword string, draw func() any) {
		if rapid.IntRange(0, 3).Draw(t, keyword+"?") == 0 {
			schema[keyword] = draw()
		}
	}
	small := func() any {
		return json.Number(rapid.SampledFrom([]string{"0", "1", "2", "3"}).Draw(t, "count"))
	}
	for _, keyword := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
		maybe(keyword, small)
	}
	bound := func() any { return json.Number(rapid.SampledFrom([]string{"-2", "0", "3", "1.5"}).Draw(t, "bound")) }
	for _, keyword := range []string{"minimum", "maximum", "multipleOf"} {
		maybe(keyword, bound)
	}
	if schema["multipleOf"] == json.Number("0") || schema["multipleOf"] == json.Number("-2") {
		delete(schema, "multipleOf")
	}
	maybe("enum", func() any { return []any{"a", "bb", json.Number("1")}[:rapid.IntRange(1, 3).Draw(t, "enum")] })
	if depth == 0 {
		return schema
	}
	maybe("items", func() any { return drawSchema(t, depth-1) })
	maybe("additionalProperties", func() any {
		if rapid.Bool().Draw(t, "closed") {
			return false
		}
		return drawSchema(t, depth-1)
	})
	maybe("properties", func() any { return map[string]any{"a": drawSchema(t, depth-1), "b": drawSchema(t, depth-1)} })
	maybe("required", func() any { return []any{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "required")] })
	return schema
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return rapid.SampledFrom([]string{"", "a", "bb", "ß", "\U0001F427\U0001F427\U0001F427"}).Draw(t, "string")
	case 4, 5:
		return json.Number(rapid.SampledFrom([]string{"0", "-1", "1", "2", "4", "2.0", "1.5", "1e2", "99999999999999999999"}).Draw(t, "number"))
	case 6:
		elements := make([]any, rapid.IntRange(0, 4).Draw(t, "elements"))
		for i := range elements {
			elements[i] = drawValue(t, depth-1)
		}
		return elements
	default:
		members := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, name) {
				members[name] = drawValue(t, depth-1)
			}
		}
		return members
	}
}

// fits reports whether the quick check alone accepts a value.
func fits(s *Schema, value []byte) bool {
	document, err := wirejson.Parse(value, wirejson.DefaultMaxDepth)
	if err != nil {
		return false
	}
	defer document.Release()
	return s.quick.Accepts(document.Root())
}

func TestQuick_acceptsOnlyWhatTheValidatorAccepts(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		schema, err := compile(drawSchema(t, 2))
		if err != nil {
			t.Fatalf("a drawn schema does not compile: %v", err)
		}
		for range 30 {
			tree := drawValue(t, 3)
			value, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			if !fits(schema, value) {
				continue
			}
			accepted++
			if err := schema.compiled.Validate(tree); err != nil {
				t.Fatalf("quick accepts %s, which breaks %s: %v", value, schema.text, err)
			}
		}
	})
	if accepted == 0 {
		t.Error("no drawn value was accepted: the property was never tested")
	}
}

// The quick check is worth having only if ordinary values pass it.
func TestQuick_takesOrdinaryArguments(t *testing.T) {
	for _, test := range []struct {
		typ   reflect.Type
		value string
		want  bool
	}{
		{reflect.TypeFor[slowArgs](), `{"text":"a b","delay_ms":10000}`, true},
		{reflect.TypeFor[slowArgs](), `{"text":"a b"}`, true},
		{reflect.TypeFor[slowArgs](), `{"delay_ms":1}`, false},
		{reflect.TypeFor[slowArgs](), `{"text":"a b","delay_ms":10001}`, false},
		{reflect.TypeFor[slowArgs](), `{"text":"a b","more":1}`, false},
		{reflect.TypeFor[slowArgs](), `{"text":3}`, false},
		{reflect.TypeFor[map[string]int](), `{"a":1,"b":-1}`, true},
		{reflect.TypeFor[map[string]int](), `{"a":1.5}`, false},
		{reflect.TypeFor[json.RawMessage](), `{"a":[1,{"b":null}]}`, true},
		{reflect.TypeFor[json.RawMessage](), `[]`, false},
		{reflect.TypeFor[struct {
			Mode string `json:"mode" jsonschema:"enum=fast,enum=slow"`
			Tags []string
		}](), `{"mode":"slow","Tags":["x"]}`, true},
		{reflect.TypeFor[struct {
			Mode string `json:"mode" jsonschema:"enum=fast,enum=slow"`
		}](), `{"mode":"medium"}`, false},
		{reflect.TypeFor[struct {
			Text string `json:"text" jsonschema:"minLength=1,maxLength=2"`
		}](), `{"text":"ßß"}`, true},
		{reflect.TypeFor[struct {
			Text string `json:"text" jsonschema:"minLength=1,maxLength=2"`
		}](), `{"text":""}`, false},
	} {
		s, err := Arguments(test.typ)
		if err != nil {
			t.Fatal(err)
		}
		if got := fits(s, []byte(test.value)); got != test.want {
			t.Errorf("%s against %s: quick says %v, want %v", test.value, s.text, got, test.want)
		}
	}
}
