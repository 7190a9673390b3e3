package selection

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/trust"
)

// world is a home, a workspace and an explicit directory below one root.
type world struct {
	t         *testing.T
	dir       string
	variables map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, variables: map[string]string{}}
	for _, name := range []string{"home", "work", "more"} {
		if err := os.Mkdir(w.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// roots are the directories of extensions by the letter of the truth table.
func (w *world) root(letter string) string {
	return map[string]string{"g": w.path("home", ".octet", "extensions"), "p": w.path("work", ".octet", "extensions"), "x": w.path("more")}[letter]
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// install puts an extension into a root and returns the path of its manifest.
func (w *world) install(letter, name string, lines ...string) string {
	w.t.Helper()
	path := filepath.Join(w.root(letter), name, "extension.toml")
	w.write(path, fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = \"0.4\"\n%s\n[entrypoint]\ncommand = \"run\"\n", name, strings.Join(lines, "\n")))
	return path
}

func (w *world) user(lines ...string) {
	w.t.Helper()
	w.write(config.UserFile(w.path("home")), strings.Join(lines, "\n"))
}

func (w *world) project(lines ...string) {
	w.t.Helper()
	w.write(config.UserFile(w.path("work")), strings.Join(lines, "\n"))
}

func (w *world) machine() Machine {
	return Machine{
		Home: w.path("home"), Discoverer: new(discovery.Discoverer),
		Lookup: func(name string) (string, bool) { value, found := w.variables[name]; return value, found },
	}
}

// try resolves for an ordinary start in the workspace.
func (w *world) try(i Invocation) (*Selection, error) {
	if i.Workspace == "" {
		i.Workspace = w.path("work")
	}
	return Resolve(w.machine(), i, policy.Session)
}

func (w *world) resolve(i Invocation) *Selection {
	w.t.Helper()
	s, err := w.try(i)
	if err != nil {
		w.t.Fatalf("%+v: %v", i, err)
	}
	return s
}

// find returns the extension of a name, nil if it was not selected.
func find(s *Selection, name string) *Extension {
	i := slices.IndexFunc(s.Extensions, func(e Extension) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Extensions[i]
}

// rules lists the rules of the diagnostics.
func rules(s *Selection) []string {
	var list []string
	for _, d := range s.Diagnostics {
		list = append(list, d.Rule)
	}
	return list
}

// MAN-ENABLE-005, MAN-ENABLE-007, MAN-ENABLE-008, MAN-ENABLE-009.
func TestResolve_enablement(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"user", "project", "variable", "line"} {
		w.install("g", name)
	}
	w.user(`enabled_extensions = ["user"]`)
	w.project("", `enabled_extensions = ["project"]`)
	enabled := func(i Invocation) string {
		var list []string
		for _, e := range w.resolve(i).Extensions {
			if e.Enabled {
				list = append(list, e.Name+" by "+strings.TrimPrefix(e.EnabledBy, w.dir+string(filepath.Separator)))
			}
		}
		return filepath.ToSlash(strings.Join(list, ", "))
	}
	for _, c := range []struct {
		variable string
		i        Invocation
		want     string
	}{
		{"", Invocation{}, "user by home/.octet/config.toml:1"},
		{"", Invocation{WorkspaceTrusted: true}, "project by work/.octet/config.toml:2"},
		{" variable , ", Invocation{WorkspaceTrusted: true}, "variable by OCTET_ENABLED_EXTENSIONS"},
		{"variable", Invocation{Enable: []string{"line", "variable"}}, "line by --enable-extension, variable by OCTET_ENABLED_EXTENSIONS"},
	} {
		w.variables["OCTET_ENABLED_EXTENSIONS"] = c.variable
		if got := enabled(c.i); got != c.want {
			t.Errorf("%q with %+v: %s, want %s", c.variable, c.i, got, c.want)
		}
	}
}

// MAN-TRUST-009, MAN-TRUST-010: grants come from the user's config and the variable, never from a
// project, and taking one away leaves the trust of the policy.
func TestResolve_grants(t *testing.T) {
	w := newWorld(t)
	w.install("g", "demo")
	basis := func(i Invocation) trust.Basis { return find(w.resolve(i), "demo").Trust }
	controlled := Invocation{EffectPolicy: "controlled", WorkspaceTrusted: true}
	w.project(`trusted_extensions = ["demo"]`)
	if got := basis(controlled); got != trust.Nobody {
		t.Errorf("a project grants %q", got)
	}
	w.variables["OCTET_TRUSTED_EXTENSIONS"] = "other, demo"
	if got := basis(controlled); got != trust.Bare {
		t.Errorf("the variable grants %q", got)
	}
	w.user(`trusted_extensions = ["demo"]`)
	w.variables["OCTET_TRUSTED_EXTENSIONS"] = ""
	if got := basis(controlled); got != trust.Bare {
		t.Errorf("the user's config grants %q", got)
	}
	w.user("")
	if got := basis(Invocation{}); got != trust.Implicit {
		t.Errorf("without a grant the policy gives %q", got)
	}
}

// Nothing that a selection computes is written anywhere.
//
// MAN-TRUST-003.
func TestResolve_writesNothing(t *testing.T) {
	w := newWorld(t)
	w.install("g", "demo")
	w.user(`enabled_extensions = ["demo"]`)
	list := func() (files []string) {
		err := filepath.WalkDir(w.dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				text, err := os.ReadFile(path)
				files = append(files, path+"\n"+string(text))
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	before := list()
	if e := find(w.resolve(Invocation{Enable: []string{"x"}, Trust: []string{"y"}}), "demo"); e.Reason != policy.Started {
		t.Fatalf("stopped by %q", e.Reason)
	}
	if after := list(); !slices.Equal(before, after) {
		t.Errorf("files changed from\n%q\nto\n%q", before, after)
	}
}

// MAN-FLAG-017, MAN-FLAG-018.
func TestSelection_flagged(t *testing.T) {
	w := newWorld(t)
	w.install("g", "granted")
	w.install("g", "implicit")
	w.install("g", "disabled")
	w.user(`enabled_extensions = ["granted", "implicit"]`, `trusted_extensions = ["granted", "disabled"]`)
	for _, c := range []struct {
		i    Invocation
		want []string
	}{
		{Invocation{}, []string{"granted", "implicit"}},
		{Invocation{NoProcess: true}, []string{"granted", "implicit"}},
		{Invocation{SafeMode: true}, []string{"granted"}},
		{Invocation{EffectPolicy: "controlled"}, []string{"granted"}},
	} {
		var got []string
		s := w.resolve(c.i)
		for _, m := range s.Flagged() {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: flags of %q, want %q", c.i, got, c.want)
		}
		if c.i.SafeMode && slices.ContainsFunc(s.Extensions, func(e Extension) bool { return e.Reason == policy.Started }) {
			t.Error("safe mode starts an extension")
		}
	}
}

// MAN-START-013, MAN-DIAG-010.
func TestSelection_stopped(t *testing.T) {
	w := newWorld(t)
	w.install("g", "a")
	w.install("g", "b")
	w.user(`enabled_extensions = ["a", "b"]`)
	for _, c := range []struct {
		i    Invocation
		want string
	}{
		{Invocation{}, ""},
		{Invocation{SafeMode: true}, "safe mode denies"},
		{Invocation{NoShell: true}, "process execution is switched off"},
		{Invocation{NoShell: true, SafeMode: true}, "process execution is switched off"},
	} {
		lines := w.resolve(c.i).Stopped()
		if c.want == "" && len(lines) > 0 || c.want != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.want)) {
			t.Errorf("%+v tells %q, want %q", c.i, lines, c.want)
		}
	}
}

// MAN-DIAG-001.
func TestResolve_enabledButMissing(t *testing.T) {
	w := newWorld(t)
	w.install("g", "word-count")
	w.variables["OCTET_ENABLED_EXTENSIONS"] = "word-cuont,gone"
	s := w.resolve(Invocation{Enable: []string{"gone", "word-count"}})
	var told []diagnostic.Diagnostic
	for _, d := range s.Diagnostics {
		if d.Rule == "MAN-DIAG-001" {
			told = append(told, d)
		}
	}
	if len(told) != 2 || told[0].Remedy != `did you mean "word-count"?` || told[1].Message != `enabled extension "gone" was not discovered` {
		t.Errorf("told %+v", told)
	}
	for _, d := range told {
		if d.Level != diagnostic.Warning || d.Path != "OCTET_ENABLED_EXTENSIONS" {
			t.Errorf("told as %+v", d)
		}
	}
}

// MAN-POLICY-003, MAN-POLICY-005: both options shut both gates, and safe mode shuts external paths.
func TestResolve_policy(t *testing.T) {
	w := newWorld(t)
	gates := policy.Settings{Effect: policy.UnsafeHost, AllowExternalPaths: true}
	for _, i := range []Invocation{{NoProcess: true}, {NoShell: true}} {
		if got := w.resolve(i).Policy; got != gates {
			t.Errorf("%+v makes %+v, want %+v", i, got, gates)
		}
	}
	safe := policy.Settings{Effect: policy.ControlledBashApproval, SafeMode: true, AllowProcess: true, AllowShell: true}
	s := w.resolve(Invocation{SafeMode: true})
	if s.Policy != safe || s.Config.Setting(config.EffectPolicy).Place.String() != "--safe-mode" {
		t.Errorf("safe mode makes %+v, from %s", s.Policy, s.Config.Setting(config.EffectPolicy).Place)
	}
	w.user("allow_shell = false")
	if s := w.resolve(Invocation{AllowShell: true}); !s.Policy.GateOpen() {
		t.Error("--allow-shell does not count above the configuration")
	}
	w.user("allow_process = false")
	if s := w.resolve(Invocation{AllowShell: true}); s.Policy.GateOpen() {
		t.Error("--allow-shell opens the gate of processes")
	}
}
