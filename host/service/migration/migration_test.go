package migration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// adapter answers as it is told and notes what it was asked.
type adapter struct {
	found    canonicalwire.MigrationDetectResult
	imported canonicalwire.MigrationImportResult
	err      error
	asked    []string
}

func (a *adapter) Name() string { return "from-other" }

func (a *adapter) DetectMigration(_ context.Context, p canonicalwire.MigrationDetectParams) (*canonicalwire.MigrationDetectResult, error) {
	a.asked = append(a.asked, string(p.AppendJSON(nil)))
	return &a.found, a.err
}

func (a *adapter) ImportMigration(_ context.Context, p canonicalwire.MigrationImportParams) (*canonicalwire.MigrationImportResult, error) {
	a.asked = append(a.asked, string(p.AppendJSON(nil)))
	return &a.imported, a.err
}

// EXT03-MIGRATE-009
func TestDetect_asksWithTheRootAlone(t *testing.T) {
	a, root := &adapter{}, t.TempDir()
	if _, err := Detect(t.Context(), a, root); err != nil {
		t.Fatal(err)
	}
	if want := []string{fmt.Sprintf(`{"source_root":%q}`, root)}; !slices.Equal(a.asked, want) {
		t.Errorf("asked %q, want %q", a.asked, want)
	}
}

func TestDetect_refusesRoots(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, root := range []string{"", ".", "sub", file, link, filepath.Join(dir, "none"), "/" + strings.Repeat("x", 4096)} {
		a := &adapter{}
		if _, err := Detect(t.Context(), a, root); err == nil || len(a.asked) > 0 {
			t.Errorf("root %.40q: got %v and %d questions", root, err, len(a.asked))
		}
	}
}

// EXT03-MIGRATE-011
func TestPaths_arePlainlyInside(t *testing.T) {
	for path, good := range map[string]bool{
		"a": true, "a/b.json": true, ".hidden/..x/y.": true, "ä": true,
		"": false, "/a": false, "a//b": false, "a/": false, "./a": false, "a/./b": false, "..": false, "a/../b": false,
		`a\b`: false, "a\x00b": false, "C:": false, "c:/x": false, "\xff": false, "1:": true,
	} {
		root := t.TempDir()
		a := &adapter{found: canonicalwire.MigrationDetectResult{ConfigPaths: []string{path}}}
		_, err := Detect(t.Context(), a, root)
		if refused := errors.As(err, new(*PathError)); refused == good {
			t.Errorf("detected path %q: %v", path, err)
		}
		a = &adapter{found: canonicalwire.MigrationDetectResult{Diagnostics: []canonicalwire.MigrationDiagnostic{{Path: path}}}}
		if _, err := Detect(t.Context(), a, root); errors.As(err, new(*PathError)) == good {
			t.Errorf("diagnosed path %q: %v", path, err)
		}
		for name, imported := range map[string]canonicalwire.MigrationImportResult{
			"model":      {Models: []canonicalwire.MigrationModel{{Path: path}}},
			"skill":      {Skills: []canonicalwire.MigrationSkill{{Path: path}}},
			"server":     {MCPServers: []canonicalwire.MigrationMcpServer{{Path: path}}},
			"diagnostic": {Diagnostics: []canonicalwire.MigrationDiagnostic{{Path: path}}},
		} {
			a := &adapter{imported: imported}
			d, err := Detect(t.Context(), a, root)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := d.Import(t.Context(), nil); errors.As(err, new(*PathError)) == good || (got != nil) != good {
				t.Errorf("path %q of a %s: %v", path, name, err)
			}
		}
	}
}

// EXT03-MIGRATE-010
func TestImport_takesWhatWasDetectedOnce(t *testing.T) {
	root := t.TempDir()
	var paths []string
	for n := range canonicalwire.MaxMigrationItems {
		paths = append(paths, fmt.Sprint("f", n))
	}
	a := &adapter{found: canonicalwire.MigrationDetectResult{Detected: true, ConfigPaths: paths}}
	d, err := Detect(t.Context(), a, root)
	if err != nil {
		t.Fatal(err)
	}
	a.asked = nil
	for _, chosen := range [][]string{{"f1", "f1"}, {"other"}, {"f1", "../f1"}, append(slices.Clone(paths), "f0")} {
		if _, err := d.Import(t.Context(), chosen); err == nil || len(a.asked) > 0 {
			t.Errorf("choice %.40q: got %v and %d questions", chosen, err, len(a.asked))
		}
	}
	if _, err := d.Import(t.Context(), paths[1:3]); err != nil {
		t.Fatal(err)
	}
	if want := []string{fmt.Sprintf(`{"config_paths":["f1","f2"],"source_root":%q}`, root)}; !slices.Equal(a.asked, want) {
		t.Errorf("asked %q, want %q", a.asked, want)
	}
	if _, err := d.Import(t.Context(), paths); err != nil {
		t.Errorf("all %d: %v", len(paths), err)
	}
	a.found.ConfigPaths = []string{"f1", "f1"}
	if _, err := Detect(t.Context(), a, root); err == nil {
		t.Error("a path detected twice is taken")
	}
}

func TestImport_doesNotLeaveTheRoot(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(string) error{
		"link out":  func(p string) error { return os.Symlink(outside, p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		path := strings.ReplaceAll(name, " ", "-")
		if err := make(filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
		a := &adapter{found: canonicalwire.MigrationDetectResult{ConfigPaths: []string{path}}}
		d, err := Detect(t.Context(), a, root)
		if err != nil {
			t.Fatal(err)
		}
		a.asked = nil
		if _, err := d.Import(t.Context(), []string{path}); !errors.As(err, new(*PathError)) || len(a.asked) > 0 {
			t.Errorf("%s: got %v and %d questions", name, err, len(a.asked))
		}
	}
}

// EXT03-MIGRATE-012
func TestDetect_writesNothing(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "settings.json"), []byte("{}"), 0o400); err != nil {
		t.Fatal(err)
	}
	before := listing(t, root)
	a := &adapter{found: canonicalwire.MigrationDetectResult{Detected: true, ConfigPaths: []string{"settings.json"}}}
	d, err := Detect(t.Context(), a, root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Import(t.Context(), d.ConfigPaths); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, root); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}

func listing(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		list = append(list, fmt.Sprint(path, info.Mode(), info.Size(), info.ModTime()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestDetect_passesTheErrorOn(t *testing.T) {
	broken := errors.New("gone")
	a := &adapter{err: broken}
	if _, err := Detect(t.Context(), a, t.TempDir()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
