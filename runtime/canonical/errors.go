package canonical

import "strconv"

// Class says which of the encoding rules a text breaks. A text that breaks several is reported under
// the one met first when reading from the left, save that a repeated key counts as a repetition
// wherever its twin stands.
type Class uint8

// The classes.
const (
	Syntax       Class = iota + 1 // not JSON at all, or cut off
	Control                       // a control character that stands unescaped in a string
	UTF8                          // ill-formed UTF-8: overlong, truncated, an encoded surrogate, above U+10FFFF
	Surrogate                     // an escape of half a surrogate pair
	DuplicateKey                  // two members of one object with the same decoded key
	KeyOrder                      // members not ascending by the UTF-8 bytes of their decoded keys
	Escape                        // JSON, but not the one spelling of that character
	Number                        // not a portable integer in plain spelling
	Depth                         // a value that too many arrays and objects enclose
	Whitespace                    // white space outside strings
	Trailing                      // bytes behind the value
	BOM                           // a byte order mark in front of the value
)

var classNames = [...]string{
	Syntax:       "syntax",
	Control:      "control character",
	UTF8:         "utf-8",
	Surrogate:    "surrogate",
	DuplicateKey: "duplicate key",
	KeyOrder:     "key order",
	Escape:       "escape",
	Number:       "number",
	Depth:        "depth",
	Whitespace:   "white space",
	Trailing:     "trailing data",
	BOM:          "byte order mark",
}

// String returns the name of the class in lower case, such as "key order".
func (c Class) String() string {
	if int(c) < len(classNames) && c != 0 {
		return classNames[c]
	}
	return "class " + strconv.Itoa(int(c))
}

// Classes lists every class in declaration order.
func Classes() []Class {
	all := make([]Class, 0, len(classNames)-1)
	for c := Syntax; c <= BOM; c++ {
		all = append(all, c)
	}
	return all
}

// Error is a refused text: which rule it breaks and where. It keeps nothing of the text.
type Error struct {
	Offset int    // of the first byte that shows the fault
	Class  Class  //
	Detail string // what was met and what belongs there; a constant phrase
}

// Error returns class, offset and detail, such as `canonical json: white space at byte 5: no byte
// may stand between tokens`.
func (e *Error) Error() string {
	return "canonical json: " + e.Class.String() + " at byte " + strconv.Itoa(e.Offset) + ": " + e.Detail
}
