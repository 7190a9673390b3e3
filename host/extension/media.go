package extension

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
)

// resolveMedia puts the bytes of what the media parts of a result refer to into the result.
//
// Source: sheet 8.1; EXT04-RESULT-013, EXT04-RESULT-014.
func (x *Extension) resolveMedia(ctx context.Context, s Scope, r *ToolResult) error {
	total := 0
	for i := range r.Content {
		part := &r.Content[i]
		if part.wire == nil {
			continue
		}
		if x.media == nil || !x.Has(featurewire.FeatureArtifacts) {
			return fmt.Errorf("content part %d is media, and the feature %q was not offered", i, featurewire.FeatureArtifacts)
		}
		resolved, err := x.media(ctx, MediaRef{Extension: x, Owner: x.owner(s), Part: part.wire})
		if err != nil {
			return fmt.Errorf("content part %d: %w", i, err)
		}
		if total += len(resolved.Data); total > featurewire.MaxResultMediaBytes {
			return fmt.Errorf("content part %d: the media of the result exceed %d bytes together", i, featurewire.MaxResultMediaBytes)
		}
		part.Text, part.MediaType, part.Data = resolved.Text, resolved.MediaType, resolved.Data
	}
	return nil
}
