package reference

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/load"
)

var (
	anchorPattern = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	codePattern   = regexp.MustCompile("`[^`\n]*`")
	linkPattern   = regexp.MustCompile(`\]\(([^)]*)\)`)
)

// TestEmit_linksResolve follows every link inside the reference to a page and an anchor.
func TestEmit_linksResolve(t *testing.T) {
	spec, err := load.Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := New().Emit(spec)
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, f := range files {
		page := strings.TrimPrefix(f.Path, folder+"/")
		anchors[page] = true
		for _, m := range anchorPattern.FindAllSubmatch(f.Data, -1) {
			target := page + "#" + string(m[1])
			if anchors[target] {
				t.Errorf("%s has two anchors %q", page, m[1])
			}
			anchors[target] = true
		}
	}
	links := 0
	for _, f := range files {
		page := strings.TrimPrefix(f.Path, folder+"/")
		for _, m := range linkPattern.FindAllSubmatch(codePattern.ReplaceAll(f.Data, nil), -1) {
			target := string(m[1])
			if strings.HasPrefix(target, "#") {
				target = page + target
			}
			if !anchors[target] {
				t.Errorf("%s links to %s, which does not exist", page, target)
			}
			links++
		}
	}
	if links < 100 {
		t.Errorf("%d links, want at least 100", links)
	}
}

// TestEmit_tablesAreWhole counts the cells of every table row.
func TestEmit_tablesAreWhole(t *testing.T) {
	spec, err := load.Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := New().Emit(spec)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, f := range files {
		width := 0
		for number, line := range strings.Split(string(f.Data), "\n") {
			if !strings.HasPrefix(line, "|") {
				width = 0
				continue
			}
			rows++
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if width == 0 {
				width = cells
			}
			if cells != width {
				t.Errorf("%s:%d has %d cells, its table %d", f.Path, number+1, cells-1, width-1)
			}
		}
	}
	if rows < 100 {
		t.Errorf("%d rows, want at least 100", rows)
	}
}

func TestCode_survivesTablesAndBackticks(t *testing.T) {
	for in, want := range map[string]string{
		"a":     "`a`",
		"":      "",
		"a|b":   "`a\\|b`",
		"`a`":   "`` `a` ``",
		"a`b":   "``a`b``",
		"a``b`": "``` a``b` ```",
	} {
		if got := code(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
