// Package quickschema accepts most values that fit their JSON Schema without building a tree of them, which is what a
// lone call waits for.
package quickschema

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/wirejson"
)

// Schema says yes only to a value that the schema certainly accepts. Every other value, and every schema with a keyword
// that it does not know, is left to a full validator, which alone refuses and explains.
type Schema struct {
	kind    wirejson.Kind // KindInvalid: any value
	integer bool

	members  map[string]member
	required int
	extra    *Schema // judges unlisted members; nil if there may be none

	items              *Schema
	minItems, maxItems int

	minimum, maximum     *int64
	minLength, maxLength int
	enum                 []string
}

type member struct {
	schema   *Schema
	required bool
}

const unbounded = int(^uint(0) >> 1)

// anything is the schema true.
var anything = &Schema{}

// New reads a schema as a tree whose numbers are of the type json.Number. It returns nil for one with a keyword that it
// does not know.
func New(schema any) *Schema {
	q := &Schema{extra: anything, items: anything, maxItems: unbounded, maxLength: unbounded}
	keywords, isObject := schema.(map[string]any)
	if schema == true {
		return anything
	}
	if !isObject {
		return nil
	}
	for keyword, value := range keywords {
		if !q.keyword(keyword, value) {
			return nil
		}
	}
	if !q.require(keywords["required"]) || !q.consistent() {
		return nil
	}
	return q
}

func (q *Schema) keyword(keyword string, value any) (known bool) {
	switch keyword {
	case "title", "description", "default", "examples", "required":
		return true
	case "type":
		return q.setType(value)
	case "properties":
		return q.setMembers(value)
	case "additionalProperties":
		q.extra = New(value)
		return q.extra != nil || value == false
	case "items":
		q.items = New(value)
		return q.items != nil
	case "minItems":
		return setCount(&q.minItems, value)
	case "maxItems":
		return setCount(&q.maxItems, value)
	case "minLength":
		return setCount(&q.minLength, value)
	case "maxLength":
		return setCount(&q.maxLength, value)
	case "minimum":
		return setBound(&q.minimum, value)
	case "maximum":
		return setBound(&q.maximum, value)
	case "enum":
		return q.setEnum(value)
	default:
		return false
	}
}

func (q *Schema) setType(value any) bool {
	switch value {
	case "object":
		q.kind = wirejson.KindObject
	case "array":
		q.kind = wirejson.KindArray
	case "string":
		q.kind = wirejson.KindString
	case "boolean":
		q.kind = wirejson.KindBool
	case "number":
		q.kind = wirejson.KindNumber
	case "integer":
		q.kind, q.integer = wirejson.KindNumber, true
	default:
		return false
	}
	return true
}

func (q *Schema) setMembers(value any) bool {
	schemas, isObject := value.(map[string]any)
	q.members = make(map[string]member, len(schemas))
	for name, schema := range schemas {
		inner := New(schema)
		if inner == nil {
			return false
		}
		q.members[name] = member{schema: inner}
	}
	return isObject
}

func (q *Schema) require(value any) bool {
	names, _ := value.([]any)
	for _, name := range names {
		text, _ := name.(string)
		listed, ok := q.members[text]
		if !ok {
			return false
		}
		listed.required = true
		q.members[text] = listed
	}
	q.required = len(names)
	return true
}

func (q *Schema) setEnum(value any) bool {
	values, _ := value.([]any)
	for _, value := range values {
		text, isString := value.(string)
		if !isString {
			return false
		}
		q.enum = append(q.enum, text)
	}
	return len(q.enum) > 0
}

// consistent reports whether each bound stands beside the type it bounds: elsewhere it has no effect, which
// New does not model.
func (q *Schema) consistent() bool {
	if (q.minimum != nil || q.maximum != nil) && !q.integer {
		return false
	}
	return q.enum == nil || q.kind == wirejson.KindString
}

func setCount(into *int, value any) bool {
	number, _ := value.(json.Number)
	count, err := strconv.Atoi(number.String())
	*into = count
	return err == nil
}

func setBound(into **int64, value any) bool {
	number, _ := value.(json.Number)
	bound, err := number.Int64()
	*into = &bound
	return err == nil
}

// Accepts reports whether v certainly fits. A nil Schema accepts nothing.
func (q *Schema) Accepts(v wirejson.Value) bool {
	if q == nil || q == anything {
		return q != nil
	}
	if q.kind != wirejson.KindInvalid && q.kind != v.Kind() {
		return false
	}
	switch v.Kind() {
	case wirejson.KindObject:
		return q.acceptsMembers(v)
	case wirejson.KindArray:
		return q.acceptsElements(v)
	case wirejson.KindString:
		return q.acceptsText(v)
	case wirejson.KindNumber:
		return q.acceptsNumber(v)
	default:
		return true
	}
}

func (q *Schema) acceptsMembers(v wirejson.Value) bool {
	found := 0
	for walk := v.Members(); walk.Next(); {
		listed, ok := q.members[string(walk.Key())]
		switch {
		case ok && !listed.schema.Accepts(walk.Value()):
			return false
		case ok && listed.required:
			found++
		case !ok && (q.extra == nil || !q.extra.Accepts(walk.Value())):
			return false
		}
	}
	return found == q.required
}

func (q *Schema) acceptsElements(v wirejson.Value) bool {
	count := 0
	for walk := v.Elements(); walk.Next(); count++ {
		if !q.items.Accepts(walk.Value()) {
			return false
		}
	}
	return count >= q.minItems && count <= q.maxItems
}

func (q *Schema) acceptsText(v wirejson.Value) bool {
	if q.enum != nil && !slices.ContainsFunc(q.enum, v.TextEquals) {
		return false
	}
	if q.minLength == 0 && q.maxLength == unbounded {
		return true
	}
	length := utf8.RuneCountInString(v.Text())
	return length >= q.minLength && length <= q.maxLength
}

func (q *Schema) acceptsNumber(v wirejson.Value) bool {
	if !q.integer {
		return true
	}
	number, err := strconv.ParseInt(string(v.Source()), 10, 64)
	return err == nil && (q.minimum == nil || number >= *q.minimum) && (q.maximum == nil || number <= *q.maximum)
}
