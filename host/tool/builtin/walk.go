package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxVisited bounds how many files and directories one call looks at.
const maxVisited = 200_000

var errEnough = errors.New("enough")

// passedOver are directories that hold what nobody has written. They are looked into where a path or a
// pattern names them.
var passedOver = []string{".git", ".hg", ".jj", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "venv"}

// cacheTag marks directories that can be made anew, by a convention of many tools.
const cacheTag = "CACHEDIR.TAG"

// walk visits plain files below a directory in the order of their paths, relative to it with slashes. wanted
// names directories that are visited though they would be passed over. It returns what was passed over.
func walk(ctx context.Context, files fs.FS, wanted string, visit func(name string) error) (passed []string, err error) {
	visited := 0
	named := strings.Split(wanted, "/")
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if visited++; visited > maxVisited {
			passed = append(passed, fmt.Sprintf("everything behind the first %d files", maxVisited))
			return fs.SkipAll
		}
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // vanished, or not ours to read
			passed = append(passed, name)
			return nil
		case entry.IsDir():
			if name == "." || slices.Contains(named, path.Base(name)) {
				return nil
			}
			if slices.Contains(passedOver, path.Base(name)) || tagged(files, name) {
				passed = append(passed, name+"/")
				return fs.SkipDir
			}
			return nil
		case entry.Type().IsRegular():
			return visit(name)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return passed, err
}

func tagged(files fs.FS, dir string) bool {
	info, err := fs.Stat(files, path.Join(dir, cacheTag))
	return err == nil && info.Mode().IsRegular()
}

// notes tells what a walk has left out.
func notes(passed []string) string {
	const most = 8
	if len(passed) == 0 {
		return ""
	}
	text := strings.Join(passed[:min(most, len(passed))], ", ")
	if len(passed) > most {
		text += fmt.Sprintf(" and %d more", len(passed)-most)
	}
	return "[not looked into: " + text + "]\n"
}

// pattern is a glob: ** stands for any number of directories, and braces for alternatives.
type pattern [][]string

// Bounds of patterns.
const (
	maxAlternatives = 64
	maxPattern      = 1000
)

func parsePattern(text string) (pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d", len(text), maxPattern)
	}
	alternatives, err := braces(text)
	if err != nil {
		return nil, err
	}
	var p pattern
	for _, alternative := range alternatives {
		segments := strings.Split(path.Clean(alternative), "/")
		for _, s := range segments {
			if _, err := path.Match(s, ""); err != nil {
				return nil, fmt.Errorf("pattern %q: %q is malformed", text, s)
			}
		}
		p = append(p, slices.CompactFunc(segments, func(a, b string) bool { return a == "**" && b == "**" }))
	}
	return p, nil
}

// braces spells out every alternative of a pattern.
func braces(text string) ([]string, error) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return []string{text}, nil
	}
	depth, start := 0, open+1
	var choices []string
	for i := open; i < len(text); i++ {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == ',' && depth == 1:
			choices = append(choices, text[start:i])
			start = i + 1
		case text[i] == '}':
			if depth--; depth > 0 {
				continue
			}
			choices = append(choices, text[start:i])
			var all []string
			for _, choice := range choices {
				rest, err := braces(text[:open] + choice + text[i+1:])
				if err != nil {
					return nil, err
				}
				if all = append(all, rest...); len(all) > maxAlternatives {
					return nil, fmt.Errorf("the pattern has more than %d alternatives", maxAlternatives)
				}
			}
			return all, nil
		}
	}
	return nil, fmt.Errorf("pattern %q: a brace is not closed", text)
}

// matches reports whether a path fits one of the alternatives.
func (p pattern) matches(name string) bool {
	parts := strings.Split(name, "/")
	return slices.ContainsFunc(p, func(segments []string) bool { return fits(segments, parts) })
}

// fits compares from both sides of every **, remembering the last one only: a later one can do whatever an
// earlier one could.
func fits(segments, parts []string) bool {
	s, p := 0, 0
	star, resume := -1, 0
	for p < len(parts) {
		switch {
		case s < len(segments) && segments[s] == "**":
			star, resume = s, p
			s++
			continue
		case s < len(segments):
			if ok, err := path.Match(segments[s], parts[p]); err == nil && ok {
				s, p = s+1, p+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		resume++
		s, p = star+1, resume
	}
	for s < len(segments) && segments[s] == "**" {
		s++
	}
	return s == len(segments)
}
