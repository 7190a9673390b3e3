package golang

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

// What finds a use of a package.
var (
	namesJSON    = regexp.MustCompile(`\bjson\.`)
	namesFmt     = regexp.MustCompile(`\bfmt\.`)
	namesSupport = regexp.MustCompile(`\bwirejson\.`)
)

func (p *pkg) codecFile(s *source) []string {
	s.p("// DecodeAny reads one value of the named model, for programs that choose models at run time.")
	s.p("func DecodeAny(model string, data []byte) (wirejson.Encoder, error) {")
	s.p("switch model {")
	for _, m := range p.wire.Models {
		s.p("case %q:", m.Name)
		if m.Kind == model.Alias {
			s.p("doc, err := schema.Check(data, model%s)", m.Name)
			s.p("if err != nil { return nil, err }")
			s.p("defer doc.Release()")
			s.p("return wirejson.Raw(doc.Root().Raw()), nil")
			continue
		}
		s.p("return erase(Decode%s(data))", m.Name)
	}
	s.p("}")
	s.p("return nil, wirejson.UnknownModelError(model)")
	s.p("}")
	s.p("")
	s.p("func erase[T wirejson.Encoder](x T, err error) (wirejson.Encoder, error) {")
	s.p("if err != nil { return nil, err }")
	s.p("return x, nil")
	s.p("}")
	s.p("")
	s.p("// ValidateModel checks data against the named model without decoding it.")
	s.p("func ValidateModel(model string, data []byte) error {")
	s.p("i, ok := schema.Find(model)")
	s.p("if !ok { return wirejson.UnknownModelError(model) }")
	s.p("doc, err := schema.Check(data, i)")
	s.p("if err != nil { return err }")
	s.p("doc.Release()")
	s.p("return nil")
	s.p("}")
	s.p("")
	s.p("// EachViolation reports every violation of the named model in data, in the order in which validation")
	s.p("// finds them, until report returns false. The error is about the text or the model's name.")
	s.p("func EachViolation(model string, data []byte, report func(*wirejson.Violation) bool) error {")
	s.p("i, ok := schema.Find(model)")
	s.p("if !ok { return wirejson.UnknownModelError(model) }")
	s.p("doc, err := wirejson.Parse(data, schema.MaxDepth)")
	s.p("if err != nil { return err }")
	s.p("defer doc.Release()")
	s.p("schema.Each(doc.Root(), i, report)")
	s.p("return nil")
	s.p("}")
	for _, m := range p.wire.Models {
		switch m.Kind {
		case model.Record:
			p.recordCodec(s, m)
		case model.Union:
			p.unionCodec(s, m)
		case model.Choice:
			p.choiceCodec(s, m)
		case model.Enum:
			p.enumCodec(s, m)
		}
	}
	imports := []string{"", supportPath}
	if len(p.mapElems()) > 0 {
		imports = append([]string{"maps", "slices"}, imports...)
	}
	if namesFmt.Match(s.buf.Bytes()) {
		imports = append([]string{"fmt"}, imports...)
	}
	if namesJSON.Match(s.buf.Bytes()) {
		imports = append([]string{"encoding/json"}, imports...)
	}
	return imports
}

// mapElems returns the map types in use.
func (p *pkg) mapElems() []*model.Type {
	var list []*model.Type
	var walk func(t *model.Type)
	walk = func(t *model.Type) {
		if t.Kind == model.Map {
			list = append(list, t)
		}
		if t.Elem != nil {
			walk(t.Elem)
		}
	}
	for _, m := range p.wire.Models {
		for _, f := range m.Fields {
			walk(f.Type)
		}
	}
	return list
}

func (p *pkg) decodeFuncs(s *source, m *model.Model, decode string) {
	s.p("")
	s.p("// Decode%s reads and validates one %s.", m.Name, m.Name)
	s.p("func Decode%s(data []byte) (x %s, err error) {", m.Name, m.Name)
	s.p("doc, err := schema.Check(data, model%s)", m.Name)
	s.p("if err != nil { return x, err }")
	s.p(decode, "doc.Root()")
	s.p("doc.Release()")
	s.p("return x, nil")
	s.p("}")
	s.p("")
	s.p("// Decode%sValue validates and copies one %s out of a document. Pointers start at v.", m.Name, m.Name)
	s.p("func Decode%sValue(v wirejson.Value) (x %s, err error) {", m.Name, m.Name)
	s.p("if bad := schema.Validate(v, model%s); bad != nil { return x, bad }", m.Name)
	s.p(decode, "v")
	s.p("return x, nil")
	s.p("}")
}

