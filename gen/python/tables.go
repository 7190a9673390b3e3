package python

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// rows writes one constant per row and then the table that holds them all.
func rows(w *writer, table, kind, doc string, entries []string) {
	w.blank(1)
	if len(entries) == 0 {
		w.line("%s: Final[Mapping[str, _rows.%s]] = {}", table, kind)
	} else {
		w.line("%s: Final[Mapping[str, _rows.%s]] = _rows.by_name(", table, kind)
		w.line("    (")
		for _, entry := range entries {
			w.line("        %s,", entry)
		}
		w.line("    )")
		w.line(")")
	}
	w.doc("", doc)
}

func methods(w *writer, wire *model.Wire) ([]string, error) {
	if len(wire.Methods) == 0 {
		return nil, nil
	}
	w.blank(1)
	var names, entries, requests, notifications []string
	for _, m := range wire.Methods {
		name := "METHOD_" + constant(m.Name)
		if wire.Family != model.ServerFamily || !slices.Contains(names, name) {
			w.line("%s: Final = %s", name, quoted(m.Name))
			w.doc("", m.Doc)
			names = append(names, name)
		}
		c := &call{name: "_rows.Method"}
		c.add("name=%s", name)
		c.add("versions=%s", tuple(m.Versions))
		c.add("notification=%s", boolean(m.Notification))
		c.add("direction=%s", quoted(string(m.Direction)))
		c.add("gate=%s", quoted(m.Gate))
		if wire.Family == model.ServerFamily {
			c.add("gate_strict=%s", boolean(m.GateMode == model.StrictGate))
			c.add("transports=%s", tuple(m.Transports))
			c.add("durable=%s", quoted(m.Durable))
			c.add("lane=%s", quoted(m.Lane))
		}
		c.add("offer=%s", quoted(m.Offer))
		c.add("terminal=%s", quoted(m.Terminal))
		c.add("status=%s", quoted(m.Status))
		c.add("parent=%s", quoted(string(m.Parent)))
		c.add("service=%s", quoted(serviceName(m.Service)))
		list := make([]string, len(m.Shapes))
		for i, s := range m.Shapes {
			result, err := resultName(s.Result)
			if err != nil {
				return nil, fmt.Errorf("method %q: %w", m.Name, err)
			}
			params := ""
			if s.Params != nil {
				params = s.Params.Name
			}
			list[i] = fmt.Sprintf("_rows.MethodShape(%s, %s, %s, %s)", tuple(s.Versions), quoted(params), quoted(result), boolean(s.Nullable))
		}
		c.add("shapes=%s", sequence(list))
		if m.Notification {
			notifications = append(notifications, c.String())
		} else {
			requests = append(requests, c.String())
		}
		entries = append(entries, c.String())
	}
	if wire.Family == model.ServerFamily {
		rows(w, "REQUESTS", "Method", "The requests of the method table.", requests)
		rows(w, "NOTIFICATIONS", "Method", "The notifications of the method table.", notifications)
		return append(names, "REQUESTS", "NOTIFICATIONS"), nil
	}
	rows(w, "METHODS", "Method", "The method table.", entries)
	return append(names, "METHODS"), nil
}

// sequence returns a tuple of expressions.
func sequence(items []string) string {
	if len(items) == 1 {
		return "(" + items[0] + ",)"
	}
	return "(" + strings.Join(items, ", ") + ")"
}

// resultName spells the model of a result; an array of a model carries brackets behind its name.
func resultName(t *model.Type) (string, error) {
	switch {
	case t == nil:
		return "", nil
	case t.Kind == model.Ref:
		return t.Ref.Name, nil
	case t.Kind == model.Array && t.Elem.Kind == model.Ref:
		return t.Elem.Ref.Name + "[]", nil
	}
	return "", fmt.Errorf("the result is neither a model nor an array of one")
}

