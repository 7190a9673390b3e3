package toolschema

import (
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/wirejson"
)

var wireRules = OutputRules{
	Keywords: []string{
		"$schema", "title", "description", "default", "examples", "type", "properties", "required", "additionalProperties", "items",
		"enum", "const", "allOf", "anyOf", "oneOf", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
	},
	MaxDepth:    32,
	MaxKeyBytes: 256,
}

type countArgs struct {
	Text   string `json:"text" jsonschema:"description=Text to count"`
	Unique bool   `json:"unique,omitempty"`
}

type slowArgs struct {
	Text    string `json:"text"`
	DelayMS int    `json:"delay_ms" jsonschema:"minimum=0,maximum=10000,default=100"`
}

type nested struct {
	Tags   []string       `json:"tags,omitempty" jsonschema:"minItems=1,uniqueItems=true"`
	Counts map[string]int `json:"counts,omitempty"`
	Inner  *countArgs     `json:"inner,omitempty"`
	Mode   string         `json:"mode,omitempty" jsonschema:"enum=fast,enum=slow"`
	Free   any            `json:"free,omitempty"`
	Maybe  *int           `json:"maybe,omitempty" jsonschema:"nullable"`
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children,omitempty"`
}

type embedding struct {
	countArgs
	More float64 `json:"more"`
}

