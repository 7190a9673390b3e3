package discovery

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// MAN-DISCOVER-002, MAN-DISCOVER-003, MAN-DISCOVER-004, MAN-DISCOVER-017.
func TestDiscover_precedence(t *testing.T) {
	m := newMachine(t)
	m.places.Directories = []string{m.path("one"), m.path("two")}
	for _, place := range []string{globalRoot + "/a", globalRoot + "/b", projectRoot + "/b", globalRoot + "/c", projectRoot + "/c", "one/c", "one/d", "two/d"} {
		m.write(place+"/extension.toml", legal(place[len(place)-1:]))
	}
	s := m.discover()
	m.expect(s, []string{"global a", "project b", "explicit c", "explicit d"},
		"info MAN-DISCOVER-017 "+globalRoot+"/b/extension.toml",
		"info MAN-DISCOVER-017 "+globalRoot+"/c/extension.toml",
		"info MAN-DISCOVER-017 "+projectRoot+"/c/extension.toml",
		"info MAN-DISCOVER-017 one/d/extension.toml")
	if got := s.Entry("d").ManifestPath; got != m.path("two/d/extension.toml") {
		t.Errorf("d is %s, want the one of the last directory", got)
	}
	if s.Entry("e") != nil {
		t.Error("found an extension that is not there")
	}
}

// MAN-DISCOVER-002: the order of the command line decides between explicit directories.
func TestDiscover_orderOfDirectories(t *testing.T) {
	m := newMachine(t)
	m.write("one/d/extension.toml", legal("d"))
	m.write("two/d/extension.toml", legal("d"))
	m.places.Directories = []string{m.path("two"), m.path("one")}
	if got := m.discover().Entry("d").ManifestPath; got != m.path("one/d/extension.toml") {
		t.Errorf("d is %s, want the one of the last directory", got)
	}
	// A directory that is named twice shadows nothing.
	m.places.Directories = []string{m.path("one"), m.path("one") + string(filepath.Separator)}
	m.expect(m.discover(), []string{"explicit d"})
}

// MAN-DISCOVER-006, MAN-START-007.
func TestDiscover_untrustedWorkspace(t *testing.T) {
	m := newMachine(t)
	m.places.WorkspaceTrusted = false
	m.write(projectRoot+"/a/extension.toml", "broken")
	m.expect(m.discover(), nil, "info MAN-DISCOVER-006 "+projectRoot)
	if err := os.RemoveAll(m.path("work/.octet")); err != nil {
		t.Fatal(err)
	}
	m.expect(m.discover(), nil)
}

// MAN-DISCOVER-007. The current directory holds what an empty home would find.
func TestDiscover_unknownHome(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a"))
	t.Chdir(m.path("home"))
	for _, home := range []string{"", ".", "relative"} {
		m.places.Home = home
		m.expect(m.discover(), nil, "info MAN-DISCOVER-007 ~/.octet/extensions")
	}
}

// MAN-DISCOVER-005, MAN-DISCOVER-008, MAN-DISCOVER-014.
func TestDiscover_silence(t *testing.T) {
	m := newMachine(t)
	m.places.Directories = []string{m.path("missing"), m.path("also/missing")}
	m.write(globalRoot+"/extension.toml", legal("extensions"))
	m.write(globalRoot+"/notes.txt", "plain")
	m.write(globalRoot+"/empty/README", "no manifest")
	m.write(globalRoot+"/odd name/README", "no manifest")
	m.write(globalRoot+"/.staging/extension.toml", legal("staging"))
	m.write(globalRoot+"/nested/a/extension.toml", legal("a"))
	m.write(globalRoot+"/upper/Extension.toml", legal("upper"))
	m.expect(m.discover(), nil)
	if err := os.RemoveAll(m.path("home")); err != nil {
		t.Fatal(err)
	}
	m.expect(m.discover(), nil)
}

