// Package typescript emits the TypeScript bindings of every wire into the package of its family.
//
// Each wire becomes one module: an interface per model with the members named as on the wire (absent is
// undefined, null is null), a codec per model, and the tables of methods, errors, limits, features,
// capabilities and hooks. What an author calls and registers is the same on every wire: the modules
// services, events and hooks hold it for all of them. The strict JSON reader and the validator that interprets the model tables are hand-written
// sources under support/, copied beside the modules.
package typescript

import (
	"embed"
	"fmt"
	"path"
	"slices"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// Folder is where the bindings of extensions go, relative to the repository root.
const Folder = "sdk-ts/src/_generated"

// ServerFolder is where those of clients and servers go.
const ServerFolder = "sdk-ts/oup/src/_generated"

// folderOf returns where the bindings of a family go.
func folderOf(family model.Family) string {
	if family == model.ServerFamily {
		return ServerFolder
	}
	return Folder
}

// supportFolder is where the copied sources stand, relative to the repository root.
const supportFolder = "gen/typescript/support"

//go:embed support/json.ts support/wire.ts
var support embed.FS

type emitter struct{}

// New returns the emitter of the TypeScript bindings.
func New() emit.Emitter { return emitter{} }

func (emitter) Name() string { return "typescript" }

// Emit returns one module per wire and the copied support sources. The error names the first thing of
// the spec that TypeScript cannot express.
func (emitter) Emit(spec *model.Spec) ([]emit.File, error) {
	files, err := supportFiles(Folder)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(spec.Wires, func(w *model.Wire) bool { return w.Family == model.ServerFamily }) {
		copied, err := supportFiles(ServerFolder)
		if err != nil {
			return nil, err
		}
		files = append(files, copied...)
	}
	for _, wire := range spec.Wires {
		data, err := wireModule(wire)
		if err != nil {
			return nil, fmt.Errorf("wire %q: %w", wire.Name, err)
		}
		files = append(files, emit.File{Path: path.Join(folderOf(wire.Family), wire.Module.TypeScript+".ts"), Data: data})
		if wire.Family != model.ServerFamily {
			continue
		}
		calls, err := callsFile(wire)
		if err != nil {
			return nil, fmt.Errorf("wire %q: %w", wire.Name, err)
		}
		files = append(files, calls)
	}
	services, err := servicesFile(spec)
	if err != nil {
		return nil, err
	}
	events, err := eventsFile(spec)
	if err != nil {
		return nil, err
	}
	return append(files, services, events, hooksFile(spec)), nil
}

func supportFiles(folder string) ([]emit.File, error) {
	var files []emit.File
	for _, name := range []string{"json.ts", "wire.ts"} {
		data, err := support.ReadFile(path.Join("support", name))
		if err != nil {
			return nil, err
		}
		header := "// " + emit.Marker(path.Join(supportFolder, name)) + "\n\n"
		files = append(files, emit.File{Path: path.Join(folder, name), Data: append([]byte(header), data...)})
	}
	return files, nil
}
