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

// Withheld lists the features or capabilities that the host knows, that an extension of this name and version
// could be offered, and that no binding stands behind. Features of hooks that are not declared do not count.
func (x *Extension) Withheld() []string {
	var list []string
	if x.source.Manifest.Wire() == canonicalwire.Wire {
		offered := offeredCapabilities(x.bound)
		for i := range canonicalwire.Capabilities {
			if c := &canonicalwire.Capabilities[i]; c.Offer == "optional" && !slices.Contains(offered, c.Name) {
				list = append(list, c.Name)
			}
		}
		return list
	}
	everything := Binding{}
	for i := range featurewire.Features {
		everything.Features = append(everything.Features, featurewire.Features[i].Name)
	}
	offered := offeredFeatures(x.source, x.bound)
	return slices.DeleteFunc(offeredFeatures(x.source, []*Binding{&everything}), func(name string) bool {
		return slices.Contains(offered, name)
	})
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
