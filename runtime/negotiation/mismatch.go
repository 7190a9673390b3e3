// Package negotiation decides what host and extension have in common, on both wires, as pure
// functions of an offer and a selection: features on the feature wire (API 0.2 and 0.4), a contract
// on the canonical one (API 0.3). It also builds the offers and selections of this project's own
// sides, from the same tables.
package negotiation

import (
	"errors"
	"strconv"

	"github.com/octet-dev/octet/generated/wirejson"
)

// Mismatch is why an offer or a selection is refused.
type Mismatch struct {
	// Code is the row of the canonical wire's error table that an extension answers with and a host
	// reports. On the feature wire, where a refusal has no name of its own, it is the row that the
	// extension answers an offer with.
	Code wirejson.ErrorCode
	Rule string // id of the rule that is broken
	Name string // the capability, method, feature or limit it is about; may be empty
	Text string // what is wrong with Name
	Err  error  // the *wirejson.Violation or *wirejson.SyntaxError of a wrong shape, or nil
}

// Error says what is wrong, with the name and the rule.
func (m *Mismatch) Error() string {
	s := "negotiation: "
	if m.Name != "" {
		s += strconv.Quote(m.Name) + " "
	}
	s += m.Text
	if m.Err != nil {
		s += ": " + m.Err.Error()
	}
	if m.Rule != "" {
		s += " (" + m.Rule + ")"
	}
	return s
}

// Unwrap returns Err.
func (m *Mismatch) Unwrap() error { return m.Err }

// asViolation returns the violation in err, or nil.
func asViolation(err error) *wirejson.Violation {
	var v *wirejson.Violation
	errors.As(err, &v)
	return v
}

// duplicate returns the first name that stands twice, or the empty string.
func duplicate(names []string) (string, bool) {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return n, true
		}
		seen[n] = true
	}
	return "", false
}
