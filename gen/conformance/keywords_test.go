package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/testdata/shapes/want/generated/parcelwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// TestKeywords_judgeInOrder holds the verdicts on members that exclude each other, on choices by JSON type,
// on control characters and on the size of arrays: violation and place, all of them in the order found.
func TestKeywords_judgeInOrder(t *testing.T) {
	long := strings.Repeat(`"slow",`, 9)
	for _, c := range []struct{ model, text, want string }{
		{"Notice", `{"line":"a","by_road":"slow"}`, ""},
		{"Notice", `{"line":"a","by_road":"slow","by_sea":null}`, ""},
		{"Notice", `{"line":"a","by_sea":{"legs":[]},"gift":true,"bill":null}`, ""},
		{"Notice", `{"line":"a"}`, "missing /by_road"},
		{"Notice", `{"line":"a","by_sea":null}`, "missing /by_road"},
		{"Notice", `{"by_air":true,"line":"a","by_road":"slow"}`, "forbidden /by_air"},
		{"Notice", `{"line":"a","by_air":true,"by_sea":"fast","by_road":"slow"}`, "forbidden /by_sea"},
		{"Notice", `{"line":"a","by_air":true,"bill":true,"gift":false}`, "forbidden /bill"},
		{"Notice", `{"line":"a","bill":true,"gift":false}`, "missing /by_road, forbidden /bill"},
		{"Notice", `{"by_road":7,"by_air":true}`, "missing /line, type /by_road, forbidden /by_air"},
		{"Notice", `{"line":"a\tb","by_air":true}`, "pattern /line"},
		{"Notice", `{"line":"a\u0080b","by_air":true}`, "pattern /line"},
		{"Notice", `{"line":"a\u00a0b","by_air":true}`, ""},
		{"Notice", `{"line":"","text":"a\tb\nc","draft":"a\tb\r\n","by_air":true}`, ""},
		{"Notice", `{"line":"","text":"a\r","draft":"\u001b","by_air":true}`, "pattern /text, pattern /draft"},
		{"Notice", `{"line":"","text":"\u007f","draft":"\u009f","by_air":true}`, "pattern /text, pattern /draft"},
		{"Route", `"slow"`, ""},
		{"Route", `{"legs":["fast",{"legs":[]}],"next":null}`, ""},
		{"Route", `"medium"`, "value "},
		{"Route", `{"legs":[{}]}`, "missing /legs/0/legs"},
		{"Route", `{"legs":[],"next":{"legs":["warp"]}}`, "value /next/legs/0"},
		{"Route", `[]`, "type "},
		{"Route", `null`, "type "},
		{"Plan", `{"legs":[` + long[:len(long)-1] + `]}`, ""},
		{"Plan", `{"legs":[` + long + `"slow"]}`, "bytes /legs"},
		{"Plan", `{"legs":[` + long + `1]}`, "type /legs/9, bytes /legs"},
	} {
		var found []string
		err := parcelwire.EachViolation(c.model, []byte(c.text), func(v *wirejson.Violation) bool {
			found = append(found, string(v.Kind)+" "+v.Pointer)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", c.model, c.text, got, c.want)
		}
		decoded, err := parcelwire.DecodeAny(c.model, []byte(c.text))
		var first *wirejson.Violation
		switch errors.As(err, &first); {
		case c.want == "" && (err != nil || string(decoded.AppendJSON(nil)) != canonicalOf(t, c.text)):
			t.Errorf("%s %s: decoded to %v, %v", c.model, c.text, decoded, err)
		case c.want != "" && (first == nil || string(first.Kind)+" "+first.Pointer != found[0]):
			t.Errorf("%s %s: decoding reports %v", c.model, c.text, err)
		}
	}
}

// canonicalOf returns the canonical spelling of a text.
func canonicalOf(t *testing.T, text string) string {
	t.Helper()
	doc, err := wirejson.Parse([]byte(text), wirejson.DefaultMaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Release()
	return string(doc.Root().Raw())
}

func TestTables_holdParentsServicesAndHooks(t *testing.T) {
	parents := []wirejson.Parent{
		wirejson.ParentNone, wirejson.ParentRequired, wirejson.ParentInitialize, wirejson.ParentRetained, wirejson.ParentSettled,
		wirejson.ParentToolCall, wirejson.ParentOptional, wirejson.ParentOwner,
	}
	var got []wirejson.Parent
	for _, m := range parcelwire.Methods {
		if m.Parent != "" {
			got = append(got, m.Parent)
		}
		if outgoing := m.Direction == wirejson.ExtensionToHost; outgoing != (m.Parent != "") {
			t.Errorf("%s: direction %s with the parent %q", m.Name, m.Direction, m.Parent)
		}
	}
	if !slices.Equal(got, parents) {
		t.Errorf("got  %v\nwant %v", got, parents)
	}
	if s := parcelwire.LookupMethod(parcelwire.MethodParcelDraw).Service; s != "parcels.draw_all" {
		t.Errorf("service %q", s)
	}
	hook := parcelwire.LookupHook(parcelwire.HookAfterPost)
	if hook == nil || hook.AggregateMS != parcelwire.MaxWaitMs || hook.DeadlineMS != 0 || hook.Result != "NoticeResult" || hook.Deny != "ignored" {
		t.Errorf("hook %+v", hook)
	}
	if parcelwire.LookupHook("after") != nil {
		t.Error("a hook nobody declared is known")
	}
}
