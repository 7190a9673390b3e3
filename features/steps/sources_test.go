package steps

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// shown makes the directories of a scenario.
func shown(t *testing.T, from string) *sources {
	t.Helper()
	s := &sources{from: from}
	t.Cleanup(s.remove)
	if _, err := s.dir(sourceSetup); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSources_areWhatTheirNamesSay(t *testing.T) {
	s := shown(t, "")
	for word, want := range map[string]os.FileMode{sourceSetup: os.ModeDir, sourceBroken: os.ModeDir, sourceEmpty: os.ModeDir, sourceFile: 0, sourceLink: os.ModeSymlink} {
		path, err := s.dir(word)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Type() != want || !filepath.IsAbs(path) {
			t.Errorf("%q is at %s: %v, %v; want the type %v", word, path, info, err, want)
		}
	}
	if path, _ := s.dir(sourceGone); path == "" {
		t.Error("what is not there has no path")
	} else if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("what should not be there: %v", err)
	}
	s.remove()
	if _, err := os.Lstat(s.root); !os.IsNotExist(err) {
		t.Errorf("the directories stay: %v", err)
	}
}

func TestSources_copyASetupAndSpoilIt(t *testing.T) {
	from := t.TempDir()
	for name, content := range map[string]string{"a.json": `{"x":1}`, "sub/b.json": `{}`, "sub/skill.md": "# Skill"} {
		if err := os.MkdirAll(filepath.Join(from, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := shown(t, from)
	for path, want := range map[string]string{
		"setup/a.json": `{"x":1}`, "setup/sub/skill.md": "# Skill", "broken/a.json": "[]", "broken/sub/b.json": "[]", "broken/sub/skill.md": "# Skill",
	} {
		if got, err := os.ReadFile(filepath.Join(s.root, path)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestSources_noticeChanges(t *testing.T) {
	for name, change := range map[string]func(root string) error{
		"setup/new":            func(root string) error { return os.WriteFile(filepath.Join(root, "setup/new"), nil, 0o600) },
		"setup/settings.json":  func(root string) error { return os.WriteFile(filepath.Join(root, "setup/settings.json"), nil, 0o600) },
		"broken/settings.json": func(root string) error { return os.Remove(filepath.Join(root, "broken/settings.json")) },
		"link":                 func(root string) error { return os.Remove(filepath.Join(root, "link")) },
	} {
		s := shown(t, "")
		if got := s.changed(); got != nil {
			t.Errorf("before any change: %q have changed", got)
		}
		if err := change(s.root); err != nil {
			t.Fatal(err)
		}
		if got := s.changed(); !slices.Equal(got, []string{name}) {
			t.Errorf("changed are %q, want %q", got, name)
		}
	}
	if got := (&sources{}).changed(); got != nil {
		t.Errorf("directories that nobody asked for: %q have changed", got)
	}
}
