package faultypeer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// initializeCanonical negotiates the contract.
func (p *peer) initializeCanonical(id, params json.RawMessage) {
	p.offer = params
	if name, data := p.offerFault(params); name != "" {
		p.failure(id, name, data)
		if !p.does("survive-refusal") {
			p.end(exitRefused)
		}
		return
	}
	p.moment("initialize")
	if p.does("drop-initialize") {
		return
	}
	selection := p.selection()
	frame := encode(obj{"id": id, "jsonrpc": "2.0", "result": selection})
	if offered := integer(at(params, "contract", "limits", "max_frame_bytes")); len(frame) > offered && !p.ignores("offered-frame-bound") {
		p.failure(id, "resource_exhausted", nil)
		p.end(exitRefused)
		return
	}
	p.ready = true
	p.result(canonicalwire.MethodInitialize, id, selection)
	contract, _ := selection["contract"].(obj)
	selected, _ := contract["methods"].([]any)
	for _, name := range selected {
		p.opt.methods = append(p.opt.methods, fmt.Sprint(name))
	}
	if limits, ok := contract["limits"].(obj); ok {
		if n, ok := limits["max_frame_bytes"].(int); ok {
			p.bound = n
		}
		if n, ok := limits["max_concurrent_requests"].(int); ok {
			p.most = n
		}
	}
	p.moment("initialized")
}

func integer(raw json.RawMessage) int {
	n, _ := strconv.Atoi(string(raw))
	return n
}

// selection is the result of initialize.
func (p *peer) selection() obj {
	offered := at(p.offer, "contract", "limits")
	capabilities := list(required("capabilities")...)
	methods := list(required("methods")...)
	capabilities, methods = p.selectOptional(capabilities, methods)
	return obj{
		"api_version": p.api,
		"tools":       p.catalog(),
		"contract": obj{
			"schema": at2(p.offer, "schema"), "encoding": at2(p.offer, "encoding"),
			"capabilities": capabilities, "methods": methods,
			"limits": obj{
				"max_frame_bytes":         integer(at(offered, "max_frame_bytes")),
				"max_concurrent_requests": min(integer(at(offered, "max_concurrent_requests")), 8),
				"max_tools":               integer(at(offered, "max_tools")),
			},
		},
	}
}

func at2(offer json.RawMessage, name string) string {
	s, _ := text(at(offer, "contract", name))
	return s
}

// hooksWanted reports whether session hooks are declared and offered.
func (p *peer) hooksWanted() bool {
	return len(texts(at(p.offer, "contributes", "hooks"))) > 0 &&
		slices.Contains(texts(at(p.offer, "contract", "optional_methods")), canonicalwire.MethodHookRun)
}

// required is the exact required set of capabilities or methods.
func required(what string) []string {
	var out []string
	if what == "capabilities" {
		for _, c := range canonicalwire.Capabilities {
			if c.Offer == "required" {
				out = append(out, c.Name)
			}
		}
		return out
	}
	for _, m := range canonicalwire.Methods {
		if m.Offer == "required" {
			out = append(out, m.Name)
		}
	}
	return out
}

// offerFault names the error that an initialize deserves, or nothing.
func (p *peer) offerFault(params json.RawMessage) (name string, data any) {
	version, isText := text(at(params, "api_version"))
	if isText && version != p.api && !p.ignores("api-version") {
		return "version_mismatch", obj{"expected": p.api, "received": version}
	}
	if fault := p.model("InitializeRequest", params, "initialize-model"); fault != "" {
		if fault == "resource_exhausted" && p.ignores("list-bounds") {
			return "", nil
		}
		return fault, nil
	}
	contract := at(params, "contract")
	if schema, _ := text(at(contract, "schema")); schema != identity("schema") && !p.ignores("schema") {
		return "version_mismatch", obj{"expected": identity("schema"), "received": schema}
	}
	if encoding, _ := text(at(contract, "encoding")); encoding != identity("encoding") && !p.ignores("encoding") {
		return "invalid_params", nil
	}
	for _, what := range []string{"capabilities", "methods"} {
		if fault := p.listFault(contract, what); fault != "" {
			return fault, nil
		}
	}
	return p.limitFault(at(contract, "limits")), nil
}

func identity(member string) string {
	for _, row := range canonicalwire.TableContractIdentity {
		if row.Member == member {
			return row.Value
		}
	}
	return ""
}

// listFault judges one pair of name lists of an offer.
func (p *peer) listFault(contract json.RawMessage, what string) string {
	must, may := texts(at(contract, "required_"+what)), texts(at(contract, "optional_"+what))
	all := slices.Concat(must, may)
	bytes := canonicalwire.MaxCapabilityNameBytes
	if what == "methods" {
		bytes = canonicalwire.MaxMethodNameBytes
	}
	seen := map[string]bool{}
	for _, name := range all {
		if (name == "" || len(name) > bytes) && !p.ignores("name-length") {
			return "invalid_params"
		}
		if (seen[name] || !selectable(what, name)) && !p.ignores("names") {
			return "capability_mismatch"
		}
		seen[name] = true
	}
	want := required(what)
	exact := len(must) == len(want) && !slices.ContainsFunc(want, func(n string) bool { return !slices.Contains(must, n) })
	if !exact && !p.ignores("required-set") {
		return "capability_mismatch"
	}
	if what == "methods" && !p.ignores("required-set") {
		offered := slices.Concat(texts(at(contract, "required_capabilities")), texts(at(contract, "optional_capabilities")))
		for _, name := range all {
			if m := canonicalwire.LookupMethod(name); m != nil && !slices.Contains(offered, m.Gate) {
				return "capability_mismatch"
			}
		}
	}
	return ""
}

// selectable reports whether a name is known and not deferred.
func selectable(what, name string) bool {
	if what == "capabilities" {
		c := canonicalwire.LookupCapability(name)
		return c != nil && c.Offer != "unavailable"
	}
	m := canonicalwire.LookupMethod(name)
	return m != nil && m.Offer != "unavailable"
}

func (p *peer) limitFault(limits json.RawMessage) string {
	for _, bound := range []struct {
		name string
		top  int
	}{
		{"max_frame_bytes", canonicalwire.MaxFrameBytes},
		{"max_concurrent_requests", canonicalwire.MaxConcurrentRequests},
		{"max_tools", canonicalwire.MaxTools},
	} {
		n := integer(at(limits, bound.name))
		if n < 1 && !p.ignores("zero-limit") {
			return "invalid_params"
		}
		if n > bound.top && !p.ignores("limit-maximum") {
			return "resource_exhausted"
		}
	}
	return ""
}
