package config

import (
	"strings"
	"testing"
)

// FuzzParse reads a configuration, also one that came with a workspace. Whatever is wrong is told, and nothing is
// taken from a file that is refused as a whole.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "[extensions]\nenabled = [\"a\"]\n", "a = 1\n", "[[a]]\n", "[extensions]\nenabled = 1\n", "extensions.enabled = [\"a\", \"a\", \"\"]\n", "\xff", "a = \"\\ud800\"", "[model]\nname = \"x\"\n", "trust = [\"a@/b\"]\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, project bool) {
		origin := User
		if project {
			origin = Project
		}
		_, told := Parse("config.toml", origin, text)
		for _, d := range told {
			if d.Message == "" || strings.ContainsAny(d.Message, "\r\n") {
				t.Errorf("a diagnostic has no line of text: %+v", d)
			}
		}
	})
}
