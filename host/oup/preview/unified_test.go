package preview

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/tool"
)

// unified is how the tools of the host spell a change.
func unified(old, new string) string {
	_, text, _ := strings.Cut(string(diff.Diff("a/x", []byte(old), "b/x", []byte(new))), "\n")
	return text
}

// TestMade_leadsFromOldToNew applies the lines that a preview shows to the old text, by their numbers.
func TestMade_leadsFromOldToNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "a", "b", "-- a", "++ b", "@@ -1 +1 @@", `\ No newline`, " ", "ä\t"})
		text := rapid.SliceOfN(line, 0, 12)
		old, new := text.Draw(t, "old"), text.Draw(t, "new")
		join := func(lines []string) string {
			if len(lines) == 0 {
				return ""
			}
			return strings.Join(lines, "\n") + "\n"
		}
		made := Made(tool.Change{Path: "x", Kind: tool.Changed, Diff: unified(join(old), join(new))})
		var got []string
		at := int64(1) // the old line that comes next
		for _, hunk := range made.Hunks.Or(nil) {
			for _, l := range hunk.Lines.Or(nil) {
				if number, has := l.OldLine.Get(); has {
					for at < number { // between the hunks nothing changes
						got, at = append(got, old[at-1]), at+1
					}
				}
				if number, has := l.NewLine.Get(); has {
					for int64(len(got)) < number-1 {
						got, at = append(got, old[at-1]), at+1
					}
				}
				if l.Kind != oupwire.DiffLineKindAdded {
					if l.OldLine.Or(-1) != at || old[at-1] != l.Content {
						t.Fatalf("line %+v stands for old line %d", l, at)
					}
					at++
				}
				if l.Kind != oupwire.DiffLineKindRemoved {
					if got = append(got, l.Content); l.NewLine.Or(-1) != int64(len(got)) {
						t.Fatalf("line %+v is line %d of the new text", l, len(got))
					}
				}
			}
		}
		got = append(got, old[at-1:]...)
		if strings.Join(got, "\n") != strings.Join(new, "\n") || len(got) != len(new) {
			t.Fatalf("the preview leads to %q", got)
		}
		if len(made.Unknown) > 0 {
			t.Fatal("nothing was cut, and it says so")
		}
	})
}

