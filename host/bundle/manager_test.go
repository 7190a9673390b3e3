package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/octet-dev/octet/host/bundle"
)

func TestInstall_extractsAndRecordsAndRunsNothing(t *testing.T) {
	// MAN-BUNDLE-001, MAN-BUNDLE-015, MAN-INSTALL-001, MAN-INSTALL-004, MAN-INSTALL-013.
	m := manager(t)
	home := filepath.Dir(filepath.Dir(m.Root))
	t.Setenv("HOME", home)
	data := archive(t, sound()...)
	path := save(t, data)
	record, err := m.Install(t.Context(), bundle.Source{Archive: path})
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(m.Root, "word-count")
	for name, mode := range map[string]os.FileMode{
		"": os.ModeDir | 0o755, "bin": os.ModeDir | 0o755, "docs/guide": os.ModeDir | 0o755, "bin/run": 0o755, "extension.toml": 0o644, "docs/guide/read.md": 0o644, "install.json": 0o644,
	} {
		info, err := os.Lstat(filepath.Join(place, name))
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode() != mode {
			t.Errorf("%s has mode %s, want %s", name, info.Mode(), mode)
		}
	}
	text, err := os.ReadFile(filepath.Join(place, "install.json"))
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("{\n  \"schema_version\": 1,\n  \"id\": \"word-count\",\n  \"version\": \"1.2.3\",\n  \"api_version\": \"0.4\",\n  \"requires_octet\": \"=0.8.0\",\n"+
		"  \"source_kind\": \"local\",\n  \"source\": %q,\n  \"archive_sha256\": %q,\n  \"installed_by_octet\": \"0.8.0\"\n}\n", canonical, digest(data))
	if string(text) != want {
		t.Errorf("install.json:\n%s\nwant:\n%s", text, want)
	}
	if record.ArchiveSHA256 != digest(data) || record.ID != "word-count" {
		t.Errorf("record: %+v", record)
	}
	// Nothing but the bundle and the lock is there, and its program was not run.
	entries, err := os.ReadDir(m.Root)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory of extensions has %v, %v", entries, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(m.Root)); err != nil || len(entries) != 1 {
		t.Errorf("beside it there are %v, %v", entries, err)
	}
	if _, err := os.Lstat(filepath.Join(home, "mark")); err == nil {
		t.Error("the bundle was run")
	}
}

