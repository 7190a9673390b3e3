package wirejson

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var accepted = []string{
	`null`, `true`, `false`, `0`, `-0`, `-1`, `10`, `1.5`, `1e9`, `1E+9`, `0.1e-2`, `""`, `"a"`, `"\u0041"`, `"\ud83d\udc27"`, `"\/"`,
	"\"\x7f\"", `[]`, `[ ]`, `[1]`, `[1,2]`, `[[],{}]`, `{}`, `{ }`, `{"a":1}`, `{"b":1,"a":2}`, `{"":0}`, ` {"a" : [ 1 , 2 ] } `,
	"\t\r\n1", `"é"`, "\"\u2028\"", `{"a":{"a":1},"b":{"a":1}}`,
}

var refused = map[string]string{ // text: part of the reason
	``:                         "ends where a value is due",
	` `:                        "ends where a value is due",
	`nul`:                      "true, false or null",
	`nullx`:                    "behind the value",
	`TRUE`:                     "no JSON value",
	`01`:                       "no JSON number",
	`-`:                        "no JSON number",
	`1.`:                       "no JSON number",
	`.5`:                       "no JSON value",
	`1e`:                       "no JSON number",
	`+1`:                       "no JSON value",
	`NaN`:                      "no JSON value",
	`"`:                        "closing quote",
	`"\`:                       "no legal escape",
	`"\x"`:                     "no legal escape",
	`"\u12"`:                   "no legal escape",
	`"\ud800"`:                 "surrogate",
	`"\udc00"`:                 "surrogate",
	`"\ud800\u0041"`:           "surrogate",
	`"\ud800\ud800"`:           "surrogate",
	"\"\x00\"":                 "control character",
	"\"\n\"":                   "control character",
	"\"\x1f\"":                 "control character",
	"\"\xff\"":                 "UTF-8",
	"\"\xc0\xaf\"":             "UTF-8",
	"\"\xed\xa0\x80\"":         "UTF-8",
	"\"\xf4\x90\x80\x80\"":     "UTF-8",
	"\"\xe2\x82\"":             "UTF-8",
	"\xef\xbb\xbf{}":           "no JSON value",
	`[`:                        "ends where a value is due",
	`[1`:                       "comma or closing bracket",
	`[1,]`:                     "no JSON value",
	`[,1]`:                     "no JSON value",
	`[1 2]`:                    "comma or closing bracket",
	`{`:                        "member name",
	`{"a"`:                     "colon",
	`{"a":`:                    "ends where a value is due",
	`{"a":1`:                   "comma or closing brace",
	`{"a":1,}`:                 "member name",
	`{a:1}`:                    "member name",
	`{"a" 1}`:                  "colon",
	`{}{}`:                     "behind the value",
	`1 2`:                      "behind the value",
	`{"a":1,"a":2}`:            `member "a" comes twice`,
	`{"b":1,"a":2,"b":3}`:      `member "b" comes twice`,
	`{"a":1,"\u0061":2}`:       `member "a" comes twice`,
	`{"\u0062":1,"a":0,"b":2}`: `member "b" comes twice`,
	`{"a":{"b":1,"b":2}}`:      `member "b" comes twice`,
	"{\"a\":1}\x00":            "behind the value",
	"[1]\v":                    "behind the value",
	`/**/1`:                    "no JSON value",
}

func TestParse_acceptsStrictJSON(t *testing.T) {
	for _, text := range accepted {
		d, err := Parse([]byte(text), DefaultMaxDepth)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		d.Release()
	}
}

func TestParse_refusesEverythingElse(t *testing.T) {
	for text, reason := range refused {
		d, err := Parse([]byte(text), DefaultMaxDepth)
		if err == nil {
			d.Release()
			t.Errorf("%q was accepted", text)
			continue
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: got a %T, want a *SyntaxError", text, err)
		}
		if !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: got %q, want something about %q", text, err, reason)
		}
		if syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Errorf("%q: offset %d lies outside the text", text, syntax.Offset)
		}
	}
}

func TestParse_countsLevelsFromTheRoot(t *testing.T) {
	nested := func(n int, inside string) []byte {
		return []byte(strings.Repeat("[", n) + inside + strings.Repeat("]", n))
	}
	for _, c := range []struct {
		text []byte
		ok   bool
	}{
		{nested(33, ""), true},
		{nested(34, ""), false},
		{nested(32, "1"), true},
		{nested(33, "1"), false},
		{[]byte(`{"a":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`), false},
		{[]byte(`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`), true},
	} {
		d, err := Parse(c.text, 32)
		if ok := err == nil; ok != c.ok {
			t.Errorf("%s: accepted %t, want %t", c.text, ok, c.ok)
		}
		if err == nil {
			d.Release()
		}
	}
}

func TestParse_findsTheLaterOfManyDuplicates(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"z":0`)
	for i := range 500 {
		b.WriteString(`,"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('0'+i/26)) + `":0`)
	}
	unique := b.String() + "}"
	if _, err := Parse([]byte(unique), 4); err != nil {
		t.Fatalf("distinct members: %v", err)
	}
	_, err := Parse([]byte(b.String()+`,"z":1}`), 4)
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != b.Len()+1 {
		t.Errorf("got %v, want the member at byte %d", err, b.Len()+1)
	}
}

func TestParse_doesNotKeepItsNodesForGiants(t *testing.T) {
	text := []byte("[" + strings.Repeat("0,", 3*maxPooledNodes) + "0]")
	d, err := Parse(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	d.Release()
	again, err := Parse([]byte(`1`), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	if cap(again.nodes) > maxPooledNodes {
		t.Errorf("a small text got %d nodes of a giant", cap(again.nodes))
	}
}

func TestParse_needsFewAllocations(t *testing.T) {
	text := []byte(`{"arguments":{"path":"a/b","text":"count"},"context":{},"name":"word_count"}`)
	allocations := testing.AllocsPerRun(200, func() {
		d, err := Parse(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		d.Release()
	})
	if allocations > 1 {
		t.Errorf("%v allocations a text, want at most 1", allocations)
	}
}

// FuzzParse holds the reader against an independent strict reader, and the canonical writer against
// itself.
func FuzzParse(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for text := range refused {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		d, err := Parse(text, 9_000)
		if want := jsontext.Value(text).IsValid(); want != (err == nil) {
			t.Fatalf("accepted %t (%v), the other reader %t", err == nil, err, want)
		}
		if err != nil {
			return
		}
		defer d.Release()
		once := d.Root().AppendCanonical(nil)
		if length := d.encodedLen(0); length != len(once) {
			t.Fatalf("encodedLen says %d, the encoding has %d bytes", length, len(once))
		}
		again, err := Parse(once, 9_000)
		if err != nil {
			t.Fatalf("the canonical spelling %q is refused: %v", once, err)
		}
		defer again.Release()
		if !again.nodes[0].canonical {
			t.Fatalf("the canonical spelling %q is not recognised as such", once)
		}
		if twice := again.Root().AppendCanonical(nil); string(twice) != string(once) {
			t.Fatalf("canonical twice gives %q, once %q", twice, once)
		}
		if d.nodes[0].canonical && string(once) != string(trim(text)) {
			t.Fatalf("%q counts as canonical and is written as %q", text, once)
		}
	})
}

// trim removes the white space that may stand around a text.
func trim(text []byte) []byte { return []byte(strings.Trim(string(text), " \t\r\n")) }
