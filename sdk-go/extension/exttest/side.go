package exttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// side is what a host says on one of the wires.
type side interface {
	profile() (*peer.Profile, error)
	initialize(o *Options, contributes featurewire.Contributes) (wirejson.Encoder, error)
	// agree checks the answer to what initialize returned.
	agree(o *Options, asked wirejson.Encoder, result []byte) ([]Tool, peer.Session, error)
	context(o *Options) json.RawMessage
	call(o *Options, tool string, arguments json.RawMessage) wirejson.Encoder
	result(raw []byte) (*Result, error)
}

func sideOf(ext *extension.Extension) side {
	if ext.API() == extension.API03 {
		return canonicalSide{}
	}
	return featureSide{ext.API()}
}

// featureSide speaks API 0.1, 0.2 and 0.4.
type featureSide struct{ api extension.API }

func (s featureSide) profile() (*peer.Profile, error) {
	return peer.FeatureProfile(frame.Host, string(s.api))
}

// identity is an extension that lies nowhere.
var identity = featurewire.ExtensionIdentity{
	Name: "under-test", Version: "0.0.0", ManifestPath: "/under-test/extension.toml", Source: featurewire.ExtensionSourceExplicit,
}

// octetVersion is the version that a host reports.
func octetVersion() string {
	for _, row := range manifestdoc.TableProduct {
		if row.Name == "octet_version" {
			return row.Value
		}
	}
	panic("exttest: the spec names no version of the host")
}

// declared returns what the manifest declares.
func (o *Options) declared(c featurewire.Contributes) (featurewire.Contributes, error) {
	if o.NoNotifications {
		c.Notifications = false
	}
	text := c.AppendJSON(nil)
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return c, err
	}
	for _, name := range o.Undeclared {
		switch value := members[name]; {
		case value == nil:
			return c, fmt.Errorf("the manifest has nothing called %q to leave out", name)
		case value[0] == '[':
			members[name] = json.RawMessage("[]")
		default:
			members[name] = json.RawMessage("false")
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return c, err
	}
	return featurewire.DecodeContributes(text)
}

func (s featureSide) initialize(o *Options, contributes featurewire.Contributes) (wirejson.Encoder, error) {
	contributes, err := o.declared(contributes)
	if err != nil {
		return nil, err
	}
	grants := featurewire.CapabilityGrants{Filesystem: featurewire.FilesystemGrantNone}
	if s.api == extension.API01 {
		if len(o.Flags) > 0 {
			return nil, fmt.Errorf("API %s has no flags: leave Options.Flags empty", s.api)
		}
		return featurewire.InitializeParamsV01{
			APIVersion: featurewire.ApiVersion(s.api), OctetVersion: octetVersion(), Extension: identity, Workspace: o.Workspace,
			Capabilities: grants, Contributes: featurewire.ContributesV01{
				Tools: contributes.Tools, Commands: contributes.Commands, Hooks: contributes.Hooks, UI: contributes.UI, Context: contributes.Context,
				ToolRenderers: contributes.ToolRenderers, Notifications: contributes.Notifications, Confirmations: contributes.Confirmations,
			},
		}, nil
	}
	flags, err := flagValues(o.Flags)
	if err != nil {
		return nil, err
	}
	var bound []string
	for i := range featurewire.Features {
		f := &featurewire.Features[i]
		left := slices.Contains(o.Withhold, f.Name) || o.NoProgress && f.Name == featurewire.FeatureRequestProgress
		if slices.Contains(f.Versions, string(s.api)) && !left {
			bound = append(bound, f.Name)
		}
	}
	offer, err := negotiation.OfferFeatures(string(s.api), int64(o.Concurrency), bound...)
	if err != nil {
		return nil, err
	}
	params := featurewire.InitializeParams{
		APIVersion: featurewire.ApiVersion(s.api), OctetVersion: octetVersion(), Extension: identity, Workspace: o.Workspace,
		Capabilities: grants, Contributes: contributes,
		Protocol: offer,
	}
	if len(flags) > 0 {
		params.FlagValues = wirejson.Some(flags)
	}
	return params, nil
}

// flagValues writes flags in the order in which a host sends them.
func flagValues(flags map[string]any) ([]featurewire.FlagValue, error) {
	values := make([]featurewire.FlagValue, 0, len(flags))
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		text, err := json.Marshal(flags[name])
		if err != nil {
			return nil, fmt.Errorf("flag %q: %w", name, err)
		}
		values = append(values, featurewire.FlagValue{Name: name, Value: text})
	}
	return values, nil
}

