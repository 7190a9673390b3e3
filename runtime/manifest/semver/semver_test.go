package semver

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // a part of the error; empty: accepted and spelled the same
	}{
		{"0.0.0", ""},
		{"1.2.3-beta.2", ""},
		{"1.2.3-0.a-b+001.x", ""},
		{"1.2.3+build", ""},
		{"18446744073709551615.0.0", ""},
		{"", "three numbers"},
		{"1.0", "three numbers"},
		{"1.0.0.0", "three numbers"},
		{"v1.0.0", "not a number"},
		{"1..0", "empty"},
		{"01.0.0", "starts with a zero"},
		{"18446744073709551616.0.0", "too large"},
		{"1.0.0-", "empty identifier"},
		{"1.0.0-a..b", "empty identifier"},
		{"1.0.0-01", "starts with a zero"},
		{"1.0.0-a_b", "letters, digits and hyphens"},
		{"1.0.0+", "empty identifier"},
		{"1.0.0+a+b", "letters, digits and hyphens"},
		{" 1.0.0", "not a number"},
	} {
		v, err := Parse(c.text)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("Parse(%q): %v", c.text, err)
		case c.want == "" && v.String() != c.text:
			t.Errorf("Parse(%q) spells %q", c.text, v)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("Parse(%q): %v, want an error with %q", c.text, err, c.want)
		}
	}
}

func TestRequirement_matches(t *testing.T) {
	for _, c := range []struct {
		requirement string
		yes, no     string // versions separated by blanks
	}{
		{"*", "0.0.1 9.9.9", "1.0.0-a"},
		{"0.8.0", "0.8.0 0.8.9", "0.7.9 0.9.0 1.0.0 0.8.0-a"},
		{"^0.8", "0.8.0 0.8.9", "0.7.9 0.9.0"},
		{"^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0"},
		{"^0.0.3", "0.0.3", "0.0.2 0.0.4"},
		{"^0", "0.0.0 0.9.0", "1.0.0"},
		{"^0.0", "0.0.0 0.0.9", "0.1.0"},
		{"=0.8.0", "0.8.0 0.8.0+build", "0.8.1 0.8.0-a"},
		{"=0.8", "0.8.0 0.8.7", "0.9.0"},
		{"0.8.*", "0.8.0 0.8.7", "0.9.0"},
		{"1.*", "1.0.0 1.9.9", "2.0.0 0.9.0"},
		{"~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0"},
		{"~1", "1.0.0 1.9.0", "2.0.0"},
		{">0.7", "0.8.0", "0.7.9"},
		{">= 0.8.0, <0.9.0", "0.8.0 0.8.9", "0.9.0 0.7.0"},
		{"<=0.8", "0.8.9 0.1.0", "0.9.0"},
		{"<0.8", "0.7.9", "0.8.0"},
		{">=1.0.0-alpha.9", "1.0.0-alpha.10 1.0.0-b 1.0.0 1.0.1", "1.0.0-alpha.8 1.0.0-1 1.0.1-a"},
		{"<1.0.0-b", "1.0.0-a 0.9.0", "1.0.0-b.1 1.0.0 0.9.0-a"},
		{"=1.0.0-a", "1.0.0-a", "1.0.0 1.0.0-a.1"},
	} {
		r, err := ParseRequirement(c.requirement)
		if err != nil {
			t.Errorf("ParseRequirement(%q): %v", c.requirement, err)
			continue
		}
		for list, want := range map[string]bool{c.yes: true, c.no: false} {
			for _, text := range strings.Fields(list) {
				v, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if r.Matches(v) != want {
					t.Errorf("%q matches %q: %t, want %t", c.requirement, text, !want, want)
				}
			}
		}
	}
}

func TestParseRequirement_refusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "empty",
		"1,":                        "empty",
		"*,1":                       "stand alone",
		"==1":                       "not a number",
		"~>1":                       "not a number",
		">*":                        "not a number",
		"1.2.3.4":                   "at most three numbers",
		"1.*.3":                     "only wildcards",
		"1-a":                       "all three numbers",
		"1.0.0-a..b":                "empty identifier",
		"1.0.0+é":                   "letters, digits and hyphens",
		"\t1":                       "not a number",
		"01":                        "starts with a zero",
		strings.Repeat("1,", 32):    "33 comparators",
		"=0.8.0 || =0.9.0":          "at most three numbers",
		"99999999999999999999.0.0 ": "too large",
	} {
		if _, err := ParseRequirement(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRequirement(%q): %v, want an error with %q", text, err, want)
		}
	}
}
