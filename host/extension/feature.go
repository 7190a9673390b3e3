package extension

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/runtime/resultbounds"
)

// featureWire is API 0.2 and 0.4.
type featureWire struct {
	identity
	side     *peer.Profile
	protocol featurewire.ProtocolOffer
}

func newFeatureWire(i identity, side *peer.Profile) (*featureWire, error) {
	protocol, err := negotiation.OfferFeatures(i.manifest().API, featurewire.MaxConcurrentRequests, offeredFeatures(i.source, i.bound)...)
	return &featureWire{identity: i, side: side, protocol: protocol}, err
}

func (w *featureWire) profile() *peer.Profile { return w.side }

func (w *featureWire) strict() bool { return true }

func (w *featureWire) farewell(answer []byte) error { return farewell(answer) }

// farewell judges the answer to shutdown, which all versions of the feature wire share.
func farewell(answer []byte) error {
	_, err := featurewire.DecodeShutdownResult(answer)
	return err
}

func (w *featureWire) offers(m *wirejson.Method) bool {
	gate := negotiation.GateFeature(m.Gate)
	return gate == "" || slices.Contains(w.protocol.OptionalFeatures, gate) || slices.Contains(w.protocol.RequiredFeatures, gate)
}

func (w *featureWire) offer(x *Extension) peer.Value {
	x.terms(&w.protocol)
	m := w.manifest()
	params := featurewire.InitializeParams{
		APIVersion:   featurewire.ApiVersion(m.API),
		OctetVersion: manifest.OctetVersion().String(),
		Extension:    w.extension(),
		Workspace:    w.workspace,
		Capabilities: w.grants(),
		Contributes:  w.contributes(),
		Host:         w.host.wire(),
		Protocol:     w.protocol,
	}
	if len(w.flags) > 0 {
		values := make([]featurewire.FlagValue, len(w.flags))
		for i, flag := range w.flags {
			values[i] = featurewire.FlagValue{Name: flag.Name, Value: flag.Value}
		}
		params.FlagValues = wirejson.Some(values)
	}
	return params
}

func (i identity) extension() featurewire.ExtensionIdentity {
	identity := featurewire.ExtensionIdentity{
		Name:         i.manifest().Name,
		Version:      i.manifest().Version,
		ManifestPath: i.source.Folder.ManifestPath,
		Source:       featurewire.ExtensionSourceExplicit,
	}
	if i.source.Origin != "" {
		identity.Source = i.source.Origin
	}
	return identity
}

// grants repeats the capabilities. An empty list of secrets is left out, and on 0.1 any list is: that
// version has no broker.
func (i identity) grants() featurewire.CapabilityGrants {
	c := i.manifest().Capabilities
	grants := featurewire.CapabilityGrants{
		Filesystem: featurewire.FilesystemGrant(c.Filesystem), Process: c.Process, Network: c.Network,
	}
	if len(c.Secrets) > 0 && i.manifest().API != featurewire.Version01 {
		grants.Secrets = wirejson.Some(c.Secrets)
	}
	return grants
}

// contributes has the members of every version; those of later versions are added where they are true.
func (i identity) contributes() featurewire.Contributes {
	c := i.manifest().Contributes
	surfaces := make([]featurewire.UiSurface, len(c.UI))
	for n, surface := range c.UI {
		surfaces[n] = featurewire.UiSurface(surface)
	}
	return featurewire.Contributes{
		Tools: text(c.Tools), Commands: text(c.Commands), Hooks: text(c.Hooks), UI: surfaces, Context: c.Context,
		ToolRenderers: text(c.ToolRenderers), Notifications: c.Notifications, Confirmations: c.Confirmations,
		Presentation: present(c.Presentation), Menu: present(c.Menu),
	}
}

// baseContributes has the members that every API version knows.
func (i identity) baseContributes() featurewire.ContributesV01 {
	c := i.contributes()
	return featurewire.ContributesV01{
		Tools: c.Tools, Commands: c.Commands, Hooks: c.Hooks, UI: c.UI, Context: c.Context,
		ToolRenderers: c.ToolRenderers, Notifications: c.Notifications, Confirmations: c.Confirmations,
	}
}

