package load_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/octet-dev/octet/gen/load"
)

// edited returns the spec of this repository with one text of one file replaced.
func edited(t *testing.T, file, old, replacement string) fs.FS {
	t.Helper()
	root := os.DirFS("../../spec")
	out := fstest.MapFS{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if name == file {
			if !strings.Contains(string(data), old) {
				t.Fatalf("%s does not hold %s", file, old)
			}
			data = []byte(strings.Replace(string(data), old, replacement, 1))
		}
		out[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLoad_holdsGatesOfTheFeatureWireAgainstItsFeatures(t *testing.T) {
	const methods = "extension-feature/openrpc.json"
	for _, c := range []struct{ old, replacement, want string }{
		{`"x-gate": "composer"`, `"x-gate": "nosuchfeature"`, `"nosuchfeature" is no feature; add the row, correct the name, or begin the gate with contributes., declared or base`},
		{`"x-gate": "autocomplete + admitted registration"`, `"x-gate": "autocompletion + admitted registration"`, `"autocompletion" is no feature`},
		{`"x-gate": "composer"`, `"x-gate": "remote_ui"`, `the feature "remote_ui" does not exist in version "0.2" of "composer/get"; align the versions`},
	} {
		_, err := load.Load(edited(t, methods, c.old, c.replacement))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "/x-gate: ") {
			t.Errorf("%s: got %v, want %s", c.replacement, err, c.want)
		}
	}
}

func TestLoad_refusesControlCharactersInTexts(t *testing.T) {
	for _, c := range []string{`\u0000`, `\u001b`, `\u0085`, `\u2028`} {
		_, err := load.Load(edited(t, "extension-feature/errors.json", `"description": "`, `"description": "a`+c))
		if err == nil || !strings.Contains(err.Error(), "/description: the text holds U+") {
			t.Errorf("%s: got %v", c, err)
		}
	}
}
