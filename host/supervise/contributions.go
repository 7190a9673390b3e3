package supervise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// changes lists how the contributions of a candidate differ from those in service. Hooks and surfaces of
// the feature wire stand in the manifest, which is read again before every start; on the canonical wire
// the selection decides whether hooks are delivered.
//
// Rules: MAN-RELOADING-005, EXT04-RELOAD-005, EXT04-RELOAD-006.
func changes(old, fresh *extension.Agreement) []string {
	var found []string
	dynamic := dynamicTools(old)
	if dynamic != dynamicTools(fresh) {
		found = append(found, fmt.Sprintf("%s is selected by one of them alone", featurewire.FeatureDynamicTools))
	} else if !dynamic {
		found = append(found, differences("tool", toolsByName(old.Tools), toolsByName(fresh.Tools), sameTool)...)
	}
	found = append(found, differences("command", commandsByName(old.Commands), commandsByName(fresh.Commands), sameCommand)...)
	if hooks(old) != hooks(fresh) {
		found = append(found, "hooks are selected by one of them alone")
	}
	return found
}

func dynamicTools(a *extension.Agreement) bool {
	return slices.Contains(a.Features, featurewire.FeatureDynamicTools)
}

func hooks(a *extension.Agreement) bool {
	return slices.Contains(a.Methods, canonicalwire.MethodHookRun)
}

func toolsByName(list []*extension.Tool) map[string]*extension.Tool {
	named := make(map[string]*extension.Tool, len(list))
	for _, t := range list {
		named[t.Name] = t
	}
	return named
}

func commandsByName(list []extension.Command) map[string]extension.Command {
	named := make(map[string]extension.Command, len(list))
	for _, c := range list {
		named[c.Name] = c
	}
	return named
}

// differences compares two catalogs, whatever their order.
func differences[T any](kind string, old, fresh map[string]T, same func(a, b T) bool) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(old)) {
		now, kept := fresh[name]
		switch {
		case !kept:
			found = append(found, fmt.Sprintf("%s %q is gone", kind, name))
		case !same(old[name], now):
			found = append(found, fmt.Sprintf("%s %q is another one", kind, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		if _, known := old[name]; !known {
			found = append(found, fmt.Sprintf("%s %q is new", kind, name))
		}
	}
	return found
}

func sameTool(a, b *extension.Tool) bool {
	return a.Description == b.Description && sameJSON(a.Parameters, b.Parameters) && sameJSON(a.OutputSchema, b.OutputSchema)
}

func sameCommand(a, b extension.Command) bool { return reflect.DeepEqual(a, b) }

// sameJSON compares values, not spellings. Numbers are compared as they are written.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := decoded(a)
	y, okY := decoded(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func decoded(text json.RawMessage) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil
}
