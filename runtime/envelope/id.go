package envelope

import (
	"strconv"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
)

// ID is a JSON-RPC id, opaque and comparable: the string "1" and the integer 1 differ. It is never
// rounded, so that an answer carries it back as it came. The zero ID is no id.
type ID struct {
	text string // its canonical JSON
}

// IntID returns an id that is an integer.
func IntID(n uint64) ID { return ID{strconv.FormatUint(n, 10)} }

// StringID returns an id that is a string.
func StringID(s string) ID { return ID{string(canonical.AppendString(nil, s))} }

// RawID returns the id whose canonical JSON is text, such as Envelope.ID. It does not check text.
func RawID(text []byte) ID { return ID{string(text)} }

// IsZero reports whether this is no id.
func (id ID) IsZero() bool { return id.text == "" }

// String returns the id as JSON, the zero ID as "none".
func (id ID) String() string {
	if id.text == "" {
		return "none"
	}
	return id.text
}

// AppendJSON appends the id as JSON, the zero ID as null.
func (id ID) AppendJSON(dst []byte) []byte {
	if id.text == "" {
		return append(dst, "null"...)
	}
	return append(dst, id.text...)
}

// Wire returns the id for a generated model. An integer beyond the portable range, which only the
// feature wire allows, has no place in one and gives the zero wirejson.ID.
func (id ID) Wire() wirejson.ID {
	if n, err := strconv.ParseInt(id.text, 10, 64); err == nil {
		return wirejson.IntID(n)
	}
	var w wirejson.ID
	if err := w.UnmarshalJSON([]byte(id.String())); err != nil {
		return wirejson.ID{}
	}
	return w
}

// FromWire returns the id a generated model carries.
func FromWire(w wirejson.ID) ID {
	if w.IsZero() {
		return ID{}
	}
	return ID{string(w.AppendJSON(nil))}
}
