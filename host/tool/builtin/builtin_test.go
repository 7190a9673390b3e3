package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/schema"
	"github.com/octet-dev/octet/host/tool"
)

// bench is a workspace with a file outside of it.
type bench struct {
	*testing.T
	dir, outside string
	tools        *Tools
}

func open(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, dir: filepath.Join(above, "work"), outside: filepath.Join(above, "outside.txt")}
	b.put("keep.txt", "one\ntwo\nthree\n")
	if err := os.WriteFile(b.outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Workspace: b.dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
	for _, c := range change {
		c(&o)
	}
	tools, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	})
	b.tools = tools
	return b
}

func external(o *Options) { o.AllowExternalPaths = true }

func (b *bench) put(name, content string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) content(path string) string {
	b.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

type arguments map[string]any

func (b *bench) call(name string, a arguments) tool.Result {
	b.Helper()
	result, err := b.callWith(context.Background(), name, a, nil)
	if err != nil {
		b.Fatalf("%s %v: %v", name, a, err)
	}
	return result
}

func (b *bench) callWith(ctx context.Context, name string, a arguments, progress func(tool.Progress)) (tool.Result, error) {
	b.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	t := b.tools.Find(name)
	compiled, err := schema.Compile(context.Background(), t.Definition().Parameters)
	if err != nil {
		b.Fatalf("parameters of %s: %v", name, err)
	}
	if err := compiled.Check(context.Background(), text); err != nil {
		b.Fatalf("arguments of %s: %v", name, err)
	}
	return t.Run(ctx, tool.Call{ID: "c1", Name: name, Arguments: text, Progress: progress})
}

func textOf(r tool.Result) string { return conversation.Part{Content: r.Content}.PlainText() }

func (b *bench) wants(name string, a arguments, isError bool, parts ...string) tool.Result {
	b.Helper()
	r := b.call(name, a)
	if r.IsError != isError {
		b.Errorf("%s %v: is error %v, want %v: %s", name, a, r.IsError, isError, textOf(r))
	}
	for _, part := range parts {
		if !strings.Contains(textOf(r), part) {
			b.Errorf("%s %v:\n%s\nwant in it: %q", name, a, textOf(r), part)
		}
	}
	return r
}

func TestDefinitions(t *testing.T) {
	b := open(t)
	var names []string
	for _, tool := range b.tools.Tools() {
		d := tool.Definition()
		names = append(names, d.Name)
		if d.Description == "" || d.Snippet == "" || d.Effect == "" {
			t.Errorf("%s lacks a description, a snippet or an effect", d.Name)
		}
		if _, err := schema.Compile(context.Background(), d.Parameters); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	if got := strings.Join(names, " "); got != "edit glob grep list read shell write" {
		t.Errorf("tools: %s", got)
	}
	if _, err := Open(Options{Workspace: "here"}); err == nil {
		t.Error("a relative workspace is taken")
	}
	if _, err := Open(Options{Workspace: filepath.Join(b.dir, "missing")}); err == nil {
		t.Error("a missing workspace is taken")
	}
}

// Every file tool, every way out.
func TestPaths_stayInside(t *testing.T) {
	b := open(t)
	b.link("../outside.txt", "relative")
	b.link(b.outside, "absolute")
	b.link("..", "up")
	b.put("sub/a.txt", "a\n")
	b.link("keep.txt", "inside")
	b.link("../keep.txt", "sub/down")
	b.put("far/away/keep.txt", "far\n")
	b.link("far/away", "near")
	b.link("../keep.txt", "far/away/wrong")
	b.wants("edit", arguments{"path": "sub/down", "old_text": "one", "new_text": "1"}, false)
	// As it is written this leads to keep.txt, on the disk to far/keep.txt.
	b.wants("write", arguments{"path": "near/wrong", "content": "x"}, false)
	if got := b.content("far/keep.txt") + b.content("far/away/keep.txt"); got != "xfar\n" {
		t.Errorf("behind a link in a directory that is a link itself: %q", got)
	}
	for _, path := range []string{"../outside.txt", b.outside, "relative", "absolute", "up/outside.txt", "sub/../../outside.txt"} {
		b.wants("read", arguments{"path": path}, true)
		b.wants("write", arguments{"path": path, "content": "gone"}, true)
		b.wants("edit", arguments{"path": path, "old_text": "secret", "new_text": "gone"}, true)
		b.wants("grep", arguments{"path": path, "pattern": "secret"}, true)
		b.wants("list", arguments{"path": path}, true)
		b.wants("glob", arguments{"path": path, "pattern": "*"}, true)
	}
	b.wants("write", arguments{"path": "up/new.txt", "content": "x"}, true)
	b.wants("list", arguments{"path": "up"}, true)
	b.wants("grep", arguments{"pattern": "secret"}, false, "no line matches")
	if got := b.content(b.outside); got != "secret\n" {
		t.Errorf("the file outside is now %q", got)
	}
	b.wants("read", arguments{"path": "inside"}, false, "two")
	b.wants("read", arguments{"path": filepath.Join(b.dir, "keep.txt")}, false, "two")
	b.wants("edit", arguments{"path": "inside", "old_text": "two", "new_text": "2"}, false)
	if info, err := os.Lstat(filepath.Join(b.dir, "inside")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if got := b.content("keep.txt"); got != "1\n2\nthree\n" {
		t.Errorf("behind the link: %q", got)
	}
}

func TestPaths_external(t *testing.T) {
	b := open(t, external)
	b.link("../outside.txt", "out")
	b.wants("read", arguments{"path": "../outside.txt"}, false, "secret")
	b.wants("read", arguments{"path": "out"}, false, "secret")
	b.wants("edit", arguments{"path": "out", "old_text": "secret", "new_text": "known"}, false)
	if got := b.content(b.outside); got != "known\n" {
		t.Errorf("outside: %q", got)
	}
	b.wants("list", arguments{"path": ".."}, false, "outside.txt", "work/")
	describe := func(name, path string) tool.Summary {
		text, _ := json.Marshal(arguments{"path": path, "content": "x"})
		return b.tools.Find(name).(tool.Describer).Describe(text)
	}
	if s := describe("write", "out"); s.Target != b.outside || !strings.Contains(s.Words(), "out (outside of the workspace: it leads to "+b.outside) {
		t.Errorf("a link that leads out is described as %+v", s)
	}
	if s := describe("write", b.outside); !s.External || s.Subject != b.outside || s.Words() != b.outside+" (outside of the workspace)" {
		t.Errorf("a path outside is described as %+v", s)
	}
	if s := describe("write", "keep.txt"); s.External || !strings.Contains(s.Detail, "-two") || !strings.Contains(s.Detail, "+x") {
		t.Errorf("a path inside is described as %+v", s)
	}
	b.put("dir/file", "x")
	links := map[string]string{
		"keep.txt": "in-1", b.dir + "/dir": "in-2", "../work/dir": "in-3", "dir/none": "in-4", "in-1": "in-5", "dir/../keep.txt": "in-6",
		"..": "out-1", filepath.Dir(b.outside): "out-2", "../none": "out-3", "out-1": "out-4", "loop-b": "loop-a", "loop-a": "loop-b", "dir/../..": "out-5",
	}
	for target, name := range links {
		b.link(target, name)
	}
	for target, name := range links {
		for _, path := range []string{name, name + "/new/file", "./" + name, b.dir + "/" + name} {
			if s := describe("write", path); s.External != !strings.HasPrefix(name, "in-") {
				t.Errorf("%s, which leads to %s, is described as external: %v", path, target, s.External)
			}
		}
	}
	if s := describe("write", "out-1/work/keep.txt"); s.External {
		t.Error("a path that leads out and in again is described as external")
	}
}

func TestRead(t *testing.T) {
	b := open(t)
	b.wants("read", arguments{"path": "keep.txt"}, false, "     1\tone\n     2\ttwo\n     3\tthree\n")
	b.wants("read", arguments{"path": "keep.txt", "offset": 2, "limit": 1}, false, "     2\ttwo\n[more lines follow; go on with offset 3]")
	b.wants("read", arguments{"path": "keep.txt", "offset": 4}, true, "it has 3 lines")
	b.wants("read", arguments{"path": "keep.txt", "offset": 3}, false, "3\tthree")
	b.wants("read", arguments{"path": "missing.txt"}, true, `"missing.txt" does not exist`)
	b.wants("read", arguments{"path": "."}, true, "is a directory")
	b.put("empty", "")
	b.wants("read", arguments{"path": "empty"}, false, "the file is empty")
	b.put("binary", "a\x00b")
	b.wants("read", arguments{"path": "binary"}, true, "is no text")
	b.put("crlf", "a\r\nb\r\n")
	b.wants("read", arguments{"path": "crlf"}, false, "1\ta\n", "CR LF")
	b.put("open end", "a\nb")
	b.wants("read", arguments{"path": "open end"}, false, "2\tb\n")
	b.put("latin1", "caf\xe9\n")
	b.wants("read", arguments{"path": "latin1"}, false, "caf\uFFFD")

	b.put("long line", strings.Repeat("x", maxLineBytes)+"\n"+strings.Repeat("y", maxLineBytes+1)+"\n")
	r := b.wants("read", arguments{"path": "long line"}, false)
	if got := strings.Count(textOf(r), "left out"); got != 1 {
		t.Errorf("%d of two lines are cut, want the one over the bound", got)
	}
	b.put("lines", strings.Repeat("l\n", maxReadLines))
	if r := b.wants("read", arguments{"path": "lines"}, false); strings.Contains(textOf(r), "more lines") {
		t.Error("a file at the bound is cut")
	}
	b.put("lines", strings.Repeat("l\n", maxReadLines+1))
	b.wants("read", arguments{"path": "lines"}, false, "go on with offset 2001")
	b.put("big", strings.Repeat(strings.Repeat("z", 1000)+"\n", 200))
	if r := b.wants("read", arguments{"path": "big"}, false, "go on with offset"); len(textOf(r)) > maxReadBytes+4*maxLineBytes {
		t.Errorf("%d bytes of one file", len(textOf(r)))
	}
	b.put("a.png", "\x89PNG\r\n\x1a\n0000")
	if r := b.wants("read", arguments{"path": "a.png"}, false); len(r.Content) != 2 || r.Content[1].Kind != conversation.Image || r.Content[1].MediaType != "image/png" {
		t.Errorf("an image is read as %+v", r.Content)
	}
}

func TestWrite(t *testing.T) {
	b := open(t)
	r := b.wants("write", arguments{"path": "a/b/new.txt", "content": "x\ny\n"}, false, "created", "2 lines added")
	if len(r.Changes) != 1 || r.Changes[0].Path != "a/b/new.txt" || r.Changes[0].Kind != tool.Created || r.Changes[0].Added != 2 {
		t.Errorf("changes: %+v", r.Changes)
	}
	if err := os.Chmod(filepath.Join(b.dir, "keep.txt"), 0o777); err != nil {
		t.Fatal(err)
	}
	r = b.wants("write", arguments{"path": "keep.txt", "content": "one\n2\nthree\n"}, false, "changed")
	if c := r.Changes[0]; c.Kind != tool.Changed || c.Added != 1 || c.Removed != 1 || !strings.Contains(c.Diff, "-two\n+2\n") || !strings.HasPrefix(c.Diff, "--- a/keep.txt\n") {
		t.Errorf("change: %+v", c)
	}
	if info, err := os.Stat(filepath.Join(b.dir, "keep.txt")); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("mode: %v %v", info.Mode(), err)
	}
	if r := b.wants("write", arguments{"path": "keep.txt", "content": "one\n2\nthree\n"}, false, "already"); r.Changes != nil {
		t.Errorf("nothing was changed, but told: %+v", r.Changes)
	}
	b.wants("write", arguments{"path": "a", "content": "x"}, true, "is a directory")
	b.wants("write", arguments{"path": "keep.txt/x", "content": "x"}, true, "keep.txt/x")
	b.wants("write", arguments{"path": "big", "content": strings.Repeat("x", maxContent)}, false)
	b.wants("write", arguments{"path": "big2", "content": strings.Repeat("x", maxContent+1)}, true, "at most")
	for size, refused := range map[int]bool{maxFileBytes: false, maxFileBytes + 1: true} {
		b.put("huge", strings.Repeat("x", size))
		b.wants("write", arguments{"path": "huge", "content": "y"}, refused)
	}
	p, err := b.tools.space.locate("compared", "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for size, compared := range map[int]bool{maxCompared: true, maxCompared + 1: false} {
		if got := p.change([]byte("x\n"), []byte(strings.Repeat("y", size-2)), true).Diff != ""; got != compared {
			t.Errorf("%d bytes are compared: %v", size, got)
		}
	}
	if r := b.wants("write", arguments{"path": "zero", "content": "a\x00"}, false); r.Changes[0].Diff != "" {
		t.Errorf("the difference of what is no text: %q", r.Changes[0].Diff)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, ".octet-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestReplace_noticesOthers(t *testing.T) {
	b := open(t)
	p, err := b.tools.space.locate("keep.txt", "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	_, info, err := p.before()
	if err != nil {
		t.Fatal(err)
	}
	b.put("keep.txt", "somebody else was here\n")
	if err := p.replace([]byte("mine"), info); err == nil || !strings.Contains(err.Error(), "by somebody else") {
		t.Errorf("a file that was changed meanwhile: %v", err)
	}
	if err := p.replace([]byte("mine"), nil); err == nil {
		t.Error("a file that came into being meanwhile is replaced")
	}
	if got := b.content("keep.txt"); got != "somebody else was here\n" {
		t.Errorf("the file is now %q", got)
	}
}

func TestEdit(t *testing.T) {
	b := open(t)
	r := b.wants("edit", arguments{"path": "keep.txt", "old_text": "two\n", "new_text": "2\n2b\n"}, false, "2 lines added, 1 removed")
	if len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Diff, "+2b\n") {
		t.Errorf("changes: %+v", r.Changes)
	}
	if got := b.content("keep.txt"); got != "one\n2\n2b\nthree\n" {
		t.Errorf("%q", got)
	}
	b.put("twice", "x = 1\ny\nx = 1\n")
	b.wants("edit", arguments{"path": "twice", "old_text": "x = 1", "new_text": "x = 2"}, true, "2 times", "lines 1, 3", "replace_all")
	b.wants("edit", arguments{"path": "twice", "old_text": "x  =  1", "new_text": "x"}, true, "other white space")
	b.wants("edit", arguments{"path": "twice", "old_text": "y\nz", "new_text": "x"}, true, "line 2")
	b.wants("edit", arguments{"path": "twice", "old_text": "nothing like it", "new_text": "x"}, true, "is not in", "copy the text exactly")
	b.wants("edit", arguments{"path": "twice", "old_text": "y", "new_text": "y"}, true, "the same")
	if got := b.content("twice"); got != "x = 1\ny\nx = 1\n" {
		t.Errorf("a refused edit has changed it: %q", got)
	}
	b.wants("edit", arguments{"path": "twice", "old_text": "x = 1", "new_text": "x = 2", "replace_all": true}, false)
	if got := b.content("twice"); got != "x = 2\ny\nx = 2\n" {
		t.Errorf("%q", got)
	}
	b.put("crlf", "a\r\nb\r\nc\r\n")
	b.wants("edit", arguments{"path": "crlf", "old_text": "a\nb", "new_text": "1\n2"}, false)
	if got := b.content("crlf"); got != "1\r\n2\r\nc\r\n" {
		t.Errorf("%q", got)
	}
	b.wants("edit", arguments{"path": "missing", "old_text": "a", "new_text": "b"}, true, "does not exist")
	b.put("binary", "a\x00b")
	b.wants("edit", arguments{"path": "binary", "old_text": "a", "new_text": "b"}, true, "no text")
}

func TestList(t *testing.T) {
	b := open(t)
	b.put("src/a.go", "package a\n")
	b.put("node_modules/m/index.js", "")
	b.put("made/CACHEDIR.TAG", "Signature")
	b.put("made/x", "")
	b.link("keep.txt", "link")
	r := b.wants("list", arguments{}, false, "keep.txt  14\n", "link ->\n", "src/\n", "node_modules/\n")
	if strings.Contains(textOf(r), "a.go") {
		t.Errorf("one level shows two:\n%s", textOf(r))
	}
	r = b.wants("list", arguments{"depth": 2}, false, "src/a.go", "not looked into: made/, node_modules/")
	if strings.Contains(textOf(r), "index.js") || strings.Contains(textOf(r), "made/x") {
		t.Errorf("what is passed over is shown:\n%s", textOf(r))
	}
	b.wants("list", arguments{"path": "node_modules"}, false, "m/")
	b.wants("list", arguments{"path": "keep.txt"}, true, "no directory")
	b.wants("list", arguments{"path": "missing"}, true, "does not exist")
	if err := os.Mkdir(filepath.Join(b.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.wants("list", arguments{"path": "empty"}, false, "directory is empty")
	for i := range maxEntries + 1 {
		b.put("many/"+strings.Repeat("0", 4-len(itoa(i)))+itoa(i), "")
	}
	r = b.wants("list", arguments{"path": "many"}, false, "more than 1000 entries")
	if got := strings.Count(textOf(r), "\n"); got != maxEntries+1 {
		t.Errorf("%d lines", got)
	}
	b.wants("glob", arguments{"path": "many", "pattern": "*"}, false, "more than 1000 files")
}

func itoa(i int) string { text, _ := json.Marshal(i); return string(text) }

func TestGlob(t *testing.T) {
	b := open(t)
	for _, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/deep/c_test.go", "web/d.ts", "web/e.tsx", "node_modules/x/f.ts", ".git/HEAD", "made/CACHEDIR.TAG", "made/g.go"} {
		b.put(name, "")
	}
	for _, c := range []struct{ pattern, path, want string }{
		{"*.go", "", "a.go"},
		{"**/*.go", "", "a.go src/b.go src/deep/c.go src/deep/c_test.go"},
		{"src/**", "", "src/b.go src/deep/c.go src/deep/c_test.go"},
		{"**/*_test.go", "src", "src/deep/c_test.go"},
		{"**/deep/**/c*.go", "", "src/deep/c.go src/deep/c_test.go"},
		{"web/*.{ts,tsx}", "", "web/d.ts web/e.tsx"},
		{"**/*.ts", "", "web/d.ts"},
		{"node_modules/**/*.ts", "", "node_modules/x/f.ts"},
		{"**/*.ts", "node_modules", "node_modules/x/f.ts"},
		{"**/[ab].go", "", "a.go src/b.go"},
		{"nothing*", "", ""},
	} {
		r := b.wants("glob", arguments{"pattern": c.pattern, "path": c.path}, false)
		var got []string
		for line := range strings.Lines(textOf(r)) {
			if !strings.HasPrefix(line, "[") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in %q: %v, want %s", c.pattern, c.path, got, c.want)
		}
	}
	b.wants("glob", arguments{"pattern": "[a"}, true, "malformed")
	b.wants("glob", arguments{"pattern": "{a"}, true, "not closed")
	b.wants("glob", arguments{"pattern": strings.Repeat("{a,b}", 6)}, false)
	b.wants("glob", arguments{"pattern": strings.Repeat("{a,b}", 7)}, true, "alternatives")
}

func TestGrep(t *testing.T) {
	b := open(t)
	b.put("a.go", "package a\n\nfunc Alpha() {}\nfunc beta() {}\n")
	b.put("src/b.txt", "alpha\n")
	b.put("bin", "Alpha\x00")
	b.put(".git/x", "Alpha\n")
	r := b.wants("grep", arguments{"pattern": "Alpha"}, false, "a.go:3: func Alpha() {}\n")
	if strings.Contains(textOf(r), "bin") || strings.Contains(textOf(r), ".git/x:") {
		t.Errorf("what is no text is searched:\n%s", textOf(r))
	}
	b.wants("grep", arguments{"pattern": "alpha", "ignore_case": true}, false, "a.go:3:", "src/b.txt:1: alpha")
	b.wants("grep", arguments{"pattern": "^func", "path": "a.go", "context": 1}, false, "a.go:2- \n", "a.go:3:", "a.go:4:")
	b.wants("grep", arguments{"pattern": "l", "files_only": true}, false, "src/b.txt\n")
	b.wants("grep", arguments{"pattern": "alpha", "ignore_case": true, "glob": "**/*.txt"}, false, "src/b.txt:1:")
	b.wants("grep", arguments{"pattern": "Alpha", "path": ".git"}, false, ".git/x:1:")
	b.wants("grep", arguments{"pattern": "zzz"}, false, "no line matches")
	b.wants("grep", arguments{"pattern": "("}, true, "no regular expression")
	b.wants("grep", arguments{"pattern": "x", "path": "missing"}, true, "does not exist")
	b.put("many", strings.Repeat("hit\n", maxMatches))
	if r := b.wants("grep", arguments{"pattern": "hit", "path": "many"}, false); strings.Contains(textOf(r), "more matches") {
		t.Error("a search at the bound is cut")
	}
	b.put("many", strings.Repeat("hit\n", maxMatches+1))
	b.wants("grep", arguments{"pattern": "hit", "path": "many"}, false, "more matches")
}

func TestCancelled_noResult(t *testing.T) {
	b := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, a := range map[string]arguments{
		"read": {"path": "keep.txt"}, "list": {}, "glob": {"pattern": "*"}, "grep": {"pattern": "x"},
		"write": {"path": "keep.txt", "content": "x"}, "edit": {"path": "keep.txt", "old_text": "one", "new_text": "1"},
		"shell": {"command": "true"},
	} {
		if r, err := b.callWith(ctx, name, a, nil); err == nil {
			t.Errorf("%s answers a cancelled call: %s", name, textOf(r))
		}
	}
	if got := b.content("keep.txt"); got != "one\ntwo\nthree\n" {
		t.Errorf("a cancelled call has changed it: %q", got)
	}
}

// The way that fits goes through a path finds what a look at every possibility finds.
func TestPattern_fits(t *testing.T) {
	var every func(segments, parts []string) bool
	every = func(segments, parts []string) bool {
		switch {
		case len(segments) == 0:
			return len(parts) == 0
		case segments[0] == "**":
			return every(segments[1:], parts) || len(parts) > 0 && every(segments, parts[1:])
		case len(parts) == 0:
			return false
		}
		ok, err := path.Match(segments[0], parts[0])
		return err == nil && ok && every(segments[1:], parts[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SampledFrom([]string{"**", "a", "b", "*", "a*", "?"}), 1, 6).Draw(t, "pattern")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "c"}), 1, 6).Draw(t, "path")
		if got, want := fits(segments, parts), every(segments, parts); got != want {
			t.Fatalf("%v fits %v: %v, want %v", segments, parts, got, want)
		}
	})
}