// MAN-DISCOVER-009, MAN-DISCOVER-013, MAN-DISCOVER-015.
func TestDiscover_links(t *testing.T) {
	m := newMachine(t)
	m.write("elsewhere/a/extension.toml", legal("a"))
	m.link(m.path("elsewhere"), "linked")
	m.link(m.path("nowhere"), "dangling")
	m.write("file", "no directory")
	m.places.Directories = []string{m.path("linked"), m.path("dangling"), m.path("file")}
	m.link(m.path("elsewhere/a"), globalRoot+"/a")
	m.link("inside", globalRoot+"/b")
	m.write(globalRoot+"/inside/extension.toml", legal("inside"))
	m.mkdir(globalRoot + "/c")
	m.link(m.path("elsewhere/a/extension.toml"), globalRoot+"/c/extension.toml")
	m.mkdir(globalRoot + "/d/extension.toml")
	s := m.discover()
	m.expect(s, []string{"global inside"},
		"warning MAN-DISCOVER-009 linked",
		"warning MAN-DISCOVER-009 dangling",
		"warning MAN-DISCOVER-009 file",
		"warning MAN-DISCOVER-013 "+globalRoot+"/a",
		"warning MAN-DISCOVER-013 "+globalRoot+"/b",
		"warning MAN-DISCOVER-015 "+globalRoot+"/c/extension.toml",
		"warning MAN-DISCOVER-015 "+globalRoot+"/d/extension.toml")
	links := 0
	for _, d := range s.Diagnostics {
		if strings.Contains(d.Message, "symbolic link") {
			links++
		}
	}
	if links != 5 {
		t.Errorf("%d diagnostics say that something is a link, want 5", links)
	}
}

// A workspace comes from outside: no step between it and its extensions may be a link. The user's own
// home may be arranged with links.
//
// MAN-DISCOVER-009.
func TestDiscover_linksAboveARoot(t *testing.T) {
	m := newMachine(t)
	m.write("elsewhere/extensions/a/extension.toml", legal("a"))
	for _, owner := range []string{"home", "work"} {
		if err := os.RemoveAll(m.path(owner + "/.octet")); err != nil {
			t.Fatal(err)
		}
		m.link(m.path("elsewhere"), owner+"/.octet")
	}
	s := m.discover()
	m.expect(s, []string{"global a"}, "warning MAN-DISCOVER-009 work/.octet")
	if got := s.Entry("a").ManifestPath; got != m.path("elsewhere/extensions/a/extension.toml") {
		t.Errorf("the path %s is not canonical", got)
	}
}

// MAN-DISCOVER-010.
func TestDiscover_unreadable(t *testing.T) {
	if os.Geteuid() == 0 || os.Geteuid() < 0 {
		t.Log("this user reads everything; the shape of the diagnostic is held below")
		d := unusable("/p", "scan", &fs.PathError{Op: "open", Path: "/p", Err: fs.ErrPermission})
		if d.Level != diagnostic.Warning || d.Rule != "MAN-DISCOVER-010" || d.Message != "cannot scan it: permission denied" {
			t.Errorf("told as %+v", d)
		}
		return
	}
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a"))
	m.write(projectRoot+"/b/extension.toml", legal("b"))
	for _, path := range []string{globalRoot, projectRoot + "/b/extension.toml"} {
		if err := os.Chmod(m.path(path), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(m.path(path), 0o700) })
	}
	m.expect(m.discover(), nil, "warning MAN-DISCOVER-010 "+globalRoot, "error MAN-FILE-001 "+projectRoot+"/b/extension.toml")
}

// A base that is no directory cannot be opened, whoever asks.
//
// MAN-DISCOVER-010.
func TestDiscover_baseIsNoDirectory(t *testing.T) {
	m := newMachine(t)
	if err := os.RemoveAll(m.path("home/.octet")); err != nil {
		t.Fatal(err)
	}
	m.write("home/.octet", "a file")
	m.expect(m.discover(), nil, "warning MAN-DISCOVER-010 "+globalRoot)
}

