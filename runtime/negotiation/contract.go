package negotiation

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Contract is what an offer and a selection of API 0.3 agree on.
type Contract struct {
	Capabilities []string // ascending
	Methods      []string // ascending
	Limits       canonicalwire.ProtocolLimits
}

// HasCapability reports whether a capability was selected.
func (c *Contract) HasCapability(name string) bool { return slices.Contains(c.Capabilities, name) }

// HasMethod reports whether a method was selected.
func (c *Contract) HasMethod(name string) bool { return slices.Contains(c.Methods, name) }

// Open returns the methods that may be called under the contract, in whichever direction the method
// table gives them: selected, not deferred, and with their capability.
func (c *Contract) Open() []string {
	var open []string
	for _, name := range c.Methods {
		m := canonicalwire.LookupMethod(name)
		if m != nil && m.Offer != unavailable && c.HasCapability(m.Gate) {
			open = append(open, name)
		}
	}
	return open
}

// CheckTools refuses a catalog of more tools than the contract allows.
func (c *Contract) CheckTools(n int) error {
	if int64(n) > c.Limits.MaxTools {
		return &Mismatch{Code: canonicalwire.ErrResourceExhausted, Rule: rules.EXT03Init004, Text: "more tools than the selected limit"}
	}
	return nil
}

// CheckSessionHooks holds the contract to the session hooks of the manifest (S05). unbound reports
// that the manifest declares them and the host did not offer them, which is worth a diagnostic.
func (c *Contract) CheckSessionHooks(declared bool, offer *canonicalwire.ContractOffer) (unbound bool, err error) {
	offered := slices.Contains(offer.OptionalCapabilities, canonicalwire.CapabilityLifecycleEvents) &&
		slices.Contains(offer.OptionalMethods, canonicalwire.MethodHookRun)
	selected := c.HasMethod(canonicalwire.MethodHookRun)
	switch {
	case declared && offered && !selected:
		return false, mismatch(rules.EXT03Contract010, canonicalwire.MethodHookRun, "is declared by the manifest and offered, but not selected")
	case !declared && selected:
		return false, mismatch(rules.EXT03Contract011, canonicalwire.MethodHookRun, "is selected, but the manifest declares no session hooks")
	}
	return declared && !offered, nil
}

const (
	required    = "required"
	unavailable = "unavailable"
)

// identity returns a row of the table of exact identifiers.
func identity(member string) string {
	for _, row := range canonicalwire.TableContractIdentity {
		if row.Member == member {
			return row.Value
		}
	}
	panic("negotiation: the canonical wire has no contract member " + member)
}

var (
	schemaID   = identity("schema")
	encodingID = identity("encoding")
)

func mismatch(rule, name, text string) *Mismatch {
	return &Mismatch{Code: canonicalwire.ErrCapabilityMismatch, Rule: rule, Name: name, Text: text}
}

// namedLimit is one negotiable bound.
type namedLimit struct {
	name       string
	value, max int64
}

// negotiable are the rows of the limit table that a contract carries, in the order of ProtocolLimits.
var negotiable = func() (rows []wirejson.Limit) {
	for _, row := range canonicalwire.Limits {
		if row.Negotiable {
			rows = append(rows, row)
		}
	}
	return rows
}()

func limitsOf(l *canonicalwire.ProtocolLimits) (named [3]namedLimit) {
	for i, value := range [...]int64{l.MaxFrameBytes, l.MaxConcurrentRequests, l.MaxTools} {
		named[i] = namedLimit{negotiable[i].Name, value, negotiable[i].Value}
	}
	return named
}

func checkLimits(r *ruleset, l *canonicalwire.ProtocolLimits) *Mismatch {
	for _, n := range limitsOf(l) {
		switch {
		case n.value < 1:
			return &Mismatch{Code: canonicalwire.ErrInvalidParams, Rule: r.zero, Name: n.name, Text: "must be at least 1"}
		case n.value > n.max:
			return &Mismatch{Code: canonicalwire.ErrResourceExhausted, Rule: r.above, Name: n.name, Text: "is above the maximum of the API"}
		}
	}
	return nil
}

func checkIdentity(r *ruleset, schema, encoding string) *Mismatch {
	switch {
	case schema != schemaID:
		return &Mismatch{Code: canonicalwire.ErrVersionMismatch, Rule: r.schema, Name: schema, Text: "is another schema than " + schemaID}
	case encoding != encodingID:
		return &Mismatch{Code: canonicalwire.ErrInvalidParams, Rule: r.encoding, Name: encoding, Text: "is another encoding than " + encodingID}
	}
	return nil
}

// shape is the mismatch of a document that breaks its model.
func shape(rule string, err error) *Mismatch {
	m := &Mismatch{Code: canonicalwire.ErrInvalidParams, Rule: rule, Text: "breaks its model", Err: err}
	if v := asViolation(err); v != nil {
		if row, ok := canonicalwire.ErrorByName(v.ErrorName); ok {
			m.Code = row
		}
	}
	return m
}