func TestArguments_schemaText(t *testing.T) {
	for _, test := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"required and optional", reflect.TypeFor[countArgs](), `{"additionalProperties":false,"properties":{"text":{"description":"Text to count","type":"string"},"unique":{"type":"boolean"}},"required":["text"],"type":"object"}`},
		{"a pointer is its element", reflect.TypeFor[*countArgs](), `{"additionalProperties":false,"properties":{"text":{"description":"Text to count","type":"string"},"unique":{"type":"boolean"}},"required":["text"],"type":"object"}`},
		{"a default makes optional", reflect.TypeFor[slowArgs](), `{"additionalProperties":false,"properties":{"delay_ms":{"default":100,"maximum":10000,"minimum":0,"type":"integer"},"text":{"type":"string"}},"required":["text"],"type":"object"}`},
		{"no members", reflect.TypeFor[struct{}](), `{"additionalProperties":false,"properties":{},"type":"object"}`},
		{"any object", reflect.TypeFor[json.RawMessage](), `{"type":"object"}`},
		{"any object by interface", reflect.TypeFor[any](), `{"type":"object"}`},
		{"a map", reflect.TypeFor[map[string]int](), `{"additionalProperties":{"type":"integer"},"type":"object"}`},
		{"embedded members", reflect.TypeFor[embedding](), `{"additionalProperties":false,"properties":{"more":{"type":"number"},"text":{"description":"Text to count","type":"string"},"unique":{"type":"boolean"}},"required":["text","more"],"type":"object"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Arguments(test.typ)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.JSON()); got != test.want {
				t.Errorf("schema\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestArguments_inlinesWhatIsNotRecursive(t *testing.T) {
	s, err := Arguments(reflect.TypeFor[nested]())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(s.JSON()); strings.Contains(text, "$ref") || strings.Contains(text, "$defs") {
		t.Errorf("schema has references: %s", text)
	}
	recursive, err := Arguments(reflect.TypeFor[tree]())
	if err != nil {
		t.Fatal(err)
	}
	if err := recursive.Check([]byte(`{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}`)); err != nil {
		t.Errorf("a tree that fits is refused: %v", err)
	}
	problem := problemOf(t, recursive.Check([]byte(`{"name":"a","children":[{"name":"b","children":[{"name":3}]}]}`)))
	if problem.Pointer != "/children/0/children/0/name" {
		t.Errorf("pointer %q, want the innermost name", problem.Pointer)
	}
	if !strings.Contains(string(recursive.JSON()), `"type":"object"`) {
		t.Errorf("the root of a recursive schema names no type: %s", recursive.JSON())
	}
}

func TestArguments_refusedTypes(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[string](), "arguments are a JSON object, but string is written as JSON string"},
		{reflect.TypeFor[[]int](), "arguments are a JSON object"},
		{reflect.TypeFor[struct{ C chan int }](), "has no JSON Schema"},
		{reflect.TypeFor[struct {
			N int `json:"n" jsonschema:"minimum=5,default=3"`
		}](), `the default of "n" breaks its own schema`},
		{reflect.TypeFor[struct {
			S string `json:"s" jsonschema:"pattern=("`
		}](), "compile the schema"},
	} {
		if _, err := Arguments(test.typ); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.typ, err, test.want)
		}
	}
}

func TestSchema_defaults(t *testing.T) {
	s, err := Arguments(reflect.TypeFor[slowArgs]())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Defaults()); got != `{"delay_ms":100}` {
		t.Errorf("defaults %s", got)
	}
	if err := s.Check([]byte(`{"text":"a"}`)); err != nil {
		t.Errorf("a member with a default is required: %v", err)
	}
	none, err := Arguments(reflect.TypeFor[countArgs]())
	if err != nil {
		t.Fatal(err)
	}
	if none.Defaults() != nil {
		t.Errorf("defaults %s, want none", none.Defaults())
	}
}

func TestSchema_checkLocates(t *testing.T) {
	slow, err := Arguments(reflect.TypeFor[slowArgs]())
	if err != nil {
		t.Fatal(err)
	}
	deep, err := Arguments(reflect.TypeFor[nested]())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		schema  *Schema
		value   string
		kind    wirejson.ViolationKind
		pointer string
		detail  string
	}{
		{slow, `{}`, wirejson.Missing, "/text", `the required member "text" is absent; add it`},
		{slow, `{"text":"a","x":1,"y":2}`, wirejson.Unknown, "/x", `the member "x" is not in the schema; leave it out`},
		{slow, `{"text":"a","delay_ms":10001}`, wirejson.OutOfRange, "/delay_ms", "10,000"},
		{slow, `{"text":"a","delay_ms":-1}`, wirejson.OutOfRange, "/delay_ms", "0"},
		{slow, `{"text":"a","delay_ms":1.5}`, wirejson.WrongType, "/delay_ms", "integer"},
		{slow, `{"text":null}`, wirejson.NullValue, "/text", "string"},
		{slow, `{"text":1,"delay_ms":"x"}`, wirejson.WrongType, "/delay_ms", "integer"},
		{slow, `[]`, wirejson.NotObject, "", "object"},
		{slow, `{"text"`, wirejson.WrongType, "", "not JSON"},
		{deep, `{"inner":{"text":"a","unique":3}}`, wirejson.WrongType, "/inner/unique", "boolean"},
		{deep, `{"counts":{"a/b~c":"x"}}`, wirejson.WrongType, "/counts/a~1b~0c", "integer"},
		{deep, `{"tags":["a","a"]}`, wirejson.Duplicate, "/tags", "equal"},
		{deep, `{"mode":"medium"}`, wirejson.WrongValue, "/mode", "fast"},
	} {
		problem := problemOf(t, test.schema.Check([]byte(test.value)))
		if problem.Kind != test.kind || problem.Pointer != test.pointer || !strings.Contains(problem.Detail, test.detail) {
			t.Errorf("%s: %s at %q: %s; want %s at %q with %q", test.value, problem.Kind, problem.Pointer, problem.Detail, test.kind, test.pointer, test.detail)
		}
	}
	for _, fitting := range []string{`{}`, `{"free":[1,null]}`, `{"maybe":null}`, `{"maybe":4,"mode":"slow","inner":{"text":""}}`} {
		if err := deep.Check([]byte(fitting)); err != nil {
			t.Errorf("%s is refused: %v", fitting, err)
		}
	}
}

type report struct {
	When time.Time `json:"when"`
	Link url.URL   `json:"link"`
	Code string    `json:"code" jsonschema:"pattern=^[a-z]$,maxLength=1"`
	Free any       `json:"free"`
	Raw  []byte    `json:"raw"`
}

func TestOutput_keepsTheAllowedKeywords(t *testing.T) {
	s, err := Output(reflect.TypeFor[report](), wireRules)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"additionalProperties":false,"properties":{"code":{"maxLength":1,"type":"string"},"free":{},"link":{"type":"string"},"raw":{"type":"string"},"when":{"type":"string"}},"required":["when","link","code","free","raw"],"type":"object"}`
	if got := string(s.JSON()); got != want {
		t.Errorf("schema\n got %s\nwant %s", got, want)
	}
}

func TestOutput_refusedTypes(t *testing.T) {
	longKey := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + strings.Repeat("k", 257) + `"`)}})
	deep := reflect.TypeFor[int]()
	for range 17 {
		deep = reflect.StructOf([]reflect.StructField{{Name: "A", Type: deep, Tag: `json:"a"`}})
	}
	for _, test := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"recursive", reflect.TypeFor[tree](), `cannot use "$`},
		{"integer keys", reflect.TypeFor[map[int]string](), `cannot use "patternProperties"`},
		{"long key", longKey, "has 257 bytes, more than the 256"},
		{"deep", deep, "levels deep, more than 32"},
	} {
		if _, err := Output(test.typ, wireRules); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestOutput_atTheBounds(t *testing.T) {
	key := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + strings.Repeat("k", 256) + `"`)}})
	if _, err := Output(key, wireRules); err != nil {
		t.Errorf("a key of 256 bytes is refused: %v", err)
	}
	deep := reflect.TypeFor[int]()
	for range 15 {
		deep = reflect.StructOf([]reflect.StructField{{Name: "A", Type: deep, Tag: `json:"a"`}})
	}
	if _, err := Output(deep, wireRules); err != nil {
		t.Errorf("a schema of 31 levels is refused: %v", err)
	}
}

func problemOf(t *testing.T, err error) *Problem {
	t.Helper()
	var problem *Problem
	if !errors.As(err, &problem) {
		t.Fatalf("error %v (%T), want a *Problem", err, err)
	}
	return problem
}
