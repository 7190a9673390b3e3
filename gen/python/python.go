// Package python emits the Python bindings: one module per wire in the package of its family, and beside them
// the support modules that read, judge and write JSON for all of them.
//
// The support modules are real sources in support/; they are copied, not templated.
package python

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// home is where the bindings of a family of wires go, and what imports call it.
type home struct {
	folder, module string
	family         model.Family
}

var homes = []home{
	{"sdk-py/octet_extension/_generated", "octet_extension._generated", model.ExtensionFamily},
	{"sdk-py/oup/octet_oup/_generated", "octet_oup._generated", model.ServerFamily},
}

// folder is where what an extension calls, hears and is asked goes.
var folder = homes[0].folder

// homeOf returns where the bindings of a wire go.
func homeOf(wire *model.Wire) home {
	return homes[slices.IndexFunc(homes, func(h home) bool { return h.family == cmp.Or(wire.Family, model.ExtensionFamily) })]
}

//go:embed support/*.py
var support embed.FS

type emitter struct{}

// New returns the emitter of the Python bindings.
func New() emit.Emitter { return emitter{} }

func (emitter) Name() string { return "python" }

// Emit returns the package files, the support modules and one module per wire that has a Python name.
func (emitter) Emit(spec *model.Spec) ([]emit.File, error) {
	var files []emit.File
	for _, h := range homes {
		wires := slices.DeleteFunc(slices.Clone(spec.Wires), func(w *model.Wire) bool { return w.Module.Python == "" || homeOf(w) != h })
		if len(wires) == 0 && h.family != model.ExtensionFamily {
			continue
		}
		files = append(files, emit.File{Path: path.Join(h.folder, "__init__.py"), Data: packageFile(h, wires)})
		copied, err := supportFiles(h)
		if err != nil {
			return nil, err
		}
		files = append(files, copied...)
	}
	for _, wire := range spec.Wires {
		if wire.Module.Python == "" {
			continue
		}
		made, err := modules(wire)
		if err != nil {
			return nil, fmt.Errorf("wire %q in Python: %w", wire.Name, err)
		}
		files = append(files, made...)
		if wire.Family != model.ServerFamily {
			continue
		}
		calls, err := callsFile(wire)
		if err != nil {
			return nil, fmt.Errorf("wire %q in Python: %w", wire.Name, err)
		}
		files = append(files, calls)
	}
	services, err := servicesFile(spec)
	if err != nil {
		return nil, err
	}
	files = append(files, services, eventsFile(spec), hooksFile(spec))
	return files, nil
}

// servicesModule is the support module of what an extension calls; only the package of extensions has it.
const servicesModule = "_services.py"

func supportFiles(h home) ([]emit.File, error) {
	sources, err := support.ReadDir("support")
	if err != nil {
		return nil, fmt.Errorf("support modules of the Python bindings: %w", err)
	}
	var files []emit.File
	for _, source := range sources {
		if source.Name() == servicesModule && h.family != model.ExtensionFamily {
			continue
		}
		data, err := support.ReadFile("support/" + source.Name())
		if err != nil {
			return nil, fmt.Errorf("support module %q: %w", source.Name(), err)
		}
		head := "# " + emit.Marker("gen/python/support/"+source.Name()) + "\n"
		files = append(files, emit.File{Path: path.Join(h.folder, source.Name()), Data: append([]byte(head), data...)})
	}
	return files, nil
}

// versionVariable is what an extension must know before it knows its wire.
func versionVariable(wires []*model.Wire) string {
	for _, wire := range wires {
		for _, t := range wire.Tables {
			if t.Name != "wire_environment" {
				continue
			}
			for _, row := range t.Rows {
				if strings.HasSuffix(row[0], "_API_VERSION") {
					return row[0]
				}
			}
		}
	}
	return ""
}

// packageFile returns the file that names the wires and their versions without loading their modules.
func packageFile(h home, wires []*model.Wire) []byte {
	var w writer
	w.line("# %s", emit.Marker("spec/wires.json"))
	w.doc("", "Bindings of the wires: models, methods, errors, limits and tables.")
	w.blank(1)
	w.line("from collections.abc import Mapping")
	w.line("from typing import Final")
	w.blank(1)
	w.line("WIRE_VERSIONS: Final[Mapping[str, tuple[str, ...]]] = {")
	for _, wire := range wires {
		w.line("    %s: %s,", quoted(wire.Module.Python), tuple(wire.Versions))
	}
	w.line("}")
	w.doc("", "API versions of each wire, by the module of its bindings.")
	if h.family != model.ExtensionFamily {
		return []byte(w.b.String())
	}
	w.line("VERSION_VARIABLE: Final = %s", quoted(versionVariable(wires)))
	w.doc("", "Environment variable that tells an extension its API version; empty where no wire has one.")
	return []byte(w.b.String())
}
