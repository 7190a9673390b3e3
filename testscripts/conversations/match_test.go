package conversations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
)

// bindings holds the values of names between « and ».
type bindings map[string]any

// Names that are bound to nothing.
const (
	anything  = "*"
	permitted = "?" // or nothing
)

// silent are the members of an extension's frames that say nothing with these values: such a member may as
// well be absent, and is the same in each of these spellings (sheet 4.2, 4.3, 8.1, 8.2, 8.5, 9, 10, 11, 12).
var silent = map[string][]string{
	"metadata": {"null", "{}"}, "disposition": {`{"action":"continue"}`}, "context": {"[]"}, "notifications": {"[]"},
	"level": {`"info"`}, "title": {"null"}, "style_role": {"null"}, "priority": {"0"}, "placement": {`"prompt_suffix"`}, "detail": {"null"},
	"status": {"null"}, "description": {"null"}, "arguments": {"[]"}, "destructive": {"false"}, "recommended": {"false"},
	"usage": {"null"}, "output_schema": {"null"}, "custom_instructions": {"null"}, "cache_warming_decision": {"null"},
	"skill_paths": {"[]"}, "prompt_paths": {"[]"}, "theme_paths": {"[]"}, "default_theme": {"null"}, "command": {"null"}, "items": {"null"},
	"session_operation": {`{"action":"continue"}`}, "lifecycle_events": {"[]"}, "mouse_capture": {"false"},
}

// saysNothing reports whether a member may as well be absent.
func saysNothing(name string, value any) bool { return slices.Contains(silent[name], show(value)) }

// placeholder returns the name that stands for a whole value.
func placeholder(v any) (string, bool) {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(text, "«") || !strings.HasSuffix(text, "»") {
		return "", false
	}
	return text[len("«") : len(text)-len("»")], true
}

// fill returns v with the values of its names. A name inside a longer text is replaced by the text of its
// value.
func (b bindings) fill(v any) (any, error) {
	if name, ok := placeholder(v); ok {
		value, bound := b[name]
		if !bound {
			return nil, fmt.Errorf("«%s» has no value yet", name)
		}
		return value, nil
	}
	switch v := v.(type) {
	case string:
		for name, value := range b {
			v = strings.ReplaceAll(v, "«"+name+"»", textOf(value))
		}
		return v, nil
	case dialect.Object:
		out := dialect.Object{}
		for key, member := range v {
			filled, err := b.fill(member)
			if err != nil {
				return nil, err
			}
			out[key] = filled
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for _, element := range v {
			filled, err := b.fill(element)
			if err != nil {
				return nil, err
			}
			out = append(out, filled)
		}
		return out, nil
	}
	return v, nil
}

// match compares a frame with what a talk expects and returns where they differ, or "". Names are bound in
// b, which the caller gives up where they differ.
func (b bindings) match(want, got any, at string) string {
	if name, ok := placeholder(want); ok {
		known, bound := b[name]
		switch {
		case name == anything || name == permitted:
			return ""
		case !bound:
			b[name] = got
			return ""
		}
		want = known
	}
	switch want := want.(type) {
	case dialect.Object:
		object, ok := got.(dialect.Object)
		if !ok {
			return fmt.Sprintf("%s: want an object, got %s", at, show(got))
		}
		return b.matchObject(want, object, at)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))
		}
		for i := range want {
			if differs := b.match(want[i], list[i], fmt.Sprintf("%s/%d", at, i)); differs != "" {
				return differs
			}
		}
		return ""
	}
	filled, err := b.fill(want)
	if err != nil {
		return at + ": " + err.Error()
	}
	if pattern, ok := filled.(string); ok && strings.Contains(pattern, "«"+anything+"»") {
		if text, ok := got.(string); !ok || !matchText(pattern, text) {
			return fmt.Sprintf("%s: want a text like %s, got %s", at, show(filled), show(got))
		}
		return ""
	}
	if show(filled) != show(got) {
		return fmt.Sprintf("%s: want %s, got %s", at, show(filled), show(got))
	}
	return ""
}

// matchText compares a text with one that has «*» for a part that may be anything.
func matchText(pattern, text string) bool {
	head, tail, _ := strings.Cut(pattern, "«"+anything+"»")
	rest, begins := strings.CutPrefix(text, head)
	return begins && strings.HasSuffix(rest, tail)
}

func (b bindings) matchObject(want, got dialect.Object, at string) string {
	var names []string
	for key := range want {
		names = append(names, key)
	}
	for key := range got {
		if _, known := want[key]; !known {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	for _, key := range names {
		expected, wanted := want[key]
		value, there := got[key]
		switch {
		case !there && (expected == "«"+permitted+"»" || saysNothing(key, expected)), !wanted && saysNothing(key, value):
			continue
		case there && wanted && saysNothing(key, expected) && saysNothing(key, value):
			continue
		case !there:
			return fmt.Sprintf("%s/%s: want %s, but the member is absent", at, key, show(expected))
		case !wanted:
			return fmt.Sprintf("%s/%s: want no such member, got %s", at, key, show(value))
		}
		if differs := b.match(expected, value, at+"/"+key); differs != "" {
			return differs
		}
	}
	return ""
}
