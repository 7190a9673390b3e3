package extension

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// everything stands behind every feature.
func everything() []*Binding {
	var b Binding
	for _, feature := range featurewire.Features {
		b.Features = append(b.Features, feature.Name)
	}
	return []*Binding{&b}
}

func named(name, api string, hooks ...manifestdoc.Hook) *Source {
	return &Source{Manifest: &manifest.Manifest{Name: name, API: api, Contributes: manifest.Contributes{Hooks: hooks}}}
}

// A host that could serve everything still offers some features to one extension alone, and some to none.
//
// MAN-GATE-001, MAN-GATE-002, MAN-GATE-006.
func TestOfferedFeatures_gates(t *testing.T) {
	closed := []string{featurewire.FeatureApprovals, featurewire.FeatureSecrets, featurewire.FeatureCompactionStrategy, featurewire.FeatureCacheWarmingDecision}
	agents := []string{
		featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1, featurewire.FeatureDelegationTelemetryV1,
		featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
	}
	for name, without := range map[string][]string{
		"octet-subagents": closed, "octet-mcp": slices.Concat(closed, agents), "demo": slices.Concat(closed, agents),
	} {
		var want []string
		for _, f := range featurewire.Features {
			if !f.Required && slices.Contains(f.Versions, featurewire.Version04) && !slices.Contains(without, f.Name) {
				want = append(want, f.Name)
			}
		}
		if got := offeredFeatures(named(name, featurewire.Version04), everything()); !slices.Equal(got, want) {
			t.Errorf("%s is offered %q, want %q", name, got, want)
		}
	}
}

// Who embeds the host may stand behind what the coding product never offers.
func TestOfferedFeatures_embedder(t *testing.T) {
	b := &Binding{Features: []string{featurewire.FeatureSecrets}, Embedder: true}
	if got := offeredFeatures(named("demo", featurewire.Version02), []*Binding{b}); !slices.Contains(got, featurewire.FeatureSecrets) {
		t.Errorf("an embedder's secrets are not among %q", got)
	}
}

// EXT04-PROG-013: decoration comes with progress. A host without bindings offers what it serves by itself.
func TestOfferedFeatures_unbound(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		want := []string{featurewire.FeatureRequestProgress, featurewire.FeatureProgressDecoration}
		if got := offeredFeatures(named("demo", api), nil); !slices.Equal(got, want) {
			t.Errorf("API %s is offered %q, want %q", api, got, want)
		}
	}
}

// EXT04-HOOK-082, EXT04-HOOK-083.
func TestOfferedFeatures_versionsHooksAndNeeds(t *testing.T) {
	strategy, warming := featurewire.FeatureCompactionStrategy, featurewire.FeatureCacheWarmingDecision
	got := offeredFeatures(named("demo", featurewire.Version02), everything())
	if slices.Contains(got, featurewire.FeatureSessionControlV1) || !slices.Contains(got, featurewire.FeatureComposer) {
		t.Errorf("API 0.2 is offered %q", got)
	}
	got = offeredFeatures(named("demo", featurewire.Version04, manifestdoc.Hook(strategy)), everything())
	if !slices.Contains(got, strategy) || slices.Contains(got, warming) {
		t.Errorf("with the hook %s declared, %q is offered", strategy, got)
	}
	alone := []*Binding{{Features: []string{featurewire.FeatureSessionCompactionV1, featurewire.FeatureTerminalInputInterceptV1, featurewire.FeatureComposer}}}
	got = offeredFeatures(named("demo", featurewire.Version04), alone)
	want := []string{featurewire.FeatureRequestProgress, featurewire.FeatureProgressDecoration, featurewire.FeatureComposer}
	if !slices.Equal(got, want) {
		t.Errorf("offered %q, want %q: the others lack what they need", got, want)
	}
}
