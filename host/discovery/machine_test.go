package discovery

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// legal is a manifest of an extension; extra lines come behind it.
func legal(name string) string {
	return fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"run\"\n", name)
}

// machine is a home and a workspace below one directory.
type machine struct {
	t      *testing.T
	dir    string // canonical
	places Places
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, places: Places{Home: filepath.Join(dir, "home"), Workspace: filepath.Join(dir, "work"), WorkspaceTrusted: true}}
	m.mkdir("home/.octet/extensions")
	m.mkdir("work/.octet/extensions")
	return m
}

func (m *machine) path(slashed string) string {
	return filepath.Join(m.dir, filepath.FromSlash(slashed))
}

func (m *machine) mkdir(slashed string) {
	m.t.Helper()
	if err := os.MkdirAll(m.path(slashed), 0o700); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(slashed, text string) {
	m.t.Helper()
	m.mkdir(filepath.ToSlash(filepath.Dir(slashed)))
	if err := os.WriteFile(m.path(slashed), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) link(target, slashed string) {
	m.t.Helper()
	if err := os.Symlink(target, m.path(slashed)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) discover() *Snapshot {
	m.t.Helper()
	return new(Discoverer).Discover(m.places)
}

// expect demands the selected extensions as "scope name", and one diagnostic per wanted beginning, in any
// order. A beginning is "level rule path-below-the-machine".
func (m *machine) expect(s *Snapshot, entries []string, told ...string) {
	m.t.Helper()
	var got []string
	for _, e := range s.Entries {
		got = append(got, string(e.Scope)+" "+e.Name)
	}
	if !slices.Equal(got, entries) {
		m.t.Errorf("selected %q, want %q", got, entries)
	}
	var seen []string
	for _, d := range s.Diagnostics {
		path := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(d.Path, m.dir)), "/")
		seen = append(seen, fmt.Sprintf("%s %s %s", d.Level, d.Rule, path))
		if d.Message == "" || d.Remedy == "" {
			m.t.Errorf("without message or remedy: %+v", d)
		}
	}
	slices.Sort(seen)
	slices.Sort(told)
	if !slices.Equal(seen, told) {
		m.t.Errorf("told\n  %s\nwant\n  %s", strings.Join(seen, "\n  "), strings.Join(told, "\n  "))
	}
}

const (
	globalRoot  = "home/.octet/extensions"
	projectRoot = "work/.octet/extensions"
)
