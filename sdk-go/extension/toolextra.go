package extension

import (
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// toolExtra is what API 0.4 may be told of a tool beside its schemas. Each part is left out where the host
// has not offered its feature.
type toolExtra struct {
	snippet     string
	guidelines  []string
	composition *featurewire.ToolComposition
	operation   *featurewire.OperationDescriptor
	sampling    json.RawMessage
}

// Prompt has the model told about the tool in its instructions: one line in the list of tools, empty for none,
// and guidelines for its use. It needs API 0.4 and the feature tool_prompt_metadata_v1. It returns the tool.
func (t *Tool) Prompt(snippet string, guidelines ...string) *Tool {
	t.extra.snippet, t.extra.guidelines = snippet, guidelines
	return t
}

// Compose lets the tool call other tools, see Scope.Composition. It needs API 0.4 and the feature
// tool_composition_v1. It returns the tool.
func (t *Tool) Compose(mode featurewire.CompositionMode, inlineBudget int64) *Tool {
	t.extra.composition = &featurewire.ToolComposition{Mode: mode, InlineBudget: inlineBudget}
	return t
}

// Operation says what the tool does to resources. It needs API 0.4 and the feature operation_descriptors_v1,
// and resource_refs_v1 where it names resources. It returns the tool.
func (t *Tool) Operation(operation featurewire.OperationDescriptor) *Tool {
	t.extra.operation = &operation
	return t
}

// ConstrainedSampling passes a contract on to the model provider as it is. It needs API 0.4 and the feature
// tool_composition_v1. It returns the tool.
func (t *Tool) ConstrainedSampling(contract json.RawMessage) *Tool {
	t.extra.sampling = contract
	return t
}

// features returns what the extras need.
func (x *toolExtra) features() []string {
	var needs []string
	if x.prompted() {
		needs = append(needs, featurewire.FeatureToolPromptMetadataV1)
	}
	if x.composition != nil || x.sampling != nil {
		needs = append(needs, featurewire.FeatureToolCompositionV1)
	}
	if x.operation != nil {
		needs = append(needs, featurewire.FeatureOperationDescriptorsV1)
		if x.bearsResources() {
			needs = append(needs, featurewire.FeatureResourceRefsV1)
		}
	}
	return needs
}

func (x *toolExtra) prompted() bool { return x.snippet != "" || len(x.guidelines) > 0 }

func (x *toolExtra) bearsResources() bool {
	return x.operation != nil && len(x.operation.ResourceInputs)+len(x.operation.ResourceOutputs) > 0
}

// put writes the parts that a session can carry into a definition, and returns the features that the others
// lack.
func (x *toolExtra) put(d *featurewire.ToolDefinition, has func(feature string) bool) (missing []string) {
	usable := func(features ...string) bool {
		for _, f := range features {
			if !has(f) {
				missing = append(missing, f)
				return false
			}
		}
		return true
	}
	if x.prompted() && usable(featurewire.FeatureToolPromptMetadataV1) {
		if x.snippet != "" {
			d.PromptSnippet = wirejson.Some(x.snippet)
		}
		if len(x.guidelines) > 0 {
			d.PromptGuidelines = wirejson.Some(x.guidelines)
		}
	}
	if x.composition != nil && usable(featurewire.FeatureToolCompositionV1) {
		d.Composition = wirejson.Some(*x.composition)
	}
	if x.sampling != nil && usable(featurewire.FeatureToolCompositionV1) {
		d.ConstrainedSampling = wirejson.Some(x.sampling)
	}
	if x.operation != nil {
		needs := []string{featurewire.FeatureOperationDescriptorsV1}
		if x.bearsResources() {
			needs = append(needs, featurewire.FeatureResourceRefsV1)
		}
		if usable(needs...) {
			d.Operation = wirejson.Some(*x.operation)
		}
	}
	return missing
}
