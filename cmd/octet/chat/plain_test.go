package chat

import "testing"

func TestPlain_showsWhatSteers(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\tb":             "a\n\tb",
		"\x1b[2J\a\r":        `\x1b[2J\x07\x0d`,
		"\u0085\u009b":       `\x85\x9b`,
		"a\u2028b\u2029c":    `a\u2028b\u2029c`,
		"\u202eabc\u2066":    `\u202eabc\u2066`,
		"\u200d\u2027\u2030": "\u200d\u2027\u2030", // joiners and points are text
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
