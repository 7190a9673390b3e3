package write

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/gen/emit"
)

func generated(path, text string) emit.File {
	return emit.File{Path: path, Data: []byte("// " + emit.Marker("spec/x.json") + "\n" + text)}
}

// put writes a file of a test tree.
func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// snapshot returns every file of a tree with its bytes, sorted.
func snapshot(t *testing.T, root string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, file)
		if entry.IsDir() {
			lines = append(lines, name+"/")
			return nil
		}
		data, err := os.ReadFile(file)
		lines = append(lines, fmt.Sprintf("%s %q", name, data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func plan(t *testing.T, root string, files ...emit.File) *Plan {
	t.Helper()
	p, err := Compare(root, files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlan_bringsATreeInLine(t *testing.T) {
	root := t.TempDir()
	same, changed, fresh := generated("generated/a/same.go", "same"), generated("generated/a/changed.go", "new"), generated("generated/b/c/fresh.go", "fresh")
	put(t, root, same.Path, string(same.Data))
	put(t, root, changed.Path, "// "+emit.Marker("spec/x.json")+"\nold")
	put(t, root, "generated/old/stale.go", string(generated("", "stale").Data))
	put(t, root, "generated/hand.go", "// written by hand\n")
	put(t, root, "elsewhere/marked.go", string(same.Data))
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(root, same.Path), before, before); err != nil {
		t.Fatal(err)
	}

	p := plan(t, root, same, changed, fresh)
	if !slices.Equal(p.Changed, []string{changed.Path}) || !slices.Equal(p.Missing, []string{fresh.Path}) || !slices.Equal(p.Unexpected, []string{"generated/old/stale.go"}) {
		t.Fatalf("changed %v, missing %v, unexpected %v", p.Changed, p.Missing, p.Unexpected)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []emit.File{same, changed, fresh} {
		if data, err := os.ReadFile(filepath.Join(root, f.Path)); err != nil || string(data) != string(f.Data) {
			t.Errorf("%s: %q, %v", f.Path, data, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "generated/old")); !os.IsNotExist(err) {
		t.Errorf("the folder of a stale file stays: %v", err)
	}
	for _, kept := range []string{"generated/hand.go", "elsewhere/marked.go"} {
		if _, err := os.Stat(filepath.Join(root, kept)); err != nil {
			t.Errorf("%s is gone: %v", kept, err)
		}
	}
	if info, err := os.Stat(filepath.Join(root, same.Path)); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("a file that did not differ was touched: %v", err)
	}
	if again := plan(t, root, same, changed, fresh); !again.Empty() {
		t.Errorf("a second run finds %v %v %v", again.Changed, again.Missing, again.Unexpected)
	}
	if strings.Contains(snapshot(t, root), ".tmp") {
		t.Error("a temporary file stays")
	}
}

func TestCompare_refusesWhatItMustNotWrite(t *testing.T) {
	root := t.TempDir()
	good := generated("generated/a.go", "")
	for name, files := range map[string][]emit.File{
		"outside":         {generated("runtime/a.go", "")},
		"escape":          {generated("generated/../a.go", "")},
		"absolute":        {generated("/generated/a.go", "")},
		"look-alike":      {generated("generated-evil/a.go", "")},
		"the root itself": {generated("generated", "")},
		"unclean":         {generated("generated//a.go", "")},
		"twice":           {good, good},
		"no marker":       {{Path: "generated/a.go", Data: []byte("package a\n")}},
	} {
		if _, err := Compare(root, files); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Compare(filepath.Join(root, "none"), []emit.File{good}); err == nil {
		t.Error("a root that does not exist was accepted")
	}
}

func TestApply_leavesTheOldTreeWhenItFails(t *testing.T) {
	for name, obstruct := range map[string]func(t *testing.T, root string){
		// A folder stands where a file must be renamed to; the files before it are in place by then.
		"rename": func(t *testing.T, root string) { put(t, root, "generated/zz.go/inside", "x") },
		// A file stands where a folder must be made.
		"folder": func(t *testing.T, root string) { put(t, root, "generated/sub", "x") },
		// A folder stands where the temporary file must be written.
		"temporary": func(t *testing.T, root string) { put(t, root, "generated/.zz.go.tmp/inside", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			old, newer := "// "+emit.Marker("spec/x.json")+"\nold", "new"
			put(t, root, "generated/changed.go", old)
			put(t, root, "generated/stale.go", old)
			p := plan(t, root, generated("generated/aa/fresh.go", newer), generated("generated/changed.go", newer), generated("generated/sub/deep.go", newer), generated("generated/zz.go", newer))
			obstruct(t, root)
			before := snapshot(t, root)
			if err := p.Apply(); err == nil {
				t.Fatal("no error")
			}
			if after := snapshot(t, root); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

func TestCompare_followsNoLinkOutOfTheTree(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "generated")); err != nil {
		t.Fatal(err)
	}
	p, err := Compare(root, []emit.File{generated("generated/a.go", "")})
	if err == nil {
		err = p.Apply()
	}
	if err == nil {
		t.Error("wrote through a link that leaves the tree")
	}
	if got := snapshot(t, outside); got != "./" {
		t.Errorf("outside now holds %s", got)
	}
}
