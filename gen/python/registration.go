package python

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// eventsFile writes the class on which an author registers handlers of notifications.
func eventsFile(spec *model.Spec) emit.File {
	var w writer
	list := servicesOf(spec, model.HostToExtension)
	w.blank(1)
	if len(list) > 0 {
		w.line("if TYPE_CHECKING:")
	}
	for _, s := range list {
		var models []string
		for _, in := range s.served {
			for _, shape := range in.method.Shapes {
				models = join(models, in.wire.Module.Python+"."+shape.Params.Name)
			}
		}
		params := strings.Join(models, " | ")
		w.line("    _%s = TypeVar(%s, bound=Callable[[%s], object] | Callable[[Session, %s], object])", class(s.verb), quoted("_"+class(s.verb)), params, params)
	}
	w.blank(2)
	w.line("class Events:")
	w.doc("    ", "Notifications of the host. A handler takes the parameters, or the session and the parameters.")
	w.blank(1)
	w.line(`    __slots__ = ("_registrar",)`)
	w.blank(1)
	w.line("    def __init__(self, registrar: Registrar) -> None:")
	w.line("        self._registrar = registrar")
	for _, s := range list {
		w.blank(1)
		w.line("    def %s(self, handler: _%s) -> _%s:", attribute(s.verb), class(s.verb), class(s.verb))
		w.doc("        ", s.served[0].method.Doc, s.note())
		w.line("        self._registrar.add_event(%s, handler)", quoted(s.verb))
		w.line("        return handler")
	}
	return facade{
		doc: "Registration of the notifications of the host, one method per event.", exported: []string{"Events"},
		typing: "TYPE_CHECKING, TypeVar", support: "Registrar", abstract: "Callable", scope: "Session",
	}.file(spec, "events.py", &w)
}

// hooksFile writes the class on which an author registers hooks.
func hooksFile(spec *model.Spec) emit.File {
	var w writer
	w.blank(1)
	w.blank(1)
	if slices.ContainsFunc(spec.Wires, func(wire *model.Wire) bool { return len(wire.Hooks) > 0 }) {
		w.line("if TYPE_CHECKING:")
	}
	for _, wire := range spec.Wires {
		for _, h := range wire.Hooks {
			payload := wire.Module.Python + "." + h.Payload.Name
			answer := wire.Module.Python + "." + h.Result.Name + " | Mapping[str, object] | None"
			answer += " | Awaitable[" + answer + "]"
			w.line("    _%s = TypeVar(%s, bound=Callable[[%s], %s] | Callable[[HookCall, %s], %s])",
				class(h.Name), quoted("_"+class(h.Name)), payload, answer, payload, answer)
		}
	}
	w.blank(2)
	w.line("class Hooks:")
	w.doc("    ", "The points at which the host asks. A handler takes the payload, or the call and the payload; nothing returned means no objection.")
	w.blank(1)
	w.line(`    __slots__ = ("_registrar",)`)
	w.blank(1)
	w.line("    def __init__(self, registrar: Registrar) -> None:")
	w.line("        self._registrar = registrar")
	for _, wire := range spec.Wires {
		for _, h := range wire.Hooks {
			w.blank(1)
			w.line("    def %s(self, handler: _%s) -> _%s:", attribute(h.Name), class(h.Name), class(h.Name))
			w.doc("        ", h.Doc, hookNote(h))
			w.line("        self._registrar.add_hook(%s, handler)", quoted(h.Name))
			w.line("        return handler")
		}
	}
	return facade{
		doc: "Registration of hooks, one method per hook.", exported: []string{"Hooks"},
		typing: "TYPE_CHECKING, TypeVar", support: "Registrar", abstract: "Awaitable, Callable, Mapping", scope: "HookCall",
	}.file(spec, "hooks.py", &w)
}

// hookNote says what the host makes of the answers.
func hookNote(h *model.Hook) string {
	note := "API " + strings.Join(h.Versions, ", ")
	if h.Feature != "-" {
		note += ", needs " + h.Feature
	}
	return note + ". Order: " + strings.TrimSuffix(h.Order, ".") + ". Several answers: " + strings.TrimSuffix(h.Merge, ".") +
		". No answer: " + strings.TrimSuffix(h.Failure, ".") + ". A disposition to deny is " + h.Deny + "."
}
