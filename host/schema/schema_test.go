package schema

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func compile(t *testing.T, text string) *Schema {
	t.Helper()
	s, err := Compile(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"type":"string"}}},
		"required":["n"],"additionalProperties":false}`)
	for value, want := range map[string][]Problem{
		`{"n":1}`:                {},
		`{"n":1,"tags":["a"]}`:   {},
		`{}`:                     {{"", "missing property 'n'"}},
		`{"n":0,"tags":["a",2]}`: {{"/n", "minimum: got 0, want 1"}, {"/tags/1", "got number, want string"}},
		`{"n":1,"x":1}`:          {{"", "additional properties 'x' not allowed"}},
		`[]`:                     {{"", "got array, want object"}},
	} {
		err := s.Check(t.Context(), []byte(value))
		var mismatch *MismatchError
		if len(want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", value, err)
			}
			continue
		}
		if !errors.As(err, &mismatch) || len(mismatch.Problems) != len(want) {
			t.Errorf("%s: %v, want %v", value, err, want)
			continue
		}
		for i, p := range mismatch.Problems {
			if p != want[i] {
				t.Errorf("%s: problem %+v, want %+v", value, p, want[i])
			}
		}
	}
}

func TestMismatchError_oneLine(t *testing.T) {
	err := &MismatchError{Problems: []Problem{{"", "missing property 'n'"}, {"/a~1b", "got null, want string"}}}
	if want := `missing property 'n'; at "/a~1b": got null, want string`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestCompile_refusals(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":`:                                     "not JSON",
		`{} {}`:                                        "something follows",
		`{"type":"word"}`:                              "schema",
		`{"$ref":"https://example.com/s.json"}`:        "lies outside the schema",
		`{"$ref":"file:///etc/passwd"}`:                "lies outside the schema",
		`{"minimum":1e999999999}`:                      "exponent",
		`{"minimum":1e-0401}`:                          "exponent",
		`{"minimum":` + strings.Repeat("1", 401) + `}`: "401 bytes",
		`{"pattern":"("}`:                              "schema",
		`7`:                                            "schema",
	} {
		if _, err := Compile(t.Context(), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.40s): %v, want an error with %q", text, err, want)
		}
	}
}

func TestCheck_hostileInstance(t *testing.T) {
	s := compile(t, `{"properties":{"n":{"multipleOf":3}}}`)
	for _, value := range []string{`{"n":1e999999999}`, `{"n":[{"m":1E+401}]}`} {
		if err := s.Check(t.Context(), []byte(value)); err == nil || !strings.Contains(err.Error(), "exponent") {
			t.Errorf("%s: %v, want a refused exponent", value, err)
		}
	}
}

// TestCheck_endsWithTheContext gives a schema whose work doubles with every level.
func TestCheck_endsWithTheContext(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	const levels = 40
	for i := range levels {
		next := `{"$ref":"#/$defs/a` + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10)) + `"}`
		name := `"a` + string(rune('0'+i/10)) + string(rune('0'+i%10)) + `"`
		if i == 0 {
			name = `"a0"`
		}
		b.WriteString(name + `:{"allOf":[` + next + `,` + next + `]},`)
	}
	b.WriteString(`"a40":{"type":"string"}}}`)
	s := compile(t, b.String())
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if err := s.Check(ctx, []byte(`"x"`)); !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

func TestArguments(t *testing.T) {
	s := compile(t, `{"type":"object","$defs":{"level":{"enum":["low","high"]}},"properties":{
		"text":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}},"points":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object"},"level":{"$ref":"#/$defs/level"},"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"either":{"type":["integer","string"]},"free":{}},"additionalProperties":false}`)
	for _, c := range []struct{ words, want string }{
		{"", `{}`},
		{"text=hello world", `{"text":"hello world"}`},
		{"text=", `{"text":""}`},
		{"text=1", `{"text":"1"}`},
		{"text=a=b", `{"text":"a=b"}`},
		{`text="q"`, `{"text":"\"q\""}`},
		{"n=3", `{"n":3}`},
		{"n=-3", `{"n":-3}`},
		{"n=3.5", `{"n":3.5}`},
		{"x=3", `{"x":3}`},
		{"x=1e2", `{"x":1e2}`},
		{"on=true", `{"on":true}`},
		{"tags=a;tags=b", `{"tags":["a","b"]}`},
		{"tags=a", `{"tags":["a"]}`},
		{`tags=["a","b"]`, `{"tags":["a","b"]}`},
		{"points=1;points=2", `{"points":[1,2]}`},
		{`o={"a": 1}`, `{"o":{"a":1}}`},
		{"level=low", `{"level":"low"}`},
		{"maybe=null", `{"maybe":null}`},
		{"either=5", `{"either":5}`},
		{"either=five", `{"either":"five"}`},
		{"free=5", `{"free":5}`},
		{"free=five", `{"free":"five"}`},
		{"text=a;n=1", `{"n":1,"text":"a"}`},
	} {
		got, err := s.Arguments(words(t, c.words))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.words, got, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"n=abc":             `argument "n" wants an integer, got "abc"`,
		"n=true":            `argument "n" wants an integer, got "true"`,
		"on=1":              `argument "on" wants a boolean, got "1"`,
		"maybe=x":           `argument "maybe" wants an integer or null, got "x"`,
		"points=1;points=b": `argument "points" wants an integer, got "b"`,
		"n=1;n=2":           `argument "n" is given 2 times and is no list; give it once`,
		"txt=1":             `unknown argument "txt"; did you mean "text"?`,
		"colour=1":          `unknown argument "colour"; the tool takes either, free, level, maybe, n, o, on, points, tags, text, x`,
	} {
		if _, err := s.Arguments(words(t, text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestArguments_openSchemas(t *testing.T) {
	for _, c := range []struct{ schema, words, want string }{
		{`{}`, "a=1;b=x", `{"a":1,"b":"x"}`},
		{`{"additionalProperties":{"type":"string"}}`, "a=1", `{"a":"1"}`},
		{`{"allOf":[{"properties":{"a":{"type":"string"}}}]}`, "a=1", `{"a":"1"}`},
	} {
		got, err := compile(t, c.schema).Arguments(words(t, c.words))
		if err != nil || string(got) != c.want {
			t.Errorf("%s with %s: %s, %v; want %s", c.schema, c.words, got, err, c.want)
		}
	}
}

func TestArguments_toolWithoutAny(t *testing.T) {
	_, err := compile(t, `{"type":"object","additionalProperties":false}`).Arguments([]Word{{"a", "1"}})
	if want := `unknown argument "a"; the tool takes none`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParseWord_refusals(t *testing.T) {
	for _, text := range []string{"", "a", "=b"} {
		if _, err := ParseWord(text); err == nil {
			t.Errorf("ParseWord(%q) succeeded", text)
		}
	}
}

func words(t *testing.T, text string) []Word {
	t.Helper()
	var list []Word
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ";") {
		w, err := ParseWord(part)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}