func (w *featureWire) accept(answer []byte) (*Agreement, *peer.Session, error) {
	result, err := featurewire.DecodeInitializeResult(answer)
	if err != nil {
		return nil, nil, err
	}
	if string(result.APIVersion) != w.manifest().API {
		return nil, nil, fmt.Errorf("the answer selects API %q, want %q", result.APIVersion, w.manifest().API)
	}
	selected, err := negotiation.NegotiateFeatures(w.manifest().API, &w.protocol, &result.Protocol)
	if err != nil {
		return nil, nil, err
	}
	if err := w.hooksOpen(selected); err != nil {
		return nil, nil, err
	}
	if err := w.delegationTold(selected); err != nil {
		return nil, nil, err
	}
	agreement := &Agreement{
		API: w.manifest().API, Wire: featurewire.Wire, Features: selected.Features,
		MaxFrameBytes: featurewire.MaxLineBytes, MaxConcurrentRequests: selected.MaxConcurrent, MaxTools: featurewire.MaxTools,
		Commands: commands(result.Commands), Events: subscribed(selected),
	}
	for _, d := range result.Tools {
		tool, err := toolOf(d, selected.Has)
		if err != nil {
			return nil, nil, err
		}
		agreement.Tools = append(agreement.Tools, tool)
	}
	if err := w.catalog(agreement); err != nil {
		return nil, nil, err
	}
	return agreement, &peer.Session{
		Open:          selected.Open(unsubscribed(agreement.Events)...),
		MaxConcurrent: int(selected.MaxConcurrent),
	}, nil
}

// hooksOpen refuses a selection that lacks the feature of a declared hook, whether it was offered or not.
//
// Source: sheet 6; EXT04-NEG-023, EXT04-NEG-024, EXT04-NEG-025.
func (w *featureWire) hooksOpen(selected *negotiation.Agreement) error {
	for _, name := range w.manifest().Contributes.Hooks {
		h := featurewire.LookupHook(string(name))
		if h == nil || featurewire.LookupFeature(h.Feature) == nil || selected.Has(h.Feature) {
			continue
		}
		if !slices.Contains(w.protocol.OptionalFeatures, h.Feature) {
			return fmt.Errorf("the hook %q is declared, and this host does not offer its feature %q to it", name, h.Feature)
		}
		return fmt.Errorf("the hook %q is declared without its feature %q; select it", name, h.Feature)
	}
	return nil
}

// delegationTold refuses the extension of child agents where it does not tell of them.
//
// Source: sheet 6; EXT04-AGENT-011.
func (w *featureWire) delegationTold(selected *negotiation.Agreement) error {
	const telemetry = featurewire.FeatureDelegationTelemetryV1
	if slices.Contains(w.protocol.OptionalFeatures, featurewire.FeatureAgentSessions) && policy.TellsOfAgents(w.manifest().Name) && !selected.Has(telemetry) {
		return fmt.Errorf("it was offered %q and does not select %q: this version is too old; reinstall it", featurewire.FeatureAgentSessions, telemetry)
	}
	return nil
}

// lifecycle are the events that an extension subscribes to one by one.
var lifecycle = []featurewire.LifecycleEvent{
	featurewire.LifecycleEventSessionStarted, featurewire.LifecycleEventSessionSettled, featurewire.LifecycleEventTurnStarted,
	featurewire.LifecycleEventTurnSettled, featurewire.LifecycleEventToolStarted, featurewire.LifecycleEventToolSettled,
}

// subscribed are the lifecycle events that a selection subscribes to: all of them where it names none.
func subscribed(selected *negotiation.Agreement) []string {
	switch {
	case !selected.Has(featurewire.FeatureLifecycleEvents):
		return nil
	case len(selected.LifecycleEvents) == 0:
		return text(lifecycle)
	}
	return text(selected.LifecycleEvents)
}

// unsubscribed are the other ones.
func unsubscribed(events []string) []string {
	return slices.DeleteFunc(text(lifecycle), func(event string) bool { return slices.Contains(events, event) })
}

func commands(definitions []featurewire.CommandDefinition) []Command {
	list := make([]Command, len(definitions))
	for i, c := range definitions {
		list[i] = Command{Name: c.Name, Description: c.Description, Usage: c.Usage.Or("")}
	}
	return list
}

