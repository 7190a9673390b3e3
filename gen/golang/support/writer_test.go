package wirejson

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestWriter_mergesUnlistedMembersInOrder(t *testing.T) {
	extra := []Member{{"zeta", json.RawMessage(`1`)}, {"alpha", json.RawMessage(`{"b":1, "a":2}`)}, {"name", json.RawMessage(`"lost"`)}, {"alpha", json.RawMessage(`3`)}}
	w := NewWriter([]byte("pre"), 8)
	outer := w.OpenObject(extra)
	w.Key("beta")
	inner := w.OpenObject([]Member{{"in", json.RawMessage(`true`)}})
	w.CloseObject(inner)
	w.Key("name")
	w.String("kept")
	w.CloseObject(outer)
	const want = `pre{"alpha":{"a":2,"b":1},"beta":{"in":true},"name":"kept","zeta":1}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if extra[0].Name != "zeta" {
		t.Error("the writer reordered its caller's members")
	}
}

func TestWriter_spellsEveryCharacterOneWay(t *testing.T) {
	for text, want := range map[string]string{
		"\"\\/<>&":             `"\"\\/<>&"`,
		"\b\t\n\f\r":           `"\b\t\n\f\r"`,
		"\x00\x1f\x7f":         "\"\\u0000\\u001f\x7f\"",
		"é\u2028\ufeff😀\u0085": "\"é\u2028\ufeff😀\u0085\"",
	} {
		if got := string(AppendString(nil, text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if got := string(AppendString(nil, []byte(text))); got != want {
			t.Errorf("%q as bytes: got %s, want %s", text, got, want)
		}
		if got := stringLen([]byte(text)); got != len(want) {
			t.Errorf("%q: stringLen %d, want %d", text, got, len(want))
		}
	}
}

func TestWriter_remembersWhatNoTextCanCarry(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"raw value":   func(w *Writer) { w.Raw(json.RawMessage("{}\n{}")) },
		"number":      func(w *Writer) { w.Number("12a") },
		"string":      func(w *Writer) { w.String("a\xffb") },
		"deep nested": func(w *Writer) { w.Raw(json.RawMessage(`[[[[1]]]]`)) },
	} {
		w := NewWriter(nil, 3)
		write(w)
		var syntax *SyntaxError
		if !errors.As(w.Err(), &syntax) {
			t.Errorf("%s: got %v, want a *SyntaxError", name, w.Err())
		}
		if _, err := Parse(w.Bytes(), 3); err != nil {
			t.Errorf("%s: wrote %q, which is no JSON", name, w.Bytes())
		}
	}
}

func TestOpt_keepsAbsentNullAndValueApart(t *testing.T) {
	var absent Opt[int]
	if v, ok := absent.Get(); ok || v != 0 || !absent.IsAbsent() || absent.IsNull() || absent.Or(7) != 7 {
		t.Error("the zero Opt is not absent")
	}
	null := Null[int]()
	if _, ok := null.Get(); ok || null.IsAbsent() || !null.IsNull() || null.Or(7) != 7 {
		t.Error("Null is not null")
	}
	some := Some(0)
	if v, ok := some.Get(); !ok || v != 0 || some.IsAbsent() || some.IsNull() || some.Or(7) != 0 {
		t.Error("Some(0) is not the value 0")
	}
	if absent == null || null == some || absent == some {
		t.Error("the three compare equal")
	}
}

func TestID_remembersItsKind(t *testing.T) {
	one, text := IntID(1), StringID("1")
	if one == text {
		t.Error(`1 and "1" are one id`)
	}
	for _, c := range []struct {
		id   ID
		json string
		show string
	}{
		{one, `1`, `1`},
		{text, `"1"`, `"1"`},
		{StringID("a\"b"), `"a\"b"`, `"a\"b"`},
		{ID{}, `null`, `none`},
	} {
		data, err := json.Marshal(c.id)
		if err != nil || string(data) != c.json || c.id.String() != c.show {
			t.Errorf("got %s and %s (%v), want %s and %s", data, c.id, err, c.json, c.show)
		}
		var back ID
		if err := json.Unmarshal(data, &back); err != nil || back != c.id {
			t.Errorf("%s came back as %s (%v)", data, back, err)
		}
	}
	for _, bad := range []string{`1.5`, `true`, `{}`, `[]`, `99999999999999999999`} {
		var id ID
		if err := id.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was taken as the id %s", bad, id)
		}
	}
	if n, ok := one.Int(); !ok || n != 1 {
		t.Error("an integer id lost its integer")
	}
	if s, ok := text.Text(); !ok || s != "1" {
		t.Error("a string id lost its string")
	}
}
