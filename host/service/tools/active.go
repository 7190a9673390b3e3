package tools

import (
	"context"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Sessions are the conversations whose tools are chosen.
type Sessions interface {
	// SetActive replaces the whole set of tools that the model of a session may use, by the opaque owner id
	// of the session. It counts with the next request to the model. An error changes nothing, and says why
	// the set cannot be applied: the extension is told.
	SetActive(ctx context.Context, session string, names []string) error
}

// Active lets extensions choose the active tools of the session in front of the person.
func Active(sessions Sessions) extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureActiveTools},
		Requests: map[string]extension.Handler{
			featurewire.MethodToolsSetActive: func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
				params, err := featurewire.DecodeToolsSetActiveParams(r.Params)
				if err != nil {
					return nil, refusal.Of(err)
				}
				for i, name := range params.Names {
					if slices.Contains(params.Names[:i], name) {
						return nil, extension.RefuseInvalid(fmt.Sprintf("tool %q is named twice", name))
					}
				}
				if err := sessions.SetActive(ctx, r.Owner.SessionID, params.Names); err != nil {
					if ctx.Err() != nil {
						return nil, context.Cause(ctx)
					}
					return nil, extension.RefuseInvalid(err.Error())
				}
				return featurewire.ToolsSetActiveResult{}, nil
			},
		},
	}
}
