package faultypeer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// obj is a JSON object.
type obj = map[string]any

// encode writes a value canonically. The peer has its own encoder, so that a mistake in the project's
// encoder cannot hide from the referee behind the same mistake here.
func encode(v any) []byte { return appendValue(nil, v) }

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendString(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case json.Number:
		return append(dst, v...)
	case json.RawMessage:
		return append(dst, v...)
	case obj:
		dst = append(dst, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, key), ':')
			dst = appendValue(dst, v[key])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	}
	panic(fmt.Sprintf("faultypeer: value of type %T", v))
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// list makes a JSON array of strings.
func list(items ...string) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// members reads an object of raw members; nil if the text is none.
func members(text json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

// text reads a string.
func text(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// texts reads an array of strings; other elements become empty.
func texts(raw json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i], _ = text(item)
	}
	return out
}

// at follows names into objects.
func at(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		raw = members(raw)[name]
	}
	return raw
}
