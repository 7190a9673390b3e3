package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/diagnostic"
)

// asWritten takes every path for canonical.
func asWritten(path string) (string, error) { return path, nil }

func at(parts ...string) string {
	root := string(filepath.Separator)
	if v := os.Getenv("SystemDrive"); v != "" {
		root = v + root
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

var (
	home    = Subject{Name: "demo", Global: true, ManifestPath: at("home", "demo", "extension.toml")}
	project = Subject{Name: "demo", ManifestPath: at("work", "demo", "extension.toml")}
)

// MAN-TRUST-001, MAN-TRUST-002, MAN-TRUST-003, MAN-TRUST-005, MAN-TRUST-006, MAN-TRUST-007,
// MAN-TRUST-010, MAN-TRUST-011.
func TestGrants_basis(t *testing.T) {
	bound := func(s Subject) string { return s.Name + "@" + s.ManifestPath }
	for _, c := range []struct {
		name       string
		persistent []string
		invocation []string
		subject    Subject
		implicit   bool
		want       Basis
	}{
		{"nothing", nil, nil, home, false, Nobody},
		{"the policy alone", nil, nil, project, true, Implicit},
		{"one run, any source", nil, []string{"demo"}, project, false, Invocation},
		{"one run, another name", nil, []string{"demos"}, home, false, Nobody},
		{"bare, own directory", []string{"demo"}, nil, home, false, Bare},
		{"bare does not pass to a project copy", []string{"demo"}, nil, project, false, Nobody},
		{"bare and the policy, project copy", []string{"demo"}, nil, project, true, Implicit},
		{"bound, right path", []string{bound(project)}, nil, project, false, Source},
		{"bound, own directory", []string{bound(home)}, nil, home, false, Source},
		{"bound, path of another copy", []string{bound(home)}, nil, project, false, Nobody},
		{"bound, another name", []string{"other@" + project.ManifestPath}, nil, project, false, Nobody},
		{"a grant counts before the policy", []string{"demo"}, nil, home, true, Bare},
		{"the more exact grant is named", []string{"demo", bound(home)}, nil, home, false, Source},
		{"without the grant the policy is left", nil, nil, home, true, Implicit},
	} {
		grants, found := Read(c.persistent, c.invocation, "config.toml", asWritten)
		if got := grants.Basis(c.subject, c.implicit); got != c.want || len(found) > 0 {
			t.Errorf("%s: %q with %v, want %q", c.name, got, found, c.want)
		}
	}
}

// MAN-TRUST-008, MAN-DIAG-003.
func TestParseGrant(t *testing.T) {
	path := at("work", "demo", "extension.toml")
	odd := at("a@b", "extension.toml")
	for _, c := range []struct {
		text, name, path, reason string
	}{
		{"demo", "demo", "", ""},
		{"demo@" + path, "demo", path, ""},
		{"demo@" + odd, "demo", odd, ""},
		{"", "", "", "the name of the extension is missing"},
		{"@" + path, "", "", "the name of the extension is missing"},
		{"demo@", "", "", "the manifest path must be absolute"},
		{"demo@work/demo/extension.toml", "", "", "the manifest path must be absolute"},
		{"demo@~/demo/extension.toml", "", "", "the manifest path must be absolute"},
		{"demo@" + filepath.Dir(path), "", "", "the manifest path must end in extension.toml"},
		{"demo@" + path + "x", "", "", "the manifest path must end in extension.toml"},
		{"demo@" + path + string(filepath.Separator), "", "", "the manifest path must end in extension.toml"},
	} {
		grant, err := ParseGrant(c.text, asWritten)
		var wrong *GrantError
		switch {
		case c.reason == "" && (err != nil || grant.Name != c.name || grant.ManifestPath != c.path):
			t.Errorf("%q: %+v, %v", c.text, grant, err)
		case c.reason != "" && (!errors.As(err, &wrong) || wrong.Reason != c.reason || wrong.Remedy == ""):
			t.Errorf("%q: %v, want %q", c.text, err, c.reason)
		}
	}
}

// The directory of a granted manifest is resolved, links included, and must exist.
//
// MAN-TRUST-007, MAN-TRUST-008.
func TestParseGrant_canonical(t *testing.T) {
	real := t.TempDir()
	real, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, written := range []string{link, filepath.Join(real, "..", filepath.Base(real)), real} {
		grant, err := ParseGrant("demo@"+written+string(filepath.Separator)+"extension.toml", filepath.EvalSymlinks)
		if want := filepath.Join(real, "extension.toml"); err != nil || grant.ManifestPath != want {
			t.Errorf("%s: %q, %v, want %q", written, grant.ManifestPath, err, want)
		}
	}
	_, err = ParseGrant("demo@"+filepath.Join(real, "none", "extension.toml"), filepath.EvalSymlinks)
	if err == nil || !strings.Contains(err.Error(), "cannot normalize manifest parent for") {
		t.Errorf("an absent directory gives %v", err)
	}
}

// MAN-DIAG-003.
func TestRead_badGrantsGrantNothing(t *testing.T) {
	missing := func(string) (string, error) { return "", fs.ErrNotExist }
	grants, found := Read([]string{"demo@x", "demo@" + project.ManifestPath, "other"}, nil, "config.toml", missing)
	if len(found) != 2 {
		t.Fatalf("%d diagnostics, want 2: %v", len(found), found)
	}
	for _, d := range found {
		if d.Level != diagnostic.Warning || d.Path != "config.toml" || d.Rule == "" || d.Remedy == "" || !strings.Contains(d.Message, `grant "demo@`) {
			t.Errorf("told as %+v", d)
		}
	}
	if got := grants.Basis(project, false); got != Nobody {
		t.Errorf("a bad grant gives %q", got)
	}
	if got := grants.Basis(Subject{Name: "other", Global: true}, false); got != Bare {
		t.Errorf("the grant behind a bad one gives %q", got)
	}
}

// MAN-DIAG-002.
func TestGrants_unmatched(t *testing.T) {
	grants, _ := Read([]string{"demo", "gone", "demo@" + home.ManifestPath}, []string{"demo", "lost"}, "config.toml", asWritten)
	var told []string
	for _, d := range grants.Unmatched([]Subject{project}, "config.toml") {
		if d.Level != diagnostic.Info || d.Remedy == "" {
			t.Errorf("told as %+v", d)
		}
		told = append(told, d.Message)
	}
	text := strings.Join(told, "\n")
	for _, name := range []string{`grant "demo" has`, `grant "gone" has`, `grant "demo@`, `one-shot trust grant "lost"`} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is missing in\n%s", name, text)
		}
	}
	if len(told) != 4 {
		t.Errorf("%d grants are told of, want 4", len(told))
	}
	if found := grants.Unmatched([]Subject{home, {Name: "gone", Global: true}, {Name: "lost"}}, ""); len(found) != 0 {
		t.Errorf("matched grants are told of: %v", found)
	}
}

// MAN-TRUST-012.
func TestCopyable(t *testing.T) {
	if got := Copyable(home); got != "demo" {
		t.Errorf("global: %q", got)
	}
	text := Copyable(project)
	if want := "demo@" + project.ManifestPath; text != want {
		t.Errorf("project: %q, want %q", text, want)
	}
	grants, _ := Read([]string{text}, nil, "", asWritten)
	if grants.Basis(project, false) != Source {
		t.Error("the shown grant does not cover what it is shown for")
	}
}
