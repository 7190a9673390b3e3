// Package baseline holds lists of findings that are known: a subject that is judged in CI before it keeps
// every rule. A list bites: an entry that matches nothing is a fault of its own.
//
// A list is text, one entry a line: a rule id, and behind white space the message of the finding. A star
// stands for any text in either. Empty lines and lines that begin with # say nothing.
package baseline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/infile"
)

const (
	// maxBytes bounds a list.
	maxBytes = 1 << 20
	// MaxWidth is how many rules one entry may name with stars: a list that covers more hides what is new.
	MaxWidth = 20
)

// Entry is one line of a list.
type Entry struct {
	Line    int
	Rule    string // with stars
	Message string // with stars

	rule, message *regexp.Regexp
	used          bool
}

// matches reports whether the entry covers a finding, and remembers that it was needed.
func (e *Entry) matches(rule, message string) bool {
	if !e.rule.MatchString(rule) || !e.message.MatchString(message) {
		return false
	}
	e.used = true
	return true
}

// List is a list of known findings. The zero value knows none.
type List struct {
	Path    string
	Entries []*Entry
}

// Read reads a list. known are the ids of all rules: an entry that names none, or more than MaxWidth, is
// refused. The error names every faulty line.
func Read(path string, known []string) (*List, error) {
	text, err := infile.Read(path, "a list of known findings", maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the list %q does not exist; name one that does, or have --known-failing with --fix write it", path)
	}
	if err != nil {
		return nil, err
	}
	l := &List{Path: path}
	var faults []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxBytes)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		e, fault := newEntry(n, line, known)
		if fault != "" {
			faults = append(faults, fmt.Sprintf("%s:%d: %s", path, n, fault))
			continue
		}
		l.Entries = append(l.Entries, e)
	}
	if faults != nil {
		return nil, fmt.Errorf("%s", strings.Join(faults, "\n"))
	}
	return l, lines.Err()
}

func newEntry(line int, text string, known []string) (e *Entry, fault string) {
	at := strings.IndexAny(text, " \t")
	if at < 0 {
		return nil, fmt.Sprintf("%q has no message; write the rule and what was found, or a star for anything", text)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Sprintf("%q is no UTF-8; write the message as a report shows it", text)
	}
	e = &Entry{Line: line, Rule: text[:at], Message: strings.TrimSpace(text[at:])}
	e.rule, e.message = pattern(e.Rule), pattern(e.Message)
	width := 0
	for _, id := range known {
		if e.rule.MatchString(id) {
			width++
		}
	}
	switch {
	case width == 0:
		return nil, fmt.Sprintf("no rule is called %q; see 'octet-conform list'", e.Rule)
	case width > MaxWidth:
		return nil, fmt.Sprintf("%q names %d rules, and at most %d are allowed; name them more closely", e.Rule, width, MaxWidth)
	}
	return e, ""
}

// pattern turns a text with stars into an expression that matches the whole of another.
func pattern(text string) *regexp.Regexp {
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`)
}

// Knows reports whether a finding is listed.
func (l *List) Knows(rule, message string) bool {
	found := false
	for _, e := range l.Entries {
		// Every entry that matches is needed, so none of them becomes stale behind another.
		found = e.matches(rule, OneLine(message)) || found
	}
	return found
}

// Unused lists the entries that nothing was found for.
func (l *List) Unused() []*Entry {
	return slices.DeleteFunc(slices.Clone(l.Entries), func(e *Entry) bool { return e.used })
}

// Names reports whether the entry is about a rule.
func (e *Entry) Names(rule string) bool { return e.rule.MatchString(rule) }

// Stale lists the entries that no finding has needed. judged reports whether a rule was judged in this run;
// nothing is said of entries for others.
func (l *List) Stale(judged func(rule string) bool, known []string) []*Entry {
	var out []*Entry
	for _, e := range l.Entries {
		if !e.used && slices.ContainsFunc(known, func(id string) bool { return e.rule.MatchString(id) && judged(id) }) {
			out = append(out, e)
		}
	}
	return out
}

// Place names an entry: file and line.
func (l *List) Place(e *Entry) string {
	return fmt.Sprintf("%s:%d: %s %s", l.Path, e.Line, e.Rule, e.Message)
}

// changing are the parts of a message that differ from run to run.
var changing = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// Pin is a message as a list has it: on one line, with stars where numbers stand.
func Pin(message string) string { return changing.ReplaceAllString(OneLine(message), "*") }

// OneLine joins the lines of a message.
func OneLine(message string) string { return strings.Join(strings.Fields(message), " ") }
