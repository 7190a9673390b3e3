package steps

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
)

func world(t *testing.T, api string) *World {
	t.Helper()
	d, err := dialect.For(api)
	if err != nil {
		t.Fatal(err)
	}
	p := &profile.Profile{Call: []profile.Call{{Tool: "count", Arguments: map[string]any{"n": 1}, Expect: profile.OK}}}
	return NewWorld(&Setup{Dialect: d, Profile: p}, "", nil)
}

func TestExpand(t *testing.T) {
	w := world(t, "0.3")
	w.running = []string{"7"}
	tests := []struct{ text, want string }{
		{`{"id":«id»}`, `{"id":1}`},
		{`«running»`, `7`},
		{`«hex ED A0 80»`, "\xed\xa0\x80"},
		{`«nest 2»«nest 1 0»`, `[[]][0]`},
		{`«repeat 3 ab»`, `ababab`},
		{`[«list 2 "n%d"»]`, `["n0","n1"]`},
		{`"«fill 8»"`, `"xxxxxx"`},
		{`«tool» «arguments»`, `"count" {"n":1}`},
	}
	for _, tt := range tests {
		if got, err := w.expand(tt.text); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
	if w.last != "7" {
		t.Errorf("expectations are about %q, want the call that runs", w.last)
	}
	for _, text := range []string{`«nothing»`, `«hex X»`, `«fill 1»long`, `«repeat x y»`} {
		if got, err := w.expand(text); err == nil {
			t.Errorf("%s: got %q, want an error", text, got)
		}
	}
}

func TestExpand_fillsToTheBoundInForce(t *testing.T) {
	w := world(t, "0.3")
	for text, want := range map[string]int{"«fill max»": 1 << 20, "«fill max+1»": 1<<20 + 1} {
		if got, err := w.expand(text); err != nil || len(got) != want {
			t.Errorf("%s: %d bytes, %v, want %d", text, len(got), err, want)
		}
	}
	w.result = json.RawMessage(`{"contract":{"limits":{"max_frame_bytes":100}}}`)
	if got, err := w.expand("«fill max»"); err != nil || len(got) != 100 {
		t.Errorf("behind a selection: %d bytes, %v, want 100", len(got), err)
	}
}

func TestChange(t *testing.T) {
	tree := func() any {
		return dialect.Object{"a": dialect.Object{"b": []any{"x", "y"}}, "c/d": 1}
	}
	tests := []struct {
		c    change
		want string
	}{
		{change{pointer: "/a/b/0", value: "z"}, `{"a":{"b":["z","y"]},"c/d":1}`},
		{change{pointer: "/a/b/-", value: "z"}, `{"a":{"b":["x","y","z"]},"c/d":1}`},
		{change{pointer: "/a/b/0", remove: true}, `{"a":{"b":["y"]},"c/d":1}`},
		{change{pointer: "/a", remove: true}, `{"c/d":1}`},
		{change{pointer: "/c~1d", value: nil}, `{"a":{"b":["x","y"]},"c/d":null}`},
		{change{pointer: "/n/m", value: 2}, `{"a":{"b":["x","y"]},"c/d":1,"n":{"m":2}}`},
		{change{pointer: "", value: 3}, `3`},
	}
	for _, tt := range tests {
		got, err := tt.c.apply(tree())
		if err != nil || string(dialect.Encode(got)) != tt.want {
			t.Errorf("%+v: got %s, %v, want %s", tt.c, dialect.Encode(got), err, tt.want)
		}
	}
	for _, pointer := range []string{"/a/b/5", "/a/b/x", "/c~1d/e"} {
		if got, err := (change{pointer: pointer, value: 1}).apply(tree()); err == nil {
			t.Errorf("%s: got %v, want an error", pointer, got)
		}
	}
}

func TestLookup(t *testing.T) {
	doc := json.RawMessage(`{"a":[{"b":null}],"":1}`)
	for pointer, want := range map[string]string{"/a/0/b": "null", "/a/0": `{"b":null}`, "/": "1", "": string(doc)} {
		if got, ok := lookup(doc, pointer); !ok || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", pointer, got, ok, want)
		}
	}
	for _, pointer := range []string{"/a/1", "/a/x", "/b", "/a/0/b/c"} {
		if got, ok := lookup(doc, pointer); ok {
			t.Errorf("%q: got %s, want nothing", pointer, got)
		}
	}
}

func TestAnswerHas(t *testing.T) {
	w := world(t, "0.4")
	w.answer.Fields = map[string]json.RawMessage{"error": json.RawMessage(`{"message":"Method not found: x","data":{"n":[1,2.0]}}`)}
	for _, tt := range []struct {
		pointer, how, want string
		ok                 bool
	}{
		{"/error/data", "=", `{"n":[1,2.0]}`, true},
		{"/error/data", "=", `{"n":[1,2]}`, false},
		{"/error/message", "~", "found: x", true},
		{"/error/message", "~", "y", false},
		{"/result", "=", "absent", true},
		{"/error", "=", "absent", false},
		{"/result/is_error", "=", "true or absent", true},
		{"/result", "=", "1", false},
	} {
		if err := w.answerHas(tt.pointer, tt.how, tt.want); (err == nil) != tt.ok {
			t.Errorf("%s %s %s: got %v", tt.pointer, tt.how, tt.want, err)
		}
	}
}

// Every phrase has a handler of a shape that can be registered.
func TestVocabulary_binds(t *testing.T) {
	for _, p := range Vocabulary() {
		if reflect.TypeOf(bind(p.Do)).Kind() != reflect.Func || strings.HasPrefix(p.Expr, "^") {
			t.Errorf("phrase %q cannot be registered", p.Expr)
		}
	}
}
