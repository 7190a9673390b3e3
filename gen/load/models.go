package load

import (
	"path"
	"slices"
	"strings"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

func (w *wireLoader) loadModels(roots []node) {
	var defs []member
	for _, root := range roots {
		defs = append(defs, root.get("$defs").members()...)
	}
	for _, def := range defs {
		m := &model.Model{
			Name:     def.name,
			Doc:      described(def.node),
			Source:   def.text("x-source"),
			File:     def.file,
			Pointer:  def.pointer,
			Versions: w.versions(def.node, "x-versions"),
			Envelope: def.flag("x-envelope"),
			Inferred: def.flag("x-inferred"),
		}
		if twin := w.models[m.Name]; twin != nil {
			w.addf(def.node, "%s holds a model %s too; keep one", twin.File, m.Name)
		}
		w.models[m.Name] = m
		w.wire.Models = append(w.wire.Models, m)
	}
	// Records go first: a union looks at the fields of its variants.
	var unions []member
	for _, def := range defs {
		if def.has("oneOf") {
			unions = append(unions, def)
			continue
		}
		w.loadModel(def)
	}
	for _, def := range unions {
		w.loadUnion(def)
	}
	w.checkCycles()
}

func (w *wireLoader) loadModel(def member) {
	m := w.models[def.name]
	switch {
	case def.has("properties"):
		w.loadRecord(def, m)
	case def.has("enum"):
		m.Kind = model.Enum
		m.Open = def.flag("x-open")
		docs := def.get("x-enum-docs")
		for _, value := range def.texts("enum") {
			m.Values = append(m.Values, model.EnumValue{Value: value, Doc: docs.text(value)})
		}
		for _, doc := range docs.members() {
			if !slices.Contains(def.texts("enum"), doc.name) {
				w.addf(doc.node, "describes %q, which is no value of %s; correct or remove it", doc.name, m.Name)
			}
		}
	default:
		m.Kind = model.Alias
		m.Type = w.loadType(def.node)
	}
}

func (w *wireLoader) loadRecord(def member, m *model.Model) {
	m.Kind = model.Record
	m.Closed = def.has("additionalProperties")
	m.Forbidden = def.texts("x-forbidden")
	m.ExactlyOne, m.AtMostOne = def.texts("x-exactly-one"), def.texts("x-at-most-one")
	required := def.texts("required")
	for _, property := range def.get("properties").members() {
		f := &model.Field{
			Name:     property.name,
			Doc:      described(property.node),
			Type:     w.loadType(property.node),
			Required: slices.Contains(required, property.name),
			Nullable: property.flag("x-nullable"),
			Secret:   property.flag("x-secret"),
			Inferred: property.flag("x-inferred"),
		}
		if property.has("x-versions") {
			f.Versions = w.versions(property.node, "x-versions")
			if v, bad := lacking(f.Versions, m.Versions); bad {
				w.addf(property.get("x-versions"), "%s does not exist in version %q; leave the version out", m.Name, v)
			}
		}
		m.Fields = append(m.Fields, f)
	}
	properties := def.get("properties")
	for _, n := range def.get("required").items() {
		if !properties.has(n.value.Text()) {
			w.addf(n, "%s requires %q, which is no property; add the property or drop the name", m.Name, n.value.Text())
		}
	}
	for _, n := range def.get("x-forbidden").items() {
		if properties.has(n.value.Text()) {
			w.addf(n, "%s forbids %q, which is a property; drop one of them", m.Name, n.value.Text())
		}
	}
	for _, keyword := range []string{"x-exactly-one", "x-at-most-one"} {
		for _, n := range def.get(keyword).items() {
			name := n.value.Text()
			i := slices.IndexFunc(m.Fields, func(f *model.Field) bool { return f.Name == name })
			if i < 0 || m.Fields[i].Required && !m.Fields[i].Nullable {
				w.addf(n, "%q is no member of %s that may be left out or null; correct the name or make it optional", name, m.Name)
			}
		}
	}
	if m.Closed && len(m.Forbidden) > 0 {
		w.addf(def.get("x-forbidden"), "%s is closed, so every unlisted member is refused anyway; drop x-forbidden", m.Name)
	}
}

func (w *wireLoader) loadUnion(def member) {
	m := w.models[def.name]
	if def.flag("x-by-type") {
		w.loadChoice(def, m)
		return
	}
	m.Kind = model.Union
	m.Tag = def.text("x-tag")
	for _, arm := range def.get("oneOf").items() {
		ref := arm.get("$ref")
		record := w.resolve(ref)
		if record == nil {
			continue
		}
		if record.Kind != model.Record {
			w.addf(ref, "the variant %s is no record; name a record whose member %q is a constant", record.Name, m.Tag)
			continue
		}
		i := slices.IndexFunc(record.Fields, func(f *model.Field) bool { return f.Name == m.Tag })
		if i < 0 || record.Fields[i].Type.Kind != model.Const || !record.Fields[i].Required {
			w.addf(ref, `the variant %s has no required member %q with a "const"; add it`, record.Name, m.Tag)
			continue
		}
		value := record.Fields[i].Type.Const
		if slices.ContainsFunc(m.Variants, func(v *model.Variant) bool { return v.TagValue == value }) {
			w.addf(ref, "the tag value %q selects two variants of %s; make them differ", value, m.Name)
		}
		if v, bad := lacking(m.Versions, record.Versions); bad {
			w.addf(ref, "the variant %s does not exist in version %q of %s; align x-versions", record.Name, v, m.Name)
		}
		m.Variants = append(m.Variants, &model.Variant{
			TagValue: value,
			Record:   record,
			Deferred: w.source.read(record.File).get("$defs").get(record.Name).text("x-status") == deferredStatus,
		})
	}
}

// loadChoice reads a union whose arm follows from the JSON type: one enumeration and one record.
func (w *wireLoader) loadChoice(def member, m *model.Model) {
	m.Kind = model.Choice
	for _, arm := range def.get("oneOf").items() {
		ref := arm.get("$ref")
		switch target := w.resolve(ref); {
		case target == nil:
		case target.Kind == model.Enum && m.Word == nil:
			m.Word = target
		case target.Kind == model.Record && m.Object == nil:
			m.Object = target
		default:
			w.addf(ref, "%s has one arm for strings, an enumeration, and one for objects, a record; %s is neither or comes too often", m.Name, target.Name)
		}
	}
	if m.Word == nil || m.Object == nil {
		w.addf(def.get("oneOf"), "%s needs an enumeration and a record; name one of each", m.Name)
	}
}

// inferredMark is what documents say behind a description that no source backs.
const inferredMark = " (Inferred.)"

// described returns the description of a shape, marked where it is a reading of the sources.
func described(n node) string {
	if n.flag("x-inferred") {
		return n.text("description") + inferredMark
	}
	return n.text("description")
}

// resolve returns the model that a reference names, or nil after reporting that there is none. A reference
// into another file names it as seen from its own.
func (w *wireLoader) resolve(ref node) *model.Model {
	target := ref.value.Text()
	file, name, _ := strings.Cut(target, definitions)
	if file == "" {
		file = ref.file
	} else {
		file = path.Join(path.Dir(ref.file), file)
	}
	if m := w.models[name]; m != nil && m.File == file {
		return m
	}
	w.addf(ref, "refers to %q, which does not exist; add the model or correct the name", target)
	return nil
}

// loadType returns the shape of a property, an element or an alias. Where a fault is reported the result
// is some legal shape.
func (w *wireLoader) loadType(n node) *model.Type {
	switch {
	case n.has("$ref"):
		if m := w.resolve(n.get("$ref")); m != nil {
			w.only(n, "a reference")
			return &model.Type{Kind: model.Ref, Ref: m}
		}
	case n.has("const"):
		w.only(n, "a constant", "const")
		return &model.Type{Kind: model.Const, Const: n.text("const")}
	case n.text("x-type") == "id":
		w.only(n, "an id", "x-type", "x-max-bytes")
		return w.idType(n)
	case n.has("x-type"):
		w.only(n, "opaque JSON", "x-type", "x-max-encoded-bytes", "x-secret")
		return &model.Type{Kind: model.JSON, MaxEncodedBytes: w.bound(n, "x-max-encoded-bytes")}
	}
	switch kind := n.text("type"); kind {
	case "boolean":
		w.only(n, "a boolean", "type")
		return &model.Type{Kind: model.Boolean}
	case "integer":
		w.only(n, "an integer", "type", "minimum", "maximum", "x-maximum", "x-signed")
		return w.integerType(n)
	case "number":
		w.only(n, "a number", "type", "minimum", "maximum")
		return &model.Type{Kind: model.Number, Minimum: integer(n, "minimum"), Maximum: integer(n, "maximum")}
	case "array":
		w.only(n, "an array", "type", "items", "minItems", "x-max-items", "x-unique", "x-unique-by", "x-max-encoded-bytes")
		return w.arrayType(n)
	case "object":
		return w.objectType(n)
	default:
		w.only(n, "a string", "type", "x-min-bytes", "x-max-bytes", "x-not-blank", "x-controls", "x-secret", "pattern")
		return w.stringType(n)
	}
}

// general holds the keywords that every type may carry.
var general = []string{"description", "x-source", "x-versions", "x-nullable", "x-inferred", "$ref"}

// only reports keywords that say nothing about this kind of type.
func (w *wireLoader) only(n node, what string, legal ...string) {
	for _, m := range n.members() {
		if !slices.Contains(general, m.name) && !slices.Contains(legal, m.name) {
			w.addf(m.node, "%q means nothing on %s; remove it", m.name, what)
		}
	}
}

func integer(n node, name string) *int64 {
	v := n.get(name)
	if !v.exists() {
		return nil
	}
	i := v.value.Int()
	return &i
}

// bound returns the maximum that a keyword gives as a number or as the name of a limit; nil where the
// keyword is absent.
func (w *wireLoader) bound(n node, name string) *model.Bound {
	v := n.get(name)
	switch {
	case !v.exists():
		return nil
	case v.isText():
		limit := w.limits[v.value.Text()]
		if limit == nil {
			w.addf(v, "%q is no limit of %s; add the row or correct the name", v.value.Text(), w.wire.Name)
			return nil
		}
		return w.positive(v, &model.Bound{Value: limit.Value, Limit: limit.Name})
	default:
		return w.positive(v, &model.Bound{Value: v.value.Int()})
	}
}

func (w *wireLoader) positive(n node, b *model.Bound) *model.Bound {
	if b.Value < 1 {
		w.addf(n, "a maximum of %d allows nothing; use at least 1", b.Value)
	}
	return b
}

func (w *wireLoader) largest() *model.Bound {
	if l := w.limits[integerLimit]; l != nil {
		return &model.Bound{Value: l.Value, Limit: l.Name}
	}
	return &model.Bound{Value: defaultInteger}
}

func (w *wireLoader) idType(n node) *model.Type {
	t := &model.Type{Kind: model.ID, MaxBytes: w.bound(n, "x-max-bytes"), Minimum: new(int64)}
	for _, name := range idLimits {
		if l := w.limits[name]; l != nil && t.MaxBytes == nil {
			t.MaxBytes = &model.Bound{Value: l.Value, Limit: l.Name}
		}
	}
	if t.MaxBytes == nil {
		w.addf(n, "an id needs a bound; give it x-max-bytes, or the wire a limit %s", strings.Join(idLimits, " or "))
		t.MaxBytes = &model.Bound{Value: 1}
	}
	most := w.largest()
	t.Maximum, t.MaximumLimit = &most.Value, most.Limit
	return t
}

func (w *wireLoader) integerType(n node) *model.Type {
	most := w.largest()
	if b := w.bound(n, "x-maximum"); b != nil {
		most = b
	} else if i := integer(n, "maximum"); i != nil {
		most = &model.Bound{Value: *i}
	}
	least := integer(n, "minimum")
	if least == nil {
		least = new(int64)
		if n.flag("x-signed") {
			*least = -w.largest().Value
		}
	}
	if *least > most.Value {
		w.addf(n, "the minimum %d lies above the maximum %d; correct one", *least, most.Value)
	}
	return &model.Type{Kind: model.Integer, Minimum: least, Maximum: &most.Value, MaximumLimit: most.Limit}
}

func (w *wireLoader) stringType(n node) *model.Type {
	t := &model.Type{
		Kind:     model.String,
		MaxBytes: w.bound(n, "x-max-bytes"),
		NotBlank: n.flag("x-not-blank"),
		Controls: model.Controls(n.text("x-controls")),
		Pattern:  w.pattern(n.get("pattern")),
	}
	if least := integer(n, "x-min-bytes"); least != nil {
		t.MinBytes = int(*least)
	}
	if t.MaxBytes != nil && int64(t.MinBytes) > t.MaxBytes.Value {
		w.addf(n, "the minimum %d lies above the maximum %d; correct one", t.MinBytes, t.MaxBytes.Value)
	}
	return t
}

func (w *wireLoader) pattern(n node) string {
	if !n.exists() {
		return ""
	}
	pattern := normalPattern(n.value.Text())
	if problem := portablePattern(pattern); problem != "" {
		w.addf(n, "%s", problem)
		return ""
	}
	return pattern
}

func (w *wireLoader) arrayType(n node) *model.Type {
	items := n.get("items")
	t := &model.Type{
		Kind:     model.Array,
		MaxItems: w.bound(n, "x-max-items"),
		Unique:   n.flag("x-unique"),
		UniqueBy: n.text("x-unique-by"),

		MaxEncodedBytes: w.bound(n, "x-max-encoded-bytes"),
	}
	if !items.exists() {
		w.addf(n, `an array without "items"; say what its elements are`)
		t.Elem = &model.Type{Kind: model.JSON}
		return t
	}
	t.Elem = w.elementType(items)
	if least := integer(n, "minItems"); least != nil {
		t.MinItems = int(*least)
	}
	if t.MaxItems != nil && int64(t.MinItems) > t.MaxItems.Value {
		w.addf(n, "the minimum %d lies above the maximum %d; correct one", t.MinItems, t.MaxItems.Value)
	}
	if t.Unique && t.UniqueBy != "" {
		w.addf(n, "x-unique and x-unique-by exclude each other; keep one")
	}
	return t
}

func (w *wireLoader) elementType(n node) *model.Type {
	if n.flag("x-nullable") {
		w.addf(n.get("x-nullable"), "elements are never null; remove x-nullable")
	}
	if n.flag("x-secret") {
		w.addf(n.get("x-secret"), "only a member of a record is a secret; remove x-secret")
	}
	return w.loadType(n)
}

func (w *wireLoader) objectType(n node) *model.Type {
	if !n.has("additionalProperties") {
		w.only(n, "an opaque object", "type", "x-max-encoded-bytes")
		return &model.Type{Kind: model.Object, MaxEncodedBytes: w.bound(n, "x-max-encoded-bytes")}
	}
	w.only(n, "a map", "type", "additionalProperties", "x-key-pattern")
	elem := n.get("additionalProperties")
	if elem.value.Kind() != wirejson.KindObject {
		w.addf(elem, "a map needs the type of its values; give a schema")
		return &model.Type{Kind: model.Object}
	}
	return &model.Type{Kind: model.Map, Elem: w.elementType(elem), KeyPattern: w.pattern(n.get("x-key-pattern"))}
}
