package clip

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aé", 2, "a"},
		{"aé", 3, "aé"},
		{"é", 1, ""},
		{"€", 2, ""},
		{"é", 0, ""},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80"},
		{strings.Repeat("x", 5000), 4096, strings.Repeat("x", 4096)},
	} {
		if got := Text(c.text, c.most); got != c.want {
			t.Errorf("%.20q at %d: %.20q", c.text, c.most, got)
		}
	}
}