// MAN-DISCOVER-011.
func TestDiscover_entriesOfARoot(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a"))
	for i := range MaxRootEntries - 1 {
		m.write(fmt.Sprintf("%s/f%d", globalRoot, i), "")
	}
	m.expect(m.discover(), []string{"global a"})
	m.write(globalRoot+"/over", "")
	m.expect(m.discover(), nil, "warning MAN-DISCOVER-011 "+globalRoot)
}

// MAN-DISCOVER-012.
func TestScan_order(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{"b", "a-b", "a", "a.b", "ab"} {
		m.write(globalRoot+"/"+name+"/extension.toml", legal(name))
	}
	found, _ := scan(Root{Scope: Global, Dir: m.path(globalRoot)})
	var names []string
	for _, c := range found {
		names = append(names, c.name)
	}
	if want := []string{"a", "a-b", "a.b", "ab", "b"}; !slices.Equal(names, want) {
		t.Errorf("scanned %q, want %q", names, want)
	}
}

// MAN-DISCOVER-016.
func TestDiscover_directoryNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A.b_c-9": true, "...": true, "": false, ".": false, "..": false, "a b": false, "é": false, "a/b": false, "a\x00": false,
	} {
		if validName(name) != want {
			t.Errorf("the name %q counts as valid: %v", name, !want)
		}
	}
	m := newMachine(t)
	m.write(globalRoot+"/a b/extension.toml", legal("a"))
	m.expect(m.discover(), nil, "warning MAN-DISCOVER-016 "+globalRoot+"/a b")
}

// MAN-DISCOVER-018, MAN-DISCOVER-020, MAN-START-010.
func TestDiscover_brokenManifests(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a"))
	m.write(projectRoot+"/a/extension.toml", "name = ")
	m.write(globalRoot+"/b/extension.toml", strings.Replace(legal("b"), "[", "requires_octet = \"=0.7.4\"\n[", 1))
	m.write(globalRoot+"/c/extension.toml", "\xff")
	m.write(globalRoot+"/d/extension.toml", legal("d"))
	m.write(globalRoot+"/e/extension.toml", strings.Replace(legal("e"), "[entry", "colour = 1\n[entry", 1))
	m.expect(m.discover(), []string{"global d"},
		"info MAN-DISCOVER-017 "+globalRoot+"/a/extension.toml",
		"error MAN-FILE-003 "+projectRoot+"/a/extension.toml",
		"error MAN-HOST-003 "+globalRoot+"/b/extension.toml",
		"error MAN-FILE-002 "+globalRoot+"/c/extension.toml",
		"error MAN-FILE-007 "+globalRoot+"/e/extension.toml")
}

// MAN-DISCOVER-020: one manifest cannot drown the others.
func TestDiscover_manyProblems(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a")+"[contributes]\ntools = ["+strings.Repeat(`"9",`, 2*maxProblems)+"]\n")
	m.write(globalRoot+"/b/extension.toml", legal("b"))
	s := m.discover()
	if len(s.Diagnostics) != maxProblems+1 || s.Entry("b") == nil {
		t.Errorf("%d diagnostics, want %d and one that counts the rest", len(s.Diagnostics), maxProblems)
	}
}

// MAN-DISCOVER-019.
func TestDiscover_sizeOfAManifest(t *testing.T) {
	m := newMachine(t)
	fill := func(size int64) string {
		return legal("a") + "#" + strings.Repeat("x", int(size)-len(legal("a"))-2) + "\n"
	}
	m.write(globalRoot+"/a/extension.toml", fill(folder.DiscoveryLimit))
	m.expect(m.discover(), []string{"global a"})
	if _, err := folder.Open(m.path(globalRoot+"/a"), folder.LoadLimit); err == nil {
		t.Error("a manifest over the limit of installation could be installed")
	}
	m.write(globalRoot+"/a/extension.toml", fill(folder.DiscoveryLimit+1))
	m.expect(m.discover(), nil, "error MAN-FILE-005 "+globalRoot+"/a/extension.toml")
}

