// Package semver reads semantic versions and the version requirements that packages state about them,
// in the grammar of Cargo.
package semver

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version is a semantic version. Build is carried and never compared.
type Version struct {
	Major, Minor, Patch uint64
	Pre                 string // dot-separated identifiers, empty for a release
	Build               string
}

// String spells the version in the only canonical way.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		s += "-" + v.Pre
	}
	if v.Build != "" {
		s += "+" + v.Build
	}
	return s
}

// Parse reads a version: three numbers, optionally a pre-release and a build part.
func Parse(text string) (Version, error) {
	core, build, hasBuild := strings.Cut(text, "+")
	core, pre, hasPre := strings.Cut(core, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != 3 {
		return Version{}, fmt.Errorf("want three numbers separated by dots, got %q", core)
	}
	v := Version{Pre: pre, Build: build}
	for i, slot := range []*uint64{&v.Major, &v.Minor, &v.Patch} {
		n, err := number(numbers[i])
		if err != nil {
			return Version{}, err
		}
		*slot = n
	}
	if hasPre {
		if err := identifiers(pre, "pre-release", true); err != nil {
			return Version{}, err
		}
	}
	if hasBuild {
		if err := identifiers(build, "build", false); err != nil {
			return Version{}, err
		}
	}
	return v, nil
}

func number(text string) (uint64, error) {
	if text == "" {
		return 0, errors.New("a number is empty")
	}
	if !digits(text) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	if len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("%q starts with a zero", text)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return n, nil
}

func digits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// identifiers checks dot-separated parts; in a pre-release a numeric one has no leading zero.
func identifiers(text, part string, strictNumbers bool) error {
	for id := range strings.SplitSeq(text, ".") {
		if id == "" {
			return fmt.Errorf("the %s part has an empty identifier", part)
		}
		for _, c := range []byte(id) {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if !letter && (c < '0' || c > '9') && c != '-' {
				return fmt.Errorf("the %s part holds %q; letters, digits and hyphens are legal", part, string(rune(c)))
			}
		}
		if strictNumbers && digits(id) && len(id) > 1 && id[0] == '0' {
			return fmt.Errorf("the %s identifier %q starts with a zero", part, id)
		}
	}
	return nil
}

// comparePre orders pre-release parts: a release is greater than any of its pre-releases.
func comparePre(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if c := compareIdentifier(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// compareIdentifier orders numbers by value and below words, words by their bytes. Numbers are compared
// as text because they have no bound: without leading zeros the longer one is greater.
func compareIdentifier(a, b string) int {
	na, nb := digits(a), digits(b)
	switch {
	case na && nb:
		if c := cmp.Compare(len(a), len(b)); c != 0 {
			return c
		}
	case na:
		return -1
	case nb:
		return 1
	}
	return strings.Compare(a, b)
}
