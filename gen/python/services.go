package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// maxPositional is how many required arguments a service method takes by position; with more, each needs its name.
const maxPositional = 3

// filled are the members that the scope of a service fills in.
var filled = []string{"parent_request_id", "resource_owner"}

// bindingMember is the member that the session fills in where the author leaves it out.
const bindingMember = "binding_id"

// served is one method of one wire under a service name.
type served struct {
	wire   *model.Wire
	method *model.Method
}

// service is one verb of a noun; several wires may have it.
type service struct {
	noun, verb string
	served     []served
}

// services returns what a direction names, in the order of the spec, verbs of one name joined over the wires.
func servicesOf(spec *model.Spec, direction model.Direction) []*service {
	var out []*service
	for _, wire := range spec.Wires {
		if wire.Module.Python == "" {
			continue
		}
		for _, m := range wire.Methods {
			if m.Direction != direction || m.Service.Noun == "" || m.Shapes[0].Params == nil {
				continue
			}
			at := slices.IndexFunc(out, func(s *service) bool { return s.noun == m.Service.Noun && s.verb == m.Service.Verb })
			if at < 0 {
				out = append(out, &service{noun: m.Service.Noun, verb: m.Service.Verb})
				at = len(out) - 1
			}
			out[at].served = append(out[at].served, served{wire, m})
		}
	}
	return out
}

// argument is a parameter of a service method.
type argument struct {
	name, member string
	hints        []string
	doc          string
	required     bool
}

// arguments joins the members of every shape: required is what each of them requires.
func (s *service) arguments() ([]*argument, error) {
	var out []*argument
	shapes := 0
	count := map[string]int{}
	for _, in := range s.served {
		for _, shape := range in.method.Shapes {
			shapes++
			for _, f := range shape.Params.Fields {
				if in.method.Parent != model.ParentNone && slices.Contains(filled, f.Name) {
					continue
				}
				hint, err := hints{in.wire.Module.Python + "."}.annotation(f.Type)
				if err != nil {
					return nil, err
				}
				at := slices.IndexFunc(out, func(a *argument) bool { return a.member == f.Name })
				if at < 0 {
					out = append(out, &argument{name: attribute(f.Name), member: f.Name, doc: f.Doc, required: true})
					at = len(out) - 1
				}
				a := out[at]
				count[f.Name]++
				a.required = a.required && f.Required && f.Name != bindingMember
				a.hints = join(a.hints, hint)
				if f.Nullable {
					a.hints = join(a.hints, "None")
				}
			}
		}
	}
	for _, a := range out {
		a.required = a.required && count[a.member] == shapes
	}
	return out, nil
}