// MAN-IDENTITY-001, MAN-IDENTITY-002.
func TestDiscover_directoryAndName(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/copy/extension.toml", legal("a"))
	s := m.discover()
	m.expect(s, nil, "warning MAN-IDENTITY-001 "+globalRoot+"/copy/extension.toml")
	if text := s.Diagnostics[0].Message; !strings.Contains(text, `"copy"`) || !strings.Contains(text, `"a"`) {
		t.Errorf("%q does not tell both names", text)
	}
	// Behind another fault the name of the directory is one error among several.
	m.write(globalRoot+"/copy/extension.toml", strings.Replace(legal("a"), "1.0.0", "1", 1))
	m.expect(m.discover(), nil,
		"error MAN-TOP-002 "+globalRoot+"/copy/extension.toml", "error MAN-TOP-003 "+globalRoot+"/copy/extension.toml")
}

// MAN-IDENTITY-003.
func TestUnique(t *testing.T) {
	first, second, other := &Entry{Name: "a", ManifestPath: "/1"}, &Entry{Name: "a", ManifestPath: "/2"}, &Entry{Name: "b", ManifestPath: "/0"}
	kept, told := unique([]*Entry{other, second, first})
	if !slices.Equal(kept, []*Entry{first, other}) {
		t.Errorf("kept %v", kept)
	}
	if len(told) != 1 || told[0].Level != diagnostic.Warning || told[0].Path != "/2" || !strings.Contains(told[0].Message, "/1") {
		t.Errorf("told %v", told)
	}
}

// MAN-DISCOVER-021.
func TestDiscoverer_generations(t *testing.T) {
	m := newMachine(t)
	m.write(globalRoot+"/a/extension.toml", legal("a"))
	var d Discoverer
	before := d.Discover(m.places)
	entry := *before.Entry("a")
	m.write(globalRoot+"/a/extension.toml", strings.Replace(legal("a"), "1.0.0", "2.0.0", 1))
	m.write(globalRoot+"/b/extension.toml", legal("b"))
	after := d.Discover(m.places)
	if before.Generation != 1 || after.Generation != 2 {
		t.Errorf("generations %d and %d, want 1 and 2", before.Generation, after.Generation)
	}
	if len(before.Entries) != 1 || before.Entry("a").Manifest.Version != "1.0.0" || before.Entry("a").Digest != entry.Digest {
		t.Error("a later pass changed an earlier snapshot")
	}
	if after.Entry("a").Digest == entry.Digest || len(after.Entries) != 2 {
		t.Error("the later pass did not see the change")
	}
}

// TestEntry_recheck changes the source behind the back of a snapshot.
func TestEntry_recheck(t *testing.T) {
	change := map[string]func(m *machine){
		"edited":  func(m *machine) { m.write(globalRoot+"/a/extension.toml", legal("a")+"#") },
		"removed": func(m *machine) { _ = os.Remove(m.path(globalRoot + "/a/extension.toml")) },
		"linked": func(m *machine) {
			if err := os.Rename(m.path(globalRoot+"/a"), m.path("a")); err != nil {
				m.t.Fatal(err)
			}
			m.link(m.path("a"), globalRoot+"/a")
		},
	}
	for name, change := range change {
		m := newMachine(t)
		m.write(globalRoot+"/a/extension.toml", legal("a"))
		entry := m.discover().Entry("a")
		if err := entry.Recheck(); err != nil {
			t.Fatalf("an unchanged source: %v", err)
		}
		change(m)
		if err := entry.Recheck(); err == nil || !strings.HasPrefix(err.Error(), ErrSourceChanged.Error()) {
			t.Errorf("%s: %v, want %v", name, err, ErrSourceChanged)
		}
	}
}
