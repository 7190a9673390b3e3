package extension

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/policy"
)

// base lists the optional features that this package serves by itself.
var base = []string{featurewire.FeatureRequestProgress, featurewire.FeatureProgressDecoration}

// offeredFeatures are the optional features for an extension: those that bindings stand behind, its API
// version knows, its name may have, and whose own needs are offered too. A feature of the same name as a
// hook is offered only where the manifest declares the hook.
//
// Source: sheet 5.
func offeredFeatures(s *Source, bound []*Binding) []string {
	wanted := slices.Clone(base)
	var embedded []string
	for _, b := range bound {
		wanted = append(wanted, b.Features...)
		if b.Embedder {
			embedded = append(embedded, b.Features...)
		}
	}
	var offered []string
	for i := range featurewire.Features {
		f := &featurewire.Features[i]
		hook := featurewire.LookupHook(f.Name)
		if !f.Required && slices.Contains(wanted, f.Name) && slices.Contains(f.Versions, s.Manifest.API) &&
			(policy.MayOffer(s.Manifest.Name, f.Name) || slices.Contains(embedded, f.Name)) && (hook == nil || slices.Contains(s.Manifest.Contributes.Hooks, manifestdoc.Hook(f.Name))) {
			offered = append(offered, f.Name)
		}
	}
	for {
		before := len(offered)
		offered = slices.DeleteFunc(offered, func(name string) bool {
			if name == featurewire.FeatureDelegationTelemetryV1 && !slices.Contains(offered, featurewire.FeatureAgentSessions) {
				return true // it tells of agents, although nothing of it is on the wire
			}
			return slices.ContainsFunc(featurewire.LookupFeature(name).DependsOn, func(need string) bool {
				return !slices.Contains(offered, need) && !featurewire.LookupFeature(need).Required
			})
		})
		if len(offered) == before {
			return offered
		}
	}
}

// offeredCapabilities are the optional capabilities of the canonical wire that bindings stand behind.
func offeredCapabilities(bound []*Binding) []string {
	var offered []string
	for i := range canonicalwire.Capabilities {
		name := canonicalwire.Capabilities[i].Name
		if slices.ContainsFunc(bound, func(b *Binding) bool { return slices.Contains(b.Capabilities, name) }) {
			offered = append(offered, name)
		}
	}
	return offered
}

// terms puts the objects into an offer that some features come with.
func (x *Extension) terms(o *featurewire.ProtocolOffer) {
	if slices.Contains(o.OptionalFeatures, featurewire.FeatureResourceRefsV1) {
		o.Limits.ResourceRefsV1 = wirejson.Some(featurewire.ResourceRefsOffer{
			MaxRecords: featurewire.MaxResources, MaxRegistrationsPerParent: featurewire.MaxResourceRegistrations,
		})
	}
	for _, b := range x.bound {
		if b.Terms != nil {
			b.Terms(x, o)
		}
	}
}
