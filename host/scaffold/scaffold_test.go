package scaffold

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWrite_refusesWords(t *testing.T) {
	parent := t.TempDir()
	for _, c := range []struct {
		name, language, api, want string
	}{
		{"Word_Index", "go", "0.4", `extension name "Word_Index": start with a lower-case letter and go on with lower-case letters, digits and hyphens; 64 bytes at most; how about "word-index"?`},
		{"", "go", "0.4", `extension name "": start with`},
		{"../up", "go", "0.4", `how about "up"?`},
		{"1-2-3", "go", "0.4", `64 bytes at most`},
		{strings.Repeat("x", 65), "go", "0.4", `how about "` + strings.Repeat("x", 64) + `"?`},
		{"hello", "pyhton", "0.4", `language "pyhton": did you mean "python"?`},
		{"hello", "rust", "0.4", `language "rust": use go or python or typescript`},
		{"hello", "go", "0.1", `extension API "0.1": did you mean "0.4"?`},
		{"hello", "go", "latest", `extension API "latest": use 0.4 or 0.3`},
	} {
		_, err := Write(Options{Parent: parent, Name: c.name, Language: c.language, API: c.api})
		var word *WordError
		if !errors.As(err, &word) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q, %q: %v, want %s", c.name, c.language, c.api, err, c.want)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("refusals left %v, %v", left, err)
	}
}

func TestWrite_changesNothingThatIsThere(t *testing.T) {
	parent := t.TempDir()
	if err := os.Mkdir(filepath.Join(parent, "hello"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "file"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hello", "file"} {
		_, err := Write(Options{Parent: parent, Name: name, Language: "go", API: "0.4"})
		if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), name+" exists already; choose another name") {
			t.Errorf("%s: %v, want that it exists", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(parent, "hello")); err != nil || len(left) != 0 {
		t.Errorf("the directory holds %v, %v", left, err)
	}
	if _, err := Write(Options{Parent: filepath.Join(parent, "nowhere"), Name: "hello", Language: "go", API: "0.4"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a parent that is missing: %v", err)
	}
}

// Names of any length give legal names of tools, and no language's file depends on the name.
func TestPrefix(t *testing.T) {
	for name, want := range map[string]string{
		"hello":                  "hello",
		"word-index":             "word_index",
		strings.Repeat("x", 64):  strings.Repeat("x", 54),
		strings.Repeat("x-", 32): strings.TrimSuffix(strings.Repeat("x_", 27), "_"),
	} {
		if got := prefix(name); got != want {
			t.Errorf("prefix(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestWrite_says(t *testing.T) {
	for _, language := range Languages {
		w, err := Write(Options{Parent: t.TempDir(), Name: "hello", Language: language, API: "0.4", SDK: "/with a/clone", Release: "1.2.3"})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		err = filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				relative, _ := filepath.Rel(w.Dir, path)
				found = append(found, filepath.ToSlash(relative))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.Clone(w.Files)
		slices.Sort(listed)
		if !slices.Equal(listed, found) {
			t.Errorf("%s: told of %v, wrote %v", language, listed, found)
		}
		for _, path := range w.Files {
			text, err := os.ReadFile(filepath.Join(w.Dir, filepath.FromSlash(path)))
			if err != nil || strings.Contains(string(text), "{{") || !strings.HasSuffix(string(text), "\n") || strings.Contains(string(text), " \n") {
				t.Errorf("%s: %s is not rendered well (%v):\n%s", language, path, err, text)
			}
		}
	}
}

// A clone may lie anywhere: its path is quoted where it is written.
func TestWrite_quotesTheClone(t *testing.T) {
	clone := `/with a/"clone"`
	written := func(language, file string) string {
		w, err := Write(Options{Parent: t.TempDir(), Name: "hello", Language: language, API: "0.4", SDK: clone})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(w.Dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := written("go", "go.mod"); !strings.HasSuffix(got, "\nreplace github.com/octet-dev/octet => \"/with a/\\\"clone\\\"\"\n") {
		t.Errorf("go.mod is\n%s", got)
	}
	var manifest struct{ Dependencies map[string]string }
	text := written("typescript", "package.json")
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Dependencies["octet-extension"] != "file:"+clone+"/sdk-ts" {
		t.Errorf("package.json is\n%s\n%v", text, err)
	}
}
