package negotiation

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/rules"
)

// Agreement is what an offer and a selection of the feature wire agree on.
type Agreement struct {
	Version         string
	Features        []string // ascending
	MaxConcurrent   int64    // the selected bound, cut to the offer
	LifecycleEvents []featurewire.LifecycleEvent
}

// Has reports whether a feature was selected.
func (a *Agreement) Has(feature string) bool { return slices.Contains(a.Features, feature) }

// Open returns the methods that may be used under the agreement, in whichever direction the method
// table gives them. closed lists methods that the manifest does not open, such as that of
// notifications it does not declare.
func (a *Agreement) Open(closed ...string) []string {
	var open []string
	for i := range featurewire.Methods {
		m := &featurewire.Methods[i]
		gate := GateFeature(m.Gate)
		if slices.Contains(m.Versions, a.Version) && !slices.Contains(closed, m.Name) && (gate == "" || a.Has(gate)) {
			open = append(open, m.Name)
		}
	}
	return open
}

// GateFeature returns the feature that a gate of the method table names, whatever it asks for besides, or "".
func GateFeature(gate string) string {
	name, _, _ := strings.Cut(gate, " ")
	if featurewire.LookupFeature(name) == nil {
		return ""
	}
	return name
}

// Legacy returns the agreement of API 0.1, which negotiates nothing.
func Legacy() *Agreement {
	return &Agreement{Version: featurewire.Version01, MaxConcurrent: featurewire.MaxConcurrentRequests}
}

// concurrencyLimit is the name of the one limit that the feature wire negotiates.
var concurrencyLimit = func() string {
	for _, row := range featurewire.Limits {
		if row.Negotiable {
			return row.Name
		}
	}
	panic("negotiation: the feature wire has no negotiable limit")
}()

func refused(rule, name, text string) *Mismatch {
	return &Mismatch{Code: featurewire.ErrServerError, Rule: rule, Name: name, Text: text}
}

func brokenShape(rule string, err error) *Mismatch {
	m := refused(rule, "", "breaks its model")
	m.Err = err
	if v := asViolation(err); v != nil {
		if row, ok := featurewire.ErrorByName(v.ErrorName); ok {
			m.Code = row
		}
	}
	return m
}

// selectionRule is the rule that a selection of a wrong shape breaks, by the member it is about.
func selectionRule(err error) string {
	v := asViolation(err)
	if v == nil {
		return rules.EXT04Neg001
	}
	switch member := strings.SplitN(v.Pointer, "/", 3); {
	case len(member) < 2:
		return rules.EXT04Neg001
	case member[1] == "features":
		return rules.EXT04Neg002
	case member[1] == "limits":
		return rules.EXT04Neg005
	case member[1] == "lifecycle_events":
		return rules.EXT04Neg006
	}
	return rules.EXT04Neg001
}

// CheckOffer judges an offer as the extension of an API version does: the version, and that every
// required feature is among those it supports (all required ones of the table, and extra). The error
// is a *Mismatch.
func CheckOffer(api string, o *featurewire.ProtocolOffer, extra ...string) error {
	if o.Version != api {
		return refused(rules.EXT04Init014, o.Version, "is another version than "+api)
	}
	if missing := Unsupported(o, extra...); len(missing) > 0 {
		return refused(rules.EXT04Neg008, missing[0], "is required by the host and not supported")
	}
	return nil
}

// Unsupported returns the required features of an offer that an extension does not support, in the
// order of the offer: what its refusal lists.
func Unsupported(o *featurewire.ProtocolOffer, extra ...string) []string {
	var missing []string
	for _, name := range o.RequiredFeatures {
		f := featurewire.LookupFeature(name)
		known := f != nil && slices.Contains(f.Versions, o.Version)
		if !known || !f.Required && !slices.Contains(extra, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// CheckSelection judges a selection against the offer as the host does. The error is a *Mismatch.
func CheckSelection(api string, o *featurewire.ProtocolOffer, s *featurewire.ProtocolSelection) error {
	_, err := NegotiateFeatures(api, o, s)
	return err
}

// NegotiateFeatures returns what offer and selection agree on in an API version, or a *Mismatch.
func NegotiateFeatures(api string, o *featurewire.ProtocolOffer, s *featurewire.ProtocolSelection) (*Agreement, error) {
	m := first(
		func() *Mismatch {
			if o.Version != api || s.Version != o.Version {
				return refused(rules.EXT04Neg001, s.Version, "is another version than "+o.Version)
			}
			return nil
		},
		func() *Mismatch { return checkFeatures(o, s.Features) },
		func() *Mismatch { return checkDependencies(s.Features) },
		func() *Mismatch {
			if s.Limits.MaxConcurrentRequests < 1 {
				return refused(rules.EXT04Neg005, concurrencyLimit, "must be at least 1")
			}
			return nil
		},
		func() *Mismatch { return checkEvents(s) },
	)
	if m != nil {
		return nil, m
	}
	return &Agreement{
		Version:         s.Version,
		Features:        slices.Sorted(slices.Values(s.Features)),
		MaxConcurrent:   min(s.Limits.MaxConcurrentRequests, o.Limits.MaxConcurrentRequests),
		LifecycleEvents: s.LifecycleEvents.Or(nil),
	}, nil
}

func checkFeatures(o *featurewire.ProtocolOffer, chosen []string) *Mismatch {
	for _, n := range o.RequiredFeatures {
		if !slices.Contains(chosen, n) {
			return refused(rules.EXT04Neg002, n, "is a required feature and not selected")
		}
	}
	for _, n := range chosen {
		offered := slices.Contains(o.RequiredFeatures, n) || slices.Contains(o.OptionalFeatures, n)
		if f := featurewire.LookupFeature(n); !offered || f == nil || !slices.Contains(f.Versions, o.Version) {
			return refused(rules.EXT04Neg003, n, "was not offered, or is no feature of this version")
		}
	}
	if n, twice := duplicate(chosen); twice {
		return refused(rules.EXT04Neg004, n, "is selected twice")
	}
	return nil
}

func checkDependencies(chosen []string) *Mismatch {
	for _, n := range chosen {
		for _, need := range featurewire.LookupFeature(n).DependsOn {
			if !slices.Contains(chosen, need) {
				return refused(rules.EXT04Neg020, n, "is selected without "+need+", on which it depends")
			}
		}
	}
	return nil
}

// checkEvents refuses a subscription without its feature (S19).
func checkEvents(s *featurewire.ProtocolSelection) *Mismatch {
	events := s.LifecycleEvents.Or(nil)
	if len(events) > 0 && !slices.Contains(s.Features, featurewire.FeatureLifecycleEvents) {
		return refused(rules.EXT04Neg006, string(events[0]), "is subscribed without the feature "+featurewire.FeatureLifecycleEvents)
	}
	for _, e := range events {
		if !e.Known() {
			return refused(rules.EXT04Neg006, string(e), "is no lifecycle event")
		}
	}
	return nil
}

// NegotiateFeaturesJSON is NegotiateFeatures on the wire texts, shapes first.
func NegotiateFeaturesJSON(api string, offer, selection []byte) (*Agreement, error) {
	o, err := featurewire.DecodeProtocolOffer(offer)
	if err != nil {
		return nil, brokenShape(rules.EXT04Init014, err)
	}
	s, err := featurewire.DecodeProtocolSelection(selection)
	if err != nil {
		return nil, brokenShape(selectionRule(err), err)
	}
	return NegotiateFeatures(api, &o, &s)
}
