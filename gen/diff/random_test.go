package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/gen/model"
)

// This file draws small random specs, changes them, and draws random legal values of their shapes.

// fieldNames are the members that records list; strangers are those they never list.
var (
	fieldNames = []string{"a", "b", "c", "d"}
	strangers  = []string{"y", "z"}
)

var patternPool = []string{"", "^[a-c]+$", "^[a-c]*$", "^[ab]{2}$", "^(?:a|b|cc)$", "^[a-z][a-z0-9_]*$", "^[ -~]*$", "^a$", "^[^a]*$", "^[a-c]{1,3}$"}

// draw is where randomness comes from; pool holds the models that types may refer to.
type draw struct {
	t    *rapid.T
	pool []*model.Model
	next int
}

func (d *draw) n(limit int) int { return rapid.IntRange(0, limit-1).Draw(d.t, "n") }

func (d *draw) yes(percent int) bool { return d.n(100) < percent }

func (d *draw) bound(limit int) *model.Bound {
	if d.yes(40) {
		return nil
	}
	return &model.Bound{Value: int64(1 + d.n(limit))}
}

func (d *draw) name(prefix string) string {
	d.next++
	return prefix + strconv.Itoa(d.next)
}

// spec draws a document wire whose root is the first model.
func (d *draw) spec() *model.Spec {
	kinds := []model.ModelKind{model.Record, model.Record, model.Enum, model.Union, model.Choice, model.Alias}
	d.pool = nil
	for range kinds[:2+d.n(len(kinds)-1)] {
		d.pool = append(d.pool, &model.Model{Name: d.name("M"), File: "m.json"})
	}
	w := &model.Wire{Name: "w", MaxDepth: 64, Files: model.Files{Models: model.Part{"m.json"}}}
	d.pool[0].Name = "Root"
	models := slices.Clone(d.pool)
	for i, m := range models {
		m.Kind = kinds[i]
		w.Models = append(w.Models, m)
		w.Models = append(w.Models, d.fill(m)...)
	}
	for i, m := range w.Models {
		m.Pointer = fmt.Sprintf("/$defs/%d", i)
	}
	return &model.Spec{Wires: []*model.Wire{w}}
}

// fill draws what a model of some kind is; it returns models that belong to it alone.
func (d *draw) fill(m *model.Model) []*model.Model {
	switch m.Kind {
	case model.Record:
		d.record(m)
	case model.Enum:
		d.enum(m)
	case model.Alias:
		m.Type = d.text()
	case model.Union:
		m.Tag = "kind"
		var own []*model.Model
		for _, tag := range []string{"p", "q"}[:1+d.n(2)] {
			r := &model.Model{Name: d.name("V"), Kind: model.Record}
			d.record(r)
			r.Fields = append(r.Fields, &model.Field{Name: "kind", Required: true, Type: &model.Type{Kind: model.Const, Const: tag}})
			m.Variants = append(m.Variants, &model.Variant{TagValue: tag, Record: r, Deferred: d.yes(15)})
			own = append(own, r)
		}
		return own
	case model.Choice:
		m.Word, m.Object = &model.Model{Name: d.name("W"), Kind: model.Enum}, &model.Model{Name: d.name("O"), Kind: model.Record}
		d.enum(m.Word)
		d.record(m.Object)
		return []*model.Model{m.Word, m.Object}
	}
	return nil
}

func (d *draw) enum(m *model.Model) {
	m.Values, m.Open = nil, d.yes(30)
	for _, v := range []string{"a", "b", "cc"}[:1+d.n(3)] {
		m.Values = append(m.Values, model.EnumValue{Value: v})
	}
}

func (d *draw) record(m *model.Model) {
	m.Closed = d.yes(50)
	m.Fields, m.Forbidden, m.ExactlyOne, m.AtMostOne = nil, nil, nil, nil
	for _, name := range fieldNames[:d.n(len(fieldNames)+1)] {
		m.Fields = append(m.Fields, d.field(name))
	}
	d.rules(m)
}

func (d *draw) field(name string) *model.Field {
	return &model.Field{Name: name, Required: d.yes(40), Nullable: d.yes(25), Type: d.typ(0)}
}

// rules draws what a record says about several members.
func (d *draw) rules(m *model.Model) {
	m.Forbidden, m.ExactlyOne, m.AtMostOne = nil, nil, nil
	if !m.Closed && d.yes(30) {
		for _, name := range append([]string{"x"}, fieldNames...) {
			if len(m.Forbidden) < 1 && !slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Name == name }) {
				m.Forbidden = []string{name}
			}
		}
	}
	var free []string
	for _, f := range m.Fields {
		if !f.Required || f.Nullable {
			free = append(free, f.Name)
		}
	}
	if len(free) >= 2 && d.yes(30) {
		m.ExactlyOne = free[:2]
	}
	if len(free) >= 2 && d.yes(30) {
		m.AtMostOne = free[len(free)-2:]
	}
}

func (d *draw) text() *model.Type {
	t := &model.Type{Kind: model.String, MinBytes: d.n(3), Pattern: patternPool[d.n(len(patternPool))], NotBlank: d.yes(15)}
	if b := d.bound(6); b != nil && b.Value >= int64(t.MinBytes) {
		t.MaxBytes = b
	}
	t.Controls = []model.Controls{model.AnyControls, model.AnyControls, model.NoControls, model.TextControls, model.EditControls}[d.n(5)]
	return t
}

