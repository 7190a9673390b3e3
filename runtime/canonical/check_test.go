package canonical

import (
	"errors"
	"strings"
	"testing"
)

// brackets is n opening brackets, inside, and n closing ones.
func brackets(n int, inside string) string {
	return strings.Repeat("[", n) + inside + strings.Repeat("]", n)
}

var accepted = []string{
	`{"a":1,"b":2}`,
	`{"B":0,"a":0}`,
	`{"10":0,"9":0}`,
	`{"a":0,"a b":0,"ab":0}`,
	"{\"\uE000\":0,\"\U0001F600\":0}",
	`{"":0}`,
	`{"":0,"a":1}`,
	`{}`, `[]`, `null`, `true`, `false`, `0`, `""`, `[{}]`, `[[],[]]`, `[{"a":[]},{"a":[]}]`,
	`{"n":-5}`,
	`{"n":9007199254740991}`,
	`{"n":-9007199254740991}`,
	`[10,-10,1000000000000000]`,
	`{"s":"a/b"}`,
	`{"s":"\n"}`,
	`["\"\\\b\t\n\f\r"]`,
	`{"s":"\u001f"}`,
	`["\u0000\u0001\u0007\u000b\u000e\u0010\u001a\u001e"]`,
	"{\"s\":\"\x7f\"}",
	`{"s":"ø"}`,
	"[\"\U0001F427 at the end of a long string of text\"]",
	"[\"\u2028\u2029\uFEFF\u0080\u009F\uFFFE\uFFFF\uE000\U0010FFFF<>&\"]",
	"[\"e\u0301\"]",
	brackets(33, ""),
	brackets(32, "1"),
	brackets(32, "{}"),
	// Keys with escapes sort by what they stand for: backspace, tab, U+001F, space, quote, letter.
	`{"\b":0,"\t":0,"\u001f":0," ":0,"\"":0,"A":0,"\\":0,"a":0}`,
	`{"a\u0000":0,"a\t":0,"a ":0,"a\"":0,"aa":0}`,
	`{"\\":0,"]":0}`,
	`{"a":{"b":1},"b":{"a":1}}`,
	`{"id":1,"jsonrpc":"2.0","method":"shutdown","params":{}}`,
	`{"a":"\\\\\\\"","b":0}`,
}

