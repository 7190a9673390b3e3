package minimise_test

import (
	"maps"
	"testing"

	"github.com/octet-dev/octet/features/minimise"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// One rule is one thing to look at in however many scenarios it is broken, and advice is none.
func TestShown(t *testing.T) {
	frames := []wire.Frame{{Bytes: []byte("{}")}}
	red := func(about string, found ...verdict.Finding) verdict.Scenario {
		return verdict.Scenario{Name: about, Rules: []string{about}, Class: verdict.Fail, Findings: found, Frames: frames}
	}
	passed := verdict.Scenario{Name: "D", Rules: []string{"D"}, Class: verdict.Pass}
	bare := red("E", verdict.Finding{Rule: "E"})
	bare.Frames = nil
	scenarios := []verdict.Scenario{
		red("B", verdict.Finding{Rule: "A"}), red("C", verdict.Finding{Rule: "A"}), passed, red("A", verdict.Finding{Rule: "A"}), red("A", verdict.Finding{Rule: "A"}),
		red("advice", verdict.Finding{Rule: "advice"}), red("F", verdict.Finding{Rule: "F", Missing: true}), bare, red("H", verdict.Finding{Rule: "G"}),
	}
	got := minimise.Shown(scenarios, func(rule string) bool { return rule != "advice" })
	if want := map[string]int{"A": 3, "G": 8}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
