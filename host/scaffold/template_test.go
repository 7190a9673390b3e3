package scaffold

import (
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	values := map[string]string{"Name": "ada", "Empty": "", "Braces": "{{Name}}"}
	for template, want := range map[string]string{
		"": "", "plain }} text": "plain }} text",
		"{{Name}} and {{Name}}":                   "ada and ada",
		"{{Braces}}":                              "{{Name}}",
		"a{{if Name}}b{{else}}c{{end}}d":          "abd",
		"a{{if Empty}}b{{else}}c{{end}}d":         "acd",
		"a{{if not Empty}}{{Name}}{{end}}d":       "aadad",
		"a{{if not Name}}b{{Name}}{{end}}d":       "ad",
		"a\n{{if Name}}\nb\n{{else}}\nc\n{{end}}": "a\nb\n",
		"{{if Empty}}\nb\n{{end}}\nc\n":           "c\n",
		"a\n{{Empty}}\nb":                         "a\n\nb",
		"a\n{{if Name}}b\n{{end}}c\n":             "a\nb\nc\n",
	} {
		got, err := fill(template, values)
		if err != nil || got != want {
			t.Errorf("%q gives %q, %v, want %q", template, got, err, want)
		}
	}
}

func TestFill_refuses(t *testing.T) {
	for template, want := range map[string]string{
		"a {{Nobody}}":              `"Nobody" is no value`,
		"{{if Nobody}}{{end}}":      `"Nobody" is no value`,
		"{{end}}":                   `"end" is no value, or does not belong here`,
		"{{else}}":                  `"else" is no value`,
		"{{if A}}{{if A}}{{end}}":   `"if A" is no value`,
		"{{if A}}":                  "an if has no end",
		"{{A":                       `"{{A" has no end`,
		"{{if A}}{{Nobody}}{{end}}": `"Nobody" is no value`,
	} {
		got, err := fill(template, map[string]string{"A": ""})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %q, %v, want %s", template, got, err, want)
		}
	}
}
