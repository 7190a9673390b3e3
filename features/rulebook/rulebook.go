// Package rulebook answers questions about the rules of the spec.
package rulebook

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/rules"
)

// Rule is one normative sentence.
type Rule = rules.Rule

// All returns every rule in the order of the spec.
func All() []Rule { return rules.All }

// Find returns a rule by id.
func Find(id string) (Rule, bool) {
	if r := rules.Lookup(id); r != nil {
		return *r, true
	}
	return Rule{}, false
}

// Binds reports whether a rule binds an API version.
func Binds(r Rule, api string) bool { return slices.Contains(r.Versions, api) }

// BindsID is Binds by id. A rule that does not exist binds nothing.
func BindsID(id, api string) bool {
	r := rules.Lookup(id)
	return r != nil && slices.Contains(r.Versions, api)
}

// Judged reports whether a run is expected to prove a rule: a scenario and a faulty peer of its role must exist
// for it.
func Judged(r Rule) bool { return r.Level != rules.May && r.NoPeer == "" && r.Unproven == "" }

// maxNear bounds the suggestions for an unknown id.
const maxNear = 3

// Near returns the ids that are spelled most like an unknown one, the nearest first.
func Near(id string) []string {
	type candidate struct {
		id   string
		cost int
	}
	var all []candidate
	id = strings.ToUpper(id)
	for _, r := range rules.All {
		d := distance(id, r.ID)
		if strings.HasSuffix(r.ID, "-"+id) { // all but the wire
			d = 0
		}
		if d <= 1+len(id)/4 {
			all = append(all, candidate{r.ID, d})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.cost - b.cost })
	var out []string
	for _, c := range all[:min(maxNear, len(all))] {
		out = append(out, c.id)
	}
	return out
}

// distance is the number of single-byte edits between two ids.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
