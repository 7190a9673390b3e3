package extension

import (
	"strings"
	"testing"
)

func TestRuled_namesARuleOnce(t *testing.T) {
	for text, want := range map[string]string{
		"broken":                   "broken (EXT04-FRAME-002)",
		"broken (EXT04-FRAME-002)": "broken (EXT04-FRAME-002)",
	} {
		if got := ruled(text, "EXT04-FRAME-002"); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := ruled("broken", ""); got != "broken" {
		t.Errorf("without a rule it becomes %q", got)
	}
}

// The text of an error answer is bounded, and one line.
func TestRemote(t *testing.T) {
	for text, want := range map[string]string{
		"no":                        "no",
		"no\noctet: forged\r\nend":  "no octet: forged end",
		strings.Repeat("é", 900000): strings.Repeat("é", maxRemoteText/2) + "... (cut)",
	} {
		if got := remote(text); got != want {
			t.Errorf("%d bytes become %.80q (%d), want %.80q", len(text), got, len(got), want)
		}
	}
}