// catalog holds a catalog to the manifest, unless the features that free it were selected.
func (i identity) catalog(a *Agreement) error {
	var tools, names []string
	for _, t := range a.Tools {
		tools = append(tools, t.Name)
	}
	for _, c := range a.Commands {
		names = append(names, c.Name)
	}
	if !slices.Contains(a.Features, featurewire.FeatureDynamicTools) {
		if err := sameNames("tool", tools, i.manifest().Contributes.Tools); err != nil {
			return err
		}
	}
	if slices.Contains(a.Features, featurewire.FeatureRuntimeCommands) {
		return nil
	}
	return sameNames("command", names, i.manifest().Contributes.Commands)
}

func (w *featureWire) maxDepth() int { return featurewire.MaxDepth }

func (w *featureWire) call(x *Extension, tool string, r Request) peer.Value {
	params := featurewire.ToolCallParams{Name: featurewire.ToolName(tool), Arguments: r.Arguments, Context: x.Context(r.Scope)}
	if x.Has(featurewire.FeatureDynamicTools) {
		params.CatalogRevision = wirejson.Some(r.Revision)
	}
	return params
}

func (w *featureWire) result(ctx context.Context, tool *Tool, answer []byte) (*ToolResult, error) {
	decoded, err := featurewire.DecodeToolCallResult(answer)
	if err != nil {
		return nil, err
	}
	result := &ToolResult{IsError: decoded.IsError}
	for i, part := range decoded.Content {
		switch p := part.(type) {
		case featurewire.TextPart:
			result.Content = append(result.Content, Part{Type: textType, Text: p.Text})
		case featurewire.ImagePart:
			result.Content = append(result.Content, Part{Type: imageType, wire: p})
		case featurewire.AudioPart:
			result.Content = append(result.Content, Part{Type: audioType, wire: p})
		default:
			return nil, fmt.Errorf("content part %d is of an unknown type", i)
		}
	}
	result.Structured = raw(decoded.StructuredContent)
	result.Metadata = raw(decoded.Metadata)
	if err := resultbounds.Metadata.Check(result.Metadata); err != nil {
		return nil, err
	}
	return result, structured(ctx, tool, result)
}

// structured checks that structured content is there exactly when it should be, and that it fits.
func structured(ctx context.Context, tool *Tool, r *ToolResult) error {
	switch {
	case r.Structured == nil && tool.OutputSchema != nil && !r.IsError:
		return errors.New("the tool declares an output schema and sent no structured content")
	case r.Structured == nil:
		return nil
	case tool.OutputSchema == nil:
		return errors.New("structured content without an output schema; declare one")
	}
	if err := resultbounds.Structured.Check(r.Structured); err != nil {
		return err
	}
	if err := tool.output.Check(ctx, r.Structured); err != nil {
		return fmt.Errorf("structured content: %w", err)
	}
	return nil
}

// raw returns an optional JSON value; absent is nil and null is null.
func raw(member wirejson.Opt[json.RawMessage]) json.RawMessage {
	if member.IsNull() {
		return json.RawMessage("null")
	}
	value, _ := member.Get()
	return value
}

// progress turns a progress event into ours.
func progress(event featurewire.ProgressEvent) (Progress, error) {
	switch e := event.(type) {
	case featurewire.ProgressStatus:
		p := Progress{Message: e.Message, Unit: e.Unit.Or("")}
		if n, found := e.Current.Get(); found {
			p.Current = &n
		}
		if n, found := e.Total.Get(); found {
			p.Total = &n
		}
		return p, nil
	case featurewire.ProgressOutput:
		p := Progress{Stream: string(e.Stream), Data: []byte(e.Data)}
		if e.Encoding == featurewire.OutputEncodingBase64 {
			data, err := base64.StdEncoding.DecodeString(e.Data)
			if err != nil {
				return Progress{}, fmt.Errorf("output is not base64: %w", err)
			}
			p.Data = data
		}
		return p, nil
	case featurewire.ProgressDecoration:
		return Progress{Label: e.Label, Detail: e.Detail.Or("")}, nil
	default:
		return Progress{}, fmt.Errorf("progress event of an unknown type")
	}
}