func (p *pkg) encodeFuncs(s *source, m *model.Model) {
	s.p("")
	s.p("// AppendJSON appends the canonical spelling without checking it.")
	s.p("func (x %s) AppendJSON(dst []byte) []byte {", m.Name)
	s.p("w := schema.NewWriter(dst)")
	s.p("x.encode(w)")
	s.p("return w.Bytes()")
	s.p("}")
	s.p("")
	s.p("// MarshalJSON returns the canonical spelling after checking it.")
	s.p("func (x %s) MarshalJSON() ([]byte, error) {", m.Name)
	s.p("w := schema.NewWriter(make([]byte, 0, 256))")
	s.p("x.encode(w)")
	s.p("return schema.Encode(w, model%s)", m.Name)
	s.p("}")
	s.p("")
	s.p("// Validate returns the first violation, or nil.")
	s.p("func (x %s) Validate() error {", m.Name)
	s.p("_, err := x.MarshalJSON()")
	s.p("return err")
	s.p("}")
}

func (p *pkg) recordCodec(s *source, m *model.Model) {
	p.decodeFuncs(s, m, "x.decode(%s)")
	s.p("")
	s.p("// UnmarshalJSON is Decode%s in place.", m.Name)
	s.p("func (x *%s) UnmarshalJSON(data []byte) error {", m.Name)
	s.p("decoded, err := Decode%s(data)", m.Name)
	s.p("if err != nil { return err }")
	s.p("*x = decoded")
	s.p("return nil")
	s.p("}")
	p.encodeFuncs(s, m)
	p.formatFunc(s, m)
	p.recordDecode(s, m)
	p.recordEncode(s, m)
}

// formatFunc keeps a record with a secret out of logs: it prints as its name under every verb.
func (p *pkg) formatFunc(s *source, m *model.Model) {
	secret := func(f *model.Field) bool { return f.Secret }
	if !slices.ContainsFunc(m.Fields, secret) {
		return
	}
	s.p("")
	s.p("// Format writes the name of the model alone, under every verb: it holds a secret.")
	s.p("func (%s) Format(f fmt.State, _ rune) { fmt.Fprint(f, %q) }", m.Name, m.Name+"{hidden}")
}

func (p *pkg) recordDecode(s *source, m *model.Model) {
	s.p("")
	visible := slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return shapeOf(f) != hidden })
	if !visible && m.Closed {
		s.p("func (x *%s) decode(wirejson.Value) {}", m.Name)
		return
	}
	s.p("func (x *%s) decode(v wirejson.Value) {", m.Name)
	s.p("for c := v.Members(); c.Next(); {")
	s.p("switch string(c.Key()) {")
	for _, f := range m.Fields {
		switch shapeOf(f) {
		case hidden:
			if !m.Closed {
				s.p("case %q:", f.Name)
			}
		case direct:
			s.p("case %q:", f.Name)
			p.decodeInto(s, f.Type, "x."+goName(f.Name)+" = %s", "c.Value()", 0)
		case option:
			s.p("case %q:", f.Name)
			t := p.goType(f.Type)
			store := "x." + goName(f.Name) + " = wirejson.Some(%s)"
			if p.inline(m, f) {
				t = "*" + t
				store = "x." + goName(f.Name) + " = wirejson.Some(&%s)"
			}
			s.p("if item := c.Value(); item.IsNull() {")
			s.p("x.%s = wirejson.Null[%s]()", goName(f.Name), t)
			s.p("} else {")
			p.decodeInto(s, f.Type, store, "item", 0)
			s.p("}")
		}
	}
	if !m.Closed {
		s.p("default:")
		s.p("x.Unknown = append(x.Unknown, c.Member())")
	}
	s.p("}")
	s.p("}")
	if !m.Closed {
		s.p("wirejson.SortMembers(x.Unknown)")
	}
	s.p("}")
}

