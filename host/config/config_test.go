package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/diagnostic"
)

// parsed reads a file that must be right.
func parsed(t *testing.T, path string, origin Origin, text string) Layer {
	t.Helper()
	layer, told := Parse(path, origin, []byte(text))
	if len(told) > 0 {
		t.Fatalf("%s: %v", path, told)
	}
	return layer
}

func variables(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := pairs[name]
		return value, found
	}
}

func environment(t *testing.T, pairs map[string]string) Layer {
	t.Helper()
	layer, told := FromEnvironment(variables(pairs))
	if len(told) > 0 {
		t.Fatalf("environment: %v", told)
	}
	return layer
}

// MAN-ENABLE-007, MAN-ENABLE-008: each layer replaces what is below it, lists too, and a value knows
// where it stands.
func TestResolve_layers(t *testing.T) {
	var line, session Layer
	line.Set(EffectPolicy, Value{Kind: Word, Word: "controlled"}, Place{Origin: CommandLine, Name: "--effect-policy"})
	session.Set(EffectPolicy, Value{Kind: Word, Word: "unsafe_host"}, Place{Origin: Session, Name: "session"})
	layers := []Layer{
		parsed(t, "user", User, "effect_policy = \"controlled\"\nenabled_extensions = [\"a\", \"b\"]"),
		parsed(t, "project", Project, "\neffect_policy = \"controlled_bash_approval\"\nenabled_extensions = [\"c\"]"),
		environment(t, map[string]string{"OCTET_EFFECT_POLICY": "unsafe_host", "OCTET_ENABLED_EXTENSIONS": "d"}),
		line, session,
	}
	for n, want := range []struct{ policy, place, list, listPlace string }{
		{"unsafe_host", "default", "[]", "default"},
		{"controlled", "user:1", `["a", "b"]`, "user:2"},
		{"controlled_bash_approval", "project:2", `["c"]`, "project:3"},
		{"unsafe_host", "OCTET_EFFECT_POLICY", `["d"]`, "OCTET_ENABLED_EXTENSIONS"},
		{"controlled", "--effect-policy", `["d"]`, "OCTET_ENABLED_EXTENSIONS"},
		{"unsafe_host", "session", `["d"]`, "OCTET_ENABLED_EXTENSIONS"},
	} {
		e, told := Resolve(layers[:n]...)
		policy, list := e.Setting(EffectPolicy), e.Setting(EnabledExtensions)
		if policy.Value.Word != want.policy || policy.Place.String() != want.place ||
			list.Value.String() != want.list || list.Place.String() != want.listPlace || len(told) > 0 {
			t.Errorf("%d layers: %s from %s, %s from %s, %v", n, policy.Value, policy.Place, list.Value, list.Place, told)
		}
	}
	if e, _ := Resolve(layers...); len(e.Settings()) != len(Keys) || !e.Bool(AllowShell) || e.Word(EffectPolicy) == "" || len(e.List(EnabledExtensions)) != 1 {
		t.Error("a key is missing, or its value")
	}
}

