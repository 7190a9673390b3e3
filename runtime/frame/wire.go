// Package frame cuts a byte stream into the frames of the two octet wires and writes them, under a
// bound that can be switched between two frames. What a frame holds is the caller's matter.
//
// On both wires a frame is a payload and one LF. The canonical wire allows nothing else. The feature
// wire's reader also passes over blank lines and takes white space, a CR among it, off both ends of a
// line.
package frame

// Wire is a protocol family with its own framing.
type Wire uint8

// The wires.
const (
	Feature   Wire = iota + 1 // API 0.1, 0.2 and 0.4
	Canonical                 // API 0.3
)

// String returns "feature" or "canonical".
func (w Wire) String() string {
	if w == Canonical {
		return "canonical"
	}
	return "feature"
}

// Side is one end of a conversation.
type Side uint8

// The sides.
const (
	Host Side = iota + 1
	Extension
)

// String returns "host" or "extension".
func (s Side) String() string {
	if s == Extension {
		return "extension"
	}
	return "host"
}

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Host {
		return Extension
	}
	return Host
}
