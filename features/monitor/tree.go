package monitor

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// kind is the JSON type of a value.
type kind string

const (
	none    kind = "nothing"
	null    kind = "null"
	boolean kind = "a boolean"
	number  kind = "a number"
	text    kind = "a string"
	array   kind = "an array"
	object  kind = "an object"
)

// tree is a value of a frame, read as far as a check asks for it. The zero value is an absent one. Copies
// share what has been read.
type tree struct {
	raw  json.RawMessage
	read *reading
}

// reading holds the members of an object once somebody has asked for one.
type reading struct {
	done    bool
	members map[string]tree
}

func parse(b []byte) tree {
	if !json.Valid(b) {
		return tree{}
	}
	return value(b)
}

// value is a tree of text that is known to be one JSON value.
func value(raw []byte) tree {
	return tree{raw: bytes.TrimSpace(raw), read: new(reading)}
}

func (t tree) absent() bool { return len(t.raw) == 0 }

func (t tree) kind() kind {
	if t.absent() {
		return none
	}
	switch t.raw[0] {
	case 'n':
		return null
	case 't', 'f':
		return boolean
	case '"':
		return text
	case '[':
		return array
	case '{':
		return object
	default:
		return number
	}
}

// members reads an object; nil if it is none.
func (t tree) members() map[string]tree {
	if t.kind() != object {
		return nil
	}
	if !t.read.done {
		var raw map[string]json.RawMessage
		// The text has been found to be JSON.
		_ = json.Unmarshal(t.raw, &raw)
		t.read.members = make(map[string]tree, len(raw))
		for name, member := range raw {
			t.read.members[name] = value(member)
		}
		t.read.done = true
	}
	return t.read.members
}

// get returns a member; absent if there is none.
func (t tree) get(name string) tree { return t.members()[name] }

// at follows a pointer through objects.
func (t tree) at(pointer string) tree {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		t = t.get(name)
	}
	return t
}

// items reads an array; nil if it is none.
func (t tree) items() []tree {
	if t.kind() != array {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(t.raw, &list) != nil {
		return nil
	}
	out := make([]tree, len(list))
	for i, raw := range list {
		out[i] = value(raw)
	}
	return out
}

// text decodes a string; empty if it is none.
func (t tree) text() string {
	var s string
	if t.kind() != text || json.Unmarshal(t.raw, &s) != nil {
		return ""
	}
	return s
}

// texts decodes the strings of an array.
func (t tree) texts() []string {
	var out []string
	for _, item := range t.items() {
		out = append(out, item.text())
	}
	return out
}

// integer decodes a number spelled without fraction and exponent.
func (t tree) integer() (int64, bool) {
	if t.kind() != number {
		return 0, false
	}
	n, err := strconv.ParseInt(string(t.raw), 10, 64)
	return n, err == nil
}

// natural decodes an integer from 0 to the largest portable one.
func (t tree) natural() (int64, bool) {
	n, ok := t.integer()
	return n, ok && n >= 0 && n <= maxPortable
}

const maxPortable = canonicalwire.MaxPortableJSONInteger

func (t tree) truth() bool { return string(t.raw) == "true" }

// spelled is an id as the key of a table: strings by their value, so that two spellings of one string
// are one id, and apart from numbers.
func (t tree) spelled() string {
	if t.kind() == text {
		return strconv.Quote(t.text())
	}
	return string(t.raw)
}

// size measures a value in one pass: levels of containers, and values in all.
func (t tree) size() (depth, nodes int) {
	d := json.NewDecoder(bytes.NewReader(t.raw))
	d.UseNumber()
	var open []bool // containers around the present place, true for an object
	key := false    // the next string is one
	for {
		token, err := d.Token()
		if err != nil {
			return depth, nodes
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			nodes++
			open = append(open, token == json.Delim('{'))
			depth = max(depth, len(open))
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if key {
				key = false
				continue
			}
			nodes++
		}
		key = len(open) > 0 && open[len(open)-1]
	}
}