func TestInstall_needsAPlaceThatIsFree(t *testing.T) {
	// MAN-INSTALL-005, MAN-INSTALL-006.
	for name, c := range map[string]struct {
		prepare func(place string) error
		rule    string
		words   []string
	}{
		"installed": {func(place string) error { return os.Mkdir(place, 0o755) }, "MAN-INSTALL-006", []string{"installed already", "octet extension update --path ARCHIVE"}},
		"a file":    {func(place string) error { return os.WriteFile(place, nil, 0o644) }, "MAN-INSTALL-005", []string{"not a directory"}},
		"a link":    {func(place string) error { return os.Symlink(t.TempDir(), place) }, "MAN-INSTALL-005", []string{"not a directory"}},
		"nowhere":   {func(place string) error { return os.Symlink("/nowhere", place) }, "MAN-INSTALL-005", []string{"not a directory"}},
	} {
		m := manager(t)
		if err := os.MkdirAll(m.Root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := c.prepare(filepath.Join(m.Root, "word-count")); err != nil {
			t.Fatal(err)
		}
		before := tree(t, m.Root)
		_, err := m.Install(t.Context(), bundle.Source{Archive: save(t, archive(t, sound()...))})
		t.Run(name, func(t *testing.T) { refused(t, err, c.rule, c.words...) })
		if after := tree(t, m.Root); after != before {
			t.Errorf("%s: something changed:\n%s", name, after)
		}
	}
}

func TestUpdate_replacesAManagedBundleAlone(t *testing.T) {
	// MAN-INSTALL-006, MAN-INSTALL-007, MAN-INSTALL-008, MAN-INSTALL-009.
	m := manager(t)
	next := bundle.Source{Archive: save(t, archive(t, with(without(sound(), "word-count/docs/guide/read.md"), manifestWith("1.2.3", "1.3.0"), file("word-count/new", "n"))...))}
	_, err := m.Update(t.Context(), next)
	refused(t, err, "MAN-INSTALL-006", "not installed", "octet extension install --path ARCHIVE")
	if _, err := os.Lstat(m.Root); err == nil {
		t.Error("a refused update made the directory of extensions")
	}
	install(t, m, sound()...)
	place := filepath.Join(m.Root, "word-count")
	record, err := m.Update(t.Context(), next)
	if err != nil || record.Version != "1.3.0" {
		t.Fatalf("got %+v, %v", record, err)
	}
	if _, err := os.Lstat(filepath.Join(place, "docs")); err == nil {
		t.Error("a file of the earlier bundle is still there")
	}
	if _, err := os.Lstat(filepath.Join(place, "new")); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(m.Root); len(entries) != 2 {
		t.Errorf("something stays behind: %v", entries)
	}
	for name, damage := range map[string]func() error{
		"no record":    func() error { return os.Remove(filepath.Join(place, "install.json")) },
		"a bad record": func() error { return os.WriteFile(filepath.Join(place, "install.json"), []byte("{}"), 0o644) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		before := tree(t, m.Root)
		_, err := m.Update(t.Context(), next)
		refused(t, err, "MAN-INSTALL-008", "not managed", place)
		if err := m.Remove(t.Context(), "word-count"); err == nil {
			t.Errorf("%s: an unmanaged directory was removed", name)
		}
		if after := tree(t, m.Root); after != before {
			t.Errorf("%s: something changed:\n%s", name, after)
		}
	}
}

func TestMoveAside_rollsBackAndLeavesNothingBehind(t *testing.T) {
	// MAN-INSTALL-009: as where directories cannot be exchanged in one step.
	m := manager(t)
	install(t, m, sound()...)
	next := save(t, archive(t, with(sound(), manifestWith("1.2.3", "1.3.0"))...))
	before := tree(t, filepath.Join(m.Root, "word-count"))
	err := m.MoveAside(next, "word-count", func(staged string) {
		if err := os.RemoveAll(staged); err != nil {
			t.Fatal(err)
		}
	})
	if err == nil {
		t.Error("nothing was put in the place of a bundle")
	}
	if after := tree(t, filepath.Join(m.Root, "word-count")); after != before {
		t.Errorf("the earlier bundle is not as it was:\n%s\nbefore:\n%s", after, before)
	}
	if err := m.MoveAside(next, "word-count", func(string) {}); err != nil {
		t.Fatal(err)
	}
	list, _, err := m.List()
	if err != nil || len(list) != 1 || list[0].Version != "1.3.0" {
		t.Errorf("got %+v, %v", list, err)
	}
	if entries, _ := os.ReadDir(m.Root); len(entries) != 2 {
		t.Errorf("something stays behind: %v", entries)
	}
}

func TestSwap_exchangesDirectories(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{a, b} {
		if err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, filepath.Base(path)), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	err := bundle.Swap(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Logf("this system cannot: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(a, "b"), filepath.Join(b, "a")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestLock_isHeldByOneChangeAtATime(t *testing.T) {
	// MAN-INSTALL-003.
	m := manager(t)
	install(t, m, sound()...)
	path := filepath.Join(m.Root, ".package.lock")
	lock := flock.New(path)
	if locked, err := lock.TryLock(); err != nil || !locked {
		t.Fatal(locked, err)
	}
	defer func() { _ = lock.Close() }()
	before := tree(t, m.Root)
	other := bundle.Source{Archive: save(t, archive(t, sound()...))}
	_, err := m.Update(t.Context(), other)
	refused(t, err, "MAN-INSTALL-003", "another install, update or removal", path)
	refused(t, m.Remove(t.Context(), "word-count"), "MAN-INSTALL-003", path)
	if after := tree(t, m.Root); after != before {
		t.Errorf("something changed:\n%s", after)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Update(t.Context(), other); err != nil {
		t.Errorf("behind the unlock: %v", err)
	}
}

func TestStage_refusesAnArchiveThatChanged(t *testing.T) {
	// MAN-INSTALL-002.
	m := manager(t)
	path := save(t, archive(t, sound()...))
	err := m.Put(path, func() {
		other := archive(t, append(sound(), file("word-count/evil", "x"))...)
		if err := os.WriteFile(path, other, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	refused(t, err, "MAN-INSTALL-002", "changed before it was used", path)
	err = m.Put(save(t, archive(t, sound()...)), func() {})
	if err != nil {
		t.Errorf("an archive that did not change: %v", err)
	}
	if entries, _ := os.ReadDir(m.Root); len(entries) != 1 {
		t.Errorf("something stays behind: %v", entries)
	}
}

func TestRemove_takesAManagedBundleAndNothingElse(t *testing.T) {
	// MAN-INSTALL-018.
	m := manager(t)
	install(t, m, sound()...)
	config := filepath.Join(filepath.Dir(m.Root), "config.toml")
	if err := os.WriteFile(config, []byte(`enabled_extensions = ["word-count"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(m.Root, "own")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, m.Remove(t.Context(), "own"), "MAN-INSTALL-008", "not managed")
	refused(t, m.Remove(t.Context(), "absent"), "MAN-INSTALL-018", "absent is not installed")
	refused(t, m.Remove(t.Context(), "../own"), "MAN-INSTALL-018", "no name of an extension")
	if err := os.Symlink(own, filepath.Join(m.Root, "linked")); err == nil {
		refused(t, m.Remove(t.Context(), "linked"), "MAN-INSTALL-005")
		_ = os.Remove(filepath.Join(m.Root, "linked"))
	}
	// A bundle may have made parts of itself read-only.
	_ = os.Chmod(filepath.Join(m.Root, "word-count", "bin"), 0o555)
	if err := m.Remove(t.Context(), "word-count"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(m.Root)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory of extensions has %v, %v", entries, err)
	}
	if _, err := os.Stat(config); err != nil {
		t.Error(err)
	}
}

func TestRecovery_afterAKilledChange(t *testing.T) {
	m := manager(t)
	install(t, m, sound()...)
	place, aside := filepath.Join(m.Root, "word-count"), filepath.Join(m.Root, ".octet-extension-aside-word-count")
	for _, rest := range []string{".octet-extension-install-1/word-count", ".octet-extension-remove-2/x", ".octet-extension-kept"} {
		if err := os.MkdirAll(filepath.Join(m.Root, rest), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Killed between the two renames of an update.
	if err := os.Rename(place, aside); err != nil {
		t.Fatal(err)
	}
	refused(t, m.Remove(t.Context(), "word-count"), "MAN-INSTALL-018") // it does not look like an installed one yet
	install(t, m, dir("other/"), file("other/extension.toml", strings.Replace(strings.Replace(toml, "word-count", "other", 1), "bin/run", "python3", 1)))
	if _, err := os.Stat(filepath.Join(place, "install.json")); err != nil {
		t.Errorf("the bundle was not put back: %v", err)
	}
	entries, err := os.ReadDir(m.Root)
	if err != nil || len(entries) != 4 { // lock, other, word-count and what is not ours
		t.Errorf("the directory of extensions has %v, %v", entries, err)
	}
}

func TestSource_isANameOrAnArchive(t *testing.T) {
	// MAN-INSTALL-012, MAN-INSTALL-020.
	m := manager(t)
	for _, c := range []struct {
		source bundle.Source
		update bool
		rule   string
		words  []string
	}{
		{bundle.Source{}, false, "MAN-INSTALL-020", []string{"octet extension install NAME", "--path ARCHIVE"}},
		{bundle.Source{Name: "octet-mcp", Archive: "x"}, true, "MAN-INSTALL-020", []string{"octet extension update NAME"}},
		{bundle.Source{Name: "word-count"}, false, "MAN-INSTALL-012", []string{"octet-browse, octet-mcp, octet-subagents, octet-web-search", "octet extension install --path ARCHIVE"}},
		{bundle.Source{Name: "word-count"}, true, "MAN-INSTALL-020", []string{"no official source", "octet extension update --path ARCHIVE"}},
		{bundle.Source{Name: "../x"}, false, "MAN-INSTALL-012", []string{"no name"}},
		{bundle.Source{Name: "octet-mcp"}, true, "MAN-INSTALL-006", []string{"not installed", "octet extension install octet-mcp"}},
	} {
		act := m.Install
		if c.update {
			act = m.Update
		}
		_, err := act(t.Context(), c.source)
		refused(t, err, c.rule, c.words...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Install(ctx, bundle.Source{Archive: save(t, archive(t, sound()...))}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
