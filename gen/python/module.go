package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

func distinct(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("two things of the wire are both called %s; rename one in the spec", name)
		}
		seen[name] = true
	}
	return nil
}

// sourceFolder is the folder below spec/ that holds the files of a wire.
func sourceFolder(wire *model.Wire) string {
	folder, _, _ := strings.Cut(wire.Files.Models[0], "/")
	return folder
}

func limits(w *writer, wire *model.Wire) ([]string, error) {
	var names []string
	for _, limit := range wire.Limits {
		name := constant(limit.Name)
		w.line("%s: Final = %d", name, limit.Value)
		w.doc("", fmt.Sprintf("%s Unit: %s.", limit.Doc, limit.Unit))
		names = append(names, name)
	}
	return names, nil
}

// bases writes the classes that tell the models of this wire which error reports which violation.
func bases(w *writer, wire *model.Wire) ([]string, error) {
	w.blank(1)
	w.line("_ERRORS: Final[Mapping[str, str]] = {")
	for _, v := range wire.Violations {
		w.line("    %s: %s,", quoted(string(v.Violation)), quoted(v.Error))
	}
	w.line("}")
	for _, base := range []struct{ name, parent string }{{"_Model", "_models.Model"}, {"_Scalar", "_models.Scalar"}, {"_Either", "_models.Either"}} {
		w.blank(2)
		w.line("class %s(%s):", base.name, base.parent)
		w.line("    __slots__ = ()")
		w.line("    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = _ERRORS")
		w.line("    MAX_DEPTH: ClassVar[int] = %d", wire.MaxDepth)
	}
	if wire.EnvelopeError != "" {
		w.blank(2)
		w.line("class _Envelope(_Model):")
		w.line("    __slots__ = ()")
		w.line("    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = dict.fromkeys(_ERRORS, %s)", quoted(wire.EnvelopeError))
		if wire.VersionError != "" {
			w.line("    VERSION_ERROR: ClassVar[str] = %s", quoted(wire.VersionError))
		}
	}
	return nil, nil
}

func scalars(w *writer, wire *model.Wire) ([]string, error) {
	var names []string
	for _, m := range wire.Models {
		if m.Kind != model.Enum && m.Kind != model.Alias {
			continue
		}
		w.blank(2)
		w.line("class %s(_Scalar):", m.Name)
		modelDoc(w, m)
		w.blank(1)
		w.line("    __slots__ = ()")
		names = append(names, m.Name)
		if m.Kind == model.Alias {
			expression, err := shape(m.Type)
			if err != nil {
				return nil, fmt.Errorf("model %s: %w", m.Name, err)
			}
			w.line("    SHAPE: ClassVar[_shapes.Shape] = %s", expression)
			continue
		}
		if err := enum(w, m); err != nil {
			return nil, err
		}
		if !m.Open {
			names = append(names, valueAlias(m))
		}
	}
	return names, nil
}

func enum(w *writer, m *model.Model) error {
	values := make([]string, len(m.Values))
	members := make([]string, len(m.Values))
	for i, v := range m.Values {
		values[i], members[i] = quoted(v.Value), constant(v.Value)
		w.line("    %s: Final = %s", members[i], values[i])
		w.doc("    ", v.Doc)
	}
	if err := distinct(members); err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	c := &call{name: "_shapes.Choice"}
	c.add("(%s,)", strings.Join(values, ", "))
	if m.Open {
		c.add("keep_unknown=True")
	}
	w.line("    SHAPE: ClassVar[_shapes.Shape] = %s", c)
	if !m.Open {
		w.blank(2)
		w.line("%s: TypeAlias = Literal[%s]", valueAlias(m), strings.Join(values, ", "))
	}
	return nil
}

func modelDoc(w *writer, m *model.Model) {
	source := ""
	if m.Source != "" {
		source = "Source: " + m.Source + ". API " + strings.Join(m.Versions, ", ") + "."
	}
	w.doc("    ", m.Doc, source)
}

// classes writes the unions, then the records, each record below the unions it is a variant of.
func classes(w *writer, wire *model.Wire) ([]string, error) {
	var names []string
	parents := map[*model.Model][]string{}
	for _, m := range wire.Models {
		if m.Kind != model.Union {
			continue
		}
		w.blank(2)
		w.line("class %s(_Model):", m.Name)
		modelDoc(w, m)
		w.blank(1)
		w.line("    __slots__ = ()")
		names = append(names, m.Name)
		for _, v := range m.Variants {
			parents[v.Record] = append(parents[v.Record], m.Name)
		}
	}
	for _, m := range wire.Models {
		if m.Kind == model.Choice {
			w.blank(2)
			w.line("class %s(_Either):", m.Name)
			modelDoc(w, m)
			w.blank(1)
			w.line("    __slots__ = ()")
			names = append(names, m.Name)
		}
		if m.Kind != model.Record {
			continue
		}
		if err := record(w, m, parents[m]); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		names = append(names, m.Name)
	}
	return names, nil
}

