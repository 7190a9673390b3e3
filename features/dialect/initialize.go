package dialect

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Extension is what a host knows of an extension before it starts it: the manifest's facts as they
// appear in initialize.
type Extension struct {
	Name         string
	Guessed      bool // there is no manifest, and what the extension calls itself is not known
	Version      string
	ManifestPath string
	Workspace    string
	Capabilities Object // filesystem, process, network, and secrets when not empty
	Contributes  Object // see Contributions
	FlagValues   []any  // {name, value} objects sorted by name
	Scratch      string // OCTET_EXTENSION_SCRATCH; empty where the extension has none
	Transfer     string // the directory of bulk objects; empty where none are offered
}

// Contributions fills the members that contributes always has and keeps the given ones.
func Contributions(given Object) Object {
	all := Object{
		"tools": []any{}, "commands": []any{}, "hooks": []any{}, "ui": []any{}, "context": false, "tool_renderers": []any{},
		"notifications": false, "confirmations": false,
	}
	for k, v := range given {
		all[k] = v
	}
	return all
}

// Grants fills the members that capabilities always has and keeps the given ones.
func Grants(given Object) Object {
	all := Object{"filesystem": "none", "process": false, "network": false}
	for k, v := range given {
		all[k] = v
	}
	return all
}

// Initialize builds the params a host sends for this extension, with the standard offer of everything
// the referee can judge.
func (d Dialect) Initialize(x Extension) Object {
	params := Object{
		"api_version":   d.api,
		"octet_version": octetVersion,
		"extension":     Object{"name": x.Name, "version": x.Version, "manifest_path": x.ManifestPath, "source": "explicit"},
		"workspace":     x.Workspace,
		"capabilities":  Grants(x.Capabilities),
		"contributes":   Contributions(x.Contributes),
		"host":          hostState(),
	}
	switch {
	case d.Canonical():
		params["flag_values"] = nonNil(x.FlagValues)
		params["contract"] = offer(x)
	case d.Negotiates():
		if len(x.FlagValues) > 0 {
			params["flag_values"] = x.FlagValues
		}
		params["protocol"] = d.protocol(x)
	}
	return params
}

func nonNil(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func names(list []string) []any {
	out := make([]any, len(list))
	for i, name := range list {
		out[i] = name
	}
	return out
}

func (d Dialect) protocol(x Extension) Object {
	features := d.offeredFeatures(x)
	limits := Object{"max_concurrent_requests": MaxConcurrentRequests}
	p := Object{
		"version":           d.api,
		"required_features": names(requiredFeatures(d.api)),
		"optional_features": names(features),
		"limits":            limits,
	}
	if slices.Contains(features, featurewire.FeatureResourceRefsV1) {
		limits[featurewire.FeatureResourceRefsV1] = Object{"max_records": featurewire.MaxResources, "max_registrations_per_parent": featurewire.MaxResourceRegistrations}
	}
	if slices.Contains(features, featurewire.FeatureBulkObjectsV1) {
		p[featurewire.FeatureBulkObjectsV1] = Object{
			"profile": string(featurewire.BulkProfileLocalFileV1), "transfer_directory": x.Transfer,
			"limits": Object{
				"object_bytes": featurewire.MaxBulkObjectBytes, "owner_bytes": featurewire.MaxBulkOwnerBytes,
				"write_tickets_per_generation": featurewire.MaxBulkWriteTickets, "read_leases_per_generation": featurewire.MaxBulkReadLeases,
				"blobs_per_owner": featurewire.MaxBulkBlobs,
			},
		}
	}
	return p
}

func offer(x Extension) Object {
	capabilities, methods := offeredServices(x)
	return Object{
		"schema":                contractIdentity("schema"),
		"encoding":              contractIdentity("encoding"),
		"required_capabilities": names(requiredCapabilities()),
		"optional_capabilities": names(capabilities),
		"required_methods":      names(requiredMethods()),
		"optional_methods":      names(methods),
		"limits": Object{
			"max_frame_bytes":         canonicalwire.MaxFrameBytes,
			"max_concurrent_requests": canonicalwire.MaxConcurrentRequests,
			"max_tools":               canonicalwire.MaxTools,
		},
	}
}
