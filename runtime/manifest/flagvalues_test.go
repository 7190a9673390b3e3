package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func flagged(t *testing.T) *Manifest {
	t.Helper()
	m := Judge([]byte(flagsOn("0.4", `{ name = "watch", type = "boolean", default = false },
{ name = "no-color", type = "boolean", default = false },
{ name = "label", type = "string", default = "" },
{ name = "depth", type = "integer", default = 3 }`)), Context{}).Manifest
	if m == nil {
		t.Fatal("the manifest is refused")
	}
	return m
}

func TestFlagValues(t *testing.T) {
	m := flagged(t)
	for _, c := range []struct {
		supplied []string
		want     string
	}{
		{nil, `depth=3 label="" no-color=false watch=false`},
		{[]string{"watch", "depth=-1"}, `depth=-1 label="" no-color=false watch=true`},
		{[]string{"no-watch", "label=a=b"}, `depth=3 label="a=b" no-color=false watch=false`},
		{[]string{"watch=true", "label="}, `depth=3 label="" no-color=false watch=true`},
		{[]string{"no-color"}, `depth=3 label="" no-color=true watch=false`},
		{[]string{"no-no-color"}, `depth=3 label="" no-color=false watch=false`},
		{[]string{"depth=9007199254740991"}, `depth=9007199254740991 label="" no-color=false watch=false`},
	} {
		values, err := m.FlagValues(c.supplied)
		var got []string
		for _, v := range values {
			got = append(got, fmt.Sprintf("%s=%s", v.Name, v.Value))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, %v; want %s", c.supplied, got, err, c.want)
		}
	}
}

func TestFlagValues_refusals(t *testing.T) {
	m := flagged(t)
	for text, want := range map[string]string{
		"dept=1":                             "extension `demo` was given undeclared CLI flag `dept`; did you mean `depth`?",
		"zzz":                                "extension `demo` was given undeclared CLI flag `zzz`; it declares watch, no-color, label, depth",
		"no-depth":                           "extension `demo` was given undeclared CLI flag `no-depth`; it declares watch, no-color, label, depth",
		"depth":                              `extension CLI flag --depth requires an integer, got ""`,
		"depth=x":                            `extension CLI flag --depth requires an integer, got "x"`,
		"depth=1.5":                          `extension CLI flag --depth requires an integer, got "1.5"`,
		"depth=9007199254740992":             "extension flag `depth` integer value exceeds the portable JSON range",
		"depth=99999999999999999999":         "extension flag `depth` integer value exceeds the portable JSON range",
		"watch=yes":                          `extension CLI flag --watch requires true or false, got "yes"`,
		"no-watch=true":                      "extension `demo` was given undeclared CLI flag `no-watch`; it declares watch, no-color, label, depth",
		"label":                              "extension CLI flag --label requires a value; write label=VALUE",
		"label=" + strings.Repeat("l", 4097): "extension flag `label` string value exceeds 4096 bytes",
	} {
		if _, err := m.FlagValues([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
	for _, pair := range [][]string{{"watch", "watch"}, {"watch", "no-watch"}, {"depth=1", "depth=2"}} {
		if _, err := m.FlagValues(pair); err == nil || !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%q: %v, want a refusal", pair, err)
		}
	}
	var unknown *UnknownFlagError
	plain := Judge([]byte(testDocument("0.4", "", "")), Context{}).Manifest
	if _, err := plain.FlagValues([]string{"x"}); !errors.As(err, &unknown) || !strings.HasSuffix(err.Error(), "it declares none") {
		t.Errorf("got %v, want an unknown flag of an extension without flags", err)
	}
}
