package launch

import (
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
)

// Environment is everything that decides what variables an extension sees.
type Environment struct {
	// Host looks a variable up in the environment of the host, like os.LookupEnv.
	Host func(name string) (value string, found bool)
	// Entrypoint holds entrypoint.env of the manifest.
	Entrypoint map[string]string
	// Brokered lists capabilities.environment of the manifest.
	Brokered []string
	// Wire holds the values of the variables that tell the extension who it is.
	Wire Wire
}

// Wire holds the values of the OCTET variables.
type Wire struct {
	APIVersion   string
	Name         string
	Dir          string // absolute path of the directory of the manifest
	ManifestPath string // absolute path of the manifest
	Workspace    string // absolute path of the workspace, which is also the working directory
	Scratch      string // absolute path of a directory made for this process alone
}

// List gives the environment as NAME=value entries, ascending by name. It starts empty; then come the
// variables every extension may inherit, entrypoint.env, the brokered variables that are set and not
// empty, and the OCTET variables. Later ones win. Nothing else of the host gets through.
func (e Environment) List() []string {
	values := map[string]string{}
	for _, name := range manifestdoc.TableInheritedEnvironment {
		if value, found := e.Host(name); found {
			values[name] = value
		}
	}
	maps.Copy(values, e.Entrypoint)
	for _, name := range e.Brokered {
		if value, _ := e.Host(name); value != "" {
			values[name] = value
		}
	}
	maps.Copy(values, e.Wire.Variables())
	list := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return list
}

// Variables pairs the names of the spec's table, in its order, with the values.
func (w Wire) Variables() map[string]string {
	values := []string{w.APIVersion, w.Name, w.Dir, w.ManifestPath, w.Workspace, w.Scratch}
	paired := make(map[string]string, len(values))
	for i, row := range featurewire.TableWireEnvironment {
		paired[row.Variable] = values[i]
	}
	return paired
}

// scratchRow is the row of the scratch directory in the spec's table.
const scratchRow = 5

// ScratchEntry is the entry of the environment that names the scratch directory. Only the extension and
// what it starts have it.
func (w Wire) ScratchEntry() string {
	return featurewire.TableWireEnvironment[scratchRow].Variable + "=" + w.Scratch
}
