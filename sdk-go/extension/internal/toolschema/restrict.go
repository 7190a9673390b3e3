package toolschema

import (
	"fmt"
	"slices"
)

// dropped are keywords that narrow or describe a value. Without them a schema accepts every value it accepted
// before, so leaving them out of an output schema makes no valid result invalid.
var dropped = []string{
	"format", "pattern", "contentEncoding", "contentMediaType", "multipleOf", "readOnly", "writeOnly", "deprecated", "$comment", "$id", "$anchor",
}

// restriction brings a schema into the form that an output schema may have, in place.
type restriction struct{ rules OutputRules }

func (r restriction) root(schema map[string]any) error {
	if err := r.node(schema, ""); err != nil {
		return err
	}
	if levels := depth(schema); levels > r.rules.MaxDepth {
		return fmt.Errorf("the output schema is %d levels deep, more than %d: flatten the type", levels, r.rules.MaxDepth)
	}
	return nil
}

// depth returns the level of the deepest value, that of the value itself being 0.
func depth(value any) int {
	deepest := 0
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			deepest = max(deepest, 1+depth(member))
		}
	case []any:
		for _, element := range value {
			deepest = max(deepest, 1+depth(element))
		}
	}
	return deepest
}

func (r restriction) node(schema map[string]any, where string) error {
	for keyword := range schema {
		if slices.Contains(r.rules.Keywords, keyword) {
			continue
		}
		if !slices.Contains(dropped, keyword) {
			return fmt.Errorf("an output schema cannot use %q, which the type needs at %q: use a struct without recursion and with string keys", keyword, where)
		}
		delete(schema, keyword)
	}
	return r.children(schema, where)
}

func (r restriction) children(schema map[string]any, where string) error {
	if members, ok := schema["properties"].(map[string]any); ok {
		for name, member := range members {
			if len(name) > r.rules.MaxKeyBytes {
				return fmt.Errorf("the property name %.40q... has %d bytes, more than the %d of an output schema: shorten it", name, len(name), r.rules.MaxKeyBytes)
			}
			child, err := r.child(member, where+"/properties/"+name)
			if err != nil {
				return err
			}
			members[name] = child
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := schema[keyword].([]any)
		for i, branch := range branches {
			child, err := r.child(branch, fmt.Sprintf("%s/%s/%d", where, keyword, i))
			if err != nil {
				return err
			}
			branches[i] = child
		}
	}
	if items, ok := schema["items"]; ok {
		child, err := r.child(items, where+"/items")
		if err != nil {
			return err
		}
		schema["items"] = child
	}
	if extra, ok := schema["additionalProperties"].(map[string]any); ok {
		return r.node(extra, where+"/additionalProperties")
	}
	return nil
}

// child returns a node as the object it has to be: the schema true, which accepts everything, is written {}.
func (r restriction) child(node any, where string) (map[string]any, error) {
	if node == true {
		node = map[string]any{}
	}
	schema, isObject := node.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("an output schema is made of objects, at %q there is %v: leave that member out of the type", where, node)
	}
	return schema, r.node(schema, where)
}
