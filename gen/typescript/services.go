package typescript

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// eventNoun is the service noun of the notifications that a host sends.
const eventNoun = "events"

// filled lists the members of a method's parameters that a scope fills in, by the class of its parent.
var filled = map[model.Parent][]string{
	model.ParentRequired:   {parentMember},
	model.ParentInitialize: {parentMember},
	model.ParentToolCall:   {parentMember},
	model.ParentRetained:   {parentMember, ownerMember},
	model.ParentSettled:    {parentMember, ownerMember},
	model.ParentOptional:   {parentMember, ownerMember},
	model.ParentOwner:      {ownerMember},
}

const (
	parentMember = "parent_request_id"
	ownerMember  = "resource_owner"
	// bindingMember is filled in by the session where the author leaves it out.
	bindingMember = "binding_id"
)

// surface collects the text of one module that speaks of every wire at once: what an author calls is the
// same on all of them.
type surface struct {
	body  strings.Builder
	wires map[string]string // import name of a wire's module, with its file
	err   error
}

// served is a method of one wire under the name an SDK gives it.
type served struct {
	wire   *model.Wire
	method *model.Method
}

func (s *surface) printf(format string, args ...any) { fmt.Fprintf(&s.body, format, args...) }

func (s *surface) doc(indent, text string) { s.printf("%s", comment(indent, text)) }

// typeOf returns the name of a model of a wire, and imports the wire.
func (s *surface) typeOf(wire *model.Wire, one *model.Model) string {
	name := camel(strings.ReplaceAll(wire.Module.TypeScript, "-", "_"))
	s.wires[name] = "./" + wire.Module.TypeScript + ".js"
	return name + "." + one.Name
}

// file returns the module with its header and imports.
func (s *surface) file(name, doc string, sources []string, imports string) emit.File {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n%s\n", emit.Marker(strings.Join(sources, ", ")), comment("", doc))
	var names []string
	for wire := range s.wires {
		names = append(names, wire)
	}
	slices.Sort(names)
	for _, wire := range names {
		fmt.Fprintf(&b, "import type * as %s from %s;\n", wire, quote(s.wires[wire]))
	}
	b.WriteString(imports)
	if len(names) > 0 || imports != "" {
		b.WriteString("\n")
	}
	return emit.File{Path: path.Join(Folder, name), Data: []byte(b.String() + s.body.String())}
}

// camel turns words joined by underscores into one name that starts in lower case.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = capital(word)
	}
	return strings.Join(words, "")
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// nouns returns the service nouns in the order of the spec, and for each its verbs in that order.
func nouns(spec *model.Spec, take func(*model.Method) bool) (order []string, verbs map[string][]string, rows map[string][]served) {
	verbs, rows = map[string][]string{}, map[string][]served{}
	for _, wire := range spec.Wires {
		for _, method := range wire.Methods {
			noun, verb := method.Service.Noun, method.Service.Verb
			if noun == "" || !take(method) {
				continue
			}
			if !slices.Contains(order, noun) {
				order = append(order, noun)
			}
			if !slices.Contains(verbs[noun], verb) {
				verbs[noun] = append(verbs[noun], verb)
			}
			key := noun + "." + verb
			rows[key] = append(rows[key], served{wire, method})
		}
	}
	return order, verbs, rows
}

// sources lists the spec files of one kind, relative to the repository root.
func sources(spec *model.Spec, part func(model.Files) model.Part) []string {
	var paths []string
	for _, wire := range spec.Wires {
		if wire.Family == model.ServerFamily {
			continue
		}
		for _, name := range part(wire.Files) {
			paths = append(paths, path.Join("spec", name))
		}
	}
	if len(paths) == 0 {
		return []string{"spec"}
	}
	return paths
}

func methodFile(files model.Files) model.Part { return files.Methods }

func hookFile(files model.Files) model.Part { return files.Hooks }

// servicesFile writes the services of the host: one class a noun, one method a verb.
func servicesFile(spec *model.Spec) (emit.File, error) {
	s := &surface{wires: map[string]string{}}
	order, verbs, rows := nouns(spec, func(m *model.Method) bool { return m.Direction == model.ExtensionToHost })
	var names []string
	for _, noun := range order {
		for _, verb := range verbs[noun] {
			names = append(names, quote(noun+"."+verb))
		}
	}
	s.printf("/** Every service, as noun and verb, in the order of the spec. */\nexport const SERVICES = [\n")
	for _, name := range names {
		s.printf("  %s,\n", name)
	}
	s.printf("] as const;\n\n/** One of the services. */\nexport type ServiceName = (typeof SERVICES)[number];\n\n")
	s.printf("%s", callerText)
	for _, noun := range order {
		s.doc("", "The services under the noun "+quote(noun)+".")
		s.printf("export class %sService {\n  constructor(private readonly caller: Caller) {}\n\n", capital(camel(noun)))
		for i, verb := range verbs[noun] {
			if i > 0 {
				s.printf("\n")
			}
			s.service(noun, verb, rows[noun+"."+verb])
		}
		s.printf("}\n\n")
	}
	s.printf("/** Every service by noun. What the API version or the session does not have refuses when it is called. */\n")
	s.printf("export class Services {\n  constructor(private readonly caller: Caller) {}\n")
	for _, noun := range order {
		class := capital(camel(noun)) + "Service"
		s.printf("\n  /** See {@link %s}. */\n  get %s(): %s {\n    return new %s(this.caller);\n  }\n", class, camel(noun), class, class)
	}
	s.printf("}\n")
	return s.file("services.ts", "What an extension asks of its host, as typed methods.", sources(spec, methodFile), ""), s.err
}

