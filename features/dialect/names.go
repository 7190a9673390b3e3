package dialect

import (
	"errors"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// API versions with a behaviour of their own.
const (
	CanonicalAPI = "0.3" // canonical frames, a contract
	FrozenAPI    = "0.1" // no negotiation, no cancellation, no progress
)

// RPCVersion is the value of jsonrpc in every message.
const RPCVersion = "2.0"

// octetVersion is the version of octet that the referee plays the host of.
const octetVersion = "0.8.0"

// Methods that both wires have under one name, and those of the feature wire alone.
const (
	Initialize   = featurewire.MethodInitialize
	ToolCall     = featurewire.MethodToolCall
	Cancel       = featurewire.MethodCancelRequest
	Shutdown     = featurewire.MethodShutdown
	Progress     = featurewire.MethodProgress
	Notification = featurewire.MethodNotification
)

// MaxConcurrentRequests is what the referee offers.
const MaxConcurrentRequests = featurewire.MaxConcurrentRequests

// offeredServices are the optional capabilities of the contract with their methods that the referee offers an
// extension: all of them, except the bus for one whose name cannot be that of a publisher.
func offeredServices(x Extension) (capabilities, methods []string) {
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "optional" && (c.Name != canonicalwire.CapabilityEventBus || BusIdentifier(x.Name)) {
			capabilities = append(capabilities, c.Name)
		}
	}
	for _, m := range canonicalwire.Methods {
		if m.Offer == "optional" && slices.Contains(capabilities, m.Gate) {
			methods = append(methods, m.Name)
		}
	}
	return capabilities, methods
}

// BusIdentifier reports whether a publisher, a segment of a topic or a field of the bus may have a name.
func BusIdentifier(name string) bool {
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= canonicalwire.MaxBusIdentifierBytes
}

func requiredFeatures(api string) []string {
	var out []string
	for _, f := range featurewire.Features {
		if f.Required && slices.Contains(f.Versions, api) {
			out = append(out, f.Name)
		}
	}
	return out
}

// offeredFeatures are the optional features of an API version that the referee offers an extension: all of them,
// except where a manifest must ask for them first.
func (d Dialect) offeredFeatures(x Extension) []string {
	hooks, _ := x.Contributes["hooks"].([]any)
	var out []string
	for _, f := range featurewire.Features {
		switch f.Name {
		case featurewire.FeatureSecrets:
			if x.Capabilities["secrets"] == nil {
				continue
			}
		case featurewire.FeatureCompactionStrategy, featurewire.FeatureCacheWarmingDecision:
			// The feature has the name of its hook.
			if !slices.Contains(hooks, any(f.Name)) {
				continue
			}
		case featurewire.FeatureBulkObjectsV1:
			if x.Transfer == "" {
				continue
			}
		}
		if !f.Required && slices.Contains(f.Versions, d.api) {
			out = append(out, f.Name)
		}
	}
	return out
}

func requiredCapabilities() []string {
	var out []string
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "required" {
			out = append(out, c.Name)
		}
	}
	return out
}

func requiredMethods() []string {
	var out []string
	for _, m := range canonicalwire.Methods {
		if m.Offer == "required" {
			out = append(out, m.Name)
		}
	}
	return out
}

// contractIdentity returns the exact value of a member that identifies the contract.
func contractIdentity(member string) string {
	for _, row := range canonicalwire.TableContractIdentity {
		if row.Member == member {
			return row.Value
		}
	}
	panic("dialect: the contract has no " + member)
}

func (d Dialect) errors() []wirejson.ErrorCode {
	if d.Canonical() {
		return canonicalwire.Errors
	}
	return featurewire.Errors
}

func (d Dialect) methods() []wirejson.Method {
	if d.Canonical() {
		return canonicalwire.Methods
	}
	return featurewire.Methods
}

func (d Dialect) method(name string) (wirejson.Method, bool) {
	for _, m := range d.methods() {
		if m.Name == name && slices.Contains(m.Versions, d.api) {
			return m, true
		}
	}
	return wirejson.Method{}, false
}

// HostMethods are those of this API version that a host may send.
func (d Dialect) HostMethods() []wirejson.Method {
	return slices.DeleteFunc(slices.Clone(d.methods()), func(m wirejson.Method) bool {
		return m.Direction == wirejson.ExtensionToHost || m.Status == "deferred" || !slices.Contains(m.Versions, d.api)
	})
}

// Knows reports whether this API version has a method at all.
func (d Dialect) Knows(method string) bool {
	_, ok := d.method(method)
	return ok
}

// FromExtension reports whether an extension may send a method of this API version.
func (d Dialect) FromExtension(method string) bool {
	m, ok := d.method(method)
	return ok && m.Direction != wirejson.HostToExtension && m.Status != "deferred"
}

// Gate returns what opens a method of this API version: the name of a feature or capability, the word
// contributes with a member of it, or anything else for what is always open.
func (d Dialect) Gate(method string) string {
	m, _ := d.method(method)
	return m.Gate
}

// IsRequest reports whether a method of this API version is a request.
func (d Dialect) IsRequest(method string) bool {
	m, ok := d.method(method)
	return ok && !m.Notification
}

// Parent returns how a method that extensions send is tied to a request of the host.
func (d Dialect) Parent(method string) wirejson.Parent {
	m, _ := d.method(method)
	return m.Parent
}

// Hook returns the row of a hook of the feature wire that this API version has.
func (d Dialect) Hook(name string) (wirejson.Hook, bool) {
	i := slices.IndexFunc(featurewire.Hooks, func(h wirejson.Hook) bool { return h.Name == name && slices.Contains(h.Versions, d.api) })
	if i < 0 {
		return wirejson.Hook{}, false
	}
	return featurewire.Hooks[i], true
}

// Owner returns the capability that a method of the canonical wire belongs to.
func (d Dialect) Owner(method string) string {
	if !d.Canonical() {
		return ""
	}
	m, _ := d.method(method)
	return m.Gate
}

// Shape names the models of a method. An unknown method has none.
func (d Dialect) Shape(method string) wirejson.MethodShape {
	m, _ := d.method(method)
	shape, _ := m.Shape(d.api)
	return shape
}

// Violation returns the first way in which a value breaks a model. Text that is no strict JSON breaks none:
// its own rules see to it.
func (d Dialect) Violation(model string, data []byte) (*wirejson.Violation, bool) {
	validate := featurewire.ValidateModel
	if d.Canonical() {
		validate = canonicalwire.ValidateModel
	}
	var v *wirejson.Violation
	broken := errors.As(validate(model, data), &v)
	return v, broken
}
