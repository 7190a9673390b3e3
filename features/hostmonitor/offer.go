package hostmonitor

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// offerRules are the rules about what a host offers on the feature wire and never sends, beside those of the
// ruleset.
var offerRules = []string{
	ruleIdentity, ruleGrants, ruleProtocol, ruleRequests, ruleState, ruleKnown, ruleReserved, ruleReservedNotice, ruleDecoration, ruleAgents,
	ruleAgentsAlone, ruleCompletionAlone, ruleInterceptionAlone, ruleApprovalsAlone, ruleResources, ruleBulk, ruleSecrets, ruleBus,
}

const (
	ruleIdentity          = "EXT04-INIT-010"
	ruleGrants            = "EXT04-INIT-011"
	ruleProtocol          = "EXT04-INIT-014"
	ruleRequests          = "EXT04-INIT-016"
	ruleState             = "EXT04-INIT-019"
	ruleKnown             = "EXT04-NEG-027"
	ruleReserved          = "EXT04-NEG-028"
	ruleReservedNotice    = "EXT04-ORDER-012"
	ruleDecoration        = "EXT04-PROG-013"
	ruleAgents            = "EXT04-AGENT-009"
	ruleAgentsAlone       = "EXT04-AGENT-010"
	ruleCompletionAlone   = "EXT04-COMPLETE-004"
	ruleInterceptionAlone = "EXT04-UI-007"
	ruleApprovalsAlone    = "EXT04-POLICY-004"
	ruleResources         = "EXT04-RES-005"
	ruleBulk              = "EXT04-BULK-003"
	ruleSecrets           = "EXT04-SECRET-002"
	ruleBus               = "EXT04-BUS-002"
)

// placeRules are the rules about members of initialize, by the beginning of a pointer.
var placeRules = []struct{ place, rule string }{
	{"/extension", ruleIdentity},
	{"/capabilities", ruleGrants},
	{"/workspace", ruleState},
	{"/host", ruleState},
	{"/protocol/" + fw.FeatureBulkObjectsV1, ruleBulk},
	{"/protocol/limits/" + fw.FeatureResourceRefsV1, ruleResources},
	{"/protocol", ruleProtocol},
}

// placeRule finds the rule about a member of initialize; empty for none.
func placeRule(v *wirejson.Violation) string {
	for _, row := range placeRules {
		if v.Pointer == row.place || strings.HasPrefix(v.Pointer, row.place+"/") {
			return row.rule
		}
	}
	return ""
}

// together are features that are offered only where another one is.
var together = []struct{ feature, other, rule string }{
	{fw.FeatureRequestProgress, fw.FeatureProgressDecoration, ruleDecoration},
	{fw.FeatureAgentSessions, fw.FeatureAgentModelSelectionV1, ruleAgents},
	{fw.FeatureAgentSessions, fw.FeatureDelegationTelemetryV1, ruleAgents},
	{fw.FeatureAgentSessionEventsV1, fw.FeatureAgentSessions, ruleAgentsAlone},
	{fw.FeatureAgentSessionLifetimeV1, fw.FeatureAgentSessions, ruleAgentsAlone},
	{fw.FeatureAutocompleteEditV1, fw.FeatureAutocomplete, ruleCompletionAlone},
	{fw.FeatureTerminalInputInterceptV1, fw.FeatureRemoteUI, ruleInterceptionAlone},
	{fw.FeatureApprovals, fw.FeaturePolicyIntents, ruleApprovalsAlone},
}

// offer judges what the models of initialize leave open on the feature wire.
func (m *Monitor) offer(f wire.Frame, params []byte) {
	var p struct {
		Workspace string `json:"workspace"`
		Extension struct {
			Path string `json:"manifest_path"`
		} `json:"extension"`
		Capabilities struct {
			Secrets *[]string `json:"secrets"`
		} `json:"capabilities"`
		Protocol *struct {
			Version  string   `json:"version"`
			Required []string `json:"required_features"`
			Optional []string `json:"optional_features"`
			Limits   struct {
				Requests  int `json:"max_concurrent_requests"`
				Resources *struct {
					Records       int `json:"max_records"`
					Registrations int `json:"max_registrations_per_parent"`
				} `json:"resource_refs_v1"`
			} `json:"limits"`
			Bulk json.RawMessage `json:"bulk_objects_v1"`
		} `json:"protocol"`
	}
	if m.dialect.Canonical() || json.Unmarshal(params, &p) != nil {
		return
	}
	if !filepath.IsAbs(p.Extension.Path) {
		m.report(ruleIdentity, f, "manifest_path is %q, want an absolute path", p.Extension.Path)
	}
	if !filepath.IsAbs(p.Workspace) {
		m.report(ruleState, f, "workspace is %q, want an absolute path", p.Workspace)
	}
	asks := p.Capabilities.Secrets
	if asks != nil && len(*asks) == 0 {
		m.report(ruleGrants, f, "secrets is an empty list; leave it out")
	}
	if p.Protocol == nil {
		return
	}
	o := p.Protocol
	if o.Version != m.dialect.API() || !slices.Equal(slices.Sorted(slices.Values(o.Required)), required(m.dialect)) {
		m.report(ruleProtocol, f, "the offer has the version %q and requires %q, want %q and %q", o.Version, o.Required, m.dialect.API(), required(m.dialect))
	}
	if o.Limits.Requests > fw.MaxConcurrentRequests {
		m.report(ruleRequests, f, "max_concurrent_requests is %d, want at most %d", o.Limits.Requests, fw.MaxConcurrentRequests)
	}
	m.features(f, o.Optional)
	has := func(feature string) bool { return slices.Contains(o.Optional, feature) }
	if r := o.Limits.Resources; has(fw.FeatureResourceRefsV1) && (r == nil || r.Records != fw.MaxResources || r.Registrations != fw.MaxResourceRegistrations) {
		m.report(ruleResources, f, "the limits of resources are %+v, want %d records and %d registrations", r, fw.MaxResources, fw.MaxResourceRegistrations)
	}
	if has(fw.FeatureBulkObjectsV1) != (o.Bulk != nil) {
		m.report(ruleBulk, f, "%q is offered, or has terms, without the other", fw.FeatureBulkObjectsV1)
	}
	if has(fw.FeatureSecrets) && asks == nil {
		m.report(ruleSecrets, f, "%q is offered to an extension that asks for none", fw.FeatureSecrets)
	}
}

// required are the features that every offer requires, sorted.
func required(d dialect.Dialect) []string {
	var list []string
	for _, row := range fw.Features {
		if row.Required && slices.Contains(row.Versions, d.API()) {
			list = append(list, row.Name)
		}
	}
	slices.Sort(list)
	return list
}

// features judges the names of an offer.
func (m *Monitor) features(f wire.Frame, offered []string) {
	for _, name := range offered {
		row := fw.LookupFeature(name)
		switch {
		case slices.ContainsFunc(fw.TableReservedNames, func(r fw.ReservedNamesRow) bool { return r.Name == name }):
			m.report(ruleReserved, f, "the reserved feature %q is offered", name)
		case row == nil || !slices.Contains(row.Versions, m.dialect.API()):
			m.report(ruleKnown, f, "API %s knows no feature %q", m.dialect.API(), name)
		}
	}
	for _, t := range together {
		other := fw.LookupFeature(t.other)
		if slices.Contains(offered, t.feature) && !slices.Contains(offered, t.other) && slices.Contains(other.Versions, m.dialect.API()) {
			m.report(t.rule, f, "%q is offered without %q", t.feature, t.other)
		}
	}
}
