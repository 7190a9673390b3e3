// Package located holds the errors of a spec: each names a file, a place in it, and the remedy.
package located

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Error is one fault of a spec file.
type Error struct {
	File    string // relative to spec/
	Pointer string // RFC 6901; "" is the whole file
	Message string
}

// Error gives file, pointer and message in one line; the whole file is shown as "(document)". A pointer
// through a name that would break the line is quoted.
func (e *Error) Error() string {
	pointer := e.Pointer
	switch {
	case pointer == "":
		pointer = "(document)"
	case strings.ContainsFunc(pointer, func(r rune) bool { return !unicode.IsPrint(r) }):
		pointer = strconv.Quote(pointer)
	}
	return "spec/" + e.File + ": " + pointer + ": " + e.Message
}

// List collects faults. The zero value is ready.
type List struct {
	errors []*Error
}

// Addf adds one fault.
func (l *List) Addf(file, pointer, format string, args ...any) {
	l.errors = append(l.errors, &Error{File: file, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// Err returns all faults ordered by file, those of one file in the order in which they were found, or
// nil if there are none.
func (l *List) Err() error {
	if len(l.errors) == 0 {
		return nil
	}
	sorted := slices.Clone(l.errors)
	slices.SortStableFunc(sorted, func(a, b *Error) int { return cmp.Compare(a.File, b.File) })
	return Errors(sorted)
}

// Errors is a non-empty list of faults.
type Errors []*Error

// Error gives one fault a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}
