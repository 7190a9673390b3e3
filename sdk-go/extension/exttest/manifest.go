package exttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/runtime/manifest/folder"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// CheckManifest fails the test with every problem of the manifest in a directory, usually ".", and where the
// manifest and the program disagree: the API version, the names of tools, commands, hooks, surfaces and
// renderers, context and menu. A host refuses such an extension, or never asks it. Warnings are logged.
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
	declared, registered := verdict.Manifest.Contributes, ext.Contributes()
	same := func(member string, declared, registered []string) {
		t.Helper()
		if declared := slices.Sorted(slices.Values(declared)); !slices.Equal(declared, slices.Sorted(slices.Values(registered))) {
			t.Errorf("exttest: the manifest declares the %[1]s [%[2]s], the program has [%[3]s]: make contributes.%[1]s agree with it",
				member, strings.Join(declared, ", "), strings.Join(registered, ", "))
		}
	}
	same("tools", declared.Tools, registered.Tools)
	same("commands", declared.Commands, registered.Commands)
	same("hooks", texts(declared.Hooks), registered.Hooks)
	same("ui", texts(declared.UI), texts(registered.UI))
	same("tool_renderers", declared.ToolRenderers, registered.ToolRenderers)
	for member, pair := range map[string][2]bool{"context": {declared.Context, registered.Context}, "menu": {declared.Menu, registered.Menu.Or(false)}} {
		if pair[0] != pair[1] {
			t.Errorf("exttest: the manifest says %s = %t, the program has a handler: %t: make them agree", member, pair[0], pair[1])
		}
	}
}

func texts[T ~string](list []T) []string {
	plain := make([]string, len(list))
	for i, text := range list {
		plain[i] = string(text)
	}
	return plain
}
