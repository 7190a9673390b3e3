// Package secret hands an extension the secrets that its manifest declares, from a broker of the embedder.
//
// Without a broker the feature is not offered. A value goes from the broker into the one answer that asked
// for it: it is not logged, not kept and not put into an error, and neither is what a broker says about its
// own failure.
//
// Rules: EXT04-SECRET. Sheet: feature 11.10.
package secret

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Broker holds secrets.
type Broker interface {
	// Secret returns the value that an extension gets under a name it has declared. There is none where
	// found is false. The error is never shown to anybody.
	Secret(ctx context.Context, extension, name string) (value string, found bool, err error)
}

// Binding offers the secrets of a broker to every extension that declares any. Without a broker nothing is
// offered.
func Binding(broker Broker) extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureSecrets},
		Embedder: true, // the coding product has no broker
		Offer: func(s *extension.Source) bool {
			return broker != nil && len(s.Manifest.Capabilities.Secrets) > 0
		},
		Requests: map[string]extension.Handler{
			featurewire.MethodSecretGet: func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
				return get(ctx, broker, r)
			},
		},
	}
}

func get(ctx context.Context, broker Broker, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeSecretGetParams(r.Params)
	if err != nil {
		return nil, err
	}
	manifest := r.Extension.Source().Manifest
	if !slices.Contains(manifest.Capabilities.Secrets, params.Name) {
		return nil, extension.RefuseMalformed(fmt.Sprintf("secret %q is not declared; list it in the secrets of the capabilities", params.Name))
	}
	if r.Owner.IsZero() {
		return nil, extension.RefuseService("no session owns the request that asks for the secret")
	}
	r.Waits()
	value, found := ask(ctx, broker, manifest.Name, params.Name)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !found {
		return nil, peer.Fail(featurewire.ErrSecretUnavailable, nil)
	}
	return featurewire.SecretGetResult{Value: value}, nil
}

// ask asks the broker. What it says when it fails or panics may hold the value, so that ends here.
func ask(ctx context.Context, broker Broker, extension, name string) (value string, found bool) {
	defer func() {
		if recover() != nil {
			value, found = "", false
		}
	}()
	value, found, err := broker.Secret(ctx, extension, name)
	if err != nil || !found || len(value) > featurewire.MaxSecretValueBytes || !utf8.ValidString(value) {
		return "", false
	}
	return value, true
}
