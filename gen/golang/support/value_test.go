package wirejson

import (
	"fmt"
	"testing"
)

func parse(t *testing.T, text string) Value {
	t.Helper()
	d, err := Parse([]byte(text), DefaultMaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Release)
	return d.Root()
}

func TestValue_readsEachKind(t *testing.T) {
	v := parse(t, ` {"s":"a\u00e9\n","n":-12,"f":1.50,"t":true,"z":null,"l":[1,[2,3],4],"o":{"k\u0021":{}}} `)
	if got := v.Member("s").Text(); got != "aé\n" {
		t.Errorf("text %q", got)
	}
	if !v.Member("s").TextEquals("aé\n") || v.Member("n").TextEquals("-12") {
		t.Error("TextEquals compares the decoded text of strings only")
	}
	if got := v.Member("n").Int(); got != -12 {
		t.Errorf("int %d", got)
	}
	if got := v.Member("f").Number(); got != "1.50" {
		t.Errorf("number %q", got)
	}
	if !v.Member("t").Bool() || v.Member("z").Bool() {
		t.Error("Bool is true for true alone")
	}
	if !v.Member("z").IsNull() || v.Member("none").Kind() != KindInvalid {
		t.Error("null and absent must differ")
	}
	if got := v.Member("l").Len(); got != 3 {
		t.Errorf("array of %d", got)
	}
	if got := v.Len(); got != 7 {
		t.Errorf("object of %d", got)
	}
	var seen []string
	for e := v.Member("l").Elements(); e.Next(); {
		seen = append(seen, string(e.Value().Source()))
	}
	if got := fmt.Sprint(seen); got != "[1 [2,3] 4]" {
		t.Errorf("elements %s", got)
	}
	for m := v.Member("o").Members(); m.Next(); {
		if string(m.Key()) != "k!" || m.Value().Kind() != KindObject {
			t.Errorf("member %q of kind %s", m.Key(), m.Value().Kind())
		}
	}
}

func TestValue_ofAnotherKindReadsAsNothing(t *testing.T) {
	for _, text := range []string{`null`, `true`, `1`, `"x"`, `[]`, `{}`} {
		v := parse(t, text)
		if v.Kind() != KindString && v.Text() != "" || v.Kind() != KindNumber && (v.Int() != 0 || v.Number() != "") {
			t.Errorf("%s reads as something it is not", text)
		}
		if v.Kind() != KindArray && v.Kind() != KindObject && v.Len() != 0 {
			t.Errorf("%s has a length", text)
		}
	}
	var none Value
	if none.Kind() != KindInvalid || none.Text() != "" || none.Int() != 0 || none.Bool() || none.Len() != 0 || !none.ID().IsZero() ||
		none.Source() != nil || none.Raw() != nil || len(none.AppendCanonical(nil)) != 0 || none.Member("a").Kind() != KindInvalid {
		t.Error("the zero value reads as something")
	}
}

func TestValue_rawIsCanonicalAndItsOwn(t *testing.T) {
	source := []byte(`{"b": "\u0041\/", "a": [1 ,2]}`)
	d, err := Parse(source, 4)
	if err != nil {
		t.Fatal(err)
	}
	raw := d.Root().Raw()
	d.Release()
	clear(source)
	if want := `{"a":[1,2],"b":"A/"}`; string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}

// A name and a value that are spelled with escapes are decoded into the same scratch space.
func TestMembers_aMemberKeepsItsNameBesideAnEscapedValue(t *testing.T) {
	d, err := Parse([]byte(`{"\ue000":{"":"\ud83d\ude00"}}`), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	m := d.Root().Members()
	for m.Next() {
		if got := m.Member(); got.Name != "\ue000" || string(got.Value) != `{"":"😀"}` {
			t.Errorf("got %+q: %s", got.Name, got.Value)
		}
	}
}

func TestValue_rawHasOneSpellingPerValue(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":2}`:                   `{"a":2,"b":1}`,
		`[{"b":1,"a":2},"x"]`:             `[{"a":2,"b":1},"x"]`,
		"{\"\U0001F600\":1,\"\ue000\":2}": "{\"\ue000\":2,\"\U0001F600\":1}",
		`{"ab":1,"a":2,"":3}`:             `{"":3,"a":2,"ab":1}`,
		`"\u0020\u007f\u00f8\u2028"`:      "\" \u007fø\u2028\"",
		`"\u001F\u0008\u000A\/"`:          `"\u001f\b\n/"`,
		`"\u0022\u005c"`:                  `"\"\\"`,
		`"\ud83d\udc27"`:                  `"🐧"`,
		`"\u0020"`:                        `" "`,
		`"\u007f"`:                        "\"\x7f\"",
		`[ ]`:                             `[]`,
		`{"a" :1}`:                        `{"a":1}`,
		`{"a": 1}`:                        `{"a":1}`,
		`{"a":1 }`:                        `{"a":1}`,
		`{ "a":1}`:                        `{"a":1}`,
		`{"a":1, "b":1}`:                  `{"a":1,"b":1}`,
		`[1 ,2]`:                          `[1,2]`,
		`[1, 2]`:                          `[1,2]`,
		`-0.10E+5`:                        `-0.10E+5`,
	} {
		if got := string(parse(t, text).Raw()); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestParseInt_atTheEdges(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		form intForm
	}{
		{"0", 0, intFits},
		{"-0", 0, intFits},
		{"9223372036854775807", 9223372036854775807, intFits},
		{"-9223372036854775808", -9223372036854775808, intFits},
		{"9223372036854775808", 0, intTooBig},
		{"-9223372036854775809", 0, intTooBig},
		{"922337203685477580", 922337203685477580, intFits},
		{"9999999999999999999999999", 0, intTooBig},
		{"1.0", 0, notInt},
		{"1e3", 0, notInt},
		{"99999999999999999999e1", 0, notInt},
	} {
		n, form := parseInt([]byte(c.text))
		if form != c.form || form == intFits && n != c.n {
			t.Errorf("%s: got %d, %d; want %d, %d", c.text, n, form, c.n, c.form)
		}
	}
}
