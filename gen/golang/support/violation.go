package wirejson

import "strconv"

// ViolationKind is the way a value breaks its model. All languages share these words.
type ViolationKind string

// The violations, in the order in which a single member is checked.
const (
	NotObject   ViolationKind = "not_object" // a record or union is not a JSON object
	Unknown     ViolationKind = "unknown"    // a closed record carries an unlisted member
	Forbidden   ViolationKind = "forbidden"  // a member that this version forbids
	Missing     ViolationKind = "missing"    // a required member is absent
	NullValue   ViolationKind = "null"       // null where it is not legal
	WrongType   ViolationKind = "type"       // another JSON type
	OutOfRange  ViolationKind = "range"      // a number outside its bounds
	ItemCount   ViolationKind = "items"      // too many or too few elements
	ByteCount   ViolationKind = "bytes"      // too many or too few UTF-8 bytes, or a blank string
	WrongValue  ViolationKind = "value"      // outside a closed enumeration, or not the constant
	WrongClass  ViolationKind = "pattern"    // outside its identifier class
	Duplicate   ViolationKind = "duplicate"  // elements that must differ are equal
	WrongTag    ViolationKind = "tag"        // missing or unknown union tag
	DeferredTag ViolationKind = "deferred"   // a union variant that may not be sent
	WrongID     ViolationKind = "id"         // not a legal JSON-RPC id
)

// Violation says where and how a value breaks its model. It is the error of every decode function for
// text that is strict JSON.
type Violation struct {
	Kind    ViolationKind
	Pointer string // RFC 6901, from the root of the value; "" is the root
	Model   string // the model the value was checked against
	Detail  string // the rule and the remedy, for people
	// ErrorName is the row of the wire's error table this is reported as; "" where the wire has none.
	ErrorName string
}

// Error gives model, pointer and detail in one line.
func (v *Violation) Error() string {
	return v.Model + " at " + strconv.Quote(v.Pointer) + ": " + v.Detail
}

// SyntaxError says where and why a text is not strict JSON. It is the error of every decode function for
// such a text.
type SyntaxError struct {
	Offset int    // the byte at which reading stopped
	Detail string // the rule and the remedy, for people
}

// Error gives offset and detail in one line.
func (e *SyntaxError) Error() string {
	return "byte " + strconv.Itoa(e.Offset) + ": " + e.Detail
}

// UnknownModelError is the error for a model name that the wire does not have.
type UnknownModelError string

// Error names the model.
func (e UnknownModelError) Error() string {
	return "the model " + strconv.Quote(string(e)) + " does not exist; use a name of Models"
}