// decodeInto writes the statements that read value into the statement store, whose verb takes an
// expression.
func (p *pkg) decodeInto(s *source, t *model.Type, store, value string, depth int) {
	letter := string(rune('a' + depth))
	switch t.Kind {
	case model.Boolean:
		s.p(store, value+".Bool()")
	case model.Integer:
		s.p(store, value+".Int()")
	case model.Number:
		s.p(store, value+".Number()")
	case model.JSON, model.Object:
		s.p(store, value+".Raw()")
	case model.ID:
		s.p(store, value+".ID()")
	case model.Array:
		list, cursor := "list"+letter, "e"+letter
		s.p("%s := make(%s, 0, %s.Len())", list, p.goType(t), value)
		s.p("for %s := %s.Elements(); %s.Next(); {", cursor, value, cursor)
		p.decodeInto(s, t.Elem, list+" = append("+list+", %s)", cursor+".Value()", depth+1)
		s.p("}")
		s.p(store, list)
	case model.Map:
		table, cursor := "table"+letter, "m"+letter
		s.p("%s := make(%s, %s.Len())", table, p.goType(t), value)
		s.p("for %s := %s.Members(); %s.Next(); {", cursor, value, cursor)
		// The name is copied in a statement of its own: Key and Value may use the same scratch space.
		s.p("name%s := string(%s.Key())", letter, cursor)
		p.decodeInto(s, t.Elem, table+"[name"+letter+"] = %s", cursor+".Value()", depth+1)
		s.p("}")
		s.p(store, table)
	case model.Ref:
		p.decodeRef(s, t.Ref, store, value, letter)
	default:
		s.p(store, value+".Text()")
	}
}

func (p *pkg) decodeRef(s *source, m *model.Model, store, value, letter string) {
	switch m.Kind {
	case model.Record:
		s.p("var r%s %s", letter, m.Name)
		s.p("r%s.decode(%s)", letter, value)
		s.p(store, "r"+letter)
	case model.Union, model.Choice:
		s.p(store, "decode"+m.Name+"("+value+")")
	case model.Enum:
		s.p(store, m.Name+"("+value+".Text())")
	case model.Alias:
		p.decodeInto(s, m.Type, store, value, int(letter[0]-'a')+1)
	}
}

func (p *pkg) recordEncode(s *source, m *model.Model) {
	fields := slices.Clone(m.Fields)
	slices.SortFunc(fields, func(a, b *model.Field) int { return cmp.Compare(a.Name, b.Name) })
	extra := "x.Unknown"
	if m.Closed {
		extra = "nil"
	}
	s.p("")
	s.p("func (x %s) encode(w *wirejson.Writer) {", m.Name)
	s.p("outer := w.OpenObject(%s)", extra)
	severalMaps := hasSeveralMaps(fields)
	for _, f := range fields {
		name := goName(f.Name)
		switch shapeOf(f) {
		case hidden:
			s.p("w.Key(%q)", f.Name)
			s.p("w.String(%q)", f.Type.Const)
		case direct:
			s.p("w.Key(%q)", f.Name)
			p.encodeScoped(s, f.Type, "x."+name, severalMaps)
		case option:
			value := "value"
			if p.inline(m, f) {
				value = "(*value)"
			}
			s.p("if value, ok := x.%s.Get(); ok {", name)
			s.p("w.Key(%q)", f.Name)
			p.encodeValue(s, f.Type, value, 0)
			if f.Required {
				s.p("} else {")
			} else {
				s.p("} else if x.%s.IsNull() {", name)
			}
			s.p("w.Key(%q)", f.Name)
			s.p("w.Null()")
			s.p("}")
		}
	}
	s.p("w.CloseObject(outer)")
	s.p("}")
}

func hasSeveralMaps(fields []*model.Field) bool {
	maps := 0
	for _, f := range fields {
		if f.Type.Kind == model.Map && shapeOf(f) == direct {
			maps++
		}
	}
	return maps > 1
}

