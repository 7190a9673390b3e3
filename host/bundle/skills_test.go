package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/host/bundle"
)

func skill(t *testing.T, directory, name string) {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, bundle.SkillFile), []byte("# "+name), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSkills_countFromLowToHigh(t *testing.T) {
	// MAN-INSTALL-017: each scope has a name of its own and those of stronger ones; sN is found last at level N.
	home, workspace, one, two := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	m := bundle.Manager{Root: filepath.Join(home, ".octet", "extensions")}
	install(t, m, append(sound(), file("word-count/skills/s3/SKILL.md", "x"), file("word-count/skills/s4/SKILL.md", "x"), file("word-count/skills/none/README.md", "x"), file("word-count/skills/SKILL.md", "x"))...)
	directories := []string{
		filepath.Join(home, ".agents", "skills"), filepath.Join(home, ".pi", "agent", "skills"), "", filepath.Join(home, ".octet", "skills"),
		filepath.Join(workspace, ".octet", "skills"), one, two,
	}
	names := []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7"}
	for level, directory := range directories {
		for _, name := range names[level:] {
			if directory != "" {
				skill(t, directory, name)
			}
		}
	}
	skill(t, one, "s1")
	list := func(places bundle.SkillPlaces) map[string]bundle.Skill {
		t.Helper()
		bundles, _, err := m.List()
		if err != nil {
			t.Fatal(err)
		}
		skills, told := bundle.Skills(places, bundles)
		for _, d := range told {
			if d.Rule != "MAN-INSTALL-017" || d.Remedy == "" {
				t.Errorf("told: %s", d)
			}
		}
		found := map[string]bundle.Skill{}
		for _, s := range skills {
			found[s.Name] = s
		}
		return found
	}
	all := bundle.SkillPlaces{Home: home, Workspace: workspace, WorkspaceTrusted: true, Directories: []string{one, two}}
	for name, path := range map[string]string{
		"s1": one, "s2": directories[1], "s3": filepath.Join(m.Root, "word-count", "skills"), "s4": directories[3], "s5": directories[4], "s6": one, "s7": two,
	} {
		if got := list(bundle.SkillPlaces{Home: home})[name]; name == "s3" && (got.Scope != bundle.SkillBundle || got.Bundle != "word-count") {
			t.Errorf("%s is %+v", name, got)
		}
		if got := list(all)[name]; got.Path != filepath.Join(path, name, bundle.SkillFile) {
			t.Errorf("%s comes from %s, want %s", name, got.Path, path)
		}
	}
	if got := list(bundle.SkillPlaces{Home: home, Workspace: workspace})["s5"]; got.Scope == bundle.SkillProject {
		t.Error("a workspace that is not trusted has skills")
	}
}

func TestSkills_ofABundleNeedARecordAndTheRightHost(t *testing.T) {
	// MAN-INSTALL-015, MAN-INSTALL-016.
	m := manager(t)
	install(t, m, append(sound(), file("word-count/skills/count/SKILL.md", "x"))...)
	count := func(m bundle.Manager) int {
		t.Helper()
		bundles, _, err := m.List()
		if err != nil {
			t.Fatal(err)
		}
		skills, _ := bundle.Skills(bundle.SkillPlaces{}, bundles)
		return len(skills)
	}
	if got := count(m); got != 1 {
		t.Errorf("%d skills, want 1", got)
	}
	later := m
	later.Octet = "0.8.1"
	if got := count(later); got != 0 {
		t.Errorf("behind an upgrade: %d skills, want none", got)
	}
	skills := filepath.Join(m.Root, "word-count", "skills")
	outside := t.TempDir()
	skill(t, outside, "count")
	if err := os.Symlink(filepath.Join(outside, "count"), filepath.Join(skills, "linked")); err == nil {
		if got := count(m); got != 1 {
			t.Errorf("a link counts: %d skills", got)
		}
	}
	if err := os.Remove(filepath.Join(m.Root, "word-count", "install.json")); err != nil {
		t.Fatal(err)
	}
	if got := count(m); got != 0 {
		t.Errorf("without a record: %d skills, want none", got)
	}
}
