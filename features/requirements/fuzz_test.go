package requirements

import (
	"path"
	"testing"
	"testing/fstest"

	"github.com/octet-dev/octet/generated/featurewire"
)

// FuzzLoad reads a requirement set: it is refused, or it has the name and the version that were asked for.
func FuzzLoad(f *testing.F) {
	const name = "2026-01"
	api := featurewire.Version04
	for _, seed := range []string{
		"", "{}", `{"format":"x"}`, `{"format":"` + format + `","name":"2026-01","api":"0.4","rules":{"EXT04-FRAME-001":"must"},"sha256":"0"}`,
		`{"format":"` + format + `","name":"2026-01","api":"0.4","rules":{},"sha256":"` + (&Set{}).hash() + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		files := fstest.MapFS{path.Join(Folder, name, api+".json"): {Data: text}}
		set, err := Load(files, name, api)
		if err == nil && (set.Name != name || set.API != api) {
			t.Errorf("the set is %q of %q", set.Name, set.API)
		}
	})
}
