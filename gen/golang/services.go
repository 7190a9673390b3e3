package golang

import (
	"fmt"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

// The members of a message that its tie fills: what the parent classes of the dialect speak of.
const (
	parentMember  = "parent_request_id"
	ownerMember   = "resource_owner"
	bindingMember = "binding_id"
)

// eventsNoun is the noun of the notifications that a host sends.
const eventsNoun = "events"

// mostArguments is up to how many members a service takes as arguments, where all are required.
const mostArguments = 3

// services emits the package of what the author of an extension calls, hears and is asked on one wire.
type services struct {
	wire  *model.Wire
	errs  *located.List
	names *scope
	owner *model.Model // of the owner member; nil where no message has one
	bound bool         // a message carries the binding of a bus
}

// service is one method that an extension sends.
type service struct {
	*model.Method
	index int // in the method table
}

func newServices(wire *model.Wire, errs *located.List) *services {
	s := &services{wire: wire, errs: errs}
	s.names = newScope(errs, "package "+s.pkgName())
	s.names.reserve("Services", "New", "Link", "Tie", "Invoke", "MethodOf", "Events", "Event", "NewEvents", "Hooks", "Hook", "NewHooks")
	for _, m := range s.sent() {
		for _, shape := range m.Shapes {
			if shape.Params == nil {
				continue
			}
			if f := member(shape.Params, ownerMember); f != nil && f.Type.Kind == model.Ref {
				s.owner = f.Type.Ref
			}
			s.bound = s.bound || member(shape.Params, bindingMember) != nil
		}
	}
	return s
}

func (s *services) pkgName() string { return strings.TrimSuffix(s.wire.Module.Go, "wire") + "service" }

// sent returns the services in the order of the method table.
func (s *services) sent() []service {
	var list []service
	for i, m := range s.wire.Methods {
		if m.Direction == model.ExtensionToHost && m.Service != (model.Service{}) && len(m.Shapes) > 0 && m.Shapes[0].Params != nil {
			list = append(list, service{m, i})
		}
	}
	return list
}

func (s *services) events() []service {
	var list []service
	for i, m := range s.wire.Methods {
		if m.Direction == model.HostToExtension && m.Service.Noun == eventsNoun {
			list = append(list, service{m, i})
		}
	}
	return list
}

func member(m *model.Model, name string) *model.Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// files returns nothing for a wire without services, events and hooks.
func (s *services) files() ([]emit.File, error) {
	var made []emit.File
	for _, part := range []struct {
		name string
		from model.Part
		rows int
		make func(*source) []string
	}{
		{"services.go", s.wire.Files.Methods, len(s.sent()), s.servicesFile},
		{"invoke.go", s.wire.Files.Methods, len(s.sent()), s.invokeFile},
		{"events.go", s.wire.Files.Methods, len(s.events()), s.eventsFile},
		{"hooks.go", s.wire.Files.Hooks, len(s.wire.Hooks), s.hooksFile},
	} {
		if part.rows == 0 {
			continue
		}
		text := new(source)
		imports := part.make(text)
		f, err := text.file(path.Join(root, s.pkgName(), part.name), specFiles(part.from), s.pkgName(), imports...)
		if err != nil {
			return nil, err
		}
		if len(made) == 0 {
			f.Data = moveDoc(f.Data, s.packageDoc())
		}
		made = append(made, f)
	}
	return made, nil
}

func (s *services) packageDoc() string {
	doc := new(source)
	doc.doc("", "Package "+s.pkgName()+" is what an extension calls, hears and is asked. Wire: "+strings.TrimSuffix(s.wire.Title, ".")+".",
		"Each noun is a type whose methods are the services of that noun. They check what they send before they send it, and what "+
			"comes back: the error is a *wirejson.Violation for arguments that break their model, and else what the Link returns.")
	return doc.buf.String()
}

func (s *services) wirePath() string { return module + "/" + root + "/" + s.wire.Module.Go }

func (s *services) servicesFile(t *source) []string {
	s.linkTypes(t)
	nouns := s.nouns()
	t.p("// Services are the services of one scope, by noun.")
	t.p("type Services struct{ link Link }")
	t.p("")
	t.p("// New returns the services that a link carries out.")
	t.p("func New(link Link) Services { return Services{link} }")
	for _, noun := range nouns {
		list := s.of(noun)
		at := list[0].At.Under("/x-service/noun")
		name := s.names.declare(goName(noun), "noun "+strconv.Quote(noun), at)
		t.p("")
		t.p("// %s are the services of that noun.", name)
		t.p("type %s struct{ link Link }", name)
		t.p("")
		t.p("// %[1]s returns the services of that noun.", name)
		t.p("func (s Services) %[1]s() %[1]s { return %[1]s(s) }", name)
		verbs := newScope(s.errs, "type "+name)
		for _, m := range list {
			at := m.At.Under("/x-service/verb")
			s.method(t, name, verbs.declare(goName(m.Service.Verb), "verb "+strconv.Quote(m.Service.Verb), at), m)
		}
	}
	imports := []string{"context"}
	if namesJSON.Match(t.buf.Bytes()) {
		imports = append(imports, "encoding/json")
	}
	return append(imports, "", s.wirePath(), supportPath)
}

func (s *services) nouns() []string {
	var nouns []string
	for _, m := range s.sent() {
		if !slices.Contains(nouns, m.Service.Noun) {
			nouns = append(nouns, m.Service.Noun)
		}
	}
	return nouns
}

func (s *services) of(noun string) []service {
	return slices.DeleteFunc(s.sent(), func(m service) bool { return m.Service.Noun != noun })
}

// linkTypes writes what stands between the services and the SDK.
func (s *services) linkTypes(t *source) {
	t.p("// Tie is what binds a message to the request or the owner that it belongs to.")
	t.p("type Tie struct {")
	t.p("// Version is the API version in force.")
	t.p("Version string")
	t.p("// Parent is the id of the request, absent for none.")
	t.p("Parent wirejson.Opt[int64]")
	if s.owner != nil {
		t.p("// Owner is the owner, absent for none.")
		t.p("Owner wirejson.Opt[%s.%s]", s.wire.Module.Go, s.owner.Name)
	}
	if s.bound {
		t.p("// Binding is the binding in force, for a message that carries one.")
		t.p("Binding string")
	}
	t.p("}")
	t.p("")
	t.p("// Link carries out what services ask for: an SDK has one for each scope.")
	t.p("type Link interface {")
	t.p("// Tie returns what binds a message of the method, or why none can be sent. Owned says that the message")
	t.p("// cannot go without an owner.")
	t.p("Tie(method *wirejson.Method, owned bool) (Tie, error)")
	t.p("// Ask sends a request and gives its result to accept, whose error says how the result breaks its model.")
	t.p("Ask(ctx context.Context, method *wirejson.Method, params []byte, accept func(result []byte) error) error")
	t.p("// Tell sends a notification.")
	t.p("Tell(ctx context.Context, method *wirejson.Method, params []byte) error")
	t.p("}")
	t.p("")
	t.p("// ask sends a request whose result is decoded.")
	t.p("func ask[R any](ctx context.Context, link Link, m *wirejson.Method, params wirejson.Encoder, decode func([]byte) (R, error)) (result R, err error) {")
	t.p("if err := params.Validate(); err != nil { return result, err }")
	t.p("err = link.Ask(ctx, m, params.AppendJSON(nil), func(raw []byte) (err error) {")
	t.p("result, err = decode(raw)")
	t.p("return err")
	t.p("})")
	t.p("return result, err")
	t.p("}")
	t.p("")
	t.p("// tell sends a notification.")
	t.p("func tell(ctx context.Context, link Link, m *wirejson.Method, params wirejson.Encoder) error {")
	t.p("if err := params.Validate(); err != nil { return err }")
	t.p("return link.Tell(ctx, m, params.AppendJSON(nil))")
	t.p("}")
	t.p("")
}

// arguments returns the members of params that a caller gives, and whether each is an argument of its own.
func (s *services) arguments(params *model.Model) (fields []*model.Field, single bool) {
	for _, f := range params.Fields {
		if f.Name != parentMember && f.Name != ownerMember && f.Name != bindingMember && shapeOf(f) != hidden {
			fields = append(fields, f)
		}
	}
	single = len(fields) <= mostArguments && !slices.ContainsFunc(fields, func(f *model.Field) bool { return shapeOf(f) != direct })
	return fields, single
}

// method writes one service.
func (s *services) method(t *source, noun, verb string, m service) {
	wire := s.wire.Module.Go
	params := m.Shapes[0].Params
	fields, single := s.arguments(params)
	signature, build := "", wire+"."+params.Name+"{}"
	if single {
		var values []string
		for _, f := range fields {
			name := argumentName(f.Name)
			signature += ", " + name + " " + s.qualified(f.Type)
			values = append(values, goName(f.Name)+": "+name)
		}
		build = wire + "." + params.Name + "{" + strings.Join(values, ", ") + "}"
	} else {
		signature = ", params " + wire + "." + params.Name
	}
	result, decode := s.result(m)
	returns := "error"
	failure := "return err"
	if result != "" {
		returns = "(" + result + ", error)"
		failure = "var none " + result + "; return none, err"
	}
	t.p("")
	t.doc("", verb+": "+m.Doc, s.serviceNote(m, single), m.sourceNote(s.wire))
	t.p("func (s %s) %s(ctx context.Context%s) %s {", noun, verb, signature, returns)
	t.p("m := &%s.Methods[%d]", wire, m.index)
	owned := s.ownsAlways(params)
	parent, owner := m.fills(params)
	tied := parent != nil || owner != nil || member(params, bindingMember) != nil || len(m.Shapes) > 1
	if tied {
		t.p("tie, err := s.link.Tie(m, %t)", owned)
	} else {
		t.p("_, err := s.link.Tie(m, %t)", owned)
	}
	t.p("if err != nil { %s }", failure)
	if single {
		t.p("params := %s", build)
	}
	s.fill(t, m, params)
	for _, shape := range m.Shapes[1:] {
		s.otherShape(t, m, params, shape)
	}
	switch {
	case m.Notification:
		t.p("return tell(ctx, s.link, m, params)")
	case result == "":
		t.p("_, err = ask(ctx, s.link, m, params, %s)", decode)
		t.p("return err")
	default:
		t.p("return ask(ctx, s.link, m, params, %s)", decode)
	}
	t.p("}")
}

// fill writes the statements that put the tie into the params.
func (s *services) fill(t *source, m service, params *model.Model) {
	parent, owner := m.fills(params)
	if f := parent; f != nil {
		if f.Type.Kind != model.Integer {
			s.errs.Addf(params.File, params.Pointer+"/properties/"+parentMember, "a parent is an integer, this is a %s; make it one", f.Type.Kind)
		}
		s.assign(t, f, "Parent")
	}
	if owner != nil {
		s.assign(t, owner, "Owner")
	}
	if f := member(params, bindingMember); f != nil {
		t.p("params.%s = tie.Binding", goName(f.Name))
	}
}

// fills returns the members of the params that the tie fills.
func (m service) fills(params *model.Model) (parent, owner *model.Field) {
	if m.Parent != model.ParentNone && m.Parent != model.ParentOwner {
		parent = member(params, parentMember)
	}
	if m.Parent != model.ParentNone {
		owner = member(params, ownerMember)
	}
	return parent, owner
}

func (s *services) assign(t *source, f *model.Field, part string) {
	if shapeOf(f) == option {
		t.p("params.%s = tie.%s", goName(f.Name), part)
		return
	}
	t.p("params.%s, _ = tie.%s.Get()", goName(f.Name), part)
}

// ownsAlways reports whether a message cannot go without an owner.
func (s *services) ownsAlways(params *model.Model) bool {
	f := member(params, ownerMember)
	return f != nil && f.Required && !f.Nullable
}

// otherShape writes the sending in the versions whose params have another model: the members both have are
// carried over.
func (s *services) otherShape(t *source, m service, general *model.Model, shape model.MethodShape) {
	wire := s.wire.Module.Go
	if !sameResult(shape, m.Shapes[0]) {
		s.errs.Addf(m.At.File, m.At.Pointer, "the result of a service differs between versions; give it one model")
	}
	if shape.Params == nil || shape.Params == general {
		return
	}
	var values []string
	for _, f := range shape.Params.Fields {
		twin := member(general, f.Name)
		if twin == nil || shapeOf(twin) != shapeOf(f) || s.qualified(twin.Type) != s.qualified(f.Type) {
			s.errs.Addf(shape.Params.File, shape.Params.Pointer+"/properties/"+f.Name, "this member differs from that of %s, which an SDK takes for every version; make them agree", general.Name)
			continue
		}
		if shapeOf(f) != hidden {
			values = append(values, goName(f.Name)+": params."+goName(f.Name))
		}
	}
	if !shape.Params.Closed && !general.Closed {
		values = append(values, "Unknown: params.Unknown")
	}
	var versions []string
	for _, v := range shape.Versions {
		versions = append(versions, wire+".Version"+goName(v))
	}
	t.p("switch tie.Version {")
	t.p("case %s:", strings.Join(versions, ", "))
	old := wire + "." + shape.Params.Name + "{" + strings.Join(values, ", ") + "}"
	result, decode := s.result(m)
	switch {
	case m.Notification:
		t.p("return tell(ctx, s.link, m, %s)", old)
	case result == "":
		t.p("_, err = ask(ctx, s.link, m, %s, %s)", old, decode)
		t.p("return err")
	default:
		t.p("return ask(ctx, s.link, m, %s, %s)", old, decode)
	}
	t.p("}")
}

func sameResult(a, b model.MethodShape) bool {
	if a.Result == nil || b.Result == nil {
		return a.Result == b.Result
	}
	return a.Result.Kind == b.Result.Kind && a.Result.Ref == b.Result.Ref && a.Nullable == b.Nullable
}

// result returns the Go type of a result, empty where it carries nothing, and the function that reads it.
func (s *services) result(m service) (goType, decode string) {
	wire := s.wire.Module.Go
	r := m.Shapes[0].Result
	if r == nil {
		return "", ""
	}
	if r.Kind == model.Array {
		elem := wire + "." + r.Elem.Ref.Name
		return "[]" + elem, fmt.Sprintf("wirejson.DecodeArray(%s.MaxDepth, %s.Decode%sValue)", wire, wire, r.Elem.Ref.Name)
	}
	goType, decode = wire+"."+r.Ref.Name, wire+".Decode"+r.Ref.Name
	if m.Shapes[0].Nullable {
		return "wirejson.Opt[" + goType + "]", "wirejson.DecodeNullable(" + decode + ")"
	}
	if r.Ref.Kind == model.Record && len(r.Ref.Fields) == 0 {
		return "", decode
	}
	return goType, decode
}

// qualified returns the Go type of a type, seen from outside the package of the wire.
func (s *services) qualified(t *model.Type) string {
	switch t.Kind {
	case model.Array:
		return "[]" + s.qualified(t.Elem)
	case model.Map:
		return "map[string]" + s.qualified(t.Elem)
	case model.Ref:
		return s.wire.Module.Go + "." + t.Ref.Name
	default:
		return (&pkg{wire: s.wire}).goType(t)
	}
}

// argumentName returns a wire name as the name of an argument.
func argumentName(name string) string {
	full := goName(name)
	end := 1
	for end < len(full) && unicode.IsUpper(rune(full[end])) && (end+1 == len(full) || unicode.IsUpper(rune(full[end+1]))) {
		end++
	}
	full = strings.ToLower(full[:end]) + full[end:]
	if token.IsKeyword(full) || slices.Contains([]string{"ctx", "m", "s", "tie", "err", "params"}, full) {
		full += "Value"
	}
	return full
}
