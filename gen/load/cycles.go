package load

import (
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// checkCycles reports models that contain themselves without a way out: no finite value could have that
// shape. An array, a map, a union and a member that may be missing are ways out.
func (w *wireLoader) checkCycles() {
	state := map[*model.Model]int{}
	const open, done = 1, 2
	var path []string
	var visit func(m *model.Model)
	visit = func(m *model.Model) {
		switch state[m] {
		case open:
			w.errs.Addf(m.File, m.Pointer, "%s contains itself without a way out (%s); make one of the members optional or an array", m.Name, strings.Join(append(path, m.Name), " > "))
			return
		case done:
			return
		}
		state[m] = open
		path = append(path, m.Name)
		for _, f := range m.Fields {
			if f.Required && !f.Nullable && f.Type.Kind == model.Ref {
				visit(f.Type.Ref)
			}
		}
		if m.Kind == model.Alias && m.Type.Kind == model.Ref {
			visit(m.Type.Ref)
		}
		path = path[:len(path)-1]
		state[m] = done
	}
	for _, m := range w.wire.Models {
		visit(m)
	}
}
