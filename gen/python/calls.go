package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// callsFile writes what a client of a wire calls and hears: a method a row, and the models of notifications.
func callsFile(wire *model.Wire) (emit.File, error) {
	var body writer
	for _, text := range strings.Split(strings.ReplaceAll(callsText, "oup_wire", wire.Module.Python), "\n") {
		body.line("%s", text)
	}
	var taken []string
	for _, m := range wire.Methods {
		if m.Direction != model.ClientToServer || !m.Carries() {
			continue
		}
		taken = append(taken, callName(m))
		if err := writeCall(&body, wire, m); err != nil {
			return emit.File{}, fmt.Errorf("method %q: %w", m.Name, err)
		}
	}
	if err := distinct(taken); err != nil {
		return emit.File{}, err
	}
	writeHeard(&body, wire)
	text := body.b.String()
	var head writer
	head.line("# %s", emit.Marker("spec/"+strings.Join(wire.Files.Methods, ", spec/")))
	head.doc("", "What a client calls and hears, typed. Wire: "+strings.TrimSuffix(wire.Title, ".")+".")
	head.blank(1)
	head.line("from __future__ import annotations")
	head.blank(1)
	head.line("from collections.abc import %s", used(text, "Callable", "Mapping", "Sequence"))
	head.line("from typing import %s", used(text, "Final", "Literal", "Protocol", "TypeAlias", "TypeVar", "cast"))
	head.blank(1)
	at := homeOf(wire).module
	head.line("from %s import _models, %s", at, wire.Module.Python)
	if names := used(text, "ABSENT", "Absent"); names != "" {
		head.line("from %s._shapes import %s", at, names)
	}
	head.blank(1)
	head.line(`__all__ = ["HEARD", "Caller", "Calls", "Heard", "read_notification"]`)
	return emit.File{Path: path.Join(homeOf(wire).folder, partName(wire, "calls")+".py"), Data: []byte(head.b.String() + text)}, nil
}

// callName is a row as a method: "session/status.get" gives session_status_get.
func callName(m *model.Method) string { return attribute(strings.ToLower(constant(m.Name))) }

const callsText = `
_Result = TypeVar("_Result")


class Caller(Protocol):
    """Carries out what the calls say: a client has one for each connection or scope."""

    async def call(self, method: str, params: Mapping[str, object], read: Callable[[object], _Result]) -> _Result:
        """Sends a request and returns what read makes of its result. read raises Violation for one that breaks its model."""
        ...

    async def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Sends a notification."""
        ...


def _checked(params: _models.Model) -> dict[str, object]:
    """Judges params before they are sent. Raises Violation."""
    value = params.to_json()
    params.read(value)
    return value


class Calls:
    """What a client sends, a method for each row of the table.

    Each raises Violation for params that break their model, and else what the Caller raises.
    """

    __slots__ = ("_caller",)

    def __init__(self, caller: Caller) -> None:
        self._caller = caller`

func writeCall(w *writer, wire *model.Wire, m *model.Method) error {
	at := wire.Module.Python + "."
	shape := m.Shapes[0]
	docs := []string{m.Doc}
	var required, optional, members []string
	for _, f := range shape.Params.Fields {
		hint, err := hints{at}.annotation(f.Type)
		if err != nil {
			return err
		}
		name := attribute(f.Name)
		stated, preset := declared(f, hint)
		if preset == "" {
			required = append(required, name+": "+stated)
		} else {
			optional = append(optional, name+": "+stated+preset)
		}
		members = append(members, name+"="+name)
		docs = append(docs, name+": "+f.Doc)
	}
	if m.Gate != "-" {
		docs = append(docs, "Opened by "+m.Gate+".")
	}
	result := "None"
	if !m.Notification {
		result = at + shape.Result.Ref.Name
	}
	w.blank(1)
	w.line("    async def %s(", callName(m))
	w.line("        self,")
	if len(members) > 0 {
		w.line("        *,")
	}
	for _, p := range append(required, optional...) {
		w.line("        %s,", p)
	}
	w.line("    ) -> %s:", result)
	w.doc("        ", docs...)
	constant := at + "METHOD_" + constant(m.Name)
	params := at + shape.Params.Name + "(" + strings.Join(members, ", ") + ")"
	if m.Notification {
		w.line("        await self._caller.tell(%s, _checked(%s))", constant, params)
		return nil
	}
	w.line("        return await self._caller.call(%s, _checked(%s), %s.from_json)", constant, params, result)
	return nil
}

// writeHeard writes the notifications of a server: the models of what they carry, by method.
func writeHeard(w *writer, wire *model.Wire) {
	at := wire.Module.Python + "."
	told := slices.DeleteFunc(slices.Clone(wire.Methods), func(m *model.Method) bool { return m.Direction != model.ServerToClient || !m.Carries() })
	var models []string
	for _, m := range told {
		models = join(models, at+m.Shapes[0].Params.Name)
	}
	w.blank(2)
	w.line("Heard: TypeAlias = (")
	for i, name := range models {
		bar := "| "
		if i == 0 {
			bar = ""
		}
		w.line("    %s%s", bar, name)
	}
	w.line(")")
	w.doc("", "What the notifications of a server carry.")
	w.blank(1)
	w.line("HEARD: Final[Mapping[str, type[Heard]]] = {")
	for _, m := range told {
		w.line("    %sMETHOD_%s: %s,", at, constant(m.Name), at+m.Shapes[0].Params.Name)
	}
	w.line("}")
	w.doc("", "The model of what each notification of a server carries, in the order of the spec.")
	w.blank(2)
	w.line("def read_notification(method: str, params: object) -> Heard | None:")
	w.line(`    """Reads what a notification of a server carries; None for a method outside HEARD. Raises Violation."""`)
	w.line("    model = HEARD.get(method)")
	w.line("    return None if model is None else model.from_json(params)")
}
