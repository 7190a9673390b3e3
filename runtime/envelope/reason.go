package envelope

import (
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/frame"
)

// Reason says why a payload is none of the four messages.
type Reason uint8

// The reasons.
const (
	NotObject      Reason = iota + 1 // an array, a string, a number or a literal
	UnlistedMember                   // canonical wire: a member beside those of the message
	RepeatedMember                   // feature wire: a member of the envelope twice
	BadVersion                       // jsonrpc is absent or not 2.0
	BadID                            // a response without id, or an id that is no bounded string and no unsigned integer
	BadMethod                        // a method that is no string, or empty
	LongMethod                       // canonical wire: a method over its byte bound
	NoParams                         // canonical wire: a method without params
	BadParams                        // params that are null or, on the feature wire, no object
	Mixed                            // method beside result or error
	ResultAndError                   // result beside error
	NoKind                           // none of method, result and error
	NullResult                       // canonical wire
	BadError                         // an error that lacks an integer code or a string message, or holds more than the wire allows
	BadCode                          // canonical wire: a code outside the error table
	BadMessage                       // canonical wire: a message other than the table's
	WrongKind                        // canonical wire: a notification method with an id, or a request method without
)

var reasonTexts = [...]string{
	NotObject:      "a message is a JSON object",
	UnlistedMember: "a member beside those of the message",
	RepeatedMember: "a member of the envelope stands twice",
	BadVersion:     `jsonrpc must be "2.0"`,
	BadID:          "an id is a bounded string or an integer from 0",
	BadMethod:      "a method is a string that is not empty",
	LongMethod:     "the method name exceeds its byte bound",
	NoParams:       "params must be present",
	BadParams:      "params must be an object",
	Mixed:          "method stands beside result or error",
	ResultAndError: "result and error exclude each other",
	NoKind:         "neither method nor result nor error is present",
	NullResult:     "a result must not be null",
	BadError:       "an error is an object with an integer code and a string message",
	BadCode:        "the code is not in the error table",
	BadMessage:     "the message is not the one of its code",
	WrongKind:      "this method and an id do not go together",
}

// String returns a clause that says what belongs there.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) && r != 0 {
		return reasonTexts[r]
	}
	return "no reason"
}

var canonicalRules = [...]string{
	NotObject:      rules.EXT03Env001,
	UnlistedMember: rules.EXT03Env002,
	BadVersion:     rules.EXT03Env001,
	BadID:          rules.EXT03Env006,
	BadMethod:      rules.EXT03Order004,
	LongMethod:     rules.EXT03Order004,
	NoParams:       rules.EXT03Env002,
	BadParams:      rules.EXT03Env002,
	Mixed:          rules.EXT03Env002,
	ResultAndError: rules.EXT03Env003,
	NoKind:         rules.EXT03Env004,
	NullResult:     rules.EXT03Env005,
	BadError:       rules.EXT03Err003,
	BadCode:        rules.EXT03Err001,
	BadMessage:     rules.EXT03Err002,
	WrongKind:      rules.EXT03Order004,
}

var featureRules = [...]string{
	NotObject:      rules.EXT04Frame001,
	RepeatedMember: rules.EXT04Env001,
	BadVersion:     rules.EXT04Env001,
	BadID:          rules.EXT04Env003,
	BadMethod:      rules.EXT04Env001,
	BadParams:      rules.EXT04Env001,
	Mixed:          rules.EXT04Env002,
	ResultAndError: rules.EXT04Env002,
	NoKind:         rules.EXT04Env001,
	BadError:       rules.EXT04Env008,
}

// Rule returns the id of the rule that side broke by writing such a message. The rules bind the
// extension's envelopes one by one; of the host they only say that it writes the wire's frames.
func (r Reason) Rule(wire frame.Wire, side frame.Side) string {
	switch {
	case wire == frame.Canonical && side == frame.Host && r == WrongKind:
		return rules.EXT03Env023
	case wire == frame.Canonical && side == frame.Host:
		return rules.EXT03Frame009
	case side == frame.Host:
		return rules.EXT04Frame011
	case wire == frame.Canonical && int(r) < len(canonicalRules):
		return canonicalRules[r]
	case wire == frame.Feature && int(r) < len(featureRules):
		return featureRules[r]
	}
	return ""
}
