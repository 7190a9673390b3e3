package extension_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

// setup makes a source root with a file, a directory and links, and returns it.
func setup(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "a.json"), []byte(`{}`), 0o600),
		os.Mkdir(filepath.Join(root, "sub"), 0o700),
		os.WriteFile(filepath.Join(root, "sub", "b.json"), []byte(`{"b":1}`), 0o600),
		os.Symlink("a.json", filepath.Join(root, "link.json")),
		os.Symlink("sub", filepath.Join(root, "way")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// adapter detects the files that are there of those named, and answers an import with one skill.
func adapter(log *lockedBuffer, detect []string, skill string) *extension.Extension {
	ext := extension.New(&extension.Options{API: extension.API03, Log: log})
	ext.SetMigration(extension.Migration{
		Detect: func(_ context.Context, source *extension.Source, _ canonicalwire.MigrationDetectParams) (canonicalwire.MigrationDetectResult, error) {
			var found []string
			for _, path := range detect {
				if _, err := source.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == "gone.json" {
					found = append(found, path)
				}
			}
			return canonicalwire.MigrationDetectResult{Detected: len(found) > 0, ConfigPaths: found}, nil
		},
		Import: func(_ context.Context, source *extension.Source, asked canonicalwire.MigrationImportParams) (result canonicalwire.MigrationImportResult, err error) {
			if skill == "fail" {
				return result, errors.New("secret detail")
			}
			for _, path := range asked.ConfigPaths {
				if _, err := source.ReadFile(path); err != nil {
					result.Diagnostics = append(result.Diagnostics, canonicalwire.MigrationDiagnostic{Path: path, Severity: canonicalwire.MigrationDiagnosticSeverityWarning, Reason: "gone"})
				}
			}
			if skill != "" {
				result.Skills = []canonicalwire.MigrationSkill{{Path: skill, Name: "n", Content: "c"}}
			}
			return result, nil
		},
	})
	return ext
}

func TestMigration_detect(t *testing.T) {
	root := setup(t)
	for name, c := range map[string]struct {
		detect []string
		root   string
		want   string // of the answer or of the error
	}{
		"what is there":   {[]string{"a.json", "sub/b.json", "none.json"}, root, `{"config_paths":["a.json","sub/b.json"],"detected":true,"diagnostics":[]}`},
		"relative root":   {nil, "sub", "(-32602)"},
		"empty root":      {nil, "", "(-32602)"},
		"missing root":    {nil, filepath.Join(root, "none"), "(-32602)"},
		"root is a file":  {nil, filepath.Join(root, "a.json"), "(-32602)"},
		"root is a link":  {nil, filepath.Join(root, "way"), "(-32602)"},
		"path twice":      {[]string{"a.json", "a.json"}, root, "(-32603)"},
		"path outside":    {[]string{"../a.json"}, root, "(-32603)"},
		"absolute path":   {[]string{filepath.ToSlash(filepath.Join(root, "a.json"))}, root, "(-32603)"},
		"path of a link":  {[]string{"link.json"}, root, "(-32603)"},
		"behind a link":   {[]string{"way/b.json"}, root, "(-32603)"},
		"path to nothing": {[]string{"gone.json"}, root, "(-32603)"},
		"with a drive":    {[]string{"c:a.json"}, root, "(-32603)"},
	} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			host := exttest.Start(t, adapter(&log, c.detect, ""))
			got, err := host.Ask(canonicalwire.MethodMigrationDetect, object{"source_root": c.root})
			if answer := string(got); err != nil && !strings.Contains(err.Error(), c.want) || err == nil && answer != c.want {
				t.Errorf("got %s, %v\nwant %s", answer, err, c.want)
			}
		})
	}
}

func TestMigration_import(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		skill string
		want  string
	}{
		"what detection reports": {[]string{"a.json", "sub/b.json"}, "sub/b.json", `{"diagnostics":[],"mcp_servers":[],"models":[],"skills":[{"content":"c","name":"n","path":"sub/b.json"}]}`},
		"nothing":                {[]string{}, "", `{"diagnostics":[],"mcp_servers":[],"models":[],"skills":[]}`},
		"twice":                  {[]string{"a.json", "a.json"}, "", "(-32602)"},
		"outside":                {[]string{"../a.json"}, "", "(-32602)"},
		"not reported":           {[]string{"sub"}, "", "(-32602)"},
		"answer outside":         {[]string{"a.json"}, "../x", "(-32603)"},
		"failed":                 {[]string{"a.json"}, "fail", "(-32603)"},
	} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			host := exttest.Start(t, adapter(&log, []string{"a.json", "sub/b.json"}, c.skill))
			got, err := host.Ask(canonicalwire.MethodMigrationImport, object{"source_root": setup(t), "config_paths": c.paths})
			if answer := string(got); err != nil && !strings.Contains(err.Error(), c.want) || err == nil && answer != c.want {
				t.Errorf("got %s, %v\nwant %s", answer, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the answer tells %v", err)
			}
		})
	}
}

// TestMigration_vanished imports what an earlier detection found and is gone by now.
func TestMigration_vanished(t *testing.T) {
	var log lockedBuffer
	root := setup(t)
	host := exttest.Start(t, adapter(&log, []string{"a.json"}, ""))
	if _, err := host.Ask(canonicalwire.MethodMigrationDetect, object{"source_root": root}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "a.json")); err != nil {
		t.Fatal(err)
	}
	got, err := host.Ask(canonicalwire.MethodMigrationImport, object{"source_root": root, "config_paths": []string{"a.json"}})
	want := `{"diagnostics":[{"path":"a.json","reason":"gone","severity":"warning"}],"mcp_servers":[],"models":[],"skills":[]}`
	if string(got) != want || err != nil {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestSource(t *testing.T) {
	var log lockedBuffer
	root := setup(t)
	ext := extension.New(&extension.Options{API: extension.API03, Log: &log})
	ext.SetMigration(extension.Migration{
		Detect: func(_ context.Context, source *extension.Source, _ canonicalwire.MigrationDetectParams) (result canonicalwire.MigrationDetectResult, err error) {
			if content, err := source.ReadFile("sub/b.json"); string(content) != `{"b":1}` || err != nil {
				t.Errorf("content %s, %v", content, err)
			}
			for path, want := range map[string]string{"": "a.json link.json sub way", "sub": "b.json"} {
				if names, err := source.ReadDir(path); strings.Join(names, " ") != want || err != nil {
					t.Errorf("names in %q: %s, %v", path, names, err)
				}
			}
			if _, err := source.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing: %v", err)
			}
			for _, path := range []string{"link.json", "way/b.json", "../x", "/etc/passwd", "sub", "", "."} {
				if content, err := source.ReadFile(path); err == nil || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%q: %q, %v", path, content, err)
				}
			}
			if _, err := source.ReadDir("way"); err == nil {
				t.Error("a link was followed to a directory")
			}
			return result, nil
		},
		Import: func(context.Context, *extension.Source, canonicalwire.MigrationImportParams) (result canonicalwire.MigrationImportResult, err error) {
			return result, nil
		},
	})
	host := exttest.Start(t, ext)
	if _, err := host.Ask(canonicalwire.MethodMigrationDetect, object{"source_root": root}); err != nil {
		t.Error(err)
	}
	if _, err := host.Ask(canonicalwire.MethodMigrationDetect, object{"source_root": 7}); err == nil || !strings.Contains(err.Error(), "-32602") {
		t.Errorf("bad params: %v", err)
	}
}
