package python

import (
	"fmt"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// hints spells type hints; prefix stands before the name of each model.
type hints struct{ prefix string }

// annotation returns the hint of a value that is present and not null, in the module of its own wire.
func annotation(t *model.Type) (string, error) { return hints{}.annotation(t) }

func (h hints) annotation(t *model.Type) (string, error) {
	switch t.Kind {
	case model.String:
		return "str", nil
	case model.Const:
		return "Literal[" + quoted(t.Const) + "]", nil
	case model.Boolean:
		return "bool", nil
	case model.Integer:
		return "int", nil
	case model.Number:
		return "float", nil
	case model.JSON:
		return "object", nil
	case model.Object:
		return "Mapping[str, object]", nil
	case model.ID:
		return "str | int", nil
	case model.Array:
		elem, err := h.annotation(t.Elem)
		return "Sequence[" + elem + "]", err
	case model.Map:
		elem, err := h.annotation(t.Elem)
		return "Mapping[str, " + elem + "]", err
	case model.Ref:
		return h.reference(t.Ref)
	}
	return "", fmt.Errorf("type kind %q is not known to this emitter", t.Kind)
}

func (h hints) reference(m *model.Model) (string, error) {
	switch m.Kind {
	case model.Enum:
		if m.Open {
			return "str", nil
		}
		return h.prefix + valueAlias(m), nil
	case model.Alias:
		return h.annotation(m.Type)
	case model.Choice:
		word, err := h.reference(m.Word)
		return word + " | " + h.prefix + m.Object.Name, err
	default:
		return h.prefix + m.Name, nil
	}
}

// valueAlias names the Literal type of a closed enumeration.
func valueAlias(m *model.Model) string { return m.Name + "Value" }

// call builds a constructor call from the arguments that differ from their defaults.
type call struct {
	name string
	args []string
}

func (c *call) add(format string, args ...any) { c.args = append(c.args, fmt.Sprintf(format, args...)) }

func (c *call) bound(name string, b *model.Bound) {
	if b == nil {
		return
	}
	if b.Limit != "" {
		c.add("%s=%s", name, constant(b.Limit))
	} else {
		c.add("%s=%d", name, b.Value)
	}
}

func (c *call) String() string { return c.name + "(" + strings.Join(c.args, ", ") + ")" }

// shape returns the expression that builds the shape of a type.
func shape(t *model.Type) (string, error) {
	c := &call{}
	switch t.Kind {
	case model.String:
		c.name = "_shapes.Text"
		text(c, t)
	case model.Const:
		c.name = "_shapes.Const"
		c.add("%s", quoted(t.Const))
	case model.Boolean:
		return "_shapes.BOOLEAN", nil
	case model.Integer:
		if t.Minimum == nil || t.Maximum == nil {
			return "", fmt.Errorf("an integer has no bounds; every integer needs both")
		}
		c.name = "_shapes.Integer"
		c.add("%d", *t.Minimum)
		c.add("%d", *t.Maximum)
	case model.Number:
		c.name = "_shapes.Real"
		optional(c, "minimum", t.Minimum)
		optional(c, "maximum", t.Maximum)
	case model.JSON, model.Object:
		return blob(t), nil
	case model.ID:
		return id(t), nil
	case model.Array:
		return array(t)
	case model.Map:
		elem, err := shape(t.Elem)
		if err != nil {
			return "", err
		}
		c.name = "_shapes.MapOf"
		c.add("%s", elem)
		if t.KeyPattern != "" {
			c.add("key_pattern=%s", quoted(t.KeyPattern))
		}
	case model.Ref:
		switch t.Ref.Kind {
		case model.Enum, model.Alias:
			return t.Ref.Name + ".SHAPE", nil
		case model.Choice:
			return eitherShape(t.Ref), nil
		}
		c.name = "_models.Ref"
		c.add("%s", t.Ref.Name)
	default:
		return "", fmt.Errorf("type kind %q is not known to this emitter", t.Kind)
	}
	return c.String(), nil
}

// eitherShape is the shape of a choice by JSON type.
func eitherShape(m *model.Model) string {
	return fmt.Sprintf("_models.EitherShape(%s.SHAPE, %s)", m.Word.Name, m.Object.Name)
}

func text(c *call, t *model.Type) {
	if t.MinBytes > 0 {
		c.add("min_bytes=%d", t.MinBytes)
	}
	c.bound("max_bytes", t.MaxBytes)
	if t.NotBlank {
		c.add("not_blank=True")
	}
	if t.Controls != model.AnyControls {
		c.add("controls=%s", quoted(string(t.Controls)))
	}
	if t.Pattern != "" {
		c.add("pattern=%s", quoted(t.Pattern))
	}
}

func optional(c *call, name string, value *int64) {
	if value != nil {
		c.add("%s=%d", name, *value)
	}
}

func blob(t *model.Type) string {
	object := t.Kind == model.Object
	if t.MaxEncodedBytes == nil {
		if object {
			return "_shapes.OBJECT"
		}
		return "_shapes.ANY"
	}
	c := &call{name: "_shapes.Blob"}
	if object {
		c.add("object_only=True")
	}
	c.bound("max_encoded_bytes", t.MaxEncodedBytes)
	return c.String()
}

func id(t *model.Type) string {
	c := &call{name: "_shapes.Id"}
	if t.MaxBytes == nil {
		c.add("max_bytes=None")
	}
	c.bound("max_bytes", t.MaxBytes)
	if t.Maximum == nil {
		c.add("maximum=None")
	}
	optional(c, "maximum", t.Maximum)
	return c.String()
}

func array(t *model.Type) (string, error) {
	elem, err := shape(t.Elem)
	if err != nil {
		return "", err
	}
	c := &call{name: "_shapes.List"}
	c.add("%s", elem)
	if t.MinItems > 0 {
		c.add("min_items=%d", t.MinItems)
	}
	c.bound("max_items", t.MaxItems)
	if t.Unique {
		c.add("unique=True")
	}
	if t.UniqueBy != "" {
		c.add("unique_by=%s", quoted(t.UniqueBy))
	}
	c.bound("max_encoded_bytes", t.MaxEncodedBytes)
	return c.String(), nil
}
