package wirejson

import (
	"errors"
	"fmt"
	"testing"
)

func TestFill_completesArguments(t *testing.T) {
	parent := []Member{{Name: "p", Value: []byte("7")}}
	for _, c := range []struct{ arguments, want, fault string }{
		{``, `{"p":7}`, ""},
		{`{}`, `{"p":7}`, ""},
		{` {"z" : [1.50], "a":"\u0041"} `, `{"a":"A","p":7,"z":[1.50]}`, ""},
		{`{"p":8}`, "", "unknown /p"},
		{`{"o/x":8}`, "", "unknown /o~1x"},
		{`[]`, "", "not_object "},
		{`{`, "", "syntax"},
	} {
		text, err := Fill([]byte(c.arguments), 9, append([]Member(nil), parent...), "p", "o/x")
		if got := faultOf(err); got != c.fault || string(text) != c.want {
			t.Errorf("%s: got %s, %q", c.arguments, text, got)
		}
	}
}

// faultOf names an error of reading.
func faultOf(err error) string {
	var v *Violation
	var s *SyntaxError
	switch {
	case errors.As(err, &v):
		return string(v.Kind) + " " + v.Pointer
	case errors.As(err, &s):
		return "syntax"
	}
	return ""
}

func TestMethodShape_Reader(t *testing.T) {
	decode := func(model string, data []byte) (Encoder, error) {
		if model != "M" {
			return nil, UnknownModelError(model)
		}
		if string(data) == "0" {
			return nil, &Violation{Kind: OutOfRange, Pointer: "/in"}
		}
		return Raw(fmt.Sprintf("<%s>", data)), nil
	}
	for _, c := range []struct {
		shape             MethodShape
		text, want, fault string
	}{
		{MethodShape{}, `7`, `{}`, ""},
		{MethodShape{Result: "M"}, `7`, `<7>`, ""},
		{MethodShape{Result: "M"}, `0`, ``, "range /in"},
		{MethodShape{Result: "M", ResultNullable: true}, `null`, `null`, ""},
		{MethodShape{Result: "M", ResultNullable: true}, `7`, `<7>`, ""},
		{MethodShape{Result: "M", ResultArray: true}, `[1, 2]`, `[<1>,<2>]`, ""},
		{MethodShape{Result: "M", ResultArray: true}, `[]`, `[]`, ""},
		{MethodShape{Result: "M", ResultArray: true}, `[1,0]`, ``, "range /1/in"},
		{MethodShape{Result: "M", ResultArray: true}, `{}`, ``, "type "},
		{MethodShape{Result: "M", ResultArray: true}, `[`, ``, "syntax"},
	} {
		text, err := c.shape.Reader(9, decode)([]byte(c.text))
		if faultOf(err) != c.fault || err == nil && string(text) != c.want {
			t.Errorf("%+v of %s: got %s, %v", c.shape, c.text, text, err)
		}
	}
}

func TestDecodeNullable_keepsNullApart(t *testing.T) {
	decode := DecodeNullable(func(data []byte) (string, error) {
		if string(data) == "0" {
			return "", &Violation{Kind: OutOfRange}
		}
		return string(data), nil
	})
	if x, err := decode([]byte("null")); err != nil || !x.IsNull() {
		t.Errorf("null: %+v, %v", x, err)
	}
	if x, err := decode([]byte("7")); err != nil || x.Or("") != "7" {
		t.Errorf("a value: %+v, %v", x, err)
	}
	if x, err := decode([]byte("0")); faultOf(err) != "range " || !x.IsAbsent() {
		t.Errorf("a broken value: %+v, %v", x, err)
	}
}