func join(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// result is the hint of what the method gives back; "None" for a notification and for a record without members.
func (s *service) result() (string, error) {
	var out []string
	for _, in := range s.served {
		for _, shape := range in.method.Shapes {
			if shape.Result == nil || empty(shape.Result) {
				out = join(out, "None")
				continue
			}
			hint, err := hints{in.wire.Module.Python + "."}.annotation(shape.Result)
			if err != nil {
				return "", err
			}
			out = join(out, hint)
			if shape.Nullable {
				out = join(out, "None")
			}
		}
	}
	return strings.Join(out, " | "), nil
}

func empty(t *model.Type) bool {
	return t.Kind == model.Ref && t.Ref.Kind == model.Record && len(t.Ref.Fields) == 0
}

func (s *service) notification() bool { return s.served[0].method.Notification }

// note says where the method exists and what opens it.
func (s *service) note() string {
	var parts []string
	for _, in := range s.served {
		note := fmt.Sprintf("%s, API %s", in.method.Name, strings.Join(in.method.Versions, ", "))
		if in.method.Gate != "-" {
			note += ", needs " + in.method.Gate
		}
		parts = append(parts, note)
	}
	return "On the wire: " + strings.Join(parts, "; ") + "."
}

// servicesFile writes one class per noun, and the class that gives them all.
func servicesFile(spec *model.Spec) (emit.File, error) {
	list := servicesOf(spec, model.ExtensionToHost)
	var nouns []string
	byNoun := map[string][]*service{}
	for _, s := range list {
		nouns = join(nouns, s.noun)
		byNoun[s.noun] = append(byNoun[s.noun], s)
	}
	slices.Sort(nouns)
	var w writer
	exported := []string{"METHODS", "Services"}
	for _, noun := range nouns {
		exported = append(exported, class(noun))
	}
	for _, noun := range nouns {
		w.blank(2)
		w.line("class %s(Service):", class(noun))
		w.doc("    ", "The "+strings.ReplaceAll(noun, "_", " ")+" services.")
		w.blank(1)
		w.line("    __slots__ = ()")
		for _, s := range byNoun[noun] {
			if err := s.write(&w); err != nil {
				return emit.File{}, fmt.Errorf("service %s.%s: %w", s.noun, s.verb, err)
			}
		}
	}
	w.blank(2)
	w.line("class Services:")
	w.doc("    ", "Every service of the host, by its noun.")
	w.blank(1)
	w.line(`    __slots__ = ("_caller",)`)
	w.blank(1)
	w.line("    def __init__(self, caller: Caller) -> None:")
	w.line("        self._caller = caller")
	for _, noun := range nouns {
		w.blank(1)
		w.line("    @property")
		w.line("    def %s(self) -> %s:", attribute(noun), class(noun))
		w.line(`        """The %s services."""`, strings.ReplaceAll(noun, "_", " "))
		w.line("        return %s(self._caller)", class(noun))
	}
	w.blank(2)
	w.line("METHODS: Final = {")
	for _, s := range list {
		w.line("    %s: %s,", quoted(s.noun+"."+s.verb), quoted(s.served[0].method.Name))
	}
	w.line("}")
	w.doc("", "What a service is called on the wire, for errors where the wire at hand does not have it.")
	return facade{
		doc: "The services of the host, one class per noun, each method typed.", exported: exported,
		typing: "TYPE_CHECKING, Final, cast", absent: true, support: "Caller, Service", abstract: "Mapping, Sequence",
	}.file(spec, "services.py", &w), nil
}

func (s *service) write(w *writer) error {
	args, err := s.arguments()
	if err != nil {
		return err
	}
	result, err := s.result()
	if err != nil {
		return err
	}
	var required, optional []string
	var members []string
	docs := []string{s.served[0].method.Doc}
	for _, a := range args {
		hint := strings.Join(a.hints, " | ")
		if a.required {
			required = append(required, a.name+": "+hint)
		} else {
			if hint != "object" {
				hint += " | Absent"
			}
			optional = append(optional, a.name+": "+hint+" = ABSENT")
		}
		members = append(members, quoted(a.member)+": "+a.name)
		docs = append(docs, a.name+": "+a.doc)
	}
	docs = append(docs, s.note())
	parameters := []string{"self"}
	if len(required) > maxPositional {
		parameters = append(parameters, "*")
	}
	parameters = append(parameters, required...)
	if len(optional) > 0 && len(required) <= maxPositional {
		parameters = append(parameters, "*")
	}
	parameters = append(parameters, optional...)
	w.blank(1)
	w.line("    def %s(", attribute(s.verb))
	for _, p := range parameters {
		w.line("        %s,", p)
	}
	w.line("    ) -> %s:", result)
	w.doc("        ", docs...)
	call := fmt.Sprintf("(%s, {%s})", quoted(s.noun+"."+s.verb), strings.Join(members, ", "))
	switch {
	case s.notification():
		w.line("        self._tell%s", call)
	case result == "None":
		w.line("        self._ask%s", call)
	default:
		w.line("        return cast(%s, self._ask%s)", quoted(result), call)
	}
	return nil
}

// class is the name of the class of a noun.
func class(noun string) string {
	var b strings.Builder
	for _, word := range strings.Split(noun, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// facade says what the head of a module needs.
type facade struct {
	doc      string
	exported []string
	typing   string // names from typing
	absent   bool   // whether ABSENT is used
	support  string // names from the support module
	abstract string // names from collections.abc, for hints alone
	scope    string // names from the scope module, for hints alone
}

// file puts a head before the body of a module that names models of the wires and loads none of them.
func (f facade) file(spec *model.Spec, name string, body *writer) emit.File {
	w := &writer{}
	f.write(w, spec, body.b.String())
	return emit.File{Path: path.Join(folder, name), Data: []byte(w.b.String() + body.b.String())}
}

func (f facade) write(w *writer, spec *model.Spec, body string) {
	w.line("# %s", emit.Marker("spec/wires.json"))
	w.doc("", f.doc, "No wire is loaded from here: the models stand in type hints alone.")
	w.blank(1)
	w.line("from __future__ import annotations")
	w.blank(1)
	w.line("from typing import %s", f.typing)
	w.blank(1)
	w.line("from octet_extension._generated._services import %s", f.support)
	if f.absent {
		w.line("from octet_extension._generated._shapes import ABSENT, Absent")
	}
	w.blank(1)
	w.line("if TYPE_CHECKING:")
	w.line("    from collections.abc import %s", f.abstract)
	w.blank(1)
	var wires []string
	for _, wire := range spec.Wires {
		if wire.Module.Python != "" && strings.Contains(body, wire.Module.Python+".") {
			wires = append(wires, wire.Module.Python)
		}
	}
	slices.Sort(wires)
	if len(wires) > 0 {
		w.line("    from octet_extension._generated import %s", strings.Join(wires, ", "))
	}
	if f.scope != "" {
		w.line("    from octet_extension._scope import %s", f.scope)
	}
	w.blank(1)
	slices.Sort(f.exported)
	w.line("__all__ = [")
	for _, name := range f.exported {
		w.line("    %s,", quoted(name))
	}
	w.line("]")
}