// MAN-TRUST-013, MAN-TRUST-009: what a trusted project may do and what not.
func TestResolve_project(t *testing.T) {
	for _, c := range []struct {
		user, project, key, want, rule string
	}{
		{"", `effect_policy = "controlled"`, EffectPolicy, `"controlled"`, ""},
		{`effect_policy = "controlled"`, `effect_policy = "controlled_bash_approval"`, EffectPolicy, `"controlled_bash_approval"`, ""},
		{`effect_policy = "controlled"`, `effect_policy = "controlled"`, EffectPolicy, `"controlled"`, ""},
		{`effect_policy = "controlled"`, `effect_policy = "unsafe_host"`, EffectPolicy, `"controlled"`, "MAN-TRUST-013"},
		{`effect_policy = "controlled_bash_approval"`, `effect_policy = "controlled"`, EffectPolicy, `"controlled_bash_approval"`, "MAN-TRUST-013"},
		{"", "allow_process = false", AllowProcess, "false", ""},
		{"allow_process = false", "allow_process = true", AllowProcess, "false", "MAN-TRUST-013"},
		{"allow_shell = false", "allow_shell = true", AllowShell, "false", "MAN-TRUST-013"},
		{"allow_external_paths = false", "allow_external_paths = true", AllowExternalPaths, "false", "MAN-TRUST-013"},
		{"", "strict_config = true", StrictConfig, "true", ""},
		{"strict_config = true", "strict_config = false", StrictConfig, "true", "MAN-TRUST-013"},
		{"", `trusted_extensions = ["a"]`, TrustedExtensions, "[]", "MAN-TRUST-009"},
		{`trusted_extensions = ["b"]`, `trusted_extensions = []`, TrustedExtensions, `["b"]`, "MAN-TRUST-009"},
		{`enabled_extensions = ["a"]`, `enabled_extensions = ["b"]`, EnabledExtensions, `["b"]`, ""},
	} {
		e, told := Resolve(parsed(t, "user", User, c.user), parsed(t, "project", Project, c.project))
		if got := e.Setting(c.key).Value.String(); got != c.want {
			t.Errorf("%q under %q makes %s %s, want %s", c.project, c.user, c.key, got, c.want)
		}
		switch {
		case c.rule == "" && len(told) > 0, c.rule != "" && len(told) != 1:
			t.Errorf("%q under %q tells %v", c.project, c.user, told)
		case c.rule != "":
			if d := told[0]; d.Level != diagnostic.Warning || d.Rule != c.rule || d.Place() != "project:1:1" || d.Remedy == "" {
				t.Errorf("%q under %q tells %+v", c.project, c.user, d)
			}
		}
	}
}

// The environment is the user's: it may allow more than a project.
func TestResolve_environmentOverProject(t *testing.T) {
	e, _ := Resolve(parsed(t, "project", Project, "allow_shell = false"), environment(t, map[string]string{"OCTET_ALLOW_SHELL": "1"}))
	if !e.Bool(AllowShell) {
		t.Error("the environment does not count above the project")
	}
}

// MAN-ENABLE-011.
func TestResolve_unknownKeys(t *testing.T) {
	text := "enabled_extension = []\ncolour = 1\n[table]\nx = 1\n"
	for _, c := range []struct {
		strict bool
		level  diagnostic.Level
	}{{false, diagnostic.Warning}, {true, diagnostic.Error}} {
		layer := parsed(t, "user", User, text)
		layer.Set(StrictConfig, Value{Kind: Bool, Bool: c.strict}, Place{Origin: CommandLine, Name: "--strict-config"})
		_, told := Resolve(layer)
		if len(told) != 3 {
			t.Fatalf("strict %v: %d told, want 3: %v", c.strict, len(told), told)
		}
		for i, want := range []string{"user:1:1", "user:2:1", "user:3:2"} {
			if d := told[i]; d.Level != c.level || d.Rule != "MAN-ENABLE-011" || d.Place() != want || d.Remedy == "" {
				t.Errorf("strict %v: %+v at %s, want level %s at %s", c.strict, d, d.Place(), c.level, want)
			}
		}
		if told[0].Remedy != "did you mean `enabled_extensions`?" {
			t.Errorf("a mistyped key gets the remedy %q", told[0].Remedy)
		}
	}
}

