// Package release knows which release of the commands this is.
package release

import "strings"

// Number is the number of this release of the commands. It says nothing about the octet version that they implement. Builds
// that are published have it set by the linker: see .ci/release.
var Number = "0.1.0-dev"

// Published is the number of the SDKs that belong to a release: without what stands behind the three numbers.
func Published() string {
	number, _, _ := strings.Cut(Number, "-")
	number, _, _ = strings.Cut(number, "+")
	return number
}