func (d *draw) typ(depth int) *model.Type {
	kinds := []model.TypeKind{model.String, model.String, model.Ref, model.Ref, model.Integer, model.Number, model.Boolean, model.JSON, model.Object, model.ID, model.Const, model.Array, model.Map}
	if depth > 1 {
		kinds = kinds[:len(kinds)-2]
	}
	t := &model.Type{Kind: kinds[d.n(len(kinds))]}
	switch t.Kind {
	case model.String:
		return d.text()
	case model.Ref:
		t.Ref = d.pool[d.n(len(d.pool))]
	case model.Integer:
		low := int64(d.n(6) - 2)
		high := low + int64(d.n(5))
		t.Minimum, t.Maximum = &low, &high
	case model.Number:
		low := int64(d.n(4) - 2)
		high := low + int64(d.n(4))
		if d.yes(60) {
			t.Minimum = &low
		}
		if d.yes(60) {
			t.Maximum = &high
		}
	case model.JSON, model.Object:
		if b := d.bound(12); b != nil && b.Value > 4 {
			t.MaxEncodedBytes = b
		}
	case model.ID:
		zero, most := int64(0), int64(2+d.n(3))
		t.Minimum, t.Maximum, t.MaxBytes = &zero, &most, &model.Bound{Value: int64(1 + d.n(3))}
	case model.Const:
		t.Const = []string{"a", "b", "cc"}[d.n(3)]
	case model.Array:
		d.array(t, depth)
	case model.Map:
		t.Elem, t.KeyPattern = d.typ(depth+1), patternPool[d.n(len(patternPool))]
	}
	return t
}

func (d *draw) array(t *model.Type, depth int) {
	t.Elem, t.MinItems = d.typ(depth+1), d.n(3)
	if b := d.bound(4); b != nil && b.Value >= int64(t.MinItems) {
		t.MaxItems = b
	}
	switch d.n(4) {
	case 0:
		t.Unique = true
	case 1:
		t.UniqueBy = fieldNames[d.n(2)]
	}
	if d.yes(15) {
		t.MaxEncodedBytes = &model.Bound{Value: int64(4 + d.n(20))}
	}
}

// change edits a spec in one place.
func (d *draw) change(s *model.Spec) {
	models := s.Wires[0].Models
	d.pool = nil
	for _, m := range models {
		if strings.HasPrefix(m.Name, "M") || m.Name == "Root" {
			d.pool = append(d.pool, m)
		}
	}
	m := models[d.n(len(models))]
	switch m.Kind {
	case model.Enum:
		d.enum(m)
	case model.Alias:
		m.Type = d.text()
	case model.Union:
		m.Variants[d.n(len(m.Variants))].Deferred = d.yes(50)
		if len(m.Variants) > 1 && d.yes(30) {
			m.Variants = m.Variants[:1]
		}
	case model.Record:
		d.changeRecord(m)
	}
}

func (d *draw) changeRecord(m *model.Model) {
	tag := slices.IndexFunc(m.Fields, func(f *model.Field) bool { return f.Name == "kind" })
	free := m.Fields
	if tag >= 0 {
		free = free[:tag]
	}
	switch d.n(6) {
	case 0:
		m.Closed = !m.Closed
	case 1:
		unused := slices.IndexFunc(fieldNames, func(name string) bool {
			return !slices.ContainsFunc(free, func(f *model.Field) bool { return f.Name == name })
		})
		if unused >= 0 {
			m.Fields = append([]*model.Field{d.field(fieldNames[unused])}, m.Fields...)
		}
	case 2:
		if len(free) > 0 {
			m.Fields = m.Fields[1:]
		}
	case 3, 4:
		if len(free) > 0 {
			f := free[d.n(len(free))]
			f.Type = d.typ(0)
		}
	default:
		if len(free) > 0 {
			f := free[d.n(len(free))]
			f.Required, f.Nullable = d.yes(50), d.yes(50)
		}
	}
	d.rules(m)
	if m.Closed {
		m.Forbidden = nil
	}
}

// copySpec returns a deep copy.
func copySpec(s *model.Spec) *model.Spec {
	w := *s.Wires[0]
	twins := map[*model.Model]*model.Model{}
	for _, m := range w.Models {
		twin := *m
		twins[m] = &twin
	}
	var typ func(t *model.Type) *model.Type
	typ = func(t *model.Type) *model.Type {
		if t == nil {
			return nil
		}
		twin := *t
		twin.Elem, twin.Ref = typ(t.Elem), twins[t.Ref]
		return &twin
	}
	models := make([]*model.Model, len(w.Models))
	for i, m := range w.Models {
		twin := twins[m]
		twin.Type, twin.Word, twin.Object = typ(m.Type), twins[m.Word], twins[m.Object]
		twin.Fields, twin.Variants, twin.Values = nil, nil, slices.Clone(m.Values)
		for _, f := range m.Fields {
			field := *f
			field.Type = typ(f.Type)
			twin.Fields = append(twin.Fields, &field)
		}
		for _, v := range m.Variants {
			variant := *v
			variant.Record = twins[v.Record]
			twin.Variants = append(twin.Variants, &variant)
		}
		models[i] = twin
	}
	w.Models = models
	return &model.Spec{Wires: []*model.Wire{&w}}
}
