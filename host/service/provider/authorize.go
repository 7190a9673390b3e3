package provider

import (
	"context"
	"crypto/rand"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Authorization is a wish that the host's policy decides.
type Authorization struct {
	Extension string
	Provider  canonicalwire.ProviderDefinition
	// Refresh says that a lease is held already.
	Refresh bool
	// Interactive says that the person may be asked. Otherwise the answer has to be known.
	Interactive bool
	Scopes      []string
}

// Authorize decides. Ready makes the host issue a lease: a word that means nothing anywhere else. The
// policy keeps its credentials to itself.
type Authorize func(ctx context.Context, wish Authorization) (canonicalwire.ProviderAuthorizationStatus, error)

// authorize serves both methods: asking for a lease, and giving one back.
func (r *Registry) authorize(ctx context.Context, in *extension.Incoming) (peer.Value, error) {
	p, err := canonicalwire.DecodeProviderAuthorizationRequest(in.Params)
	if err != nil {
		return nil, err
	}
	revokes := p.Action == canonicalwire.ProviderAuthorizationActionRevoke
	if revokes != (in.Method == canonicalwire.MethodProviderAuthRevoke) {
		return nil, errInvalid
	}
	r.mu.Lock()
	own := r.ownLocked(in.Extension, p.ProviderID)
	if own == nil {
		r.mu.Unlock()
		return nil, errForeign
	}
	if revokes {
		own.lease = ""
		own.leased++
	}
	held, decided, definition := own.lease, own.leased, own.definition
	r.mu.Unlock()
	if revokes {
		return canonicalwire.ProviderAuthorizationResult{Status: canonicalwire.ProviderAuthorizationStatusRevoked}, nil
	}
	refresh := p.Action == canonicalwire.ProviderAuthorizationActionRefresh
	switch {
	case definition.Auth.Kind == canonicalwire.ProviderAuthKindNone:
		return canonicalwire.ProviderAuthorizationResult{Status: canonicalwire.ProviderAuthorizationStatusReady}, nil
	case refresh && held == "":
		return canonicalwire.ProviderAuthorizationResult{Status: canonicalwire.ProviderAuthorizationStatusDenied}, nil
	case r.options.Authorize == nil:
		return canonicalwire.ProviderAuthorizationResult{Status: canonicalwire.ProviderAuthorizationStatusUnavailable}, nil
	}
	if p.Interactive {
		in.Waits()
	}
	scopes, _ := p.Scopes.Get()
	status, err := r.options.Authorize(ctx, Authorization{
		Extension: in.Extension.Name(), Provider: definition, Refresh: refresh, Interactive: p.Interactive, Scopes: scopes,
	})
	if err != nil {
		return nil, err
	}
	return r.decided(in.Extension, own, decided, status)
}

// decided keeps the outcome, unless something else was decided meanwhile, which then counts.
func (r *Registry) decided(x *extension.Extension, own *entry, before int64, status canonicalwire.ProviderAuthorizationStatus) (peer.Value, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ownLocked(x, own.definition.ID) != own || own.leased != before {
		return canonicalwire.ProviderAuthorizationResult{Status: canonicalwire.ProviderAuthorizationStatusRevoked}, nil
	}
	result := canonicalwire.ProviderAuthorizationResult{Status: status}
	switch status {
	case canonicalwire.ProviderAuthorizationStatusReady:
		own.lease = rand.Text()
		own.leased++
		result.Lease = wirejson.Some(own.lease)
	case canonicalwire.ProviderAuthorizationStatusDenied, canonicalwire.ProviderAuthorizationStatusRevoked:
		own.lease = ""
		own.leased++
	}
	return result, nil
}