func errorTable(w *writer, wire *model.Wire) ([]string, error) {
	w.blank(1)
	names := []string{"ERRORS"}
	var entries []string
	for _, e := range wire.Errors {
		name := "ERROR_" + constant(e.Name)
		w.line("%s: Final = _rows.ErrorCode(%s, %d, %s, %s)", name, quoted(e.Name), e.Code, quoted(e.Message), boolean(e.Fixed))
		w.doc("", e.Doc)
		names = append(names, name)
		entries = append(entries, name)
	}
	rows(w, "ERRORS", "ErrorCode", "The error table.", entries)
	return names, nil
}

func features(w *writer, wire *model.Wire) ([]string, error) {
	if len(wire.Features) == 0 {
		return nil, nil
	}
	w.blank(1)
	names := []string{"FEATURES"}
	var entries []string
	for _, f := range wire.Features {
		name := "FEATURE_" + constant(f.Name)
		w.line("%s: Final = %s", name, quoted(f.Name))
		w.doc("", f.Doc)
		names = append(names, name)
		c := &call{name: "_rows.Feature"}
		c.add("%s, %s, %s, %s", name, tuple(f.Versions), boolean(f.Required), tuple(f.DependsOn))
		if wire.Family == model.ServerFamily {
			c.add("%s, %s", tuple(f.Sets), quoted(f.Origin))
		}
		entries = append(entries, c.String())
	}
	rows(w, "FEATURES", "Feature", "The feature table.", entries)
	return names, nil
}

func capabilities(w *writer, wire *model.Wire) ([]string, error) {
	if len(wire.Capabilities) == 0 {
		return nil, nil
	}
	w.blank(1)
	names := []string{"CAPABILITIES"}
	var entries []string
	for _, c := range wire.Capabilities {
		name := "CAPABILITY_" + constant(c.Name)
		w.line("%s: Final = %s", name, quoted(c.Name))
		w.doc("", c.Doc)
		names = append(names, name)
		entries = append(entries, fmt.Sprintf("_rows.Capability(%s, %s, %s, %s)", name, quoted(c.Offer), quoted(c.Status), tuple(c.Needs)))
	}
	rows(w, "CAPABILITIES", "Capability", "The capability table.", entries)
	return names, nil
}

// serviceName joins noun and verb; "" for a method that an SDK does not name.
func serviceName(s model.Service) string {
	if s.Noun == "" {
		return ""
	}
	return s.Noun + "." + s.Verb
}

func hooks(w *writer, wire *model.Wire) ([]string, error) {
	if len(wire.Methods) == 0 || wire.Family == model.ServerFamily {
		return nil, nil
	}
	w.blank(1)
	names := []string{"HOOKS"}
	var entries []string
	for _, h := range wire.Hooks {
		name := "HOOK_" + constant(h.Name)
		w.line("%s: Final = %s", name, quoted(h.Name))
		w.doc("", h.Doc)
		names = append(names, name)
		entries = append(entries, fmt.Sprintf("_rows.Hook(%s, %s, %s, %s, %s, %s)",
			name, tuple(h.Versions), quoted(h.Feature), quoted(h.Payload.Name), quoted(h.Result.Name), quoted(h.Deny)))
	}
	rows(w, "HOOKS", "Hook", "The hook table.", entries)
	return names, nil
}

// tables writes a list of strings for one column and a list of rows for more.
func tables(w *writer, wire *model.Wire) ([]string, error) {
	var names []string
	for _, t := range wire.Tables {
		name := "TABLE_" + constant(t.Name)
		names = append(names, name)
		element := "str"
		if n := len(t.Columns); n > 1 {
			element = "tuple[" + strings.TrimSuffix(strings.Repeat("str, ", n), ", ") + "]"
		}
		w.blank(1)
		w.line("%s: Final[tuple[%s, ...]] = (", name, element)
		for _, row := range t.Rows {
			if len(row) != len(t.Columns) {
				return nil, fmt.Errorf("table %q: a row has %d cells for %d columns", t.Name, len(row), len(t.Columns))
			}
			if len(row) == 1 {
				w.line("    %s,", quoted(row[0]))
			} else {
				w.line("    %s,", tuple(row))
			}
		}
		w.line(")")
		w.doc("", t.Doc+" Columns: "+strings.Join(t.Columns, ", ")+".")
	}
	return names, nil
}
