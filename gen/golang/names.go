package golang

import (
	"strings"
	"unicode"

	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

// initialisms are the words that Go writes in one case.
var initialisms = map[string]string{
	"api": "API", "id": "ID", "ids": "IDs", "json": "JSON", "jsonrpc": "JSONRPC", "mcp": "MCP", "os": "OS",
	"rpc": "RPC", "ui": "UI", "url": "URL",
}

// goName returns a wire name in CamelCase. Anything but letters and digits separates words, and so does
// the step from a lower-case letter to an upper-case one.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if short, ok := initialisms[strings.ToLower(word)]; ok {
			b.WriteString(short)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func words(name string) []string {
	var list []string
	start := -1
	lower := false
	for i, r := range name {
		letter := r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if start >= 0 && (!letter || lower && unicode.IsUpper(r)) {
			list = append(list, name[start:i])
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		lower = unicode.IsLower(r)
	}
	if start >= 0 {
		list = append(list, name[start:])
	}
	return list
}

// scope holds the names declared in one Go scope and reports two spec names that become one.
type scope struct {
	errs  *located.List
	what  string // "package featurewire"
	owner map[string]string
}

func newScope(errs *located.List, what string) *scope {
	return &scope{errs: errs, what: what, owner: map[string]string{}}
}

// reserve declares names that every generated package has.
func (s *scope) reserve(names ...string) {
	for _, name := range names {
		s.owner[name] = "generated code itself"
	}
}

// declare adds a name that stands for subject. The result is the name.
func (s *scope) declare(name, subject string, at model.Place) string {
	switch other, taken := s.owner[name]; {
	case name == "" || !unicode.IsUpper(rune(name[0])):
		s.errs.Addf(at.File, at.Pointer, "%s gives no Go name in %s; use letters and digits", subject, s.what)
	case taken:
		s.errs.Addf(at.File, at.Pointer, "%s and %s are both %q in Go's %s; rename one", subject, other, name, s.what)
	default:
		s.owner[name] = subject
	}
	return name
}
