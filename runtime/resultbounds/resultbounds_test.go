package resultbounds

import (
	"strings"
	"testing"
)

// TestBounds_Check: EXT04-RESULT-012, which whoever refuses a result asks here.
func TestBounds_Check(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for _, c := range []struct {
		bounds Bounds
		text   string
		want   string
	}{
		{Structured, "", ""},
		{Structured, `"` + strings.Repeat("x", 262142) + `"`, ""},
		{Structured, `"` + strings.Repeat("x", 262143) + `"`, "262145 bytes, more than 262144"},
		{Metadata, `"` + strings.Repeat("x", 65535) + `"`, "65537 bytes, more than 65536"},
		{Structured, list(16383), ""},
		{Structured, list(16384), "16385 values, more than 16384"},
		{Structured, strings.Repeat("[", 33) + strings.Repeat("]", 33), ""},
		{Structured, strings.Repeat("[", 34) + strings.Repeat("]", 34), "at most 32 levels"},
		{Structured, `{"` + strings.Repeat("k", 257) + `":1}`, ""},
		{Metadata, `{"a":{"` + strings.Repeat("k", 257) + `":1}}`, "has 257 bytes, more than 256"},
		{Metadata, `{"` + strings.Repeat("k", 256) + `":1}`, ""},
	} {
		var value []byte
		if c.text != "" {
			value = []byte(c.text)
		}
		err := c.bounds.Check(value)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.40s: %v, want an error with %q", c.text, err, c.want)
		}
	}
}
