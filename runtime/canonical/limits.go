package canonical

import "github.com/octet-dev/octet/generated/canonicalwire"

// The two bounds of the encoding.
const (
	// MaxDepth is how many arrays and objects may enclose a value.
	MaxDepth = canonicalwire.MaxJSONDepth
	// MaxInteger is the largest magnitude of a number.
	MaxInteger = canonicalwire.MaxPortableJSONInteger
)