func (s featureSide) agree(o *Options, asked wirejson.Encoder, result []byte) ([]Tool, peer.Session, error) {
	var closed []string
	if o.NoNotifications {
		closed = []string{featurewire.MethodNotification}
	}
	if s.api == extension.API01 {
		answer, err := featurewire.DecodeInitializeResultV01(result)
		if err != nil {
			return nil, peer.Session{}, err
		}
		var tools []Tool
		for _, t := range answer.Tools {
			tools = append(tools, Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		return tools, peer.Session{Open: negotiation.Legacy().Open(closed...)}, nil
	}
	answer, err := featurewire.DecodeInitializeResult(result)
	if err != nil {
		return nil, peer.Session{}, err
	}
	offer := asked.(featurewire.InitializeParams).Protocol
	agreement, err := negotiation.NegotiateFeatures(string(s.api), &offer, &answer.Protocol)
	if err != nil {
		return nil, peer.Session{}, err
	}
	var tools []Tool
	for _, t := range answer.Tools {
		tools = append(tools, Tool{t.Name, t.Description, t.Parameters, t.OutputSchema.Or(nil)})
	}
	return tools, peer.Session{Open: agreement.Open(closed...), MaxConcurrent: int(agreement.MaxConcurrent)}, nil
}

func (s featureSide) context(o *Options) json.RawMessage {
	if s.api == extension.API01 {
		return featurewire.ExecutionContextV01{Workspace: o.Workspace, ExecutionScope: wirejson.Null[string]()}.AppendJSON(nil)
	}
	return o.context().AppendJSON(nil)
}

func (s featureSide) call(o *Options, tool string, arguments json.RawMessage) wirejson.Encoder {
	if s.api == extension.API01 {
		return featurewire.ToolCallParamsV01{Name: tool, Arguments: arguments, Context: featurewire.ExecutionContextV01{
			Workspace: o.Workspace, ExecutionScope: wirejson.Null[string](),
		}}
	}
	return featurewire.ToolCallParams{Name: tool, Arguments: arguments, Context: o.context()}
}

// context is the execution context of every call.
func (o *Options) context() featurewire.ExecutionContext {
	c := featurewire.ExecutionContext{Workspace: o.Workspace, ExecutionScope: wirejson.Null[string]()}
	if o.Owner != nil {
		c.ResourceOwner = wirejson.Some(featurewire.ResourceOwner{
			SessionID: o.Owner.SessionID, ExtensionInstanceID: o.Owner.ExtensionInstanceID, ProcessGeneration: o.Owner.ProcessGeneration,
		})
	}
	return c
}

func (s featureSide) result(raw []byte) (*Result, error) {
	if s.api == extension.API01 {
		r, err := featurewire.DecodeToolCallResultV01(raw)
		return &Result{Content: []string{r.Content}, IsError: r.IsError}, err
	}
	r, err := featurewire.DecodeToolCallResult(raw)
	if err != nil {
		return nil, err
	}
	result := &Result{IsError: r.IsError, Structured: r.StructuredContent.Or(nil), Metadata: r.Metadata.Or(nil)}
	for _, part := range r.Content {
		if text, ok := part.(featurewire.TextPart); ok {
			result.Content = append(result.Content, text.Text)
		}
	}
	return result, nil
}

// canonicalSide speaks API 0.3.
type canonicalSide struct{}

func (canonicalSide) profile() (*peer.Profile, error) { return peer.CanonicalProfile(frame.Host), nil }

func (canonicalSide) context(o *Options) json.RawMessage { return o.context().AppendJSON(nil) }

func (canonicalSide) initialize(o *Options, contributes featurewire.Contributes) (wirejson.Encoder, error) {
	contributes, err := o.declared(contributes)
	if err != nil {
		return nil, err
	}
	var bound []string
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "optional" && !slices.Contains(o.Withhold, c.Name) && (c.Name != canonicalwire.CapabilityLifecycleEvents || o.SessionHooks) {
			bound = append(bound, c.Name)
		}
	}
	contributes.Hooks = []string{}
	if o.SessionHooks {
		contributes.Hooks = []string{string(manifestdoc.HookSessionStart), string(manifestdoc.HookSessionEnd)}
	}
	offer, err := negotiation.Offer(int64(o.FrameBytes), int64(o.Concurrency), bound...)
	if err != nil {
		return nil, err
	}
	flags, err := flagValues(o.Flags)
	if err != nil {
		return nil, err
	}
	params := canonicalwire.InitializeRequest{
		APIVersion:   canonicalwire.ApiVersion03,
		OctetVersion: octetVersion(),
		Extension:    identity.AppendJSON(nil),
		Workspace:    o.Workspace,
		Capabilities: featurewire.CapabilityGrants{Filesystem: featurewire.FilesystemGrantNone}.AppendJSON(nil),
		Contributes:  contributes.AppendJSON(nil),
		Host:         featurewire.HostState{}.AppendJSON(nil),
		Contract:     offer,
	}
	for _, f := range flags {
		params.FlagValues = append(params.FlagValues, canonicalwire.InitializeFlagValue{Name: f.Name, Value: f.Value})
	}
	return params, nil
}

func (canonicalSide) agree(o *Options, asked wirejson.Encoder, result []byte) ([]Tool, peer.Session, error) {
	answer, err := canonicalwire.DecodeInitializeResponse(result)
	if err != nil {
		return nil, peer.Session{}, err
	}
	offer := asked.(canonicalwire.InitializeRequest).Contract
	contract, err := negotiation.Negotiate(&offer, &answer.Contract)
	if err == nil {
		err = contract.CheckTools(len(answer.Tools))
	}
	if err == nil {
		_, err = contract.CheckSessionHooks(o.SessionHooks, &offer)
	}
	if err != nil {
		return nil, peer.Session{}, err
	}
	var tools []Tool
	for _, t := range answer.Tools {
		tools = append(tools, Tool{t.Name, t.Description, t.Parameters, t.OutputSchema.Or(nil)})
	}
	return tools, peer.Session{
		Open: contract.Open(), MaxFrameBytes: int(contract.Limits.MaxFrameBytes), MaxConcurrent: int(contract.Limits.MaxConcurrentRequests),
	}, nil
}

func (canonicalSide) call(o *Options, tool string, arguments json.RawMessage) wirejson.Encoder {
	return canonicalwire.ToolCallParams{Name: tool, Arguments: arguments, Context: o.context().AppendJSON(nil)}
}

func (canonicalSide) result(raw []byte) (*Result, error) {
	r, err := canonicalwire.DecodeToolCallResult(raw)
	if err != nil {
		return nil, err
	}
	result := &Result{IsError: r.IsError, Structured: r.StructuredContent.Or(nil), Metadata: r.Metadata.Or(nil)}
	for _, part := range r.Content {
		if text, ok := part.(canonicalwire.TextPart); ok {
			result.Content = append(result.Content, text.Text)
		}
	}
	return result, nil
}
