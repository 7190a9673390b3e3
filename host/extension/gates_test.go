package extension

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// A host that could serve everything still offers some features to one extension alone, and some to none.
//
// MAN-GATE-001, MAN-GATE-002, MAN-GATE-006.
func TestOpen(t *testing.T) {
	var all []string
	for _, feature := range featurewire.Features {
		all = append(all, feature.Name)
	}
	closed := []string{featurewire.FeatureApprovals, featurewire.FeatureSecrets}
	agents := []string{
		featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1,
		featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
	}
	for name, without := range map[string][]string{
		"octet-subagents": closed, "octet-mcp": slices.Concat(closed, agents), "demo": slices.Concat(closed, agents),
	} {
		var want []string
		for _, feature := range all {
			if !slices.Contains(without, feature) {
				want = append(want, feature)
			}
		}
		if got := open(name, all); !slices.Equal(got, want) {
			t.Errorf("%s is offered %q, want %q", name, got, want)
		}
	}
	if !slices.Equal(open("demo", bound), bound) {
		t.Error("a feature that is served is offered to nobody")
	}
}
