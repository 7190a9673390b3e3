package profile

import (
	"strings"
	"testing"
)

// FuzzParse reads a conform.toml that comes with a subject. A refusal names the file, and says something.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "prompt = [\"Hello\"]\n[[call]]\ntool = \"count_words\"\narguments = { text = \"a b\" }\n", "[[call]]\n[[slow]]\n[[failing]]\n[[large]]\n", "[[command]]\nname = \"\"\n",
		"setup = \"../x\"\n", "a.b.c = 1\n", "[[call]]\ntool = \"a\"\nexpect = \"error\"\narguments = { a = nan, b = 1979-05-27T07:32:00Z }\n", "prompt = 1\n", "\x00", "call = [[[[[[1]]]]]]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("conform.toml", text)
		if err != nil && !strings.Contains(err.Error(), "conform.toml") {
			t.Errorf("the refusal %q does not name the file", err)
		}
		if p == nil && err == nil {
			t.Error("there is no profile and no refusal")
		}
	})
}
