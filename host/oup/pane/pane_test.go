package pane_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/pane"
)

func fill(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOf_showsWhatIsNearest(t *testing.T) {
	root := t.TempDir()
	fill(t, root, "go.mod", "cmd/main.go", "cmd/sub/deep.go", ".git/config", "web/node_modules/x/index.js", "target/out", "README")
	if err := os.Symlink("/etc", filepath.Join(root, "link")); err != nil {
		t.Fatal("links are needed: ", err)
	}
	snapshot := pane.Of("lab", root, time.Unix(0, 0))
	if err := oupwire.ValidateModel("PaneSnapshot", snapshot.AppendJSON(nil)); err != nil {
		t.Error(err)
	}
	workspace, _ := snapshot.Workspace.Get()
	var got []string
	for _, e := range workspace.Entries.Or(nil) {
		got = append(got, fmt.Sprintf("%s %d %s", e.Path, e.Depth, e.Kind))
	}
	want := []string{
		"README 0 file", "cmd 0 directory", "cmd/main.go 1 file", "cmd/sub 1 directory", "cmd/sub/deep.go 2 file", "go.mod 0 file", "link 0 symlink", "web 0 directory",
	}
	if !slices.Equal(got, want) {
		t.Errorf("shown are %q\nwant      %q", got, want)
	}
	if workspace.Limitations.Or(nil) != nil {
		t.Errorf("it lacks %v", workspace.Limitations)
	}
}

// TestOf_saysWhatItLeavesOut: OUP-OPEN-013.
func TestOf_saysWhatItLeavesOut(t *testing.T) {
	limit := func(root string) (entries int, codes []string) {
		workspace, _ := pane.Of("lab", root, time.Now()).Workspace.Get()
		for _, l := range workspace.Limitations.Or(nil) {
			codes = append(codes, l.Code)
		}
		return len(workspace.Entries.Or(nil)), codes
	}
	empty := t.TempDir()
	if n, codes := limit(empty); n != 0 || codes != nil {
		t.Errorf("an empty workspace has %d entries and lacks %v", n, codes)
	}
	if n, codes := limit(filepath.Join(empty, "none")); n != 0 || !slices.Equal(codes, []string{"workspace_missing"}) {
		t.Errorf("a missing workspace has %d entries and lacks %v", n, codes)
	}
	full := t.TempDir()
	for i := range oupwire.MaxPaneEntries - 1 {
		fill(t, full, fmt.Sprintf("f%03d", i))
	}
	fill(t, full, "d/a")
	if n, codes := limit(full); n != oupwire.MaxPaneEntries || !slices.Equal(codes, []string{"workspace_truncated"}) {
		t.Errorf("a full workspace has %d entries and lacks %v", n, codes)
	}
	if err := os.RemoveAll(filepath.Join(full, "d")); err != nil {
		t.Fatal(err)
	}
	if n, codes := limit(full); n != oupwire.MaxPaneEntries-1 || codes != nil {
		t.Errorf("a workspace within the limit has %d entries and lacks %v", n, codes)
	}
	deep := t.TempDir()
	fill(t, deep, "1/2/3/4/5/6/7/8/9/10/file")
	if n, codes := limit(deep); n != 9 || !slices.Equal(codes, []string{"workspace_truncated"}) {
		t.Errorf("a deep workspace has %d entries and lacks %v", n, codes)
	}
}
