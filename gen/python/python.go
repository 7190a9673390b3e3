// Package python emits the Python bindings: one module per wire below octet_extension/_generated, and
// the support modules that read, judge and write JSON for all of them.
//
// The support modules are real sources in support/; they are copied, not templated.
package python

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

const folder = "sdk-py/octet_extension/_generated"

//go:embed support/*.py
var support embed.FS

type emitter struct{}

// New returns the emitter of the Python bindings.
func New() emit.Emitter { return emitter{} }

func (emitter) Name() string { return "python" }

// Emit returns the package file, the support modules and one module per wire that has a Python name.
func (emitter) Emit(spec *model.Spec) ([]emit.File, error) {
	files := []emit.File{{Path: path.Join(folder, "__init__.py"), Data: packageFile(spec)}}
	sources, err := support.ReadDir("support")
	if err != nil {
		return nil, fmt.Errorf("support modules of the Python bindings: %w", err)
	}
	for _, source := range sources {
		data, err := support.ReadFile("support/" + source.Name())
		if err != nil {
			return nil, fmt.Errorf("support module %q: %w", source.Name(), err)
		}
		head := "# " + emit.Marker("gen/python/support/"+source.Name()) + "\n"
		files = append(files, emit.File{Path: path.Join(folder, source.Name()), Data: append([]byte(head), data...)})
	}
	for _, wire := range spec.Wires {
		if wire.Module.Python == "" {
			continue
		}
		data, err := module(wire)
		if err != nil {
			return nil, fmt.Errorf("wire %q in Python: %w", wire.Name, err)
		}
		files = append(files, emit.File{Path: path.Join(folder, wire.Module.Python+".py"), Data: data})
	}
	services, err := servicesFile(spec)
	if err != nil {
		return nil, err
	}
	files = append(files, services, eventsFile(spec), hooksFile(spec))
	return files, nil
}

// versionVariable is what an extension must know before it knows its wire.
func versionVariable(spec *model.Spec) string {
	for _, wire := range spec.Wires {
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
func packageFile(spec *model.Spec) []byte {
	var w writer
	w.line("# %s", emit.Marker("spec/wires.json"))
	w.doc("", "Bindings of the wires: models, methods, errors, limits and tables.")
	w.blank(1)
	w.line("from collections.abc import Mapping")
	w.line("from typing import Final")
	w.blank(1)
	w.line("WIRE_VERSIONS: Final[Mapping[str, tuple[str, ...]]] = {")
	for _, wire := range spec.Wires {
		if wire.Module.Python != "" {
			w.line("    %s: %s,", quoted(wire.Module.Python), tuple(wire.Versions))
		}
	}
	w.line("}")
	w.doc("", "API versions of each wire, by the module of its bindings.")
	w.line("VERSION_VARIABLE: Final = %s", quoted(versionVariable(spec)))
	w.doc("", "Environment variable that tells an extension its API version; empty where no wire has one.")
	return []byte(w.b.String())
}