func TestParse_faults(t *testing.T) {
	for _, c := range []struct{ text, place, rule, message string }{
		{"x = ", "f:1:", "", "invalid TOML: "},
		{"\xff", "f:1:1", "", "invalid TOML: byte 0xff is not UTF-8"},
		{"allow_shell = true\nallow_shell = false", "f:2:1", "", "is defined a second time"},
		{`allow_shell = "yes"`, "f:1:1", "MAN-POLICY-005", "allow_shell is a string, want a boolean"},
		{"allow_process = 1", "f:1:1", "MAN-POLICY-005", "allow_process is an integer, want a boolean"},
		{"\n\nenabled_extensions = \"a\"", "f:3:1", "MAN-ENABLE-003", "enabled_extensions is a string, want a list of strings"},
		{"enabled_extensions = [\"a\", 1]", "f:1:1", "MAN-ENABLE-003", "enabled_extensions has an integer as element 2, want strings"},
		{`trusted_extensions = ["a", ""]`, "f:1:1", "MAN-TRUST-009", "trusted_extensions holds an empty name"},
		{`effect_policy = "safe"`, "f:1:1", "MAN-POLICY-002", `effect_policy is "safe", which is none of its values`},
		{"effect_policy = []", "f:1:1", "MAN-POLICY-002", "effect_policy is a list, want a string"},
		{"[effect_policy]", "f:1:2", "MAN-POLICY-002", "effect_policy is a table, want a string"},
		{"strict_config = 1979-05-27", "f:1:1", "MAN-ENABLE-011", "strict_config is a date or time, want a boolean"},
	} {
		_, told := Parse("f", User, []byte(c.text))
		if len(told) != 1 {
			t.Errorf("%q tells %v", c.text, told)
			continue
		}
		d := told[0]
		if d.Level != diagnostic.Error || !strings.HasPrefix(d.Place(), c.place) || d.Rule != c.rule || !strings.Contains(d.Message, c.message) || d.Remedy == "" {
			t.Errorf("%q tells %+v, want %s %s %q", c.text, d, c.place, c.rule, c.message)
		}
	}
}

// A wrong value leaves the others of the file alone.
func TestParse_goesOn(t *testing.T) {
	layer, told := Parse("f", User, []byte("allow_shell = 1\nallow_process = false"))
	if len(told) != 1 || len(layer.Values) != 1 || layer.Values[0].Key != AllowProcess {
		t.Errorf("read %+v with %v", layer.Values, told)
	}
}

// MAN-ENABLE-009.
func TestFromEnvironment(t *testing.T) {
	layer := environment(t, map[string]string{
		"OCTET_ENABLED_EXTENSIONS": " a , b,,c\t", "OCTET_TRUSTED_EXTENSIONS": "d@/x/extension.toml", "OCTET_ALLOW_SHELL": "false",
		"OCTET_ALLOW_PROCESS": "1", "OCTET_EFFECT_POLICY": "controlled", "OCTET_ALLOW_EXTERNAL_PATHS": "",
	})
	e, _ := Resolve(layer)
	if got := e.List(EnabledExtensions); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("enabled %q", got)
	}
	if got := e.List(TrustedExtensions); !slices.Equal(got, []string{"d@/x/extension.toml"}) {
		t.Errorf("trusted %q", got)
	}
	if e.Bool(AllowShell) || !e.Bool(AllowProcess) || e.Word(EffectPolicy) != "controlled" {
		t.Error("a variable does not count")
	}
	if place := e.Setting(AllowExternalPaths).Place; place.Origin != Default {
		t.Errorf("an empty variable counts: %s", place)
	}
}

func TestFromEnvironment_faults(t *testing.T) {
	for name, text := range map[string]string{
		"OCTET_ALLOW_SHELL": "yes", "OCTET_ALLOW_PROCESS": "TRUE", "OCTET_EFFECT_POLICY": "Controlled",
	} {
		layer, told := FromEnvironment(variables(map[string]string{name: text}))
		if len(told) != 1 || len(layer.Values) != 0 || told[0].Path != name || told[0].Rule == "" || told[0].Remedy == "" || !strings.Contains(told[0].Message, `"`+text+`"`) {
			t.Errorf("%s=%s gives %+v and %+v", name, text, layer.Values, told)
		}
	}
}

func TestKeys_areComplete(t *testing.T) {
	seen := map[string]bool{}
	// Rules speak of these; the others are for conversations.
	ruled := []string{EnabledExtensions, TrustedExtensions, EffectPolicy, AllowProcess, AllowShell, AllowExternalPaths, StrictConfig}
	for _, key := range Keys {
		if seen[key.Name] || seen[key.Variable] && key.Variable != "" || key.Help == "" || (key.Rule != "") != slices.Contains(ruled, key.Name) || key.Default.Kind == "" {
			t.Errorf("%+v is not complete or comes twice", key)
		}
		seen[key.Name], seen[key.Variable] = true, true
		if reason, _ := key.check(key.Default); reason != "" {
			t.Errorf("the default of %s %s", key.Name, reason)
		}
	}
}
