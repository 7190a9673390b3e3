package negotiation

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Offer returns a host's offer: the required names, the optional capabilities that the host binds
// with all their methods, and the limits as configured, cut to the maxima of the API. The error is a
// *Mismatch: a limit below 1, or a capability that cannot be offered.
func Offer(maxFrameBytes, maxConcurrent int64, bound ...string) (canonicalwire.ContractOffer, error) {
	o := canonicalwire.ContractOffer{
		Schema:               schemaID,
		Encoding:             encodingID,
		RequiredCapabilities: slices.Clone(capabilities.required),
		OptionalCapabilities: slices.Sorted(slices.Values(bound)),
		RequiredMethods:      slices.Clone(methods.required),
		OptionalMethods:      []string{},
		Limits: canonicalwire.ProtocolLimits{
			MaxFrameBytes:         min(maxFrameBytes, canonicalwire.MaxFrameBytes),
			MaxConcurrentRequests: min(maxConcurrent, canonicalwire.MaxConcurrentRequests),
			MaxTools:              canonicalwire.MaxTools,
		},
	}
	if o.OptionalCapabilities == nil {
		o.OptionalCapabilities = []string{}
	}
	o.OptionalMethods = append(o.OptionalMethods, methodsOf(bound, func(*wirejson.Method) bool { return true })...)
	return o, ValidateOffer(&o)
}

// methodsOf returns the optional methods of some capabilities, ascending.
func methodsOf(caps []string, keep func(*wirejson.Method) bool) []string {
	var names []string
	for i := range canonicalwire.Methods {
		m := &canonicalwire.Methods[i]
		if m.Offer != required && m.Offer != unavailable && slices.Contains(caps, m.Gate) && keep(m) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Select returns an extension's selection from a valid offer: the required names, and of the wanted
// optional capabilities those that are offered, with the offered ones of their methods. A capability
// whose indispensable method is not offered is left out. Limits are the offered ones, or those of most
// where they are lower and not 0.
func Select(o *canonicalwire.ContractOffer, most canonicalwire.ProtocolLimits, wanted ...string) canonicalwire.ContractSelection {
	var caps []string
	for _, name := range wanted {
		c := canonicalwire.LookupCapability(name)
		usable := c != nil && slices.Contains(o.OptionalCapabilities, name) && !slices.Contains(caps, name)
		for i := 0; usable && i < len(c.Needs); i++ {
			usable = slices.Contains(o.OptionalMethods, c.Needs[i])
		}
		if usable {
			caps = append(caps, name)
		}
	}
	offered := func(m *wirejson.Method) bool { return slices.Contains(o.OptionalMethods, m.Name) }
	s := canonicalwire.ContractSelection{
		Schema:       schemaID,
		Encoding:     encodingID,
		Capabilities: slices.Sorted(slices.Values(slices.Concat(capabilities.required, caps))),
		Methods:      slices.Sorted(slices.Values(slices.Concat(methods.required, methodsOf(caps, offered)))),
		Limits:       o.Limits,
	}
	lower := func(limit *int64, to int64) {
		if to > 0 {
			*limit = min(*limit, to)
		}
	}
	lower(&s.Limits.MaxFrameBytes, most.MaxFrameBytes)
	lower(&s.Limits.MaxConcurrentRequests, most.MaxConcurrentRequests)
	lower(&s.Limits.MaxTools, most.MaxTools)
	return s
}

// OfferFeatures returns a host's offer of an API version: the required features of the table, the
// optional ones it binds, and its concurrency, cut to the bound of the wire. The error is a *Mismatch:
// a feature that the version does not know, or a concurrency below 1.
func OfferFeatures(api string, maxConcurrent int64, bound ...string) (featurewire.ProtocolOffer, error) {
	o := featurewire.ProtocolOffer{Version: api, RequiredFeatures: []string{}, OptionalFeatures: []string{}}
	o.Limits.MaxConcurrentRequests = min(maxConcurrent, featurewire.MaxConcurrentRequests)
	if maxConcurrent < 1 {
		return o, refused(rules.EXT04Init016, concurrencyLimit, "must be at least 1")
	}
	for i := range featurewire.Features {
		f := &featurewire.Features[i]
		switch known := slices.Contains(f.Versions, api); {
		case known && f.Required:
			o.RequiredFeatures = append(o.RequiredFeatures, f.Name)
		case known && slices.Contains(bound, f.Name):
			o.OptionalFeatures = append(o.OptionalFeatures, f.Name)
		}
	}
	for _, n := range bound {
		if !slices.Contains(o.OptionalFeatures, n) && !slices.Contains(o.RequiredFeatures, n) {
			return o, refused(rules.EXT04Init015, n, "is no feature of version "+api)
		}
	}
	return o, nil
}

// SelectFeatures returns an extension's selection from an offer that CheckOffer accepts: the required
// features, and of the wanted ones those that are offered together with what they depend on. most is
// the concurrency the extension wants; 0, or more than is offered, gives the offer.
func SelectFeatures(o *featurewire.ProtocolOffer, most int64, wanted ...string) featurewire.ProtocolSelection {
	s := featurewire.ProtocolSelection{Version: o.Version, Features: slices.Clone(o.RequiredFeatures)}
	var take func(f *wirejson.Feature) bool
	take = func(f *wirejson.Feature) bool {
		switch {
		case f == nil || !slices.Contains(f.Versions, o.Version):
			return false
		case slices.Contains(s.Features, f.Name):
			return true
		case !slices.Contains(o.OptionalFeatures, f.Name):
			return false
		}
		before := len(s.Features)
		for _, need := range f.DependsOn {
			if !slices.Contains(wanted, need) && !slices.Contains(s.Features, need) || !take(featurewire.LookupFeature(need)) {
				s.Features = s.Features[:before]
				return false
			}
		}
		s.Features = append(s.Features, f.Name)
		return true
	}
	for _, name := range wanted {
		take(featurewire.LookupFeature(name))
	}
	s.Limits.MaxConcurrentRequests = o.Limits.MaxConcurrentRequests
	if most > 0 {
		s.Limits.MaxConcurrentRequests = min(most, o.Limits.MaxConcurrentRequests)
	}
	return s
}
