package wirejson

import (
	"slices"
	"testing"
)

func TestForbiddenControl_knowsThreeClasses(t *testing.T) {
	classes := []Controls{AnyControls, NoControls, TextControls, EditControls}
	for _, c := range []struct {
		text    string
		allowed []Controls
	}{
		{"plain \u00a0 \u2028 é", classes},
		{"\n", []Controls{AnyControls, TextControls, EditControls}},
		{"\t", []Controls{AnyControls, TextControls, EditControls}},
		{"\r", []Controls{AnyControls, EditControls}},
		{"\x00", classes[:1]},
		{"\x1f", classes[:1]},
		{"\x7f", classes[:1]},
		{"a\u0080", classes[:1]},
		{"a\u009fb", classes[:1]},
	} {
		for _, class := range classes {
			if _, found := forbiddenControl([]byte(c.text), class); found == slices.Contains(c.allowed, class) {
				t.Errorf("%q in class %d: forbidden %t", c.text, class, found)
			}
		}
	}
	if control, _ := forbiddenControl([]byte("ab\u0085"), NoControls); controlName(control) != "U+0085" {
		t.Errorf("named %s", controlName(control))
	}
}

func TestValidate_judgesChoicesAndExclusiveMembers(t *testing.T) {
	schema := Schema{MaxDepth: 9, Models: []Model{
		{Name: "Way", Shape: ChoiceShape, Word: 1, Object: 2},
		{Name: "Word", Shape: EnumShape, Values: []string{"on"}},
		{Name: "Plan", Closed: true, ExactlyOne: []string{"b", "a"}, AtMostOne: []string{"c", "d"}, Fields: []Field{
			{Name: "a", Nullable: true, Type: Type{Kind: RefType, Ref: 0}},
			{Name: "b", Type: Type{Kind: BooleanType}},
			{Name: "c", Type: Type{Kind: BooleanType}},
			{Name: "d", Nullable: true, Type: Type{Kind: BooleanType}},
		}},
	}}
	for text, want := range map[string]string{
		`"on"`: "", `"off"`: "value ", `7`: "type ", `{"a":"on"}`: "", `{"a":{"b":true}}`: "",
		`{}`: "missing /b", `{"a":null}`: "missing /b", `{"a":{}}`: "missing /a/b",
		`{"a":"on","b":true}`:          "forbidden /a",
		`{"b":true,"c":true,"d":null}`: "", `{"b":true,"d":true,"c":true}`: "forbidden /d",
	} {
		got := ""
		if doc, err := schema.Check([]byte(text), 0); err == nil {
			doc.Release()
		} else if v, ok := err.(*Violation); ok {
			got = string(v.Kind) + " " + v.Pointer
		} else {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
