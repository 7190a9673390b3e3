package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// EXT04-STATUS-006.
func TestBinding(t *testing.T) {
	var shown []Contribution
	options := extension.Options{Bindings: []extension.Binding{Binding(func(c Contribution) { shown = append(shown, c) })}}
	for _, api := range []string{featurewire.Version01, featurewire.Version02, featurewire.Version04} {
		shown = nil
		rig := extensiontest.Start(t, extensiontest.Setup{API: api, Contributes: "tools = [\"work\"]\nui = [\"status\", \"footer\"]", Options: options})
		for _, params := range []string{
			`{"surface":"status","text":"up","style_role":"good","priority":-3}`, `{"surface":"footer","text":"","style_role":null}`,
			`{"surface":"header","text":"undeclared"}`, `{"surface":"ceiling","text":"x"}`, `{"surface":"status"}`, `{"surface":"status","text":"x","priority":1.5}`, `[]`,
		} {
			rig.Tell(featurewire.MethodStatusContribution, params)
		}
		rig.Flush()
		want := []Contribution{{"demo", featurewire.UiSurfaceStatus, "up", "good", -3}, {"demo", featurewire.UiSurfaceFooter, "", "", 0}}
		if fmt.Sprint(shown) != fmt.Sprint(want) {
			t.Errorf("API %s: shown %v", api, shown)
		}
		rig.X.Close()
		if !rig.Diagnosed(`the surface "header" is not declared`) {
			t.Errorf("diagnostics: %q", rig.Diagnostics())
		}
	}
	shown = nil
	quiet := extensiontest.Start(t, extensiontest.Setup{Options: options})
	quiet.Tell(featurewire.MethodStatusContribution, `{"surface":"status","text":"up"}`)
	quiet.Flush()
	quiet.X.Close()
	if shown != nil || !quiet.Diagnosed("contributes.ui") {
		t.Errorf("shown %v, diagnostics: %q", shown, quiet.Diagnostics())
	}
}

// EXT04-STATUS-005.
func TestFit(t *testing.T) {
	list := []Contribution{{Text: "a", Priority: 1}, {Text: "b", Priority: 5}, {Text: "c", Priority: 1}, {Text: "d", Priority: -1}, {Text: "e", Priority: 5}}
	for count, want := range map[int]string{-1: "", 0: "", 1: "b", 2: "be", 3: "abe", 4: "abce", 5: "abcde", 9: "abcde"} {
		var got strings.Builder
		for _, c := range Fit(list, count) {
			got.WriteString(c.Text)
		}
		if got.String() != want {
			t.Errorf("%d of them: %s, want %s", count, got.String(), want)
		}
	}
}
