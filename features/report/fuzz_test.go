package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads a JSON report that anybody may have written: it is refused, or every form of it can be written and it
// compares with itself as unchanged.
func FuzzRead(f *testing.F) {
	head := `{"format":"` + Format + `","rules":`
	for _, seed := range []string{
		"", "{}", "[]", "null", head + `[]}`, head + `[{"id":"EXT04-FRAME-001","class":"fail","reason":"a\r\n|<b>","counts":true,"level":"must"}],"scenarios":[{"name":"a","class":"fail"}]}`,
		head + `[{"id":"a","class":"pass"},{"id":"a","class":"pass"}]}`, head + `[{"id":"\u0000]]>","class":"no_answer"}],"subject":{"command":["\u001b[31m"]}}`,
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "report.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(path)
		if err != nil {
			return
		}
		worse, err := Differences(io.Discard, r, r)
		if worse {
			t.Error("a report is worse than itself")
		}
		for _, form := range []func(io.Writer) error{r.HTML, r.JUnit, r.Markdown, r.GitHub, r.Badge, r.JSON, r.SARIF} {
			err = errors.Join(err, form(io.Discard))
		}
		if err != nil {
			t.Error(err)
		}
	})
}
