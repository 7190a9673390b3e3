package diff

import (
	"fmt"
	"slices"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// tree is one wire of one spec at one API version, with descriptors for the validator.
type tree struct {
	side    Side
	wire    *model.Wire
	version string // "" for a wire without versions
	schema  *wirejson.Schema
	models  map[*model.Model]int
	types   map[*model.Type]int // wrapped as aliases
}

func newTree(side Side, wire *model.Wire, version string) *tree {
	t := &tree{
		side: side, wire: wire, version: version,
		schema: &wirejson.Schema{MaxDepth: wire.MaxDepth, EnvelopeError: wire.EnvelopeError, VersionError: wire.VersionError},
		models: map[*model.Model]int{},
		types:  map[*model.Type]int{},
	}
	for _, v := range wire.Violations {
		t.schema.ErrorNames = append(t.schema.ErrorNames, wirejson.ErrorName{Kind: wirejson.ViolationKind(v.Violation), Name: v.Error})
	}
	for i, m := range wire.Models {
		t.models[m] = i
	}
	for _, m := range wire.Models {
		t.schema.Models = append(t.schema.Models, t.describe(m))
	}
	return t
}

// has reports whether a row with these versions belongs to the tree. Rows of a wire without versions name
// none.
func (t *tree) has(versions []string) bool {
	return t.version == "" || slices.Contains(versions, t.version)
}

// fields returns the members of a record that the tree's version carries.
func (t *tree) fields(m *model.Model) []*model.Field {
	var list []*model.Field
	for _, f := range m.Fields {
		if len(f.Versions) == 0 || t.has(f.Versions) {
			list = append(list, f)
		}
	}
	return list
}

func (t *tree) field(m *model.Model, name string) *model.Field {
	for _, f := range t.fields(m) {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func (t *tree) describe(m *model.Model) wirejson.Model {
	d := wirejson.Model{Name: m.Name, Envelope: m.Envelope}
	switch m.Kind {
	case model.Record:
		d.Shape, d.Closed, d.Forbidden = wirejson.RecordShape, m.Closed, m.Forbidden
		d.ExactlyOne, d.AtMostOne = m.ExactlyOne, m.AtMostOne
		for _, f := range t.fields(m) {
			d.Fields = append(d.Fields, wirejson.Field{Name: f.Name, Required: f.Required, Nullable: f.Nullable, Type: t.describeType(f.Type)})
		}
	case model.Union:
		d.Shape, d.Tag = wirejson.UnionShape, m.Tag
		for _, v := range m.Variants {
			d.Variants = append(d.Variants, wirejson.Variant{Tag: v.TagValue, Model: t.models[v.Record], Deferred: v.Deferred})
		}
	case model.Choice:
		d.Shape, d.Word, d.Object = wirejson.ChoiceShape, t.models[m.Word], t.models[m.Object]
	case model.Enum:
		d.Shape, d.Open, d.Values = wirejson.EnumShape, m.Open, values(m)
	case model.Alias:
		d.Shape, d.Type = wirejson.AliasShape, t.describeType(m.Type)
	default:
		panic(fmt.Sprintf("diff: the validator has no shape for a model of kind %q", m.Kind))
	}
	return d
}

// values returns the listed values of an enumeration.
func values(m *model.Model) []string {
	list := make([]string, len(m.Values))
	for i, v := range m.Values {
		list[i] = v.Value
	}
	return list
}

var typeKinds = map[model.TypeKind]wirejson.TypeKind{
	model.String: wirejson.StringType, model.Boolean: wirejson.BooleanType, model.Integer: wirejson.IntegerType,
	model.Number: wirejson.NumberType, model.JSON: wirejson.JSONType, model.Object: wirejson.ObjectType, model.ID: wirejson.IDType,
	model.Array: wirejson.ArrayType, model.Map: wirejson.MapType, model.Const: wirejson.ConstType, model.Ref: wirejson.RefType,
}

var controlClasses = map[model.Controls]wirejson.Controls{
	model.AnyControls: wirejson.AnyControls, model.NoControls: wirejson.NoControls,
	model.TextControls: wirejson.TextControls, model.EditControls: wirejson.EditControls,
}

// describeType returns the descriptor of a type. A kind that it does not know would make every judgement
// worthless, so it panics.
func (t *tree) describeType(ty *model.Type) wirejson.Type {
	kind, ok := typeKinds[ty.Kind]
	controls, ok2 := controlClasses[ty.Controls]
	if !ok || !ok2 {
		panic(fmt.Sprintf("diff: the validator does not know a type of kind %q with control characters %q", ty.Kind, ty.Controls))
	}
	d := wirejson.Type{
		Kind: kind, MinBytes: ty.MinBytes, MaxBytes: describeBound(ty.MaxBytes), NotBlank: ty.NotBlank,
		Controls: controls, Const: ty.Const, MaxLimit: ty.MaximumLimit,
		MaxEncodedBytes: describeBound(ty.MaxEncodedBytes), MinItems: ty.MinItems, MaxItems: describeBound(ty.MaxItems),
		Unique: ty.Unique, UniqueBy: ty.UniqueBy,
	}
	if ty.Ref != nil {
		d.Ref = t.models[ty.Ref]
	}
	if pattern := ty.Pattern + ty.KeyPattern; pattern != "" {
		d.Pattern = &wirejson.Pattern{Source: pattern}
	}
	if ty.Minimum != nil {
		d.HasMin, d.Min = true, *ty.Minimum
	}
	if ty.Maximum != nil {
		d.HasMax, d.Max = true, *ty.Maximum
	}
	if ty.Elem != nil {
		elem := t.describeType(ty.Elem)
		d.Elem = &elem
	}
	return d
}

func describeBound(b *model.Bound) wirejson.Bound {
	if b == nil {
		return wirejson.Bound{}
	}
	return wirejson.Bound{Max: int(b.Value), Limit: b.Limit}
}

// indexOf returns the descriptor of a shape.
func (t *tree) indexOf(s spot) int {
	if s.mod != nil {
		return t.models[s.mod]
	}
	if i, ok := t.types[s.typ]; ok {
		return i
	}
	i := len(t.schema.Models)
	t.schema.Models = append(t.schema.Models, wirejson.Model{Name: s.subject, Shape: wirejson.AliasShape, Type: t.describeType(s.typ)})
	t.types[s.typ] = i
	return i
}

// refusals returns what the validator finds in a text, at most limit violations; the error is about text
// that is no strict JSON.
func (t *tree) refusals(s spot, text string, limit int) ([]*wirejson.Violation, error) {
	index := t.indexOf(s)
	doc, err := wirejson.Parse([]byte(text), t.schema.MaxDepth)
	if err != nil {
		return nil, err
	}
	defer doc.Release()
	var found []*wirejson.Violation
	t.schema.Each(doc.Root(), index, func(v *wirejson.Violation) bool {
		found = append(found, v)
		return len(found) < limit
	})
	return found, nil
}

// accepts reports whether a text is legal for a shape.
func (t *tree) accepts(s spot, text string) bool {
	found, err := t.refusals(s, text, 1)
	return err == nil && len(found) == 0
}
