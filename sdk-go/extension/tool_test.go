package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

type tree struct {
	Children []tree `json:"children,omitempty"`
}

type half struct {
	Share float64 `json:"share" jsonschema:"minimum=0.5"`
}

// deepest has the deepest schema that a frame of API 0.3 can carry.
type (
	nest[T any] struct {
		A T `json:"a"`
	}
	nestFour[T any] = nest[nest[nest[nest[T]]]]
	deepest         = nestFour[nestFour[nestFour[nest[int]]]]
)

func structured[Out any](context.Context, *extension.Call, struct{}) (*extension.Result, Out, error) {
	var out Out
	return nil, out, nil
}

// A mistake of the author shows where it was made, before any host is there.
func TestAdd_misuse(t *testing.T) {
	for _, test := range []struct {
		name string
		add  func()
		want string
	}{
		{"nil extension", func() { extension.AddTool(nil, "say", "Says", echo) }, `tool "say": the extension is nil`},
		{"nil handler", func() {
			extension.AddTool[textArgs](extension.New(nil), "say", "Says", nil)
		}, `tool "say": the handler is nil`},
		{"nil structured handler", func() {
			extension.AddStructuredTool[textArgs, textArgs](extension.New(nil), "say", "Says", nil)
		}, `tool "say": the handler is nil`},
		{"name with a blank", func() { extension.AddTool(extension.New(nil), "say it", "Says", echo) }, `tool "say it": ToolDefinition at "/name"`},
		{"empty name", func() { extension.AddTool(extension.New(nil), "", "Says", echo) }, `tool "": ToolDefinition at "/name"`},
		{"long name", func() {
			extension.AddTool(extension.New(nil), strings.Repeat("n", 129), "Says", echo)
		}, `at "/name"`},
		{"empty name on 0.3", func() {
			extension.AddTool(extension.New(quietOptions(extension.API03)), "", "Says", echo)
		}, `tool "": the name is empty`},
		{"empty description", func() { extension.AddTool(extension.New(nil), "say", "", echo) }, `tool "say": ToolDefinition at "/description"`},
		{"empty description on 0.1", func() {
			extension.AddTool(extension.New(quietOptions(extension.API01)), "say", "", echo)
		}, `at "/description"`},
		{"long description on 0.3", func() {
			extension.AddTool(extension.New(quietOptions(extension.API03)), "say", strings.Repeat("d", 4097), echo)
		}, `at "/description"`},
		{"taken name", func() { extension.AddTool(one(extension.API04, echo), "say", "Says", echo) }, `tool "say": a tool of that name has been added`},
		{"arguments that are no object", func() {
			extension.AddTool(extension.New(nil), "say", "Says", func(context.Context, *extension.Call, string) (*extension.Result, error) { return nil, nil })
		}, `arguments are a JSON object`},
		{"arguments without a schema", func() {
			extension.AddTool(extension.New(nil), "say", "Says", func(context.Context, *extension.Call, struct{ C chan int }) (*extension.Result, error) {
				return nil, nil
			})
		}, `has no JSON Schema`},
		{"default that does not fit", func() {
			extension.AddTool(extension.New(nil), "say", "Says", func(context.Context, *extension.Call, struct {
				N int8 `json:"n" jsonschema:"default=300"`
			},
			) (*extension.Result, error) {
				return nil, nil
			})
		}, `a default does not fit its member`},
		{"recursive output", func() {
			extension.AddStructuredTool(extension.New(nil), "say", "Says", structured[tree])
		}, `an output schema cannot use`},
		{"fraction in a schema on 0.3", func() {
			extension.AddStructuredTool(extension.New(quietOptions(extension.API03)), "say", "Says", structured[half])
		}, `API 0.3 cannot carry the schema`},
		{"schema too deep for 0.3", func() {
			extension.AddTool(extension.New(quietOptions(extension.API03)), "say", "Says", func(context.Context, *extension.Call, nest[deepest]) (*extension.Result, error) {
				return nil, nil
			})
		}, `API 0.3 cannot carry the schema`},
		{"API that does not exist", func() { extension.New(quietOptions("0.9")) }, `API version "0.9" is none of "0.1", "0.2", "0.3" and "0.4"`},
		{"negative concurrency", func() { extension.New(&extension.Options{Concurrency: -1}) }, "a concurrency of -1"},
		{"nil extension in main", func() { extension.Main(nil) }, "the extension is nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "extension: ") || !strings.Contains(text, test.want) {
					t.Errorf("panic %q, want one with %q", text, test.want)
				}
			}()
			test.add()
		})
	}
}

func TestAddTool_deepestSchemaOfTheCanonicalWire(t *testing.T) {
	ext := extension.New(quietOptions(extension.API03))
	extension.AddTool(ext, "say", "Says", func(context.Context, *extension.Call, deepest) (*extension.Result, error) { return nil, nil })
	exttest.Start(t, ext)
}