func TestMade_kindsAndMarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		change tool.Change
		want   string
	}{
		{"created", tool.Change{Path: "n", Kind: tool.Created, Diff: unified("", "a\n")}, `{"hunks":[{"header":"@@ -0,0 +1,1 @@","lines":[{"content":"a","kind":"added","new_line":1}]}],"path":"n","status":"added"}`},
		{"deleted", tool.Change{Path: "d", Kind: tool.Deleted}, `{"path":"d","status":"deleted"}`},
		{
			"no end of the last line",
			tool.Change{Path: "e", Kind: tool.Changed, Diff: unified("a", "b")},
			`{"hunks":[{"header":"@@ -1,1 +1,1 @@","lines":[{"content":"a","kind":"removed","old_line":1},{"content":"b","kind":"added","new_line":1}]}],"path":"e","status":"modified"}`,
		},
		{
			"cut by the tool",
			tool.Change{Path: "c", Kind: tool.Changed, Diff: "--- a/c\n+++ b/c\n@@ -1,3 +1,3 @@\n a\n-b\n... the rest of the difference is left out\n+later\n"},
			`{"hunks":[{"header":"@@ -1,3 +1,3 @@","lines":[{"content":"a","kind":"context","new_line":1,"old_line":1},{"content":"b","kind":"removed","old_line":2}]}],"path":"c","status":"modified","truncated":true}`,
		},
		{
			"a header that is none",
			tool.Change{Path: "h", Kind: tool.Changed, Diff: "@@ what @@\n+a\n"},
			`{"hunks":[{"header":"@@ what @@","lines":[{"content":"a","kind":"added"}]}],"path":"h","status":"modified"}`,
		},
	} {
		if got := string(Made(c.change).AppendJSON(nil)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestMade_readsWhatToolsShow reads what tools show of a change that they are about to make.
func TestMade_readsWhatToolsShow(t *testing.T) {
	edit := Made(tool.Change{Path: "x.go", Kind: tool.Changed, Diff: "-one\n-two\n+three\n"})
	if added, removed := count(edit); added != 1 || removed != 2 || edit.Status != oupwire.DiffFileStatusModified {
		t.Errorf("an edit: %s", edit.AppendJSON(nil))
	}
	write := Made(tool.Change{Path: "new.go", Kind: tool.Changed, Diff: unified("", "a\nb\n")})
	if added, removed := count(write); added != 2 || removed != 0 || write.Status != oupwire.DiffFileStatusAdded {
		t.Errorf("a new file: %s", write.AppendJSON(nil))
	}
	if cut := Made(tool.Change{Path: "x", Kind: tool.Changed, Diff: "-a\n+b\n...\n"}); len(cut.Unknown) != 1 {
		t.Errorf("one that was cut: %s", cut.AppendJSON(nil))
	}
	if none := Made(tool.Change{Path: "x", Kind: tool.Changed, Diff: "no lines of a difference"}); !none.Hunks.IsAbsent() {
		t.Errorf("none: %s", none.AppendJSON(nil))
	}
}

// count tells how many lines a file gains and loses.
func count(f oupwire.DiffFile) (added, removed int) {
	for _, hunk := range f.Hunks.Or(nil) {
		for _, line := range hunk.Lines.Or(nil) {
			switch line.Kind {
			case oupwire.DiffLineKindAdded:
				added++
			case oupwire.DiffLineKindRemoved:
				removed++
			}
		}
	}
	return added, removed
}

// TestClean covers OUP-PREVIEW-002.
func TestClean(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.go": "a/b.go", "../../etc/passwd": "etc/passwd", "a/../../b": "b", "/abs/../x": "/x", `..\..\w`: "w",
		"ev\u202egnp.exe": "evgnp.exe", "zero\u200bwidth\ufeff": "zerowidth", "nul\x00\x1b[31m": "nul[31m", "": "", ".": "",
		"bad\xff": "bad", "line\u2028break": "linebreak", "..\u200b/..\u200b/x": "x",
	} {
		if got := Clean(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

// TestFit_keepsTextAndFrameWithinTheirBounds covers OUP-PREVIEW-002.
func TestFit_keepsTextAndFrameWithinTheirBounds(t *testing.T) {
	for name, text := range map[string]string{
		"long lines": strings.Repeat("+"+strings.Repeat("x", 9000)+"\n", 60), "many lines": strings.Repeat("+a\n", 400_000),
		"escapes": strings.Repeat("+"+strings.Repeat("\x01", 100)+"\n", 4000), "one line": "+" + strings.Repeat("y", 300_000) + "\n",
	} {
		whole := Made(tool.Change{Path: name, Kind: tool.Changed, Diff: text})
		files := fit([]oupwire.DiffFile{whole, whole}, oupwire.MaxDiffTextBytes, maxEncodedBytes)
		size, encoded := 0, 0
		for _, f := range files {
			encoded += len(f.AppendJSON(nil))
			for _, h := range f.Hunks.Or(nil) {
				for _, l := range h.Lines.Or(nil) {
					size += len(l.Content)
				}
			}
		}
		if size > oupwire.MaxDiffTextBytes || encoded > maxEncodedBytes {
			t.Errorf("%s: %d bytes of text in %d", name, size, encoded)
		}
		if name != "one line" && size < oupwire.MaxDiffTextBytes/40 {
			t.Errorf("%s: only %d bytes of text were kept", name, size)
		}
		if len(files[0].Unknown) != 1 {
			t.Errorf("%s: nothing says that it was cut", name)
		}
	}
	small := Made(tool.Change{Path: "s", Kind: tool.Changed, Diff: "+a\n"})
	if got := string(fit([]oupwire.DiffFile{small}, 1, 1000)[0].AppendJSON(nil)); got != string(small.AppendJSON(nil)) {
		t.Errorf("what fits became %s", got)
	}
}
