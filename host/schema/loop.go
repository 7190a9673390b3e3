package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// walker looks for a schema that leads back to itself without a step into the value: no value could be checked
// against it, for the check would not end.
type walker struct {
	state map[*jsonschema.Schema]walked
	inner []*jsonschema.Schema // those for parts of the value, still to be looked at
}

type walked int

const (
	under walked = iota + 1 // on the way that is being followed
	over
)

// endless names a schema that leads back to itself, nil if there is none.
func endless(root *jsonschema.Schema) error {
	w := &walker{state: map[*jsonschema.Schema]walked{}, inner: []*jsonschema.Schema{root}}
	for len(w.inner) > 0 {
		next := w.inner[len(w.inner)-1]
		w.inner = w.inner[:len(w.inner)-1]
		if at := w.follow(next); at != nil {
			_, pointer, _ := strings.Cut(at.Location, "#")
			return fmt.Errorf("$ref at %q leads back to where it stands, so that no value can be checked; let the circle go through properties or items", pointer)
		}
	}
	return nil
}

// follow goes along everything that is checked against the same value, and returns a schema that it meets twice on
// one way.
func (w *walker) follow(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || w.state[s] == over {
		return nil
	}
	if w.state[s] == under {
		return s
	}
	w.state[s] = under
	for _, same := range sameValue(s) {
		if at := w.follow(same); at != nil {
			return at
		}
	}
	w.state[s] = over
	w.inner = append(w.inner, inside(s)...)
	return nil
}

// sameValue are the schemas that a value is checked against besides.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}
	list = append(append(append(list, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, dependent := range s.DependentSchemas {
		list = append(list, dependent)
	}
	for _, dependent := range s.Dependencies {
		list = append(list, one(dependent)...)
	}
	return list
}

// inside are the schemas of what is in a value.
func inside(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema}
	for _, property := range s.Properties {
		list = append(list, property)
	}
	for _, property := range s.PatternProperties {
		list = append(list, property)
	}
	list = append(list, one(s.AdditionalProperties)...)
	list = append(list, one(s.Items)...)
	list = append(list, one(s.AdditionalItems)...)
	return append(list, s.PrefixItems...)
}

// one are the schemas in a keyword that takes several forms.
func one(keyword any) []*jsonschema.Schema {
	switch value := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{value}
	case []*jsonschema.Schema:
		return value
	}
	return nil
}
