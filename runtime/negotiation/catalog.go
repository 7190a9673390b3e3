package negotiation

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/rules"
)

// catalog is one kind of name: what the table says of each.
type catalog struct {
	kind     string
	maxItems int
	maxBytes int
	offer    func(name string) (string, bool) // offer class of a known name
	required []string
}

var capabilities = catalog{
	kind:     "capability",
	maxItems: canonicalwire.MaxCapabilities,
	maxBytes: canonicalwire.MaxCapabilityNameBytes,
	offer: func(name string) (string, bool) {
		if c := canonicalwire.LookupCapability(name); c != nil {
			return c.Offer, true
		}
		return "", false
	},
	required: func() (names []string) {
		for _, c := range canonicalwire.Capabilities {
			if c.Offer == required {
				names = append(names, c.Name)
			}
		}
		slices.Sort(names)
		return names
	}(),
}

var methods = catalog{
	kind:     "method",
	maxItems: canonicalwire.MaxMethods,
	maxBytes: canonicalwire.MaxMethodNameBytes,
	offer: func(name string) (string, bool) {
		if m := canonicalwire.LookupMethod(name); m != nil {
			return m.Offer, true
		}
		return "", false
	},
	required: func() (names []string) {
		for _, m := range canonicalwire.Methods {
			if m.Offer == required {
				names = append(names, m.Name)
			}
		}
		slices.Sort(names)
		return names
	}(),
}

// ruleset names the rules that the checks of one document cite.
type ruleset struct {
	schema, encoding, count, length, unknown, repeated, required, gate, zero, above string
}

var (
	offerRules = ruleset{
		schema: rules.EXT03Init011, encoding: rules.EXT03Init012, count: rules.EXT03Init014, length: rules.EXT03Init015,
		unknown: rules.EXT03Init016, repeated: rules.EXT03Init016, required: rules.EXT03Init017, gate: rules.EXT03Init017,
		zero: rules.EXT03Init018, above: rules.EXT03Init019,
	}
	selectionRules = ruleset{
		schema: rules.EXT03Contract002, encoding: rules.EXT03Contract002, count: rules.EXT03Contract022, length: rules.EXT03Contract022,
		unknown: rules.EXT03Contract004, repeated: rules.EXT03Contract007, required: rules.EXT03Contract003, gate: rules.EXT03Contract008,
		zero: rules.EXT03Contract012, above: rules.EXT03Contract022,
	}
)

// checkList judges one list by itself: count, length of each name, known, no repetition.
func (c *catalog) checkList(r *ruleset, names []string) *Mismatch {
	if len(names) > c.maxItems {
		return &Mismatch{Code: canonicalwire.ErrResourceExhausted, Rule: r.count, Text: "too many names in a " + c.kind + " list"}
	}
	for _, n := range names {
		if n == "" || len(n) > c.maxBytes {
			return &Mismatch{Code: canonicalwire.ErrInvalidParams, Rule: r.length, Name: n, Text: "is empty or too long for a " + c.kind}
		}
	}
	for _, n := range names {
		if _, known := c.offer(n); !known {
			return mismatch(r.unknown, n, "is no "+c.kind+" of this API")
		}
	}
	if n, twice := duplicate(names); twice {
		return mismatch(r.repeated, n, "is listed twice")
	}
	return nil
}

// checkOffer judges the two lists of an offer.
func (c *catalog) checkOffer(r *ruleset, must, may []string) *Mismatch {
	for _, list := range [][]string{must, may} {
		if m := c.checkList(r, list); m != nil {
			return m
		}
	}
	for _, n := range may {
		if slices.Contains(must, n) {
			return mismatch(r.repeated, n, "is listed as required and as optional")
		}
	}
	for _, n := range c.required {
		if !slices.Contains(must, n) {
			return mismatch(r.required, n, "is a required "+c.kind+" and missing")
		}
	}
	for _, n := range must {
		if !slices.Contains(c.required, n) {
			return mismatch(r.required, n, "is no required "+c.kind)
		}
	}
	return c.checkAvailable(r, may)
}

// checkAvailable refuses deferred names.
func (c *catalog) checkAvailable(r *ruleset, names []string) *Mismatch {
	for _, n := range names {
		if class, _ := c.offer(n); class == unavailable {
			return mismatch(r.unknown, n, "is a deferred "+c.kind)
		}
	}
	return nil
}

// checkGates wants the capability of every method.
func checkGates(r *ruleset, listed, caps []string) *Mismatch {
	for _, n := range listed {
		if m := canonicalwire.LookupMethod(n); !slices.Contains(caps, m.Gate) {
			return mismatch(r.gate, n, "is listed without its capability "+m.Gate)
		}
	}
	return nil
}
