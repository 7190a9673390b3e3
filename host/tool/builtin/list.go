package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/tool"
)

// Bounds of lists.
const (
	maxEntries = 1000
	maxFound   = 1000
)

// directory is a place that is one; an empty name is the workspace. The caller closes it.
func (w *workspace) directory(name, asked string) (place, error) {
	p, err := w.locate(orHere(name), asked)
	if err != nil || p.isDir() {
		return p, err
	}
	defer p.close()
	if _, err := p.root.Lstat(p.name); err != nil {
		return p, p.explain(err)
	}
	return p, fmt.Errorf("%q is no directory", p.shown)
}

// listTool shows what is in a directory.
type listTool struct{ space *workspace }

type listArguments struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

// Definition describes the tool.
func (listTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "list", Effect: tool.Read, Parallel: true,
		Description: fmt.Sprintf("List a directory: names, sizes in bytes, a slash behind directories, an arrow behind links. At most %d entries.", maxEntries),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"path":{"type":"string","description":"The directory; the workspace if absent."},
			"depth":{"type":"integer","minimum":1,"maximum":5,"description":"How many levels to show; 1 if absent."}},
			"additionalProperties":false}`),
		Snippet: "list a directory",
	}
}

// Describe names the directory.
func (t listTool) Describe(arguments json.RawMessage) tool.Summary {
	return summarize(t.space, arguments, func(a listArguments) (string, string) { return orHere(a.Path), "" })
}

func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// Run lists the directory.
func (t listTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[listArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	p, err := t.space.directory(a.Path, call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	l := &listing{ctx: ctx, files: p.tree(), deepest: max(a.Depth, 1)}
	if err := l.dir(".", 1); err != nil && !errors.Is(err, errEnough) {
		return answer(ctx, "", p.explain(err))
	}
	if l.count == 0 {
		return answer(ctx, "[the directory is empty]", nil)
	}
	return answer(ctx, l.text.String()+notes(l.passed), nil)
}

type listing struct {
	ctx     context.Context
	files   fs.FS
	deepest int
	text    strings.Builder
	count   int
	passed  []string
}

func (l *listing) dir(name string, level int) error {
	entries, err := fs.ReadDir(l.files, name)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		if l.count++; l.count > maxEntries {
			fmt.Fprintf(&l.text, "[more than %d entries; list a directory below, or use glob]\n", maxEntries)
			return errEnough
		}
		child := path.Join(name, entry.Name())
		l.entry(child, entry)
		if !entry.IsDir() || level == l.deepest {
			continue
		}
		if slices.Contains(passedOver, entry.Name()) || tagged(l.files, child) {
			l.passed = append(l.passed, child+"/")
			continue
		}
		if err := l.dir(child, level+1); errors.Is(err, errEnough) {
			return err
		} else if err != nil {
			l.passed = append(l.passed, child+"/")
		}
	}
	return nil
}

func (l *listing) entry(name string, entry fs.DirEntry) {
	switch {
	case entry.IsDir():
		fmt.Fprintf(&l.text, "%s/\n", name)
	case entry.Type()&fs.ModeSymlink != 0:
		fmt.Fprintf(&l.text, "%s ->\n", name)
	default:
		size := int64(-1)
		if info, err := entry.Info(); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(&l.text, "%s  %d\n", name, size)
	}
}

// globTool finds files by their names.
type globTool struct{ space *workspace }

type globArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

// Definition describes the tool.
func (globTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "glob", Effect: tool.Read, Parallel: true,
		Description: fmt.Sprintf("Find files by name, such as **/*.go or src/**/*.{ts,tsx}: * and ? stay inside one name, ** stands for any number of directories. At most %d files. Directories such as .git and node_modules are looked into only where the pattern or the path names them.", maxFound),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"pattern":{"type":"string","minLength":1,"description":"The pattern, relative to path."},
			"path":{"type":"string","description":"The directory to look in; the workspace if absent."}},
			"required":["pattern"],"additionalProperties":false}`),
		Snippet: "find files by a pattern of names",
	}
}

// Describe shows the pattern.
func (t globTool) Describe(arguments json.RawMessage) tool.Summary {
	var pattern string
	s := summarize(t.space, arguments, func(a globArguments) (string, string) { pattern = a.Pattern; return orHere(a.Path), "" })
	s.Subject = oneLine(path.Join(s.Subject, pattern))
	return s
}

// Run finds the files.
func (t globTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[globArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	pattern, err := parsePattern(a.Pattern)
	if err != nil {
		return answer(ctx, "", err)
	}
	p, err := t.space.directory(a.Path, call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	var b strings.Builder
	found := 0
	passed, err := walk(ctx, p.tree(), a.Pattern+"/"+a.Path, func(name string) error {
		if !pattern.matches(name) {
			return nil
		}
		if found++; found > maxFound {
			fmt.Fprintf(&b, "[more than %d files; use a narrower pattern]\n", maxFound)
			return errEnough
		}
		b.WriteString(path.Join(p.shown, name) + "\n")
		return nil
	})
	if err != nil {
		return answer(ctx, "", p.explain(err))
	}
	if found == 0 {
		b.WriteString("[no file matches]\n")
	}
	return answer(ctx, b.String()+notes(passed), nil)
}
