package provider

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

var (
	errInvalid   = peer.Fail(canonicalwire.ErrInvalidParams, nil)
	errForeign   = peer.Fail(canonicalwire.ErrCapabilityMismatch, nil)
	errExhausted = peer.Fail(canonicalwire.ErrResourceExhausted, nil)
)

// register declares a provider with all its models, at once.
func (r *Registry) register(x *extension.Extension, p canonicalwire.ProviderRegisterParams) (peer.Value, error) {
	if err := judge(p.Provider, p.Models); err != nil {
		return nil, err
	}
	return r.change(func() error {
		if r.options.Reserved != nil && r.options.Reserved(p.Provider.ID) {
			return errInvalid
		}
		if live := r.liveLocked(p.Provider.ID); live != nil && (live.owner.Name() != x.Name() || live.owner.Generation() >= x.Generation()) {
			return errInvalid
		}
		if err := r.roomLocked(p.Provider.ID, len(p.Models)); err != nil {
			return err
		}
		r.entries = append(r.entries, &entry{owner: x, definition: p.Provider, models: p.Models})
		return nil
	})
}

// update replaces a provider and all its models, at once. What it needs authorization for may have changed,
// so a lease does not survive it.
func (r *Registry) update(x *extension.Extension, p canonicalwire.ProviderUpdateParams) (peer.Value, error) {
	if err := judge(p.Provider, p.Models); err != nil {
		return nil, err
	}
	return r.change(func() error {
		own, err := r.ownedLocked(x, p.Provider.ID)
		if err != nil {
			return err
		}
		if err := r.roomLocked(p.Provider.ID, len(p.Models)); err != nil {
			return err
		}
		own.definition, own.models, own.lease = p.Provider, p.Models, ""
		own.leased++
		return nil
	})
}

// unregister removes a provider with its models. Streams that run go on.
func (r *Registry) unregister(x *extension.Extension, id string) (peer.Value, error) {
	return r.change(func() error {
		own, err := r.ownedLocked(x, id)
		if err != nil {
			return err
		}
		r.entries = slices.DeleteFunc(r.entries, func(e *entry) bool { return e == own })
		return nil
	})
}

// change makes a change and answers with the catalog behind it; an error means that nothing has changed.
func (r *Registry) change(f func() error) (peer.Value, error) {
	r.mu.Lock()
	if err := f(); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	r.revision++
	result := canonicalwire.ProviderCatalogResult{Revision: r.revision, ProviderIDs: []string{}, ModelIDs: []string{}}
	for _, e := range r.catalogLocked() {
		result.ProviderIDs = append(result.ProviderIDs, e.definition.ID)
		for _, m := range e.models {
			result.ModelIDs = append(result.ModelIDs, e.definition.ID+"/"+m.ID)
		}
	}
	r.mu.Unlock()
	slices.Sort(result.ModelIDs)
	r.changed()
	return result, nil
}

// ownedLocked finds a provider that a process may change.
func (r *Registry) ownedLocked(x *extension.Extension, id string) (*entry, error) {
	if own := r.ownLocked(x, id); own != nil {
		return own, nil
	}
	if r.liveLocked(id) != nil {
		return nil, errForeign
	}
	return nil, errInvalid
}

// roomLocked reports whether the whole registry has room for a provider with so many models in place of
// what is registered under its id.
func (r *Registry) roomLocked(id string, models int) error {
	providers := 1
	for _, e := range r.catalogLocked() {
		if e.definition.ID != id {
			providers++
			models += len(e.models)
		}
	}
	if providers > canonicalwire.MaxProviders || models > canonicalwire.MaxProviderModels {
		return errExhausted
	}
	return nil
}

// judge checks what the models of the wire leave open.
func judge(p canonicalwire.ProviderDefinition, models []canonicalwire.ProviderModelDefinition) error {
	if !legalID(p.ID) {
		return errInvalid
	}
	seen := map[string]bool{}
	for _, m := range models {
		if !legalID(m.ID) || seen[m.ID] || m.ContextWindow < 1 || m.MaxOutputTokens < 1 {
			return errInvalid
		}
		seen[m.ID] = true
	}
	return nil
}

func legalID(id string) bool { return id != "" && !strings.Contains(id, "/") }