// encodeScoped encodes a value, a map in a block of its own where its variable would meet that of another.
func (p *pkg) encodeScoped(s *source, t *model.Type, value string, severalMaps bool) {
	block := severalMaps && t.Kind == model.Map
	if block {
		s.p("{")
	}
	p.encodeValue(s, t, value, 0)
	if block {
		s.p("}")
	}
}

func (p *pkg) encodeValue(s *source, t *model.Type, value string, depth int) {
	letter := string(rune('a' + depth))
	switch t.Kind {
	case model.Boolean:
		s.p("w.Bool(%s)", value)
	case model.Integer:
		s.p("w.Int(%s)", value)
	case model.Number:
		s.p("w.Number(%s)", value)
	case model.JSON, model.Object:
		s.p("w.Raw(%s)", value)
	case model.ID:
		s.p("w.ID(%s)", value)
	case model.Array:
		s.p("w.OpenArray()")
		s.p("for i%s, e%s := range %s {", letter, letter, value)
		s.p("w.Element(i%s)", letter)
		p.encodeValue(s, t.Elem, "e"+letter, depth+1)
		s.p("}")
		s.p("w.CloseArray()")
	case model.Map:
		s.p("outer%s := w.OpenObject(nil)", letter)
		s.p("for _, k%s := range slices.Sorted(maps.Keys(%s)) {", letter, value)
		s.p("w.Key(k%s)", letter)
		p.encodeValue(s, t.Elem, value+"[k"+letter+"]", depth+1)
		s.p("}")
		s.p("w.CloseObject(outer%s)", letter)
	case model.Ref:
		p.encodeRef(s, t.Ref, value, depth)
	default:
		s.p("w.String(%s)", value)
	}
}

func (p *pkg) encodeRef(s *source, m *model.Model, value string, depth int) {
	switch m.Kind {
	case model.Record:
		s.p("%s.encode(w)", value)
	case model.Union, model.Choice:
		s.p("encode%s(%s, w)", m.Name, value)
	case model.Enum:
		s.p("w.String(string(%s))", value)
	case model.Alias:
		p.encodeValue(s, m.Type, value, depth)
	}
}

func (p *pkg) unionCodec(s *source, m *model.Model) {
	p.decodeFuncs(s, m, "x = decode"+m.Name+"(%s)")
	s.p("")
	s.p("func decode%s(v wirejson.Value) %s {", m.Name, m.Name)
	s.p("tag := v.Member(%q)", m.Tag)
	s.p("switch {")
	for _, arm := range m.Variants {
		if arm.Deferred {
			continue
		}
		s.p("case tag.TextEquals(%q):", arm.TagValue)
		s.p("var x %s", arm.Record.Name)
		s.p("x.decode(v)")
		s.p("return x")
	}
	s.p("}")
	s.p("return nil")
	s.p("}")
	p.encodeInterface(s, m)
}

// choiceCodec writes the functions of a model whose JSON type selects the arm.
func (p *pkg) choiceCodec(s *source, m *model.Model) {
	p.decodeFuncs(s, m, "x = decode"+m.Name+"(%s)")
	s.p("")
	s.p("func decode%s(v wirejson.Value) %s {", m.Name, m.Name)
	s.p("if v.Kind() == wirejson.KindString { return %s(v.Text()) }", m.Word.Name)
	s.p("var x %s", m.Object.Name)
	s.p("x.decode(v)")
	s.p("return x")
	s.p("}")
	p.encodeInterface(s, m)
}

func (p *pkg) encodeInterface(s *source, m *model.Model) {
	s.p("")
	s.p("// encode%s writes null for a missing variant, which no model accepts.", m.Name)
	s.p("func encode%s(x %s, w *wirejson.Writer) {", m.Name, m.Name)
	s.p("if x == nil {")
	s.p("w.Null()")
	s.p("return")
	s.p("}")
	s.p("x.encode(w)")
	s.p("}")
}

func (p *pkg) enumCodec(s *source, m *model.Model) {
	p.decodeFuncs(s, m, "x = "+m.Name+"(%s.Text())")
	s.p("")
	s.p("func (x %s) encode(w *wirejson.Writer) { w.String(string(x)) }", m.Name)
	p.encodeFuncs(s, m)
}