// record writes a class with the surface of a dataclass. Its constructor is spelled out: the machinery that
// would write it at import takes most of the time of a start.
func record(w *writer, m *model.Model, parents []string) error {
	base := "_Model"
	switch {
	case len(parents) > 0:
		base = strings.Join(parents, ", ")
	case m.Envelope:
		base = "_Envelope"
	}
	w.blank(2)
	w.line("class %s(%s):", m.Name, base)
	modelDoc(w, m)
	w.blank(1)
	var attributes, parameters []string
	for _, f := range m.Fields {
		attributes = append(attributes, attribute(f.Name))
	}
	slots := attributes
	if !m.Closed {
		slots = append(slices.Clone(attributes), "unknown_members")
	}
	w.line("    __slots__ = %s", tuple(slots))
	for _, f := range m.Fields {
		name := attribute(f.Name)
		hint, err := annotation(f.Type)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		stated, preset := declared(f, hint)
		w.line("    %s: %s", name, stated)
		w.doc("    ", f.Doc)
		parameters = append(parameters, name+": "+stated+preset)
	}
	if !m.Closed {
		w.line("    unknown_members: Mapping[str, object]")
		w.doc("    ", "Members outside the list, kept and written back.")
		parameters = append(parameters, "unknown_members: Mapping[str, object] = _models.NOTHING")
	}
	constructor(w, slots, parameters)
	return distinct(attributes)
}

func constructor(w *writer, attributes, parameters []string) {
	if len(attributes) == 0 {
		return
	}
	w.blank(1)
	w.line("    def __init__(")
	w.line("        self,")
	w.line("        *,")
	for _, parameter := range parameters {
		w.line("        %s,", parameter)
	}
	w.line("    ) -> None:")
	for _, name := range attributes {
		w.line("        self.%s = %s", name, name)
	}
}

// declared returns the hint of an attribute with the states it may be in, and the default of its
// parameter. The hint "object" has room for every state already.
func declared(f *model.Field, hint string) (stated, preset string) {
	if hint != "object" {
		if !f.Required {
			hint += " | Absent"
		}
		if f.Nullable {
			hint += " | None"
		}
	}
	switch {
	case !f.Required:
		return hint, " = ABSENT"
	case f.Type.Kind == model.Const:
		return hint, " = " + quoted(f.Type.Const)
	}
	return hint, ""
}

func shapes(w *writer, wire *model.Wire) ([]string, error) {
	w.blank(2)
	for _, m := range wire.Models {
		switch m.Kind {
		case model.Record:
			if err := recordShape(w, m); err != nil {
				return nil, fmt.Errorf("model %s: %w", m.Name, err)
			}
		case model.Union:
			w.line("%s.SHAPE = _models.UnionShape(", m.Name)
			w.line("    %s,", quoted(m.Tag))
			w.line("    (")
			for _, v := range m.Variants {
				deferred := ""
				if v.Deferred {
					deferred = ", deferred=True"
				}
				w.line("        _models.Variant(%s, %s%s),", quoted(v.TagValue), v.Record.Name, deferred)
			}
			w.line("    ),")
			w.line(")")
		case model.Choice:
			w.line("%s.SHAPE = %s", m.Name, eitherShape(m))
		}
	}
	return nil, nil
}

func recordShape(w *writer, m *model.Model) error {
	w.line("%s.SHAPE = _models.RecordShape(", m.Name)
	w.line("    %s,", m.Name)
	w.line("    (")
	for _, f := range m.Fields {
		expression, err := shape(f.Type)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		c := &call{name: "_models.Field"}
		c.add("%s", quoted(f.Name))
		c.add("%s", quoted(attribute(f.Name)))
		c.add("%s", expression)
		if f.Required {
			c.add("required=True")
		}
		if f.Nullable {
			c.add("nullable=True")
		}
		w.line("        %s,", c)
	}
	w.line("    ),")
	if m.Closed {
		w.line("    closed=True,")
	}
	if len(m.Forbidden) > 0 {
		w.line("    forbidden=%s,", tuple(m.Forbidden))
	}
	if len(m.ExactlyOne) > 0 {
		w.line("    exactly_one=%s,", tuple(m.ExactlyOne))
	}
	if len(m.AtMostOne) > 0 {
		w.line("    at_most_one=%s,", tuple(m.AtMostOne))
	}
	w.line(")")
	return nil
}

func index(w *writer, wire *model.Wire) ([]string, error) {
	w.blank(1)
	w.line("MODELS: Final[Mapping[str, type[_models.Decoded]]] = {")
	for _, m := range wire.Models {
		w.line("    %s: %s,", quoted(m.Name), m.Name)
	}
	w.line("}")
	w.doc("", "Every model of the wire by its name.")
	return nil, nil
}
