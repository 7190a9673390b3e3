package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/session"
)

// EXT04-HOOK-044.
func TestMetadata_atEachBoundAndOneOver(t *testing.T) {
	text := func(length int) string { return `"` + strings.Repeat("v", length-2) + `"` }
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	list := func(values int) string { return "[" + strings.TrimSuffix(strings.Repeat("0,", values-1), ",") + "]" }
	for _, c := range []struct {
		name, namespace, value string
		ok                     bool
	}{
		{"a value of 16 KiB", "a", text(16384), true},
		{"a value of 16 KiB and a byte", "a", text(16385), false},
		{"16 levels", "a", nested(16), true},
		{"17 levels", "a", nested(17), false},
		{"256 values", "a", list(256), true},
		{"257 values", "a", list(257), false},
		{"a key of 256 bytes", "a", `{"` + strings.Repeat("k", 256) + `":1}`, true},
		{"a key of 257 bytes", "a", `{"` + strings.Repeat("k", 257) + `":1}`, false},
		{"a control character", "a", `"\u0007"`, false},
		{"a control character in a key", "a", `{"\u009b":1}`, false},
		{"a line end", "a", `["\n"]`, false},
		{"no JSON", "a", `{`, false},
		{"no UTF-8", "a", "\"\xff\"", false},
		{"nothing", "a", ``, false},
		{"white space counts for nothing", "a", strings.Repeat(" ", 20000) + "1", true},
		{"a namespace of 128 bytes", strings.Repeat("n", 64) + "." + strings.Repeat("m", 63), "1", true},
		{"a namespace of 129 bytes", strings.Repeat("n", 64) + "." + strings.Repeat("m", 62) + ".x", "1", false},
		{"a segment of 65 bytes", strings.Repeat("n", 65), "1", false},
		{"an empty segment", "a..b", "1", false},
		{"no namespace", "", "1", false},
		{"a capital", "a.B", "1", false},
		{"a digit first", "1a", "1", false},
		{"an extension's name", "octet-web-search.v_2", "1", true},
	} {
		var m session.Metadata
		err := m.Add(c.namespace, session.MetadataValue{Value: json.RawMessage(c.value)})
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
		if want := map[bool]int{true: 1}[c.ok]; m.Len() != want {
			t.Errorf("%s: %d values are kept, want %d", c.name, m.Len(), want)
		}
	}
}

func TestMetadata_ofOneEntryInAll(t *testing.T) {
	var many session.Metadata
	for i := range 32 {
		if err := many.Add(fmt.Sprintf("n%d", i), session.MetadataValue{Value: json.RawMessage("1")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := many.Add("n32", session.MetadataValue{Value: json.RawMessage("1")}); !errors.Is(err, session.ErrBound) {
		t.Errorf("a 33rd namespace: got %v", err)
	}
	if err := many.Add("n0", session.MetadataValue{Value: json.RawMessage("2")}); err == nil {
		t.Error("a namespace was overwritten")
	}
	var big session.Metadata
	value := json.RawMessage(`"` + strings.Repeat("v", 16384-2) + `"`)
	for i := range 8 {
		if err := big.Add(fmt.Sprintf("n%d", i), session.MetadataValue{Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if err := big.Add("more", session.MetadataValue{Value: json.RawMessage("1")}); !errors.Is(err, session.ErrBound) {
		t.Errorf("a byte over 128 KiB: got %v", err)
	}
	s := begin(t, open(t))
	entry := said("user", "x")
	entry.Metadata = big
	ids, err := s.Append(t.Context(), entry)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.Entry(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	want(t, "namespaces", stored.Metadata.Len(), 8)
	if err := stored.Metadata.Add("more", session.MetadataValue{Value: json.RawMessage("1")}); !errors.Is(err, session.ErrBound) {
		t.Errorf("the bound is forgotten when read back: got %v", err)
	}
	own := stored.Metadata.Only(func(namespace string, _ session.MetadataValue) bool { return namespace == "n3" })
	want(t, "own", own.Len(), 1)
}
