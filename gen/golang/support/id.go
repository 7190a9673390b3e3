package wirejson

import "strconv"

// ID is a JSON-RPC id. It remembers whether it was a string or an integer, so that an answer carries it
// back unchanged, and is comparable: the string "1" and the integer 1 differ. The zero ID is no id.
type ID struct {
	text string
	num  int64
	kind idKind
}

type idKind uint8

const (
	noID idKind = iota
	textID
	numberID
)

// StringID returns an id that is a string.
func StringID(s string) ID { return ID{text: s, kind: textID} }

// IntID returns an id that is an integer.
func IntID(n int64) ID { return ID{num: n, kind: numberID} }

// IsZero reports whether this is no id at all.
func (id ID) IsZero() bool { return id.kind == noID }

// Text returns the string and whether the id is one.
func (id ID) Text() (string, bool) { return id.text, id.kind == textID }

// Int returns the integer and whether the id is one.
func (id ID) Int() (int64, bool) { return id.num, id.kind == numberID }

// String returns the id for messages: a string id quoted, so that it cannot be taken for an integer.
func (id ID) String() string {
	switch id.kind {
	case textID:
		return strconv.Quote(id.text)
	case numberID:
		return strconv.FormatInt(id.num, 10)
	default:
		return "none"
	}
}

// AppendJSON appends the id as JSON, the zero ID as null.
func (id ID) AppendJSON(dst []byte) []byte {
	switch id.kind {
	case textID:
		return AppendString(dst, id.text)
	case numberID:
		return strconv.AppendInt(dst, id.num, 10)
	default:
		return append(dst, "null"...)
	}
}

// MarshalJSON implements json.Marshaler.
func (id ID) MarshalJSON() ([]byte, error) { return id.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. It takes a string, an integer or null.
func (id *ID) UnmarshalJSON(data []byte) error {
	d, err := Parse(data, 0)
	if err != nil {
		return err
	}
	defer d.Release()
	root := d.Root()
	parsed := root.ID()
	if parsed.IsZero() && !root.IsNull() {
		return &Violation{Kind: WrongID, Model: "id", Detail: "an id is a string or an integer, got " + cut(root.Source())}
	}
	*id = parsed
	return nil
}
