package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/octet-dev/octet/host/tool"
)

// Bounds of a search.
const (
	maxMatches     = 500
	maxGrepBytes   = 64 << 10
	maxGrepFile    = 16 << 20
	maxMatchedLine = 400
)

// grepTool finds lines in files.
type grepTool struct{ space *workspace }

type grepArguments struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	FilesOnly  bool   `json:"files_only"`
	Context    int    `json:"context"`
}

// Definition describes the tool.
func (grepTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "grep", Effect: tool.Read, Parallel: true,
		Description: fmt.Sprintf("Find lines that match a regular expression (RE2 syntax), as path:line: text. At most %d matches. Files that are no text are left out, and so are directories such as .git and node_modules unless the path names them.", maxMatches),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"pattern":{"type":"string","minLength":1,"description":"The regular expression, for one line."},
			"path":{"type":"string","description":"A file or directory; the workspace if absent."},
			"glob":{"type":"string","description":"Only files whose path below the directory matches, such as **/*.go."},
			"ignore_case":{"type":"boolean"},
			"files_only":{"type":"boolean","description":"Only the names of files with a match."},
			"context":{"type":"integer","minimum":0,"maximum":5,"description":"Lines to show around each match."}},
			"required":["pattern"],"additionalProperties":false}`),
		Snippet: "find lines in files by a regular expression",
	}
}

// Describe shows the expression.
func (t grepTool) Describe(arguments json.RawMessage) tool.Summary {
	var pattern string
	s := summarize(t.space, arguments, func(a grepArguments) (string, string) { pattern = a.Pattern; return orHere(a.Path), "" })
	s.Subject = oneLine(pattern + " in " + s.Subject)
	return s
}

// Run searches.
func (t grepTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[grepArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	s := &search{ctx: ctx, arguments: a}
	if s.expression, err = compile(a); err != nil {
		return answer(ctx, "", err)
	}
	if a.Glob != "" {
		if s.names, err = parsePattern(a.Glob); err != nil {
			return answer(ctx, "", err)
		}
	}
	p, err := t.space.locate(orHere(a.Path), call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	if p.isDir() {
		err = s.tree(p)
	} else if err = s.single(p); err != nil {
		return answer(ctx, "", err)
	}
	return answer(ctx, s.result(), err)
}

func compile(a grepArguments) (*regexp.Regexp, error) {
	text := a.Pattern
	if a.IgnoreCase {
		text = "(?i)" + text
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q is no regular expression of RE2: %v; to find the text itself, escape it with backslashes", a.Pattern, err)
	}
	return expression, nil
}

type search struct {
	ctx        context.Context
	arguments  grepArguments
	expression *regexp.Regexp
	names      pattern
	text       strings.Builder
	matches    int
	passed     []string
	enough     bool
}

func (s *search) tree(p place) error {
	files := p.tree()
	passed, err := walk(s.ctx, files, s.arguments.Glob+"/"+s.arguments.Path, func(name string) error {
		if s.names != nil && !s.names.matches(name) {
			return nil
		}
		file, err := files.Open(name)
		if err != nil {
			s.passed = append(s.passed, name)
			return nil
		}
		defer file.Close()
		return s.file(path.Join(p.shown, name), file)
	})
	s.passed = append(s.passed, passed...)
	if err != nil {
		return p.explain(err)
	}
	return nil
}

func (s *search) single(p place) error {
	file, _, err := p.open()
	if err != nil {
		return err
	}
	defer file.Close()
	if err := s.file(p.shown, file); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// file searches one file. errEnough ends the search.
func (s *search) file(shown string, file fs.File) error {
	if info, err := file.Stat(); err != nil || info.Size() > maxGrepFile {
		s.passed = append(s.passed, shown)
		return nil
	}
	reader := bufio.NewReaderSize(file, sniffBytes)
	if head, _ := reader.Peek(sniffBytes); binary(head) {
		return nil
	}
	var before []string // the lines in front of a match, at most Context
	after := 0          // lines still to be shown behind the last match
	for number := 1; ; number++ {
		line, _, err := nextLine(reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			s.passed = append(s.passed, shown)
			return nil
		}
		if number%1000 == 0 && s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		text := shorten(strings.TrimSuffix(string(line), "\r"))
		switch {
		case s.expression.Match(line):
			if s.matches++; s.matches > maxMatches || s.text.Len() > maxGrepBytes {
				s.enough = true
				return errEnough
			}
			if s.arguments.FilesOnly {
				s.text.WriteString(shown + "\n")
				return nil
			}
			for i, earlier := range before {
				s.line(shown, number-len(before)+i, "-", earlier)
			}
			before, after = nil, s.arguments.Context
			s.line(shown, number, ":", text)
		case after > 0:
			s.line(shown, number, "-", text)
			after--
		case s.arguments.Context > 0:
			if before = append(before, text); len(before) > s.arguments.Context {
				before = before[1:]
			}
		}
	}
}

func (s *search) line(shown string, number int, mark, text string) {
	fmt.Fprintf(&s.text, "%s:%d%s %s\n", shown, number, mark, text)
}

func shorten(line string) string {
	if len(line) > maxMatchedLine {
		line = line[:maxMatchedLine] + "..."
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}

func (s *search) result() string {
	if s.enough {
		fmt.Fprintf(&s.text, "[more matches; at most %d matches and %d KiB are shown: use a narrower pattern or path]\n", maxMatches, maxGrepBytes>>10)
	}
	if s.matches == 0 {
		s.text.WriteString("[no line matches]\n")
	}
	return s.text.String() + notes(s.passed)
}
