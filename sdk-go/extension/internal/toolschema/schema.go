// Package toolschema turns Go types into the JSON Schemas of tools and checks values against them.
package toolschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	invopop "github.com/invopop/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/quickschema"
)

// Schema is one JSON Schema, ready to check values. It is immutable and safe for concurrent use.
type Schema struct {
	text     json.RawMessage
	quick    *quickschema.Schema // nil for a schema that only the full validator understands
	compiled *santhosh.Schema
	defaults json.RawMessage
}

// OutputRules is what a wire allows in the schema of a tool's structured content.
type OutputRules struct {
	Keywords    []string
	MaxDepth    int // level of the deepest value, the root having level 0
	MaxKeyBytes int // UTF-8 bytes of a property name
}

// Arguments returns the schema of a tool's arguments. The type must be written as a JSON object: a struct, a
// map with string keys, or an interface or json.RawMessage, which take any object. Members that a struct
// does not list are refused. A member is required unless its json tag says omitempty or omitzero, or its
// jsonschema tag gives a default. A recursive type is written with references, every other one inlined.
func Arguments(t reflect.Type) (*Schema, error) {
	if opaque(t) {
		return compile(map[string]any{"type": "object"})
	}
	root, err := reflected(t)
	if err != nil {
		return nil, err
	}
	if root["type"] != "object" {
		return nil, fmt.Errorf("arguments are a JSON object, but %s is written as %v: use a struct", t, describeType(root))
	}
	defaults := takeDefaults(root)
	s, err := compile(root)
	if err != nil {
		return nil, err
	}
	return s, s.setDefaults(defaults)
}

// Output returns the schema of a tool's structured content. Keywords that only narrow a value or describe it
// and that the rules do not list are left out; a type that needs one of the others is refused.
func Output(t reflect.Type, rules OutputRules) (*Schema, error) {
	if opaque(t) {
		return compile(map[string]any{})
	}
	root, err := reflected(t)
	if err != nil {
		return nil, err
	}
	if err := (restriction{rules}).root(root); err != nil {
		return nil, err
	}
	return compile(root)
}

// JSON returns the schema as compact JSON. The caller must not change it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// Defaults returns a JSON object with the member defaults of an arguments schema, nil if there are none. The
// caller must not change it.
func (s *Schema) Defaults() json.RawMessage { return s.defaults }

// opaque reports whether a type says nothing about the JSON it holds.
func opaque(t reflect.Type) bool {
	return t == reflect.TypeFor[json.RawMessage]() || (t.Kind() == reflect.Interface && t.NumMethod() == 0)
}

// reflected returns the schema of a type as a tree of maps, slices and json.Number.
func reflected(t reflect.Type) (root map[string]any, err error) {
	// The reflector panics on types that have no JSON form; the caller's type is the caller's mistake, and
	// the caller of this package knows the tool to name.
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%s has no JSON Schema: %v", t, cause)
		}
	}()
	reflector := invopop.Reflector{Anonymous: true, DoNotReference: !recursive(t, nil), Namer: referenceName}
	text, err := reflector.ReflectFromType(t).MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s has no JSON Schema: %w", t, err)
	}
	tree, err := santhosh.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s has no JSON Schema: %w", t, err)
	}
	root, isObject := tree.(map[string]any)
	if !isObject {
		return map[string]any{}, nil
	}
	delete(root, "$schema")
	return expanded(root), nil
}

// expanded puts the definition that the root refers to in its place; the other definitions stay.
func expanded(root map[string]any) map[string]any {
	reference, _ := root["$ref"].(string)
	definitions, _ := root["$defs"].(map[string]any)
	definition, _ := definitions[strings.TrimPrefix(reference, "#/$defs/")].(map[string]any)
	if definition == nil {
		return root
	}
	expanded := maps.Clone(definition)
	expanded["$defs"] = definitions
	return expanded
}

// referenceName keeps types of one name and different packages apart, in characters that need no escape in
// a JSON Pointer. An unnamed type has none: it cannot be recursive by itself.
func referenceName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	name := t.PkgPath() + "." + t.Name()
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/~%#[]*, ", r) {
			return '_'
		}
		return r
	}, name)
}

// recursive reports whether a type contains itself; above holds the types on the way down.
func recursive(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return true
	}
	above = append(slices.Clip(above), t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return recursive(t.Elem(), above)
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if field.IsExported() && recursive(field.Type, above) {
				return true
			}
		}
	}
	return false
}

// takeDefaults returns the defaults of the members of an object schema and makes those members optional.
func takeDefaults(root map[string]any) map[string]any {
	members, _ := root["properties"].(map[string]any)
	defaults := map[string]any{}
	for name, member := range members {
		if schema, isObject := member.(map[string]any); isObject {
			if value, has := schema["default"]; has {
				defaults[name] = value
			}
		}
	}
	required, _ := root["required"].([]any)
	required = slices.DeleteFunc(required, func(name any) bool {
		_, optional := defaults[name.(string)]
		return optional
	})
	if len(required) > 0 {
		root["required"] = required
	} else {
		delete(root, "required")
	}
	return defaults
}

func (s *Schema) setDefaults(defaults map[string]any) error {
	if len(defaults) == 0 {
		return nil
	}
	for name, value := range defaults {
		if err := s.compiled.Properties[name].Validate(value); err != nil {
			return fmt.Errorf("the default of %q breaks its own schema: %w", name, firstProblem(err))
		}
	}
	var err error
	s.defaults, err = encode(defaults)
	return err
}

const schemaName = "tool.json"

func compile(root map[string]any) (*Schema, error) {
	text, err := encode(root)
	if err != nil {
		return nil, err
	}
	compiler := santhosh.NewCompiler()
	compiler.DefaultDraft(santhosh.Draft2020)
	if err := compiler.AddResource(schemaName, any(root)); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiled, err := compiler.Compile(schemaName)
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	return &Schema{text: text, quick: quickschema.New(root), compiled: compiled}, nil
}

// encode writes members in ascending order and numbers as they were spelled.
func encode(tree any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func describeType(root map[string]any) string {
	if name, ok := root["type"].(string); ok {
		return "JSON " + name
	}
	return "any JSON"
}

// Check returns a *Problem for a value that breaks the schema, or that is not JSON.
func (s *Schema) Check(value []byte) error {
	if document, err := wirejson.Parse(value, wirejson.DefaultMaxDepth); err == nil {
		defer document.Release()
		return s.CheckParsed(document.Root())
	}
	return s.explain(value)
}

// CheckParsed is Check for a value that has been parsed.
func (s *Schema) CheckParsed(value wirejson.Value) error {
	if s.quick.Accepts(value) {
		return nil
	}
	return s.explain(value.Source())
}

// explain is the full validator.
func (s *Schema) explain(value []byte) error {
	tree, err := santhosh.UnmarshalJSON(strings.NewReader(string(value)))
	if err != nil {
		return &Problem{Kind: wirejson.WrongType, Detail: "not JSON: " + err.Error()}
	}
	if err := s.compiled.Validate(tree); err != nil {
		return firstProblem(err)
	}
	return nil
}
