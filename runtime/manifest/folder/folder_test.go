package folder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const legal = "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"run\"\n"

// directory makes a directory called demo with files in it.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpen(t *testing.T) {
	dir := directory(t, map[string]string{"extension.toml": legal})
	link := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dir + string(filepath.Separator), link} {
		f, err := Open(path, LoadLimit)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if f.Name != "demo" || filepath.Base(f.ManifestPath) != "extension.toml" || string(f.Data) != legal || !f.Judge().OK() {
			t.Errorf("%s: opened as %+v", path, f)
		}
	}
}

func TestOpen_refusals(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.toml")
	if err := os.WriteFile(elsewhere, []byte(legal), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := directory(t, nil)
	if err := os.Symlink(elsewhere, filepath.Join(linked, "extension.toml")); err != nil {
		t.Fatal(err)
	}
	nested := directory(t, nil)
	if err := os.Mkdir(filepath.Join(nested, "extension.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, rule, message string }{
		{"absent directory", filepath.Join(t.TempDir(), "none"), "MAN-FILE-001", "cannot read extension manifest"},
		{"a file", elsewhere, "MAN-FILE-001", "cannot read extension manifest"},
		{"absent manifest", directory(t, nil), "MAN-FILE-001", "no such file"},
		{"manifest with another case", directory(t, map[string]string{"Extension.TOML": legal}), "MAN-FILE-001", "no such file"},
		{"linked manifest", linked, "MAN-FILE-006", "it is a symbolic link"},
		{"directory as manifest", nested, "MAN-FILE-006", "it is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.path, LoadLimit)
			var found *Error
			if !errors.As(err, &found) || found.Rule != c.rule || !strings.Contains(found.Message, c.message) || found.Remedy == "" {
				t.Errorf("got %+v, want rule %s and %q", err, c.rule, c.message)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), LoadLimit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want one that is fs.ErrNotExist", err)
	}
}

func TestOpen_sizes(t *testing.T) {
	for _, c := range []struct {
		limit int64
		rule  string
	}{{LoadLimit, "MAN-FILE-004"}, {DiscoveryLimit, "MAN-FILE-005"}} {
		fill := legal + "#" + strings.Repeat("x", int(c.limit)-len(legal)-2) + "\n"
		if _, err := Open(directory(t, map[string]string{"extension.toml": fill}), c.limit); err != nil {
			t.Errorf("at the limit of %d: %v", c.limit, err)
		}
		_, err := Open(directory(t, map[string]string{"extension.toml": fill + "\n"}), c.limit)
		var found *Error
		if !errors.As(err, &found) || found.Rule != c.rule || !strings.Contains(found.Message, "; limit is ") {
			t.Errorf("one over %d: %v, want rule %s", c.limit, err, c.rule)
		}
	}
}

// TestOpen_startsNothing puts an executable beside the manifest that would leave a trace.
func TestOpen_startsNothing(t *testing.T) {
	dir := directory(t, map[string]string{"extension.toml": legal})
	trace := filepath.Join(dir, "trace")
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\ntouch "+trace+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir, LoadLimit)
	if err != nil || !f.Judge().OK() {
		t.Fatalf("opened %+v, %v", f, err)
	}
	if _, err := os.Stat(trace); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the extension ran: %v", err)
	}
	if !bytes.Equal(f.Data, []byte(legal)) {
		t.Error("the manifest was not read")
	}
}
