package exttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/runtime/manifest/folder"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// CheckManifest fails the test with every problem of the manifest in a directory, usually ".", and where the
// manifest and the program disagree: the API version, the names of the tools. A host refuses such an
// extension. Warnings are logged.
func CheckManifest(t testing.TB, ext *extension.Extension, dir string) {
	t.Helper()
	opened, err := folder.Open(dir, folder.LoadLimit)
	if err != nil {
		t.Errorf("exttest: %v", err)
		return
	}
	verdict := opened.Judge()
	for _, problem := range verdict.Problems {
		if verdict.OK() {
			t.Logf("%s:%s", opened.ManifestPath, problem)
		} else {
			t.Errorf("%s:%s", opened.ManifestPath, problem)
		}
	}
	if !verdict.OK() {
		return
	}
	if api := verdict.Manifest.API; api != string(ext.API()) {
		t.Errorf("exttest: the manifest names the API %s, the program speaks %s: make extension.Options.API agree with it", api, ext.API())
	}
	declared := slices.Sorted(slices.Values(verdict.Manifest.Contributes.Tools))
	if tools := ext.Tools(); !slices.Equal(declared, tools) {
		t.Errorf("exttest: the manifest declares the tools [%s], the program has [%s]: make contributes.tools agree with it",
			strings.Join(declared, ", "), strings.Join(tools, ", "))
	}
}
