package profile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
)

func TestParse(t *testing.T) {
	p, err := profile.Parse("conform.toml", []byte(`
[[call]]
tool = "count"
arguments = { text = "a b" }

[slow]
tool = "wait"

[failing]
tool = "break"
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Call[0]; got.Tool != "count" || got.Expect != profile.OK || got.Arguments["text"] != "a b" {
		t.Errorf("call: got %+v", got)
	}
	if p.Slow.Expect != profile.OK || p.Failing.Expect != profile.ToolError || p.Slow.Arguments == nil {
		t.Errorf("defaults: got slow %+v, failing %+v", p.Slow, p.Failing)
	}
}

func TestParse_refuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "[slow]\ntool = \"x\"\nargs = {}\n", `conform.toml:3: unknown key "slow.args"`},
		{"two unknown keys", "colour = 1\nsize = 2\n", `conform.toml:2: unknown key "size"`},
		{"wrong type", "call = 3\n", "conform.toml:1: "},
		{"no tool", "[[call]]\nexpect = \"ok\"\n", `conform.toml:1: call 1: the key "tool" is missing`},
		{"bad outcome", "[slow]\ntool = \"x\"\nexpect = \"fine\"\n", `conform.toml:3: slow: expect is "fine"`},
		{"no number", "[slow]\ntool = \"x\"\narguments = { a = [nan] }\n", "conform.toml:3: slow: nan: JSON has neither inf nor nan; write a number, or a string"},
		{"no number of a hook", "[[hook]]\nname = \"x\"\npayload = { a = inf }\n", "conform.toml:3: hook 1: inf: JSON has neither inf nor nan"},
		{"no number with a sign", "[slow]\ntool = \"x\"\narguments.a = -inf\n", "conform.toml:3: slow: -inf: JSON has"},
		{"no number in a table of its own", "[[call]]\ntool = \"x\"\n[call.arguments]\nb = 1\na = +nan\n", "conform.toml:5: call 1: +nan: JSON has"},
		{"a date", "[slow]\ntool = \"x\"\narguments = { a = 2020-02-29 }\n", `conform.toml:3: slow: 2020-02-29 is a date or a time, which JSON has not; write a string: "2020-02-29"`},
		{"a time in a list", "[[call]]\ntool = \"x\"\n[[call]]\ntool = \"y\"\narguments.b = [\n  1,\n  [07:32:00],\n]\n", "conform.toml:7: call 2: 07:32:00 is a date or a time"},
		{"a date and a time", "[[call]]\ntool = \"x\"\n[call.arguments.deep]\nb = 1\na = 2020-02-29T07:32:00\n", "conform.toml:5: call 1: 2020-02-29T07:32:00 is a date or a time"},
		{"a moment", "[failing]\ntool = \"x\"\narguments = { a = { b = 2020-02-29T07:32:00Z } }\n", "conform.toml:3: failing: 2020-02-29T07:32:00Z is a date or a time"},
		{"a date of a hook", "[[hook]]\nname = \"x\"\npayload = { a = 2020-02-29 }\n", "conform.toml:3: hook 1: 2020-02-29 is a date or a time"},
		{"a date for a table", "slow.tool = \"x\"\nslow.arguments.a = 2020-02-29\n", "conform.toml:2: slow: 2020-02-29 is a date or a time"},
		{"no name of the second command", "[[command]]\nname = \"x\"\n[[command]]\n", `conform.toml:3: command 2: the key "name" is missing`},
		{"no toml", "[[call\n", "conform.toml:1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := profile.Parse("conform.toml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to contain %q", err, tt.want)
			}
			var p profile.Problem
			if !errors.As(err, &p) {
				t.Errorf("got a %T, want a Problem in it", err)
			}
		})
	}
}

// TestParse_values: whatever else TOML can say is sent as JSON.
func TestParse_values(t *testing.T) {
	text := `[slow]
tool = "x"
[slow.arguments]
hex = 0x10
octal = 0o7
grouped = 1_000
least = -9223372036854775808
part = 1.5
power = 1e5
flag = true
plain = 'a\b'
lines = """
x"""
mixed = [1, "a", [], {}]
deep.er = { a.b = 1 }
`
	p, err := profile.Parse("conform.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(p.Slow.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"deep":{"er":{"a":{"b":1}}},"flag":true,"grouped":1000,"hex":16,"least":-9223372036854775808,"lines":"x","mixed":[1,"a",[],{}],"octal":7,"part":1.5,"plain":"a\\b","power":100000}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestProfile_Unknown(t *testing.T) {
	p, err := profile.Parse("conform.toml", []byte("[[call]]\ntool = \"a\"\n\n[[call]]\narguments = {}\ntool = \"b\"\n[failing]\ntool = \"c\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Unknown("conform.toml", []string{"a", "b", "c"}); err != nil {
		t.Errorf("got %v, want nothing", err)
	}
	err = p.Unknown("conform.toml", []string{"a", "x"})
	want := "conform.toml:6: call 2: the extension has no tool \"b\"; it announces a, x\nconform.toml:8: failing: the extension has no tool \"c\"; it announces a, x"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestProfile_Unspellable(t *testing.T) {
	p, err := profile.Parse("conform.toml", []byte("[[call]]\ntool = \"x\"\narguments = { a = 0.5 }\n[[hook]]\nname = \"h\"\npayload = { b = 9007199254740993 }\n"))
	if err != nil {
		t.Fatal(err)
	}
	for api, want := range map[string][]string{"0.4": nil, dialect.CanonicalAPI: {"conform.toml:3: call 1: ", "conform.toml:6: hook 1: "}} {
		d, err := dialect.For(api)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Unspellable("conform.toml", d.Spellable)
		if (got == nil) != (want == nil) {
			t.Errorf("API %s: got %v", api, got)
		}
		for _, part := range want {
			if got == nil || !strings.Contains(got.Error(), part) {
				t.Errorf("API %s: got %v, want it to contain %q", api, got, part)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name, schema string
		want         map[string]any
	}{
		{"no properties", `{"type":"object"}`, map[string]any{}},
		{"required only", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}`, map[string]any{"b": "octet"}},
		{"default first", `{"type":"object","properties":{"a":{"type":"integer","default":7,"examples":[8]}},"required":["a"]}`, map[string]any{"a": 7.0}},
		{
			"bounds", `{"type":"object","properties":{"n":{"type":"integer","minimum":5},"s":{"type":"string","maxLength":2},"l":{"type":"array","minItems":2,"items":{"type":"boolean"}}},"required":["l","n","s"]}`,
			map[string]any{"n": 5, "s": "oc", "l": []any{false, false}},
		},
		{
			"bounds with fractions", `{"type":"object","properties":{"a":{"type":"number","minimum":0.2,"maximum":0.9},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"c":{"type":"integer","minimum":1.5},"d":{"type":"number","maximum":-0.5}},"required":["a","b","c","d"]}`,
			map[string]any{"a": 0.2, "b": 0.5, "c": 2, "d": -1},
		},
		{"nullable", `{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["x"]}`, map[string]any{"x": "octet"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := profile.Arguments(json.RawMessage(tt.schema))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	for _, schema := range []string{
		`{"type":"string"}`, `{"type":"object","required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^x$"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":1}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"number","multipleOf":7}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"integer"}}},"required":["a"]}`,
		`{"type":"object","minProperties":1}`,
	} {
		if got, err := profile.Arguments(json.RawMessage(schema)); err == nil {
			t.Errorf("schema %s: got %v, want an error", schema, got)
		}
	}
}

func TestDraft(t *testing.T) {
	text := profile.Draft([]profile.Tool{
		{Name: "count", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","default":"a \"b\""},"é":{"type":"array","default":[1,2.5,{"x":null}]}},"required":["text","é"]}`)},
		{Name: "find", Parameters: json.RawMessage(`{"type":"object","properties":{"re":{"type":"string","pattern":"^x$"}},"required":["re"]}`)},
	})
	p, err := profile.Parse("conform.toml", text)
	if err != nil {
		t.Fatalf("the draft is no profile: %v\n%s", err, text)
	}
	if len(p.Call) != 1 || p.Call[0].Tool != "count" || p.Call[0].Arguments["text"] != `a "b"` {
		t.Errorf("calls: got %+v", p.Call)
	}
	if want := "# No arguments can be made up for \"find\": re: a string has the pattern \"^x$\".\n# [[call]]\n# tool = \"find\"\n"; !strings.Contains(string(text), want) {
		t.Errorf("got:\n%s\nwant in it:\n%s", text, want)
	}
}

var update = flag.Bool("update", false, "rewrite the published schema")

func TestSchema_isCurrent(t *testing.T) {
	want, err := profile.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(profile.SchemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(profile.SchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; run 'go test ./features/profile -update'", profile.SchemaFile)
	}
}

func TestLoad_findsTheSetupBesideTheProfile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, profile.FileName)
	if err := os.WriteFile(path, []byte("setup = \"old\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Load(path); err == nil || !strings.Contains(err.Error(), "is no directory") {
		t.Errorf("a setup that is not there: got %v, want a problem", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(path)
	if err != nil || p.Setup != filepath.Join(dir, "old") {
		t.Errorf("got %+v, %v; want the path of the directory", p, err)
	}
}
