// Package diagnostic says what a host found out about its extensions and its configuration, and keeps a
// bounded amount of it.
package diagnostic

import (
	"fmt"
	"strings"
)

// Level says how bad a thing is.
type Level string

// The levels. None of them stops a host; an Error means that the thing it is about is not used.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// Diagnostic is one thing worth telling.
type Diagnostic struct {
	Level Level
	// Path is the file, directory, variable or option it is about; empty if it is about none.
	Path string
	// Line and Column count from 1; 0: the whole of Path.
	Line, Column int
	Rule         string // id of the rule, "MAN-DISCOVER-011"; empty if the message states it
	Message      string // one line
	Remedy       string // what to do about it
}

// String is "LEVEL: PATH:LINE:COLUMN: MESSAGE (RULE)", without what is not there.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(string(d.Level) + ": ")
	if place := d.Place(); place != "" {
		b.WriteString(place + ": ")
	}
	b.WriteString(d.Message)
	if d.Rule != "" {
		b.WriteString(" (" + d.Rule + ")")
	}
	return b.String()
}

// Place is the path, with line and column if there are any.
func (d Diagnostic) Place() string {
	if d.Line == 0 {
		return d.Path
	}
	return fmt.Sprintf("%s:%d:%d", d.Path, d.Line, d.Column)
}

// Any reports whether one of the diagnostics has the level.
func Any(list []Diagnostic, level Level) bool {
	for _, d := range list {
		if d.Level == level {
			return true
		}
	}
	return false
}
