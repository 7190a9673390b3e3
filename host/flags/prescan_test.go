package flags

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// MAN-FLAG-025, MAN-ENABLE-005.
func TestPrescan(t *testing.T) {
	for _, c := range []struct {
		args string
		want Scan
	}{
		{"", Scan{}},
		{"--safe-mode", Scan{SafeMode: true}},
		{"--safe", Scan{SafeMode: true}},
		{"--safe=false", Scan{}},
		{"--workspace-trusted", Scan{WorkspaceTrusted: true}},
		{"--trust-workspace=true", Scan{WorkspaceTrusted: true}},
		{"--effect-policy controlled", Scan{EffectPolicy: "controlled"}},
		{"--effect-policy=controlled", Scan{EffectPolicy: "controlled"}},
		{"--workspace a --workspace=b", Scan{Workspace: "b"}},
		{"--workspace -- x", Scan{}},
		{"--extension-dir a,b --extension-dir=c", Scan{Directories: []string{"a,b", "c"}}},
		{"--enable-extension a b,c --trust-extension=d,e f", Scan{Enable: []string{"a", "b", "c"}, Trust: []string{"d", "e"}}},
		{"--enable-extension=a --enable-extension b -p x", Scan{Enable: []string{"a", "b"}}},
		{"--index-depth 3 -v word --safe-mode", Scan{SafeMode: true}},
		{"--safe-mode -- --workspace-trusted", Scan{SafeMode: true}},
		{"-- --safe-mode", Scan{}},
	} {
		got, ok := Prescan(strings.Fields(c.args))
		if c.args == "--workspace -- x" {
			if ok {
				t.Errorf("%s is no failure", c.args)
			}
			continue
		}
		if !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.args, got, ok, c.want)
		}
	}
}

// MAN-FLAG-025.
func TestPrescan_failures(t *testing.T) {
	for _, args := range [][]string{
		{"--workspace"},
		{"--effect-policy"},
		{"--extension-dir"},
		{"--enable-extension"},
		{"--enable-extension", "--safe-mode"},
		{"--enable-extension="},
		{"--trust-extension", ","},
		{"--safe-mode=maybe"},
		{"--trust-extension", "\xff"},
		{"--workspace", "\xff"},
		{"word\xff"},
		{"--enable-extension", "a", "--unknown\xff"},
	} {
		if got, ok := Prescan(args); ok || !reflect.DeepEqual(got, Scan{}) {
			t.Errorf("%q: %+v, %v, want a failure", args, got, ok)
		}
	}
	if _, ok := Prescan([]string{"--safe-mode", "--", "\xff"}); !ok {
		t.Error("a word behind the double hyphen counts")
	}
}

// MAN-ENABLE-005.
func TestExpand(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "",
		"--enable-extension a b c -v": "--enable-extension a --enable-extension b --enable-extension c -v",
		"--trust-extension=a b":       "--trust-extension=a b",
		"--enable-extension":          "--enable-extension",
		"--enable-extension --safe":   "--enable-extension --safe",
		"x --enable-extension a -- --enable-extension b c": "x --enable-extension a -- --enable-extension b c",
	} {
		if got := strings.Join(Expand(strings.Fields(args)), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// What the pre-scan sees, it sees in the expanded words too.
func TestExpand_isSeenAlike(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"--enable-extension", "--enable-extension=a", "--trust-extension", "--safe-mode", "--workspace", "--", "-v", "a", "b,c", "--x", "--x=1",
	})
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(word, 0, 8).Draw(t, "args")
		direct, ok := Prescan(args)
		expanded, okExpanded := Prescan(Expand(args))
		if ok != okExpanded || !reflect.DeepEqual(direct, expanded) {
			t.Fatalf("%q: %+v (%v), expanded %+v (%v)", args, direct, ok, expanded, okExpanded)
		}
	})
}
