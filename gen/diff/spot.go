package diff

import (
	"strconv"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// spot is a shape in one tree: a record, union, choice or enumeration (mod), or a type that is no
// reference (typ).
type spot struct {
	tree    *tree
	mod     *model.Model
	typ     *model.Type
	place   Place
	subject string
}

// spotOf returns the spot of a model. References and aliases are followed, so that the place is where the
// shape itself is written.
func (t *tree) spotOf(m *model.Model) spot {
	s := spot{tree: t, mod: m, place: Place{t.side, m.File, m.Pointer}, subject: m.Name}
	if m.Kind == model.Alias {
		return s.within(m.Type, "", "")
	}
	return s
}

// within returns the spot of a type that is written inside s.
func (s spot) within(ty *model.Type, pointer, subject string) spot {
	if ty.Kind == model.Ref {
		return s.tree.spotOf(ty.Ref)
	}
	place := s.place
	place.Pointer += pointer
	return spot{tree: s.tree, typ: ty, place: place, subject: s.subject + subject}
}

// field returns the spot of a member's value.
func (s spot) field(f *model.Field) spot {
	return s.within(f.Type, "/properties/"+wirejson.EscapePointer(f.Name), "."+f.Name)
}

// memberPlace returns where a member is written.
func (s spot) memberPlace(name string) Place {
	place := s.place
	place.Pointer += "/properties/" + wirejson.EscapePointer(name)
	return place
}

// elem returns the spot of an array's elements or a map's values, the zero spot for anything else.
func (s spot) elem() spot {
	switch {
	case s.isType(model.Map):
		return s.within(s.typ.Elem, "/additionalProperties", "{}")
	case s.isType(model.Array):
		return s.within(s.typ.Elem, "/items", "[]")
	default:
		return spot{}
	}
}

// item returns the place of element i of a list inside s.
func (s spot) item(keyword string, i int) Place {
	place := s.place
	place.Pointer += "/" + keyword + "/" + strconv.Itoa(i)
	return place
}

func (s spot) is(kind model.ModelKind) bool { return s.mod != nil && s.mod.Kind == kind }

func (s spot) isType(kind model.TypeKind) bool { return s.typ != nil && s.typ.Kind == kind }

// key identifies the shape.
func (s spot) key() any {
	if s.mod != nil {
		return s.mod
	}
	return s.typ
}

// words names the kind of shape.
func (s spot) words() string {
	switch {
	case s.mod != nil && s.mod.Kind == model.Record:
		return "a record"
	case s.mod != nil && s.mod.Kind == model.Union:
		return "a union by " + strconv.Quote(s.mod.Tag)
	case s.mod != nil && s.mod.Kind == model.Choice:
		return "a string or an object"
	case s.mod != nil:
		return "an enumeration"
	}
	switch s.typ.Kind {
	case model.Integer:
		return "an integer"
	case model.Array:
		return "an array"
	case model.Object:
		return "any object"
	case model.JSON:
		return "any JSON value"
	case model.ID:
		return "an id"
	case model.Const:
		return "the constant " + strconv.Quote(s.typ.Const)
	default:
		return "a " + string(s.typ.Kind)
	}
}

// way is which spec writes.
type way int

const (
	forward  way = iota // OLD writes, NEW reads
	backward            // NEW writes, OLD reads
)

var ways = [...]way{forward, backward}

func (w way) direction() Direction {
	if w == forward {
		return Read
	}
	return Write
}

func (w way) writer() Side {
	if w == forward {
		return Old
	}
	return New
}

// pair is the same place in both trees.
type pair struct{ old, new spot }

// sides returns writer and reader.
func (p pair) sides(w way) (from, to spot) {
	if w == forward {
		return p.old, p.new
	}
	return p.new, p.old
}

func (p pair) key() [2]any { return [2]any{p.old.key(), p.new.key()} }
