package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

const listHeader = "wire\tversions\tname\tkind\tdirection\tgate\tstatus\tparams\tresult\ttransports\tdurable"

func (c *command) list(spec *model.Spec) int {
	if names := wireNames(spec); c.wire != "" && !slices.Contains(names, c.wire) {
		return c.misuse("unknown wire %q; want one of %s", c.wire, strings.Join(names, ", "))
	}
	fmt.Fprintln(c.stdout, listHeader)
	for _, w := range spec.Wires {
		if c.wire != "" && c.wire != w.Name {
			continue
		}
		for _, m := range w.Methods {
			fmt.Fprintln(c.stdout, strings.Join(row(w, m), "\t"))
		}
	}
	return exitOK
}

// wireNames returns the names of all wires, each once.
func wireNames(specs ...*model.Spec) []string {
	var names []string
	for _, spec := range specs {
		for _, w := range spec.Wires {
			if !slices.Contains(names, w.Name) {
				names = append(names, w.Name)
			}
		}
	}
	return names
}

func row(w *model.Wire, m *model.Method) []string {
	kind := "request"
	if m.Notification {
		kind = "notification"
	}
	return []string{
		w.Name, strings.Join(m.Versions, ","), m.Name, kind, string(m.Direction), m.Gate, m.Status,
		shapes(m, func(s model.MethodShape) string {
			if s.Params == nil {
				return ""
			}
			return s.Params.Name
		}),
		shapes(m, resultName),
		cmp.Or(strings.Join(m.Transports, ","), "-"), cmp.Or(m.Durable, "-"),
	}
}

func resultName(s model.MethodShape) string {
	name := ""
	switch r := s.Result; {
	case r == nil:
		return ""
	case r.Kind == model.Array:
		name = r.Elem.Ref.Name + "[]"
	default:
		name = r.Ref.Name
	}
	if s.Nullable {
		name += "|null"
	}
	return name
}

// shapes prints the general shape and behind it those versions that have another one.
func shapes(m *model.Method, name func(model.MethodShape) string) string {
	print := func(s model.MethodShape) string {
		if n := name(s); n != "" {
			return n
		}
		return "-"
	}
	general := print(m.Shapes[0])
	list := []string{general}
	for _, s := range m.Shapes[1:] {
		if special := print(s); special != general {
			list = append(list, strings.Join(s.Versions, ",")+"="+special)
		}
	}
	return strings.Join(list, ";")
}
