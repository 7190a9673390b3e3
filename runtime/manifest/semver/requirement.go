package semver

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// maxComparators bounds one requirement; more than a handful never make sense.
const maxComparators = 32

// Requirement is a set of comparators that must all hold. The zero Requirement matches every release.
type Requirement struct{ comparators []comparator }

type operator int

const (
	caret operator = iota
	exact
	greater
	greaterEqual
	less
	lessEqual
	tilde
)

// comparator is one condition. Minor and patch may be left out, which numbers counts: 1, 2 or 3.
type comparator struct {
	op      operator
	version Version
	numbers int
}

var operators = []struct {
	text string
	op   operator
}{
	// The longer spelling first.
	{">=", greaterEqual},
	{"<=", lessEqual},
	{">", greater},
	{"<", less},
	{"=", exact},
	{"~", tilde},
	{"^", caret},
}

// ParseRequirement reads comparators joined by commas. Each is an operator (=, >, >=, <, <=, ~ or ^) with
// a version whose last numbers may be missing or wildcards; a bare version means ^. A lone * matches
// everything.
func ParseRequirement(text string) (Requirement, error) {
	text = trim(text)
	if text == "" {
		return Requirement{}, errors.New("the requirement is empty; write a version")
	}
	if wildcard(text) {
		return Requirement{}, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > maxComparators {
		return Requirement{}, fmt.Errorf("%d comparators, want at most %d", len(parts), maxComparators)
	}
	var r Requirement
	for _, part := range parts {
		c, err := parseComparator(trim(part))
		if err != nil {
			return Requirement{}, err
		}
		r.comparators = append(r.comparators, c)
	}
	return r, nil
}

// trim removes blanks only: tabs and line ends have no place in a requirement.
func trim(text string) string { return strings.Trim(text, " ") }

func wildcard(text string) bool { return text == "*" || text == "x" || text == "X" }

func parseComparator(text string) (comparator, error) {
	c := comparator{op: caret}
	explicit := false
	if text == "" {
		return c, errors.New("a comparator is empty; write a version on both sides of each comma")
	}
	if wildcard(text) {
		return c, fmt.Errorf("%q must stand alone", text)
	}
	rest := text
	for _, o := range operators {
		if after, found := strings.CutPrefix(text, o.text); found {
			c.op, explicit, rest = o.op, true, trim(after)
			break
		}
	}
	core, build, hasBuild := strings.Cut(rest, "+")
	core, pre, hasPre := strings.Cut(core, "-")
	wild, err := c.parseNumbers(strings.Split(core, "."))
	if err != nil {
		return c, fmt.Errorf("comparator %q: %w", text, err)
	}
	if wild && !explicit {
		c.op = exact
	}
	if (hasPre || hasBuild) && c.numbers < 3 {
		return c, fmt.Errorf("comparator %q: a pre-release or build part needs all three numbers", text)
	}
	if hasPre {
		if err := identifiers(pre, "pre-release", true); err != nil {
			return c, fmt.Errorf("comparator %q: %w", text, err)
		}
		c.version.Pre = pre
	}
	if hasBuild {
		if err := identifiers(build, "build", false); err != nil {
			return c, fmt.Errorf("comparator %q: %w", text, err)
		}
	}
	return c, nil
}

// parseNumbers reads one to three numbers, of which the last ones may be wildcards but not the first.
func (c *comparator) parseNumbers(parts []string) (wild bool, err error) {
	if len(parts) > 3 {
		return false, errors.New("want at most three numbers")
	}
	for i, slot := range []*uint64{&c.version.Major, &c.version.Minor, &c.version.Patch} {
		if i == len(parts) {
			break
		}
		if i > 0 && wildcard(parts[i]) {
			wild = true
			continue
		}
		if wild {
			return false, errors.New("only wildcards may follow a wildcard")
		}
		if *slot, err = number(parts[i]); err != nil {
			return false, err
		}
		c.numbers++
	}
	return wild, nil
}

// Matches reports whether a version fulfils the requirement. A pre-release fulfils it only if one
// comparator names a pre-release of the same three numbers.
func (r Requirement) Matches(v Version) bool {
	named := v.Pre == ""
	for _, c := range r.comparators {
		if !c.holds(v) {
			return false
		}
		named = named || c.numbers == 3 && c.version.Pre != "" && c.compareNumbers(v) == 0
	}
	return named
}

func (c comparator) holds(v Version) bool {
	order := c.compareNumbers(v)
	pre := comparePre(v.Pre, c.version.Pre)
	same := order == 0 && pre == 0
	// A pre-release decides between versions only where all three numbers are written.
	after := order > 0 || order == 0 && c.numbers == 3 && pre > 0
	before := order < 0 || order == 0 && c.numbers == 3 && pre < 0
	switch c.op {
	case exact:
		return same
	case greater:
		return after
	case greaterEqual:
		return same || after
	case less:
		return before
	case lessEqual:
		return same || before
	case tilde:
		return c.agrees(v, min(c.numbers, 2)) && (order > 0 || order == 0 && pre >= 0)
	default:
		return c.agrees(v, c.firstNonZero()) && (order > 0 || order == 0 && (pre >= 0 || c.numbers < 3))
	}
}

// firstNonZero is how many leading numbers a caret pins: up to the first that is not zero, or all that
// are written.
func (c comparator) firstNonZero() int {
	for i, n := range []uint64{c.version.Major, c.version.Minor, c.version.Patch}[:c.numbers] {
		if n != 0 {
			return i + 1
		}
	}
	return c.numbers
}

func (c comparator) agrees(v Version, numbers int) bool {
	want := []uint64{c.version.Major, c.version.Minor, c.version.Patch}
	for i, n := range []uint64{v.Major, v.Minor, v.Patch}[:numbers] {
		if n != want[i] {
			return false
		}
	}
	return true
}

// compareNumbers orders the numbers of v against those that are written.
func (c comparator) compareNumbers(v Version) int {
	want := []uint64{c.version.Major, c.version.Minor, c.version.Patch}
	for i, n := range []uint64{v.Major, v.Minor, v.Patch}[:c.numbers] {
		if order := cmp.Compare(n, want[i]); order != 0 {
			return order
		}
	}
	return 0
}
