package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
)

func TestRead_refusesWhatNoRunWrites(t *testing.T) {
	for rules, want := range map[string]string{
		`[{"id":"A","class":"pass"},{"id":"B","class":"not_applicable"}]`: "",
		`[{"id":"A","class":"banana"}]`:                                   `the class of "A" is "banana"`,
		`[{"id":"A"}]`:                                                    `the class of "A" is ""`,
		`[{"id":"A","class":"pass"},{"id":"A","class":"fail"}]`:           `rules has "A" twice`,
		`[{"class":"pass"}]`:                                              "row 1 of rules has no id",
		`[]`:                                                              "",
		`null`:                                                            "rules is missing",
	} {
		path := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(path, []byte(`{"format":"`+report.Format+`","rules":`+rules+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := report.Read(path)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", rules, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want the path and %s", rules, err, want)
		}
	}
}