// failed turns the outcome of a check into an error, nil staying nil.
func failed(m *Mismatch) error {
	if m == nil {
		return nil
	}
	return m
}

// first returns the first mismatch of checks that are run in order until one fails.
func first(checks ...func() *Mismatch) *Mismatch {
	for _, check := range checks {
		if m := check(); m != nil {
			return m
		}
	}
	return nil
}

// ValidateOffer judges an offer whose shape is right, in the order of canonical sheet section 8. The
// error is a *Mismatch.
func ValidateOffer(o *canonicalwire.ContractOffer) error {
	r := &offerRules
	return failed(first(
		func() *Mismatch { return checkIdentity(r, o.Schema, o.Encoding) },
		func() *Mismatch { return capabilities.checkOffer(r, o.RequiredCapabilities, o.OptionalCapabilities) },
		func() *Mismatch { return methods.checkOffer(r, o.RequiredMethods, o.OptionalMethods) },
		func() *Mismatch {
			return checkGates(r, slices.Concat(o.RequiredMethods, o.OptionalMethods), slices.Concat(o.RequiredCapabilities, o.OptionalCapabilities))
		},
		func() *Mismatch { return checkLimits(r, &o.Limits) },
	))
}

// ValidateSelection judges a selection by itself, like ValidateOffer.
func ValidateSelection(s *canonicalwire.ContractSelection) error {
	r := &selectionRules
	return failed(first(
		func() *Mismatch { return checkIdentity(r, s.Schema, s.Encoding) },
		func() *Mismatch { return capabilities.checkList(r, s.Capabilities) },
		func() *Mismatch { return methods.checkList(r, s.Methods) },
		func() *Mismatch { return capabilities.checkAvailable(r, s.Capabilities) },
		func() *Mismatch { return methods.checkAvailable(r, s.Methods) },
		func() *Mismatch { return checkGates(r, s.Methods, s.Capabilities) },
		func() *Mismatch { return checkLimits(r, &s.Limits) },
	))
}

// Negotiate returns what offer and selection agree on, or a *Mismatch. The offer is judged first, then
// the selection by itself, then the two against each other.
func Negotiate(o *canonicalwire.ContractOffer, s *canonicalwire.ContractSelection) (*Contract, error) {
	if err := ValidateOffer(o); err != nil {
		return nil, err
	}
	if err := ValidateSelection(s); err != nil {
		return nil, err
	}
	m := first(
		func() *Mismatch {
			return checkChosen(&capabilities, s.Capabilities, o.RequiredCapabilities, o.OptionalCapabilities, rules.EXT03Contract003, rules.EXT03Contract004)
		},
		func() *Mismatch {
			return checkChosen(&methods, s.Methods, o.RequiredMethods, o.OptionalMethods, rules.EXT03Contract005, rules.EXT03Contract006)
		},
		func() *Mismatch { return checkNeeds(s) },
		func() *Mismatch { return checkWithin(&s.Limits, &o.Limits) },
	)
	if m != nil {
		return nil, m
	}
	c := &Contract{Capabilities: slices.Clone(s.Capabilities), Methods: slices.Clone(s.Methods), Limits: s.Limits}
	slices.Sort(c.Capabilities)
	slices.Sort(c.Methods)
	return c, nil
}

// checkChosen wants all required names and none that was not offered.
func checkChosen(c *catalog, chosen, must, may []string, missing, unoffered string) *Mismatch {
	for _, n := range chosen {
		if !slices.Contains(must, n) && !slices.Contains(may, n) {
			return mismatch(unoffered, n, "was not offered")
		}
	}
	for _, n := range must {
		if !slices.Contains(chosen, n) {
			return mismatch(missing, n, "is a required "+c.kind+" and not selected")
		}
	}
	return nil
}

// checkNeeds wants the methods without which a selected capability is worth nothing.
func checkNeeds(s *canonicalwire.ContractSelection) *Mismatch {
	for _, name := range s.Capabilities {
		for _, need := range canonicalwire.LookupCapability(name).Needs {
			if !slices.Contains(s.Methods, need) {
				return mismatch(rules.EXT03Contract009, name, "is selected without its method "+need)
			}
		}
	}
	return nil
}

func checkWithin(selected, offered *canonicalwire.ProtocolLimits) *Mismatch {
	most := limitsOf(offered)
	for i, n := range limitsOf(selected) {
		if n.value > most[i].value {
			return mismatch(rules.EXT03Contract013, n.name, "is above the offered limit")
		}
	}
	return nil
}

// NegotiateJSON is Negotiate on the wire texts: shapes first, as part of each judgement.
func NegotiateJSON(offer, selection []byte) (*Contract, error) {
	o, err := canonicalwire.DecodeContractOffer(offer)
	if err != nil {
		return nil, shape(rules.EXT03Init013, err)
	}
	if err := ValidateOffer(&o); err != nil {
		return nil, err
	}
	s, err := canonicalwire.DecodeContractSelection(selection)
	if err != nil {
		return nil, shape(rules.EXT03Contract001, err)
	}
	return Negotiate(&o, &s)
}
