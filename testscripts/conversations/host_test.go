package conversations

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// What the host of every talk offers.
const (
	concurrency    = featurewire.MaxConcurrentRequests
	canonicalFrame = canonicalwire.MaxFrameBytes
)

// tools are those of the showcase, in every version and on the feature wire alone.
var (
	tools        = []string{"big", "child", "count", "fail", "later", "print", "refuse", "remember", "seen", "use", "wait"}
	featureTools = []string{"forget", "learn", "media", "ready", "report"}
)

// contributions is the manifest of the showcase in one API version, as initialize tells it. A hook behind a
// feature is declared only where the feature is offered: a declared one that is not selected is a mismatch.
func contributions(api string, offered []string) dialect.Object {
	if api == dialect.CanonicalAPI {
		given := dialect.Object{"tools": list(tools...)}
		if slices.Contains(offered, canonicalwire.CapabilityLifecycleEvents) {
			given["hooks"] = list(manifestdoc.TableHookPairs[0].First, manifestdoc.TableHookPairs[0].Second)
		}
		return dialect.Contributions(given)
	}
	var hooks []any
	for i := range featurewire.Hooks {
		hook := &featurewire.Hooks[i]
		if slices.Contains(hook.Versions, api) && (hook.Feature == "-" || slices.Contains(offered, hook.Feature)) {
			hooks = append(hooks, hook.Name)
		}
	}
	given := dialect.Object{
		"tools": list(append(slices.Clone(tools), featureTools...)...), "commands": list("echo", "fail"), "hooks": hooks,
		"ui": list("status", "header", "footer"), "context": true, "tool_renderers": list("count"), "notifications": true, "confirmations": true,
	}
	if api != dialect.FrozenAPI {
		given["presentation"], given["menu"] = true, true
	}
	return dialect.Contributions(given)
}

func list(values ...string) []any {
	all := make([]any, 0, len(values))
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// owner is what every context of the talks carries where the version has owners.
func owner() dialect.Object {
	return dialect.Object{"session_id": "o1", "extension_instance_id": "i1", "process_generation": 1}
}

// usualContext is that of every call.
func usualContext(api string) dialect.Object {
	c := dialect.Object{
		"workspace": "/w", "execution_scope": nil,
		"host": dialect.Object{"session_id": "s1", "session_name": nil, "model": "m", "reasoning": nil, "active_skills": []any{}},
	}
	if api != dialect.FrozenAPI && api != dialect.CanonicalAPI {
		c["resource_owner"] = owner()
	}
	return c
}

// initialize builds the params of the first frame with the talk's offer. The second result is that offer: a
// protocol, a contract, or nil.
func (t *talk) initialize(api, scratch string) (params, offer dialect.Object, err error) {
	d, err := dialect.For(api)
	if err != nil {
		return nil, nil, err
	}
	contributes := contributions(api, t.offer)
	maps.Copy(contributes, t.declare)
	params = d.Initialize(dialect.Extension{
		Name: "showcase", Version: "1.0.0", ManifestPath: filepath.FromSlash("/x/showcase/extension.toml"), Workspace: "/w",
		Contributes: contributes, Capabilities: t.grants, FlagValues: t.flags,
	})
	switch {
	case d.Canonical():
		contract, err := negotiation.Offer(canonicalFrame, concurrency, t.offer...)
		if err != nil {
			return nil, nil, err
		}
		offer = decode(contract.AppendJSON(nil))
		params["contract"] = offer
	case d.Negotiates():
		protocol, err := negotiation.OfferFeatures(api, concurrency, t.offer...)
		if err != nil {
			return nil, nil, err
		}
		offer = decode(protocol.AppendJSON(nil))
		t.offerBounds(offer, scratch)
		params["protocol"] = offer
	}
	return params, offer, nil
}

// offerBounds adds what the offer tells about the features that have bounds of their own (sheet 3.1, 12.9).
func (t *talk) offerBounds(protocol dialect.Object, scratch string) {
	if slices.Contains(t.offer, featurewire.FeatureResourceRefsV1) {
		protocol["limits"].(dialect.Object)["resource_refs_v1"] = dialect.Object{
			"max_records": featurewire.MaxResources, "max_registrations_per_parent": featurewire.MaxResourceRegistrations,
		}
	}
	if slices.Contains(t.offer, featurewire.FeatureBulkObjectsV1) {
		protocol["bulk_objects_v1"] = dialect.Object{
			"profile": featurewire.BulkProfileLocalFileV1, "transfer_directory": filepath.ToSlash(scratch), "limits": dialect.Object{
				"object_bytes": featurewire.MaxBulkObjectBytes, "owner_bytes": featurewire.MaxBulkOwnerBytes,
				"write_tickets_per_generation": featurewire.MaxBulkWriteTickets, "read_leases_per_generation": featurewire.MaxBulkReadLeases,
				"blobs_per_owner": featurewire.MaxBulkBlobs,
			},
		}
	}
}
