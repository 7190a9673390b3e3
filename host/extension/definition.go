package extension

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/schema"
)

// toolOf judges a definition of the feature wire, at initialize and in tools/register alike, short of
// compiling its schemas. has tells what was selected.
//
// Source: sheet 4.2, 6; EXT04-TOOL-007, EXT04-TOOL-012.
func toolOf(d featurewire.ToolDefinition, has func(feature string) bool) (*Tool, error) {
	output, _ := d.OutputSchema.Get()
	t := &Tool{Name: string(d.Name), Description: d.Description, Parameters: d.Parameters, OutputSchema: output}
	if err := schema.ParametersOK(t.Parameters); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if t.OutputSchema != nil {
		if err := schema.OutputOK(t.OutputSchema); err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	t.Snippet, t.Guidelines = d.PromptSnippet.Or(""), d.PromptGuidelines.Or(nil)
	if sampling, set := d.ConstrainedSampling.Get(); set {
		t.Sampling = sampling
	}
	composition, composes := d.Composition.Get()
	if composes {
		t.Composition = &composition
	}
	operation, operates := d.Operation.Get()
	if operates {
		t.Operation = &operation
	}
	_, snipped := d.PromptSnippet.Get()
	for _, need := range []struct {
		used    bool
		member  string
		feature string
	}{
		{snipped, "a prompt snippet", featurewire.FeatureToolPromptMetadataV1},
		{len(t.Guidelines) > 0, "prompt guidelines", featurewire.FeatureToolPromptMetadataV1},
		{composes, "a composition", featurewire.FeatureToolCompositionV1},
		{operates, "an operation", featurewire.FeatureOperationDescriptorsV1},
		{operates && len(operation.ResourceInputs)+len(operation.ResourceOutputs) > 0, "an operation on resources", featurewire.FeatureResourceRefsV1},
	} {
		if need.used && !has(need.feature) {
			return nil, fmt.Errorf("tool %q has %s without the feature %q; select it", t.Name, need.member, need.feature)
		}
	}
	return t, nil
}

// Compile judges the definition of a dynamic tool and prepares it for calls. Names are for the caller to
// judge.
func (x *Extension) Compile(ctx context.Context, d featurewire.ToolDefinition) (*Tool, error) {
	t, err := toolOf(d, x.Has)
	if err == nil {
		err = t.compile(ctx, true, x.events.diagnostic)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}
