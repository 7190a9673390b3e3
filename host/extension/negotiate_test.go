package extension_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// EXT04-NEG-023, EXT04-NEG-024, EXT04-NEG-025, EXT04-AGENT-011, EXT04-HOOK-093 and dynamic catalogs.
func TestAccept_matrix(t *testing.T) {
	hook := func(name string) string { return "tools = [\"work\"]\nhooks = [\"" + name + "\"]" }
	for _, c := range []struct {
		name, extension, contributes string
		features                     []string // bound
		without                      string   // not selected
		change                       func(map[string]any)
		words                        string
	}{
		{"strategy", "", hook("compaction_strategy"), []string{featurewire.FeatureCompactionStrategy}, "", nil, ""},
		{"strategy not selected", "", hook("compaction_strategy"), []string{featurewire.FeatureCompactionStrategy}, featurewire.FeatureCompactionStrategy, nil, "select it"},
		{"strategy not offered", "", hook("compaction_strategy"), nil, "", nil, "does not offer"},
		{"warming not selected", "", hook("cache_warming_decision"), []string{featurewire.FeatureCacheWarmingDecision}, featurewire.FeatureCacheWarmingDecision, nil, "select it"},
		{"paths not offered", "", hook("resources_discover"), nil, "", nil, "does not offer"},
		{"turns", "", hook("model_turn_start"), []string{featurewire.FeatureSessionEntries}, "", nil, ""},
		{"turns not selected", "", hook("model_turn_end"), []string{featurewire.FeatureSessionEntries}, featurewire.FeatureSessionEntries, nil, "select it"},
		{"compactions not offered", "", hook("session_before_compact"), nil, "", nil, "does not offer"},
		{"compactions not selected", "", hook("session_compact"), []string{featurewire.FeatureSessionEntries}, featurewire.FeatureSessionEntries, nil, "select it"},
		{"telemetry", "octet-subagents", "", []string{featurewire.FeatureAgentSessions, featurewire.FeatureDelegationTelemetryV1}, "", nil, ""},
		{"no telemetry", "octet-subagents", "", []string{featurewire.FeatureAgentSessions, featurewire.FeatureDelegationTelemetryV1}, featurewire.FeatureDelegationTelemetryV1, nil, "reinstall"},
		{"other tools", "", "", []string{featurewire.FeatureDynamicTools}, "", func(r map[string]any) { r["tools"] = []any{} }, ""},
		{"other tools without the feature", "", "", nil, "", func(r map[string]any) { r["tools"] = []any{} }, "lacks the declared tool"},
		{"other commands", "", "", []string{featurewire.FeatureRuntimeCommands}, "", func(r map[string]any) { r["commands"] = []any{} }, ""},
		{"other commands without the feature", "", "", nil, "", func(r map[string]any) { r["commands"] = []any{} }, "lacks the declared command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := extensiontest.TryStart(t, extensiontest.Setup{
				Name: c.extension, Contributes: c.contributes, Initialize: c.change,
				Select:  func(name string) bool { return name != c.without },
				Options: extension.Options{Bindings: []extension.Binding{{Features: c.features}}},
			})
			if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("got %v, want %q", err, c.words)
			}
		})
	}
}

// EXT04-TOOL-012, EXT04-RES-006, and what else a definition may hold only with its feature.
func TestAccept_definitions(t *testing.T) {
	operations := featurewire.FeatureOperationDescriptorsV1
	for _, c := range []struct {
		member, value string
		without, with []string
	}{
		{"prompt_snippet", `"use it"`, nil, []string{featurewire.FeatureToolPromptMetadataV1}},
		{"prompt_guidelines", `["use it"]`, nil, []string{featurewire.FeatureToolPromptMetadataV1}},
		{"composition", `{"mode":"on","inline_budget":10}`, nil, []string{featurewire.FeatureToolCompositionV1}},
		{"operation", `{"id":"op","resource_inputs":[],"resource_outputs":[]}`, nil, []string{operations}},
		{
			"operation", `{"id":"op","resource_inputs":[],"resource_outputs":[{"path":"/a","type":"t"}]}`,
			[]string{operations},
			[]string{operations, featurewire.FeatureResourceRefsV1},
		},
	} {
		t.Run(c.member, func(t *testing.T) {
			if err := defined(t, c.member, c.value, c.with); err != nil {
				t.Errorf("with %q: %v", c.with, err)
			}
			if err := defined(t, c.member, c.value, c.without); err == nil || !strings.Contains(err.Error(), "without the feature") {
				t.Errorf("with %q: %v", c.without, err)
			}
		})
	}
}

// defined starts an extension whose tool has one more member.
func defined(t *testing.T, member, value string, bound []string) error {
	_, err := extensiontest.TryStart(t, extensiontest.Setup{
		Options: extension.Options{Bindings: []extension.Binding{{Features: bound}}},
		Initialize: func(result map[string]any) {
			result["tools"].([]any)[0].(map[string]any)[member] = json.RawMessage(value)
		},
	})
	return err
}

// EXT04-RES-005.
func TestOffer_terms(t *testing.T) {
	b := extension.Binding{
		Features: []string{featurewire.FeatureResourceRefsV1, featurewire.FeatureBulkObjectsV1},
		Terms: func(x *extension.Extension, o *featurewire.ProtocolOffer) {
			if slices.Contains(o.OptionalFeatures, featurewire.FeatureBulkObjectsV1) {
				o.BulkObjectsV1 = wirejson.Some(featurewire.BulkOffer{
					Profile: featurewire.BulkProfileLocalFileV1, TransferDirectory: "/objects",
					Limits: featurewire.BulkLimits{
						ObjectBytes: 1, OwnerBytes: 1, WriteTicketsPerGeneration: 1, ReadLeasesPerGeneration: 1, BlobsPerOwner: 1,
					},
				})
			}
		},
	}
	for _, api := range []string{"0.2", "0.4"} {
		r := extensiontest.Start(t, extensiontest.Setup{API: api, Options: extension.Options{Bindings: []extension.Binding{b}}})
		if told := strings.Contains(string(r.Offer()), `"transfer_directory":"/objects"`); told != (api == "0.4") {
			t.Errorf("what the binding adds to the offer of %s is there: %t", api, told)
		}
		has := strings.Contains(string(r.Offer()), `"resource_refs_v1":{"max_records":256,"max_registrations_per_parent":32}`)
		if has != (api == "0.4") {
			t.Errorf("the offer of %s is %s", api, r.Offer())
		}
	}
}
