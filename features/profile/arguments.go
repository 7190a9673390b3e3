package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/wire"
)

// maxWhole is the largest integer that every reader of JSON keeps exactly.
const maxWhole = 1<<53 - 1

// maxSchemaDepth bounds the schema that arguments are made from.
const maxSchemaDepth = 16

// maxItems bounds an array that is made up.
const maxItems = 64

// maxValues bounds the values in the arguments of one tool. Every further chunkBytes of a text or a name are
// one more, so that what fits is no larger than a profile may be.
const (
	maxValues  = 4096
	chunkBytes = maxFileBytes / maxValues
)

// Arguments makes arguments that a tool's parameter schema accepts: defaults, examples and constants
// first, then the smallest value of each required property. It fails on a schema it cannot satisfy by
// construction, such as one with a pattern; the author then names the arguments in a profile.
func Arguments(schema json.RawMessage) (map[string]any, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("parameter schema: %w", err)
	}
	left := budget(maxValues)
	v, err := left.build(root, 0)
	if err != nil {
		return nil, err
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the parameter schema does not describe an object")
	}
	return args, nil
}

// budget is how many values may still be made up.
type budget int

// spend takes what a value that is ready costs, with everything in it.
func (b *budget) spend(v any) error {
	switch v := v.(type) {
	case string:
		return b.take(v)
	case []any:
		for _, item := range v {
			if err := b.spend(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, member := range v {
			if err := b.take(name); err != nil {
				return err
			}
			if err := b.spend(member); err != nil {
				return err
			}
		}
	}
	return b.take("")
}

// take is spend for one value with this text.
func (b *budget) take(text string) error {
	*b -= budget(1 + len(text)/chunkBytes)
	if *b < 0 {
		return fmt.Errorf("the arguments have more than %d values", maxValues)
	}
	return nil
}

func (b *budget) build(schema any, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the parameter schema is deeper than %d levels", maxSchemaDepth)
	}
	if err := b.take(""); err != nil {
		return nil, err
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return map[string]any{}, nil
	}
	if v, found := given(s); found {
		return v, b.spend(v)
	}
	for _, word := range []string{"$ref", "allOf", "not", "if", "patternProperties", "minProperties", "dependentRequired", "contains"} {
		if _, found := s[word]; found {
			return nil, fmt.Errorf("the parameter schema uses %q", word)
		}
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list, found := s[word].([]any); found && len(list) > 0 {
			return b.build(list[0], depth+1)
		}
	}
	return b.typed(s, depth)
}

// given is a value that the schema itself names.
func given(s map[string]any) (any, bool) {
	for _, word := range []string{"default", "const"} {
		if v, found := s[word]; found {
			return v, true
		}
	}
	for _, word := range []string{"examples", "enum"} {
		if list, ok := s[word].([]any); ok && len(list) > 0 {
			return list[0], true
		}
	}
	return nil, false
}

func (b *budget) typed(s map[string]any, depth int) (any, error) {
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "object", "":
		return b.object(s, depth)
	case "array":
		return b.array(s, depth)
	case "string":
		return b.text(s)
	case "integer", "number":
		return number(s, kind == "integer")
	case "boolean":
		return false, nil
	case "null":
		return nil, nil
	}
	return nil, fmt.Errorf("the parameter schema has the type %s", said(kind))
}

func (b *budget) object(s map[string]any, depth int) (any, error) {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := make(map[string]bool, min(len(required), maxValues))
	for _, entry := range required {
		name, ok := entry.(string)
		if _, found := properties[name]; !ok || !found {
			return nil, fmt.Errorf("required property %s has no schema", said(entry))
		}
		if err := b.take(name); err != nil {
			return nil, err
		}
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v, err := b.build(properties[name], depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", wire.Printable([]byte(name), maxSaid), err)
		}
		out[name] = v
	}
	return out, nil
}

func (b *budget) array(s map[string]any, depth int) (any, error) {
	n := count(s["minItems"])
	if n > 1 && s["uniqueItems"] == true {
		return nil, fmt.Errorf("an array has at least %d different items", n)
	}
	if n > maxItems {
		return nil, fmt.Errorf("an array has at least %v items, more than %d are not made up", s["minItems"], maxItems)
	}
	out := make([]any, 0, n)
	for range n {
		v, err := b.build(s["items"], depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (b *budget) text(s map[string]any) (any, error) {
	for _, word := range []string{"pattern", "format"} {
		if v, found := s[word]; found {
			return nil, fmt.Errorf("a string has the %s %s", word, said(v))
		}
	}
	const sample = "octet"
	n := count(s["minLength"])
	if n > 4096 {
		return nil, fmt.Errorf("a string has at least %v characters", s["minLength"])
	}
	out := sample
	if n > len(out) {
		out += strings.Repeat("x", n-len(out))
	}
	if limit, ok := s["maxLength"].(float64); ok && limit < float64(len(out)) {
		if limit < float64(n) {
			return nil, fmt.Errorf("a string has at least %d and at most %v characters", n, limit)
		}
		out = out[:count(math.Floor(limit))]
	}
	return out, b.take(out)
}

// number is 1 if the bounds allow it, or else a value near one of them.
func number(s map[string]any, whole bool) (any, error) {
	if v, found := s["multipleOf"]; found {
		return nil, fmt.Errorf("a number is a multiple of %s", said(v))
	}
	bound := func(word string, open float64) float64 {
		if v, ok := s[word].(float64); ok {
			return v
		}
		return open
	}
	low, high := bound("minimum", math.Inf(-1)), bound("maximum", math.Inf(1))
	above, below := bound("exclusiveMinimum", math.Inf(-1)), bound("exclusiveMaximum", math.Inf(1))
	least, most := max(low, above), min(high, below)
	for _, v := range []float64{1, math.Ceil(least), math.Floor(least) + 1, math.Floor(most), math.Ceil(most) - 1, least, most, (least + most) / 2} {
		switch {
		case math.IsInf(v, 0) || math.IsNaN(v) || v < low || v > high || v <= above || v >= below:
		case v == math.Trunc(v) && math.Abs(v) <= maxWhole:
			return int(v), nil
		case !whole:
			return v, nil
		}
	}
	return nil, errors.New("no number lies within its bounds")
}

// count is a bound of a schema as a number of things: nothing for one below zero and for what is no number,
// and never more than 32 bits hold.
func count(v any) int {
	f, _ := v.(float64)
	return int(min(max(math.Ceil(f), 0), math.MaxInt32))
}

// maxSaid bounds what a reason repeats of a schema, in bytes.
const maxSaid = 200

// said is a value of a schema as a reason repeats it: on one line, a text in quotation marks.
func said(v any) string {
	if s, ok := v.(string); ok {
		return wire.Printable([]byte(strconv.Quote(s)), maxSaid)
	}
	text, _ := json.Marshal(v) // It was read as JSON.
	return wire.Printable(text, maxSaid)
}

// Misfit makes arguments that a parameter schema forbids: nothing where something is required, or a
// member where none may be. It returns false for a schema that forbids neither.
func Misfit(schema json.RawMessage) (map[string]any, bool) {
	var s struct {
		Required             []string        `json:"required"`
		AdditionalProperties json.RawMessage `json:"additionalProperties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil, false
	}
	if len(s.Required) > 0 {
		return map[string]any{}, true
	}
	return map[string]any{"conform_misfit": true}, string(s.AdditionalProperties) == "false"
}