const callerText = `/** Options of one service call. */
export interface ServiceOptions {
  /** Gives up waiting when it is aborted, and tells the host so. */
  readonly signal?: AbortSignal;
}

/** Sends what the methods of the services say. */
export interface Caller {
  /** Sends a request and returns its result, or undefined where the result has no members. */
  request(service: ServiceName, params: object, options?: ServiceOptions): Promise<unknown>;
  /** Sends a notification. Resolves when the host takes more. */
  notify(service: ServiceName, params: object): Promise<void>;
}

/** Parameters whose binding the session fills in where it is left out. */
type Bound<T extends { readonly binding_id: string }> = Omit<T, "binding_id"> & Partial<Pick<T, "binding_id">>;

/** Parameters without the members that the scope fills in. */
type Given<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

`

// service writes one method. A service that several wires carry takes and returns what either of them does.
func (s *surface) service(noun, verb string, rows []served) {
	method := rows[0].method
	var params, results []string
	optional, empty := true, true
	for _, row := range rows {
		shape := row.method.Shapes[0]
		if shape.Params == nil {
			s.fail(row, "has no parameters")
			return
		}
		if row.method.Notification != method.Notification {
			s.fail(row, "is a request on one wire and a notification on another")
			return
		}
		kind, required, members := s.given(row.wire, shape.Params, filled[row.method.Parent])
		if members {
			empty = false
			params = add(params, kind)
		}
		optional = optional && !required
		results = add(results, s.result(row.wire, shape))
	}
	args, value := "", "{}"
	if !empty {
		fallback := ""
		if optional {
			fallback = " = {}"
		}
		args, value = "params: "+strings.Join(params, " | ")+fallback, "params"
	}
	s.doc("  ", serviceDoc(rows))
	name := quote(noun + "." + verb)
	if method.Notification {
		s.printf("  %s(%s): Promise<void> {\n    return this.caller.notify(%s, %s);\n  }\n", camel(verb), args, name, value)
		return
	}
	if args != "" {
		args += ", "
	}
	result := strings.Join(results, " | ")
	body := fmt.Sprintf("return this.caller.request(%s, %s, options) as Promise<%s>;", name, value, result)
	s.printf("  %s(%soptions?: ServiceOptions): Promise<%s> {\n    %s\n  }\n", camel(verb), args, result, body)
}

func (s *surface) fail(row served, what string) {
	if s.err == nil {
		s.err = fmt.Errorf("wire %q: service %s.%s of %s %s", row.wire.Name, row.method.Service.Noun, row.method.Service.Verb, row.method.Name, what)
	}
}

// given returns the type of the parameters an author gives, whether one of them is required, and whether
// there is any.
func (s *surface) given(wire *model.Wire, params *model.Model, without []string) (kind string, required, members bool) {
	kind = s.typeOf(wire, params)
	if params.Kind != model.Record {
		return kind, true, true
	}
	var left []string
	for _, field := range params.Fields {
		if slices.Contains(without, field.Name) {
			left = append(left, quote(field.Name))
			continue
		}
		members = true
		required = required || field.Required
	}
	if len(left) > 0 {
		kind = "Given<" + kind + ", " + strings.Join(left, " | ") + ">"
	}
	if slices.ContainsFunc(params.Fields, func(f *model.Field) bool { return f.Name == bindingMember }) {
		kind = "Bound<" + kind + ">"
	}
	return kind, required || len(params.ExactlyOne) > 0, members || len(params.Fields) == 0 && !params.Closed
}

// result returns what a service method resolves to. A record without members says nothing.
func (s *surface) result(wire *model.Wire, shape model.MethodShape) string {
	t, list := shape.Result, ""
	if t == nil {
		return "void"
	}
	if t.Kind == model.Array {
		t, list = t.Elem, "[]"
	}
	if list == "" && t.Ref.Kind == model.Record && len(t.Ref.Fields) == 0 {
		return "void"
	}
	kind := s.typeOf(wire, t.Ref)
	if list != "" {
		kind = "readonly " + kind + list
	}
	if shape.Nullable {
		kind += " | null"
	}
	return kind
}

func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func serviceDoc(rows []served) string {
	var parts []string
	for _, row := range rows {
		text := row.method.Doc + " API " + strings.Join(row.method.Versions, ", ") + "."
		if row.method.Source != "" {
			text += " (" + row.method.Source + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}
