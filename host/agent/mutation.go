package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/tool"
)

// mutated tells hooks what a call has changed. Paths are not disclosed: a resource is named by a digest of
// its path, the same for the same path.
//
// EXT04-HOOK-049, EXT04-HOOK-050, EXT04-HOOK-052.
func (d *dispatch) mutated(ctx context.Context, c call, changes []tool.Change) {
	if len(changes) == 0 {
		return
	}
	var resources []string
	for _, change := range changes {
		resources = append(resources, "resource:file:"+digest(change.Path))
	}
	slices.Sort(resources)
	resources = slices.Compact(resources)
	for part := range slices.Chunk(resources, featurewire.MaxAffectedResources) {
		d.Hooks.PostMutation(ctx, d.callScope(c), Mutation{
			ID:   "mutation:" + digest(d.Session.Owner()+"\x00"+d.id+"\x00"+c.id+"\x00"+part[0]),
			Kind: string(featurewire.MutationKindResource), State: string(featurewire.MutationStateCommitted), Resources: part,
		})
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
