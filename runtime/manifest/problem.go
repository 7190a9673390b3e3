package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// Severity says whether a problem makes the manifest unusable.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one thing that is wrong with a manifest.
type Problem struct {
	Rule     string // id of the rule it breaks, "MAN-TOP-001"
	Severity Severity
	tomltree.Position
	Pointer string // JSON Pointer of the key: "/contributes/flags/0/default"
	Message string // what is wrong
	Remedy  string // what to do about it

	class class
	order order
}

// class decides what a summary puts in front of the message.
type class int

const (
	semantic class = iota // the document says something illegal
	decoding              // the document has another shape than a manifest
	plain                 // the message stands alone
)

// order sorts problems by the fixed order of checks, then by element of a list, then by the order of
// checks inside one element.
type order struct{ check, element, step int }

func (o order) compare(p order) int {
	return cmp.Or(cmp.Compare(o.check, p.check), cmp.Compare(o.element, p.element), cmp.Compare(o.step, p.step))
}

// String gives place, severity, message and rule in one line.
func (p Problem) String() string {
	return fmt.Sprintf("%d:%d: %s: %s [%s]", p.Line, p.Column, p.Severity, p.Message, p.Rule)
}

// Verdict is what Judge found.
type Verdict struct {
	// Manifest is nil if there is a problem of severity Error.
	Manifest *Manifest
	// Problems stand in the order of the document.
	Problems []Problem
}

// OK reports whether the manifest can be used. It may still have warnings.
func (v Verdict) OK() bool { return v.Manifest != nil }

// Summary is one line about the error that comes first in the fixed order of checks, "" if there is
// none.
func (v Verdict) Summary() string {
	first := -1
	for i, p := range v.Problems {
		if p.Severity == Error && (first < 0 || p.order.compare(v.Problems[first].order) < 0) {
			first = i
		}
	}
	if first < 0 {
		return ""
	}
	switch p := v.Problems[first]; p.class {
	case decoding:
		return "invalid extension TOML: " + p.Message
	case semantic:
		return "invalid extension manifest: " + p.Message
	default:
		return p.Message
	}
}

func sortByPlace(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), a.order.compare(b.order))
	})
}
