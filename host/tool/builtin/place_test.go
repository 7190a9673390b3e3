package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/tool"
)

// fileCalls are calls of every file tool for one path.
func fileCalls(path string) map[string]arguments {
	return map[string]arguments{
		"read": {"path": path}, "write": {"path": path, "content": "gone"}, "edit": {"path": path, "old_text": "key", "new_text": "gone"},
		"grep": {"path": path, "pattern": "key"}, "list": {"path": path}, "glob": {"path": path, "pattern": "**"},
	}
}

func (b *bench) describe(name string, a arguments) tool.Summary {
	b.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	return b.tools.Find(name).(tool.Describer).Describe(text)
}

// Every file tool, every way to octet's own data: by its name, through links, and where it lies in the workspace.
func TestPrivate_isNeverTouched(t *testing.T) {
	for name, c := range map[string]struct {
		data    string // relative to the workspace
		options func(*Options)
	}{
		"outside": {"../data", external}, "inside": {"data", external}, "inside, no external paths": {"data", func(*Options) {}},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, c.options, func(o *Options) { o.Private = filepath.Join(o.Workspace, c.data) })
			data := filepath.Join(b.dir, c.data)
			b.put(filepath.Join(c.data, "profiles.json"), "key\n")
			b.put(filepath.Join(c.data, "deep/notes"), "key\n")
			b.put(filepath.Join(c.data, "skills/s/SKILL.md"), "to be read\n")
			b.link(data, "inner")
			b.link(filepath.Join(c.data, "profiles.json"), "file")
			b.link("inner", "again")
			for _, path := range []string{
				data, "inner", "again", "file", c.data + "/profiles.json", "inner/profiles.json", "again/deep", "again/deep/notes", "inner/new", "inner/new/deep",
			} {
				for name, a := range fileCalls(path) {
					b.wants(name, a, true, "where octet keeps its own keys", "--data-dir")
					if s := b.describe(name, a); !strings.Contains(s.Refused, "where octet keeps its own keys") || s.Detail != "" && name == "write" {
						t.Errorf("%s %s is described as %+v", name, path, s)
					}
				}
			}
			for name, a := range map[string]arguments{
				"grep": {"pattern": "key", "path": filepath.Dir(data)}, "glob": {"pattern": "**/*.json", "path": filepath.Dir(data)}, "list": {"path": filepath.Dir(data), "depth": 3},
			} {
				if r := b.wants(name, a, false, "not looked into", "data"); strings.Contains(textOf(r), "profiles") || strings.Contains(textOf(r), "notes") {
					t.Errorf("%s around it:\n%s", name, textOf(r))
				}
			}
			b.wants("read", arguments{"path": c.data + "/skills/s/SKILL.md"}, false, "to be read")
			if got := b.content(c.data+"/profiles.json") + b.content(c.data+"/deep/notes"); got != "key\nkey\n" {
				t.Errorf("what is kept is now %q", got)
			}
			if list, err := os.ReadDir(data); err != nil || len(list) != 3 {
				t.Errorf("in the data directory: %v, %v", list, err)
			}
		})
	}
}

// A workspace that somebody has chosen below octet's data is theirs; what is around it is not.
func TestPrivate_aroundTheWorkspace(t *testing.T) {
	b := open(t, external, func(o *Options) { o.Private = filepath.Dir(o.Workspace) })
	b.wants("read", arguments{"path": "keep.txt"}, false, "two")
	b.wants("read", arguments{"path": b.outside}, true, "where octet keeps its own keys")
	b = open(t, external, func(o *Options) { o.Private = o.Workspace })
	b.wants("read", arguments{"path": "keep.txt"}, true, "where octet keeps its own keys")
}

// What was asked about is what is opened.
func TestPaths_linkChangedBehindTheQuestion(t *testing.T) {
	b := open(t, external)
	b.put("a/keep.txt", "key\n")
	b.put("../other/keep.txt", "key\n")
	b.link("a", "way")
	calls := fileCalls("way/keep.txt")
	calls["list"], calls["glob"] = arguments{"path": "way"}, arguments{"path": "way", "pattern": "*"}
	asked := map[string]tool.Summary{}
	for name, a := range calls {
		asked[name] = b.describe(name, a)
		if asked[name].Asked == "" {
			t.Errorf("%s does not say what it asks about", name)
		}
	}
	if err := os.Remove(filepath.Join(b.dir, "way")); err != nil {
		t.Fatal(err)
	}
	b.link("../other", "way")
	for name, a := range calls {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.tools.Find(name).Run(context.Background(), tool.Call{Name: name, Arguments: text, Asked: asked[name].Asked})
		if err != nil || !r.IsError || !strings.Contains(textOf(r), "a link was changed meanwhile") {
			t.Errorf("%s goes through a link that was changed: %v %s", name, err, textOf(r))
		}
	}
	if got := b.content("../other/keep.txt"); got != "key\n" {
		t.Errorf("the other file is now %q", got)
	}
}

// A link that is changed while a tool is at work leads it nowhere.
func TestPlace_linkChangedWhileAtWork(t *testing.T) {
	b := open(t, external)
	b.put("a/keep.txt", "mine\n")
	b.put("../other/keep.txt", "key\n")
	p, err := b.tools.space.locate("a/keep.txt", "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	fresh, err := b.tools.space.locate("a/new/file", "")
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.close()
	files := mustLocate(t, b, ".").tree()
	if err := os.Rename(filepath.Join(b.dir, "a"), filepath.Join(b.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	b.link("../other", "a")
	if file, _, err := p.open(); err == nil {
		_ = file.Close()
		t.Error("a file is opened behind a directory that became a link")
	}
	if err := fresh.replace([]byte("x"), nil); err == nil {
		t.Error("a file is written behind a directory that became a link")
	}
	if file, err := files.Open("a/keep.txt"); err == nil {
		_ = file.Close()
		t.Error("a walk goes through a directory that became a link")
	}
	if list, err := os.ReadDir(filepath.Join(b.dir, "../other")); err != nil || len(list) != 1 {
		t.Errorf("in the other directory: %v, %v", list, err)
	}
	b.link("keep.txt", "moved/swapped")
	q := mustLocate(t, b, "moved/keep.txt")
	if err := os.Rename(filepath.Join(b.dir, "moved/swapped"), filepath.Join(b.dir, "moved/keep.txt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := q.open(); err == nil {
		t.Error("a file that became a link is opened")
	}
}

func mustLocate(t *testing.T, b *bench, path string) place {
	t.Helper()
	p, err := b.tools.space.locate(path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}
