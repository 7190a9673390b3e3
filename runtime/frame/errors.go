package frame

import (
	"fmt"

	"github.com/octet-dev/octet/generated/rules"
)

// Fault is the way a frame breaks the framing of its wire.
type Fault uint8

// The faults.
const (
	TooLong Fault = iota + 1 // more payload bytes than the bound
	Cut                      // the stream ends behind bytes without an LF
	Empty                    // nothing in front of the LF; canonical wire only
	EndsCR                   // a CR in front of the LF; canonical wire only
	Inner                    // an LF inside a payload; only a writer meets it
)

var faultTexts = [...]string{
	TooLong: "payload exceeds the bound of %d bytes",
	Cut:     "stream ends without an LF behind the last bytes (bound %d)",
	Empty:   "empty line (bound %d)",
	EndsCR:  "payload ends in CR; a frame ends in LF alone (bound %d)",
	Inner:   "payload holds an LF, which would end the frame early (bound %d)",
}

// Error is a framing fault. After one, a Reader returns the same error for ever: nothing behind a
// refused frame is looked at.
type Error struct {
	Fault Fault
	Wire  Wire
	From  Side // the side that wrote, or was about to write, the frame
	Bound int  // in force when the fault was found, in bytes
}

// Error names the wire, the fault, the bound and the rule.
func (e *Error) Error() string {
	text := "unknown fault (bound %d)"
	if int(e.Fault) < len(faultTexts) && e.Fault != 0 {
		text = faultTexts[e.Fault]
	}
	return fmt.Sprintf("%s frame of the %s: "+text+" (%s)", e.Wire, e.From, e.Bound, e.Rule())
}

// Rule returns the id of the rule that the writing side broke.
func (e *Error) Rule() string {
	switch {
	case e.Wire == Canonical && e.From == Host && e.Fault == TooLong:
		return rules.EXT03Limit006
	case e.Wire == Canonical && e.From == Host:
		return rules.EXT03Frame009
	case e.Wire == Canonical:
		return canonicalRules[e.Fault]
	case e.From == Host && e.Fault == TooLong:
		return rules.EXT04Frame012
	case e.From == Host:
		return rules.EXT04Frame011
	}
	return featureRules[e.Fault]
}

var canonicalRules = [...]string{
	TooLong: rules.EXT03Frame005,
	Cut:     rules.EXT03Frame001,
	Empty:   rules.EXT03Frame003,
	EndsCR:  rules.EXT03Frame002,
	Inner:   rules.EXT03Frame004,
}

var featureRules = [...]string{
	TooLong: rules.EXT04Frame004,
	Cut:     rules.EXT04Frame002,
	Empty:   rules.EXT04Frame008,
	EndsCR:  rules.EXT04Frame008,
	Inner:   rules.EXT04Frame001,
}
