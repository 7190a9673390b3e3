package oupreferee

import (
	"strings"
	"testing"
)

// FuzzParseAdapter reads an adapter, which says how a server is started. A refusal names the file.
func FuzzParseAdapter(f *testing.F) {
	for _, name := range ReadyAdapters() {
		text, err := ready.ReadFile("adapters/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, seed := range []string{"", "[[file]]\npath = \"data/..\"\n", "call = \"a {b\"\n", "call = [\"{}\", \"{{tool}}\"]\n", "\x00=1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ParseAdapter("adapter.toml", text)
		if err != nil && !strings.Contains(err.Error(), "adapter.toml") {
			t.Errorf("the refusal %q does not name the file", err)
		}
		if a == nil && err == nil {
			t.Error("there is no adapter and no refusal")
		}
	})
}
