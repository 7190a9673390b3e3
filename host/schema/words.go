package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/octet-dev/octet/runtime/manifest/near"
)

// Word is one argument as it stands on a command line.
type Word struct{ Name, Value string }

// ParseWord splits name=value. The value may contain further equals signs.
func ParseWord(text string) (Word, error) {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return Word{}, fmt.Errorf("argument %q has no name; write name=value", text)
	}
	return Word{Name: name, Value: value}, nil
}

// Arguments turns words into one JSON object, each value typed as the schema says: text where it wants a
// string, JSON where it wants anything else. A word whose property the schema does not describe is JSON
// if it reads as JSON, and text otherwise. Several words of one name make a list where the schema wants
// one. The result still has to be checked.
func (s *Schema) Arguments(words []Word) ([]byte, error) {
	object := map[string]json.RawMessage{}
	for _, name := range names(words) {
		property, err := s.property(name)
		if err != nil {
			return nil, err
		}
		var values []string
		for _, w := range words {
			if w.Name == name {
				values = append(values, w.Value)
			}
		}
		if object[name], err = value(name, values, property); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object)
}

// names lists the names in order of first appearance.
func names(words []Word) []string {
	var list []string
	for _, w := range words {
		if !slices.Contains(list, w.Name) {
			list = append(list, w.Name)
		}
	}
	return list
}

// Properties lists the properties that the schema describes, ascending.
func (s *Schema) Properties() []string {
	found := map[string]bool{}
	for _, part := range parts(s.compiled) {
		for name := range part.Properties {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// property finds the schemas that a property has to fulfil; none if the schema is silent about it.
func (s *Schema) property(name string) ([]*jsonschema.Schema, error) {
	var found []*jsonschema.Schema
	closed := false
	for _, part := range parts(s.compiled) {
		if p := part.Properties[name]; p != nil {
			found = append(found, p)
			continue
		}
		switch additional := part.AdditionalProperties.(type) {
		case bool:
			closed = closed || !additional
		case *jsonschema.Schema:
			found = append(found, additional)
		}
	}
	if len(found) == 0 && closed {
		return nil, &UnknownArgumentError{Name: name, Known: s.Properties()}
	}
	return found, nil
}

// UnknownArgumentError says that a tool takes no argument of that name.
type UnknownArgumentError struct {
	Name  string
	Known []string // the arguments it takes, ascending
}

// Error names the argument that was probably meant, or else all there are.
func (e *UnknownArgumentError) Error() string {
	switch guess := near.Find(e.Name, e.Known); {
	case len(e.Known) == 0:
		return fmt.Sprintf("unknown argument %q; the tool takes none", e.Name)
	case guess != "":
		return fmt.Sprintf("unknown argument %q; did you mean %q?", e.Name, guess)
	}
	return fmt.Sprintf("unknown argument %q; the tool takes %s", e.Name, strings.Join(e.Known, ", "))
}

// value types the words given for one argument.
func value(name string, texts []string, property []*jsonschema.Schema) (json.RawMessage, error) {
	types := typesOf(property)
	if types.has("array") && !(len(texts) == 1 && strings.HasPrefix(strings.TrimSpace(texts[0]), "[")) {
		elements := make([]json.RawMessage, len(texts))
		for i, text := range texts {
			element, err := scalar(name, text, typesOf(elementsOf(property)))
			if err != nil {
				return nil, err
			}
			elements[i] = element
		}
		return json.Marshal(elements)
	}
	if len(texts) > 1 {
		return nil, fmt.Errorf("argument %q is given %d times and is no list; give it once", name, len(texts))
	}
	return scalar(name, texts[0], types)
}

func scalar(name, text string, types typeSet) (json.RawMessage, error) {
	raw := json.RawMessage(bytes.TrimSpace([]byte(text)))
	kind := jsonType(raw)
	switch {
	case kind == "":
		if types.has("string") || len(types) == 0 {
			return json.Marshal(text)
		}
		return nil, fmt.Errorf("argument %q wants %s, got %q", name, types, text)
	case len(types) == 0:
		return raw, nil
	case kind == "string" && types.has("string"):
		// Quotes on the command line are part of the text.
		return json.Marshal(text)
	case types.has(kind), kind == "integer" && types.has("number"), kind == "number" && types.has("integer"):
		return raw, nil
	case types.has("string"):
		return json.Marshal(text)
	default:
		return nil, fmt.Errorf("argument %q wants %s, got %q", name, types, text)
	}
}

// jsonType names the JSON Schema type of a text, "" if it is no JSON.
func jsonType(raw json.RawMessage) string {
	decoded, err := decode(raw)
	if err != nil {
		return ""
	}
	switch v := decoded.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		if strings.ContainsAny(fmt.Sprint(v), ".eE") {
			return "number"
		}
		return "integer"
	}
}

// typeSet holds the names of the types that may be legal; empty means that nothing is known.
type typeSet []string

func (t typeSet) has(name string) bool { return slices.Contains(t, name) }

// String reads as a phrase: "a string", "an integer or null".
func (t typeSet) String() string {
	words := make([]string, len(t))
	for i, name := range t {
		switch name {
		case "null":
			words[i] = name
		case "array", "integer", "object":
			words[i] = "an " + name
		default:
			words[i] = "a " + name
		}
	}
	return strings.Join(words, " or ")
}

func typesOf(schemas []*jsonschema.Schema) typeSet {
	var set typeSet
	add := func(name string) {
		if !set.has(name) {
			set = append(set, name)
		}
	}
	for _, s := range schemas {
		for _, part := range parts(s) {
			if part.Types != nil {
				for _, name := range part.Types.ToStrings() {
					add(name)
				}
				continue
			}
			for _, v := range constants(part) {
				if text, err := json.Marshal(v); err == nil {
					add(jsonType(text))
				}
			}
		}
	}
	return set
}

func constants(s *jsonschema.Schema) []any {
	var list []any
	if s.Const != nil {
		list = append(list, *s.Const)
	}
	if s.Enum != nil {
		list = append(list, s.Enum.Values...)
	}
	return list
}

func elementsOf(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var found []*jsonschema.Schema
	for _, s := range schemas {
		for _, part := range parts(s) {
			if items, ok := part.Items.(*jsonschema.Schema); ok {
				found = append(found, items)
			}
			if part.Items2020 != nil {
				found = append(found, part.Items2020)
			}
		}
	}
	return found
}

// parts lists a schema with everything that speaks about the same value through references and
// combinations, each once.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	var visit func(*jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if s == nil || slices.Contains(list, s) {
			return
		}
		list = append(list, s)
		visit(s.Ref)
		for _, group := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, member := range group {
				visit(member)
			}
		}
	}
	visit(s)
	return list
}
