package monitor

import (
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

func composes(m *Monitor, f wire.Frame, o *owned) {
	if depth, _ := o.params.get("arguments").size(); depth > fw.MaxCompositionDepth {
		m.report("EXT04-NEST-002", f, -1, "arguments of %d levels; the bound is %d", depth, fw.MaxCompositionDepth)
	}
	if o.parent == nil {
		return
	}
	if o.parent.nested++; o.parent.nested > fw.MaxCompositionCalls {
		m.report("EXT04-NEST-003", f, -1, "%d composed calls under one call; the bound is %d", o.parent.nested, fw.MaxCompositionCalls)
	}
}

func stores(m *Monitor, f wire.Frame, o *owned) {
	set := o.params.get("set").members()
	if n := len(set) + len(o.params.get("delete").items()); n > fw.MaxCompositionStoreKeys {
		m.report("EXT04-NEST-002", f, -1, "%d keys; the bound is %d", n, fw.MaxCompositionStoreKeys)
	}
	for key, v := range set {
		if n := compact(v.raw); len(key) > fw.MaxCompositionKeyBytes || n > fw.MaxCompositionValueBytes {
			m.report("EXT04-NEST-002", f, -1, "a key of %d bytes with a value of %d; the bounds are %d and %d", len(key), n, fw.MaxCompositionKeyBytes, fw.MaxCompositionValueBytes)
			break
		}
	}
	if o.parent == nil {
		return
	}
	if o.parent.stores++; o.parent.stores > 1 {
		m.report("EXT04-NEST-003", f, -1, "a second %q under one call", o.method)
	}
}

// handedFile notes a file that the host has handed to the call under which it was asked for.
func (m *Monitor) handedFile(o *owned, file tree) {
	if name := file.get("path"); o.parent != nil && name.kind() == text {
		o.parent.files = append(o.parent.files, filepath.Join(m.setup.Extension.Scratch, filepath.Base(name.text())))
	}
}

// leftFiles judges that a call which has ended has removed the files that it was handed.
func (m *Monitor) leftFiles(f wire.Frame, r *issued) {
	for _, path := range r.files {
		if _, err := os.Lstat(path); err == nil {
			m.report("EXT04-NEST-004", f, -1, "the call was answered and has left the file %q that it was handed", filepath.Base(path))
		}
	}
}