func TestAdd_afterTheStart(t *testing.T) {
	ext := one(extension.API04, echo)
	exttest.Start(t, ext)
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, `tool "more": the extension is already serving`) {
			t.Errorf("panic %q", text)
		}
	}()
	extension.AddTool(ext, "more", "One more", echo)
}

func TestExtension_servesSeveralSessions(t *testing.T) {
	ext := one(extension.API04, echo)
	first, second := exttest.Start(t, ext), exttest.Start(t, ext)
	for i, host := range []*exttest.Host{first, second, first} {
		if got := host.Call("say", textArgs{fmt.Sprint(i)}).Text; got != fmt.Sprint(i) {
			t.Errorf("session %d answers %q", i, got)
		}
	}
}

type everything struct {
	Text   string          `json:"text"`
	Count  int8            `json:"count" jsonschema:"default=7"`
	Tags   []string        `json:"tags,omitempty" jsonschema:"default=a,default=b"`
	Nested *textArgs       `json:"nested,omitempty"`
	Free   json.RawMessage `json:"free,omitempty"`
	Flag   bool            `json:"flag" jsonschema:"default=true"`
}

func TestAddTool_decodesArguments(t *testing.T) {
	ext := extension.New(nil)
	extension.AddTool(ext, "show", "Shows its arguments", func(_ context.Context, _ *extension.Call, args everything) (*extension.Result, error) {
		nested := "none"
		if args.Nested != nil {
			nested = args.Nested.Text
		}
		return extension.Text(fmt.Sprintf("%s %d %v %s %s %v", args.Text, args.Count, args.Tags, nested, args.Free, args.Flag)), nil
	})
	host := exttest.Start(t, ext)
	for arguments, want := range map[string]string{
		`{"text":"a"}`: "a 7 [a b] none  true",
		`{"text":"a","count":1,"tags":["x"],"nested":{"text":"n"},"free":[1,2],"flag":false}`: "a 1 [x] n [1,2] false",
		`{"text":"a","tags":[]}`: "a 7 [] none  true",
	} {
		if got := host.Call("show", json.RawMessage(arguments)).Text; got != want {
			t.Errorf("%s gives %q, want %q", arguments, got, want)
		}
	}
	for arguments, want := range map[string]string{
		`{"text":"a","count":300}`:         `"/arguments/count","violation":"range"`, // fits the schema, not the field
		`{"text":"a","nested":{"n":1}}`:    `"/arguments/nested/n","violation":"unknown"`,
		`{"Text":"a"}`:                     `"/arguments/Text","violation":"unknown"`,
		`{}`:                               `"/arguments/text","violation":"missing"`,
		`{"text":"a","more":1}`:            `"/arguments/more","violation":"unknown"`,
		`{"text":"a","nested":{"text":3}}`: `"/arguments/nested/text","violation":"type"`,
	} {
		_, err := host.TryCall("show", json.RawMessage(arguments))
		if err == nil || !strings.Contains(err.Error(), `"pointer":`+want) || !strings.Contains(err.Error(), "(-32602)") {
			t.Errorf("%s gives %v, want invalid params at %s", arguments, err, want)
		}
	}
}

func TestAddTool_opaqueArguments(t *testing.T) {
	ext := extension.New(nil)
	extension.AddTool(ext, "raw", "Takes any object", func(_ context.Context, _ *extension.Call, args json.RawMessage) (*extension.Result, error) {
		return extension.Text(string(args)), nil
	})
	extension.AddTool(ext, "map", "Takes a map", func(_ context.Context, _ *extension.Call, args map[string]int) (*extension.Result, error) {
		return extension.Text(fmt.Sprint(args["a"], len(args))), nil
	})
	host := exttest.Start(t, ext)
	if got := host.Call("raw", json.RawMessage(`{"b":1,"a":[null]}`)).Text; got != `{"a":[null],"b":1}` {
		t.Errorf("raw arguments %s", got)
	}
	if got := host.Call("map", map[string]int{"a": 3}).Text; got != "3 1" {
		t.Errorf("map arguments %s", got)
	}
	if _, err := host.TryCall("map", map[string]string{"a": "x"}); err == nil {
		t.Error("a map of another type is accepted")
	}
}

type report struct {
	Names []string       `json:"names"`
	Sums  map[string]int `json:"sums"`
	Note  *string        `json:"note,omitempty"`
}