var refused = []struct {
	text   string
	class  Class
	offset int
}{
	{`{"b":2,"a":1}`, KeyOrder, 8},
	{`{"a":0,"B":0}`, KeyOrder, 8},
	{`{"9":0,"10":0}`, KeyOrder, 8},
	{`{"ab":0,"a":0}`, KeyOrder, 9},
	{"{\"\U0001F600\":0,\"\uE000\":0}", KeyOrder, 11},
	{`{"a":0,"\"":0}`, KeyOrder, 8},
	{`{" ":0,"\t":0}`, KeyOrder, 8},
	{`{"]":0,"\\":0}`, KeyOrder, 8},
	{`{"\t":0,"\b":0}`, KeyOrder, 9},
	{`{"a":0,"":0}`, KeyOrder, 8},
	{`[{"a":1,"b":[1,{"x":"y"}]},{"b":1,"a":1}]`, KeyOrder, 35},
	{`{"k":1,"k":1}`, DuplicateKey, 8},
	{`{"\n":1,"\n":1}`, DuplicateKey, 9},
	{`{"a":1,"b":2,"a":3}`, DuplicateKey, 14},
	{`{"a":{"x":"]}"},"b":[1,[]],"c":-1,"a":3}`, DuplicateKey, 35},
	{`{"a":1,"b":{"c":1},"c":1,"b":2}`, DuplicateKey, 26},
	{`{"x":[],"y":"a","z":{},"x":0}`, DuplicateKey, 24},
	{`{"a":true,"b":-12,"c":{"a":null},"d":"x","b":0}`, DuplicateKey, 42},
	{`{"a":true,"c":-12,"d":{"b":null},"e":"b","b":0}`, KeyOrder, 42},
	{`{"k":1,"\u006b":1}`, Escape, 8},
	{`{"a": 1}`, Whitespace, 5},
	{`{"a" :1}`, Whitespace, 4},
	{`{ "a":1}`, Whitespace, 1},
	{`{"a":1 }`, Whitespace, 6},
	{`{"a":1, "b":2}`, Whitespace, 7},
	{` {"a":1}`, Whitespace, 0},
	{`{"a":1} `, Whitespace, 7},
	{"{\"a\":1}\r", Whitespace, 7},
	{"[1,\t2]", Whitespace, 3},
	{"[ ]", Whitespace, 1},
	{"{\n}", Whitespace, 1},
	{`{"n":-0}`, Number, 5},
	{`{"n":2.0}`, Number, 5},
	{`{"n":2e1}`, Number, 5},
	{`{"n":2E1}`, Number, 5},
	{`{"n":02}`, Number, 5},
	{`{"n":-02}`, Number, 5},
	{`{"n":-}`, Number, 5},
	{`{"n":+1}`, Number, 5},
	{`{"n":.5}`, Number, 5},
	{`{"n":9007199254740992}`, Number, 5},
	{`{"n":-9007199254740992}`, Number, 5},
	{`[10000000000000000]`, Number, 1},
	{`[99999999999999999999]`, Number, 1},
	{`{"n":NaN}`, Syntax, 5},
	{`{"s":"a\/b"}`, Escape, 7},
	{`{"s":"\u000a"}`, Escape, 6},
	{`{"s":"\u001F"}`, Escape, 6},
	{`{"s":"\u0008"}`, Escape, 6},
	{`{"s":"\u007f"}`, Escape, 6},
	{`{"s":"\u00f8"}`, Escape, 6},
	{`{"s":"\u003c"}`, Escape, 6},
	{`{"s":"\u0022"}`, Escape, 6},
	{`{"s":"\u2028"}`, Escape, 6},
	{`{"s":"\uD83D\uDC27"}`, Escape, 6},
	{`{"s":"\ud83d\udc27"}`, Escape, 6},
	{`{"s":"\udc00"}`, Surrogate, 6},
	{`{"s":"\ud83d"}`, Surrogate, 6},
	{`{"s":"\ud83dx"}`, Surrogate, 6},
	{`{"s":"\ud83d\ud83d"}`, Surrogate, 6},
	{`{"\udc00":1}`, Surrogate, 2},
	{`{"s":"\x"}`, Syntax, 6},
	{`{"s":"\u12g4"}`, Syntax, 6},
	{`{"s":"\u12`, Syntax, 6},
	{`{"s":"\`, Syntax, 6},
	{`{"s":"`, Syntax, 6},
	{"[\"\t\"]", Control, 2},
	{"[\"0123456789\x00\"]", Control, 12},
	{"[\"\xED\xA0\x80\"]", UTF8, 2},
	{"[\"\xC0\xAF\"]", UTF8, 2},
	{"[\"\xC1\xBF\"]", UTF8, 2},
	{"[\"\xE0\x9F\xBF\"]", UTF8, 2},
	{"[\"\xF0\x8F\xBF\xBF\"]", UTF8, 2},
	{"[\"\xF4\x90\x80\x80\"]", UTF8, 2},
	{"[\"\xF5\x80\x80\x80\"]", UTF8, 2},
	{"[\"\xE2\x82\"]", UTF8, 2},
	{"[\"\x80\"]", UTF8, 2},
	{"[\"\xFF\"]", UTF8, 2},
	{"[\"\xC3", UTF8, 2},
	{"[\"abcdefg\xC3\x28hi\"]", UTF8, 9},
	{"\xFF", UTF8, 0},
	{"\xEF\xBB\xBF{\"a\":1}", BOM, 0},
	{`{"a":1}{"b":2}`, Trailing, 7},
	{`nullx`, Trailing, 4},
	{`{"a":1} x`, Trailing, 7},
	{`[1,2,]`, Syntax, 5},
	{`{"a":1,}`, Syntax, 7},
	{`{"a"}`, Syntax, 4},
	{`{"a":}`, Syntax, 5},
	{`{a:1}`, Syntax, 1},
	{`[1 2]`, Whitespace, 2},
	{`[1;2]`, Syntax, 2},
	{`[1}`, Syntax, 2},
	{`{"a":1]`, Syntax, 6},
	{`]`, Syntax, 0},
	{``, Syntax, 0},
	{`[`, Syntax, 1},
	{`{`, Syntax, 1},
	{`{"a"`, Syntax, 4},
	{`{"a":`, Syntax, 5},
	{`[1`, Syntax, 2},
	{`nul`, Syntax, 0},
	{`True`, Syntax, 0},
	{`'a'`, Syntax, 0},
	{brackets(34, ""), Depth, 33},
	{brackets(33, "1"), Depth, 33},
	{strings.Repeat(`{"a":`, 33) + `0` + strings.Repeat(`}`, 33), Depth, 165},
	{strings.Repeat("[", 1000), Depth, 33},
}

func TestCheck_acceptsTheOneSpelling(t *testing.T) {
	for _, text := range accepted {
		if err := Check([]byte(text)); err != nil {
			t.Errorf("Check(%q) = %v, want accepted", text, err)
		}
	}
}

func TestCheck_namesClassAndOffset(t *testing.T) {
	for _, c := range refused {
		err := Check([]byte(c.text))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Check(%q) = %v, want an *Error of class %v", c.text, err, c.class)
			continue
		}
		if e.Class != c.class || e.Offset != c.offset {
			t.Errorf("Check(%q) = %v at %d, want %v at %d", c.text, e.Class, e.Offset, c.class, c.offset)
		}
		if !strings.Contains(e.Error(), c.class.String()) || e.Detail == "" {
			t.Errorf("Check(%q) reads %q: it must name its class and what belongs there", c.text, e)
		}
	}
}

func TestClasses_haveOneCaseEach(t *testing.T) {
	seen := map[Class]bool{}
	for _, c := range refused {
		seen[c.class] = true
	}
	for _, c := range Classes() {
		if !seen[c] {
			t.Errorf("no refused text shows class %q", c)
		}
	}
}

// The whole code space, at every distance from the eight-byte steps of the fast path.
func TestCheck_everyByteAtEveryAlignment(t *testing.T) {
	for pad := range 17 {
		for c := range 256 {
			text := `"` + strings.Repeat("x", pad) + string([]byte{byte(c)}) + strings.Repeat("y", 16-pad) + `"`
			legal := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
			if got := Check([]byte(text)) == nil; got != legal {
				t.Fatalf("Check(%q) accepted: %v, want %v", text, got, legal)
			}
		}
	}
}

func TestCheck_everyScalar(t *testing.T) {
	for r := rune(0x80); r <= 0x10FFFF; r++ {
		if r == 0xD800 {
			r = 0xE000
		}
		if err := Check([]byte(`"` + string(r) + `"`)); err != nil {
			t.Fatalf("Check refuses U+%04X: %v", r, err)
		}
	}
}

func TestCheck_allocatesNothing(t *testing.T) {
	text := []byte(`{"error":{"code":-32800,"message":"request cancelled"},"id":"q\n1","jsonrpc":"2.0","x":[1,{"a":"ø"}]}`)
	var o Outline
	if n := testing.AllocsPerRun(100, func() {
		if Check(text) != nil || Scan(text, &o) != nil {
			t.Fatal("the text is canonical")
		}
	}); n != 0 {
		t.Errorf("accepting allocates %v times, want 0", n)
	}
}

func TestScan_reportsRootMembers(t *testing.T) {
	const text = `{"a":{"x":[1,2]},"b\n":"s","c":-1,"d":null}`
	want := [][2]string{{"a", `{"x":[1,2]}`}, {`b\n`, `"s"`}, {"c", "-1"}, {"d", "null"}}
	var o Outline
	if err := Scan([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if !o.Object || o.N != len(want) {
		t.Fatalf("object %v with %d members, want an object with %d", o.Object, o.N, len(want))
	}
	for n, w := range want {
		m := o.Members[n]
		if key, value := text[m.KeyStart:m.KeyEnd], text[m.ValueStart:m.ValueEnd]; key != w[0] || value != w[1] {
			t.Errorf("member %d is %q: %q, want %q: %q", n, key, value, w[0], w[1])
		}
	}
	for _, other := range []string{`[{"a":1}]`, `"x"`, `{}`} {
		if err := Scan([]byte(other), &o); err != nil || o.N != 0 || o.Object != (other == `{}`) {
			t.Errorf("Scan(%s) = %v, object %v, %d members", other, err, o.Object, o.N)
		}
	}
	many := `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":8,"i":{},"j":0}`
	if err := Scan([]byte(many), &o); err != nil || o.N != 10 {
		t.Fatalf("Scan(%s) = %v with %d members, want 10", many, err, o.N)
	}
	if m := o.Members[MaxMembers-1]; many[m.ValueStart:m.ValueEnd] != "8" {
		t.Errorf("the last recorded member is %q, want 8", many[m.ValueStart:m.ValueEnd])
	}
}
