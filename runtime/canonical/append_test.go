package canonical

import (
	"errors"
	"strings"
	"testing"
)

func TestAppend_rewritesStrictJSON(t *testing.T) {
	for _, c := range [][2]string{
		{` { "b" : 2 , "a" : [ 1 , { } , [ ] ] } `, `{"a":[1,{},[]],"b":2}`},
		{`{"z":{"y":1,"x":[{"b":1,"a":2}]},"a":0}`, `{"a":0,"z":{"x":[{"a":2,"b":1}],"y":1}}`},
		{"{\"\U0001F600\":1,\"\uE000\":2}", "{\"\uE000\":2,\"\U0001F600\":1}"},
		{`{"\u0061":1,"\n":2,"\u0009":3}`, `{"\t":3,"\n":2,"a":1}`},
		{
			`["\/","\u0041","\u000A","\u001F","\u0022","\u005c","\u007F","\u00f8","\ud83d\udc27","\u2028","\u003c"]`,
			"[\"/\",\"A\",\"\\n\",\"\\u001f\",\"\\\"\",\"\\\\\",\"\x7f\",\"ø\",\"🐧\",\"\u2028\",\"<\"]",
		},
		{"[\r\n\t-0,-0 ,0,true,false,null]", `[0,0,0,true,false,null]`},
		{"\t\"x\" ", `"x"`},
		{` ` + brackets(33, " "), brackets(33, "")},
		{`{"a":1}`, `{"a":1}`},
	} {
		got, err := Append([]byte("keep"), []byte(c[0]))
		if err != nil || string(got) != "keep"+c[1] {
			t.Errorf("Append(%q) = %q, %v, want %q", c[0], got, err, c[1])
		}
	}
}

func TestAppend_refusesWhatHasNoSpelling(t *testing.T) {
	for _, c := range []struct {
		text   string
		class  Class
		offset int
	}{
		{` {"a":1,"b":1,"a":1}`, DuplicateKey, 14},
		{` {"a":1,"\u0061":1}`, DuplicateKey, 8},
		{` [1.5]`, Number, 2},
		{` [2.0]`, Number, 2},
		{` [-0.0]`, Number, 2},
		{` [-00]`, Number, 2},
		{` [9007199254740992]`, Number, 2},
		{` ["\ud800"]`, Surrogate, 3},
		{` ["\ud800\u0041"]`, Surrogate, 3},
		{" [\"\xff\"]", UTF8, 3},
		{" [\"\t\"]", Control, 3},
		{` ["\q"]`, Syntax, 3},
		{` [1] 2`, Trailing, 5},
		{` [1`, Syntax, 3},
		{` {"a":1`, Syntax, 7},
		{` {"a"`, Syntax, 5},
		{` {"a":1,}`, Syntax, 8},
		{` {1:1}`, Syntax, 2},
		{` ["a`, Syntax, 4},
		{` [1 2]`, Syntax, 4},
		{` `, Syntax, 1},
		{` ` + brackets(33, "1"), Depth, 34},
		{` ` + strings.Repeat("[", 100000), Depth, 34},
	} {
		got, err := Append([]byte("keep"), []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || e.Class != c.class || e.Offset != c.offset {
			t.Errorf("Append(%.40q) = %v, want class %v at %d", c.text, err, c.class, c.offset)
		}
		if string(got) != "keep" {
			t.Errorf("Append(%.40q) leaves %q behind, want the slice as it was", c.text, got)
		}
	}
}

func TestAppendString_writesTheOneSpelling(t *testing.T) {
	for _, c := range [][2]string{
		{"", `""`},
		{"plain", `"plain"`},
		{"a\"b\\c/d", `"a\"b\\c/d"`},
		{"\b\t\n\f\r\x00\x1f\x7f", "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\""},
		{"<ø\u2028🐧>", "\"<ø\u2028🐧>\""},
		{"a\xffb\xed\xa0\x80", "\"a\uFFFDb\uFFFD\uFFFD\uFFFD\""},
	} {
		if got := string(AppendString(nil, c[0])); got != c[1] {
			t.Errorf("AppendString(%q) = %s, want %s", c[0], got, c[1])
		}
		if got := string(AppendString(nil, []byte(c[0]))); got != c[1] {
			t.Errorf("AppendString([]byte(%q)) = %s, want %s", c[0], got, c[1])
		}
	}
}

func TestAppend_scalars(t *testing.T) {
	b := AppendKey([]byte("{"), "k\n")
	b = AppendInt(b, -MaxInteger)
	b = AppendNull(AppendBool(AppendKey(append(b, ','), "l"), true))
	if got, want := string(b), `{"k\n":-9007199254740991,"l":truenull`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("an integer outside the portable range has no spelling and must panic")
		}
	}()
	AppendInt(nil, MaxInteger+1)
}