func TestAddStructuredTool_contentAndText(t *testing.T) {
	for _, api := range everyAPI {
		ext := extension.New(quietOptions(api))
		extension.AddStructuredTool(ext, "nothing", "Has nothing to say", structured[report])
		extension.AddStructuredTool(ext, "fails", "Fails", func(context.Context, *extension.Call, struct{}) (*extension.Result, report, error) {
			return &extension.Result{Content: []string{"bad"}, IsError: true}, report{}, nil
		})
		extension.AddStructuredTool(ext, "detail", "Adds detail", func(context.Context, *extension.Call, struct{}) (*extension.Result, report, error) {
			return &extension.Result{Metadata: map[string]any{"k": 1}}, report{}, nil
		})
		host := exttest.Start(t, ext)
		const empty = `{"names":[],"sums":{}}` // nil slices and maps are what the schema says: empty
		structuredWant := empty
		if api == extension.API01 {
			structuredWant = ""
		}
		if r := host.Call("nothing", nil); r.Text != empty || string(r.Structured) != structuredWant || r.IsError {
			t.Errorf("API %s: text %s, structured %s", api, r.Text, r.Structured)
		}
		if r := host.Call("fails", nil); r.Text != "bad" || r.Structured != nil || !r.IsError {
			t.Errorf("API %s: text %s, structured %s", api, r.Text, r.Structured)
		}
		if r := host.Call("detail", nil); r.Text != empty || string(r.Structured) != structuredWant || (api != extension.API01) != (string(r.Metadata) == `{"k":1}`) {
			t.Errorf("API %s: text %s, structured %s, metadata %s", api, r.Text, r.Structured, r.Metadata)
		}
	}
}

type bounded struct {
	Mode  string   `json:"mode" jsonschema:"enum=on,enum=off"`
	Items []string `json:"items"`
	Free  any      `json:"free"`
}

// What the wire cannot carry is the tool's failure, not the host's trouble.
func TestAddStructuredTool_valuesThatDoNotFit(t *testing.T) {
	nested := func(levels int) any {
		value := any(1)
		for range levels {
			value = []any{value}
		}
		return value
	}
	long := strings.Repeat("x", 300_000)
	for _, test := range []struct {
		name  string
		api   extension.API
		value bounded
		want  string
	}{
		{"outside its enumeration", extension.API04, bounded{Mode: "maybe"}, `breaks its schema at "/mode"`},
		{"too large", extension.API04, bounded{Mode: "on", Items: []string{long}}, "more than 262144: return less of it"},
		{"too deep", extension.API04, bounded{Mode: "on", Free: nested(32)}, "is not JSON of at most 32 levels"},
		{"too many values", extension.API04, bounded{Mode: "on", Items: make([]string, 16384)}, "more than 16384: return less of it"},
		{"without a JSON form", extension.API04, bounded{Mode: "on", Free: func() {}}, "has no JSON form"},
		{"a fraction on 0.3", extension.API03, bounded{Mode: "on", Free: 0.5}, "API 0.3 cannot carry the result"},
		{"too deep on 0.3", extension.API03, bounded{Mode: "on", Free: nested(30)}, "API 0.3 cannot carry the result"},
		{"as deep as fits", extension.API04, bounded{Mode: "on", Free: nested(31)}, ""},
		{"as deep as fits on 0.3", extension.API03, bounded{Mode: "on", Free: nested(29)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ext := extension.New(quietOptions(test.api))
			extension.AddStructuredTool(ext, "give", "Gives", func(context.Context, *extension.Call, struct{}) (*extension.Result, bounded, error) {
				return extension.Text("given"), test.value, nil
			})
			host := exttest.Start(t, ext)
			r := host.Call("give", nil)
			if failed := test.want != ""; r.IsError != failed || !strings.Contains(r.Text, test.want) || (r.Structured == nil) != failed {
				t.Errorf("error %v, text %.200s", r.IsError, r.Text)
			}
		})
	}
}

func TestResult_bounds(t *testing.T) {
	large := map[string]any{"k": strings.Repeat("x", 65_536)}
	for _, test := range []struct {
		name   string
		api    extension.API
		result *extension.Result
		want   string // empty: it fits
	}{
		{"256 texts", extension.API04, extension.Text(make([]string, 256)...), ""},
		{"257 texts", extension.API04, extension.Text(make([]string, 257)...), "257 parts, more than 256: join some"},
		{"257 texts on 0.3", extension.API03, extension.Text(make([]string, 257)...), "257 parts, more than 256: join some"},
		{"257 texts on 0.1", extension.API01, extension.Text(make([]string, 257)...), ""},
		{"large metadata", extension.API04, &extension.Result{Metadata: large}, "metadata has 65544 bytes, more than 65536"},
		{"large metadata on 0.1", extension.API01, &extension.Result{Metadata: large}, ""},
		{"large metadata on 0.3", extension.API03, &extension.Result{Metadata: map[string]any{"k": strings.Repeat("x", 60_000)}}, ""},
		{"long key", extension.API04, &extension.Result{Metadata: map[string]any{"a": map[string]any{strings.Repeat("k", 257): 1}}}, "has 257 bytes, more than 256: shorten it"},
		{"key at the bound", extension.API04, &extension.Result{Metadata: map[string]any{strings.Repeat("k", 256): 1}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := exttest.Start(t, one(test.api, func(context.Context, *extension.Call, textArgs) (*extension.Result, error) { return test.result, nil }))
			r := host.Call("say", textArgs{})
			if r.IsError != (test.want != "") || (test.want != "" && !strings.Contains(r.Text, test.want)) {
				t.Errorf("error %v, text %.200q, want %q", r.IsError, r.Text, test.want)
			}
		})
	}
}
