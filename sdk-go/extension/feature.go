package extension

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/runtime/resultbounds"
)

// featureDialect speaks API 0.1, 0.2 and 0.4.
type featureDialect struct{ api API }

func (d featureDialect) maxDepth() int { return featurewire.MaxDepth }

func (d featureDialect) checkTool(t *Tool) error {
	if d.api == API01 {
		definition := d.definitionV01(t)
		if needs := t.extra.features(); len(needs) > 0 {
			return fmt.Errorf("API %s has no %s: leave it out", d.api, needs[0])
		}
		return definition.Validate()
	}
	for _, feature := range t.extra.features() {
		if !d.api.has(feature) {
			return fmt.Errorf("API %s has no %s: leave it out", d.api, feature)
		}
	}
	definition, _ := d.definition(t, func(string) bool { return true })
	return definition.Validate()
}

func (d featureDialect) definitionV01(t *Tool) featurewire.ToolDefinitionV01 {
	return featurewire.ToolDefinitionV01{Name: t.name, Description: t.description, Parameters: t.input.JSON()}
}

// definition returns what the host is told of a tool, and the features that the rest would need.
func (d featureDialect) definition(t *Tool, has func(feature string) bool) (definition featurewire.ToolDefinition, missing []string) {
	definition = featurewire.ToolDefinition{Name: t.name, Description: t.description, Parameters: t.input.JSON()}
	if t.output != nil {
		definition.OutputSchema = wirejson.Some(t.output.JSON())
	}
	missing = t.extra.put(&definition, has)
	return definition, missing
}

// defined is definition in a session, with a line to the log about what is left out.
func (s *server) defined(t *Tool, session *session) featurewire.ToolDefinition {
	definition, missing := featureDialect{s.ext.api}.definition(t, session.has)
	s.ext.leftOut(t, missing)
	return definition
}

func (e *Extension) leftOut(t *Tool, missing []string) {
	for _, feature := range missing {
		e.log.printf("tool %q: what needs %s is left out, this host does not offer it", t.name, feature)
	}
}

func (d featureDialect) initialize(params json.RawMessage, e *Extension, p *plan) (wirejson.Encoder, *session, error) {
	if err := d.checkVersion(params); err != nil {
		return nil, nil, err
	}
	if d.api == API01 {
		return d.initializeV01(params, p)
	}
	asked, err := featurewire.DecodeInitializeParams(params)
	if err != nil {
		return nil, nil, err
	}
	if err := negotiation.CheckOffer(string(d.api), &asked.Protocol); err != nil {
		return nil, nil, d.unsupported(err, &asked.Protocol)
	}
	selection := negotiation.SelectFeatures(&asked.Protocol, int64(e.options.Concurrency), e.features(p)...)
	if events := p.lifecycleEvents(); len(events) > 0 && slices.Contains(selection.Features, featurewire.FeatureLifecycleEvents) {
		selection.LifecycleEvents = wirejson.Some(events)
	}
	agreement, err := negotiation.NegotiateFeatures(string(d.api), &asked.Protocol, &selection)
	if err != nil {
		return nil, nil, d.unsupported(err, &asked.Protocol)
	}
	agreed := &session{
		workspace:     asked.Workspace,
		flags:         flagsOf(asked.FlagValues.Or(nil), func(f featurewire.FlagValue) (string, json.RawMessage) { return f.Name, f.Value }),
		context:       hostContext(asked.Workspace, asked.Host),
		features:      agreement.Features,
		progress:      agreement.Has(featurewire.FeatureRequestProgress),
		notifications: asked.Contributes.Notifications,
		declared:      declarationOf(asked.Contributes.AppendJSON(nil)),
		install:       install(agreement),
	}
	answer := featurewire.InitializeResult{APIVersion: asked.APIVersion, Protocol: selection, Commands: p.definitions()}
	for _, t := range p.tools {
		definition, missing := d.definition(t, agreed.has)
		e.leftOut(t, missing)
		answer.Tools = append(answer.Tools, definition)
	}
	return answer, agreed, nil
}

// definitions returns what the host is told of the commands.
func (p *plan) definitions() []featurewire.CommandDefinition {
	list := make([]featurewire.CommandDefinition, len(p.commands))
	for i, c := range p.commands {
		list[i] = c.definition()
	}
	return list
}

func (d featureDialect) initializeV01(params json.RawMessage, p *plan) (wirejson.Encoder, *session, error) {
	asked, err := featurewire.DecodeInitializeParamsV01(params)
	if err != nil {
		return nil, nil, err
	}
	agreed := &session{
		workspace:     asked.Workspace,
		context:       hostContext(asked.Workspace, asked.Host),
		notifications: asked.Contributes.Notifications,
		declared:      declarationOf(asked.Contributes.AppendJSON(nil)),
		install:       install(negotiation.Legacy()),
	}
	answer := featurewire.InitializeResultV01{APIVersion: asked.APIVersion, Commands: p.definitions()}
	for _, t := range p.tools {
		answer.Tools = append(answer.Tools, d.definitionV01(t))
	}
	return answer, agreed, nil
}

// hostContext is the context of a session as such.
func hostContext(workspace string, host featurewire.HostState) Context {
	where := featurewire.ExecutionContext{Workspace: workspace, ExecutionScope: wirejson.Null[string](), Host: host}
	return featureContext(where, where.AppendJSON(nil))
}

// checkVersion looks at the version alone, so that a host of another version hears about that and not about
// members that its version may have (EXT04-INIT-004).
func (d featureDialect) checkVersion(params json.RawMessage) error {
	version, isText := versionOf(params)
	if !isText || version == string(d.api) {
		return nil
	}
	return &refusal{
		row:     featurewire.ErrServerError,
		message: fmt.Sprintf("unsupported API version: %s; this extension speaks %s", version, d.api),
		data:    map[string]any{"expected": string(d.api), "received": version},
	}
}

// install opens what was agreed. Scope.Notify knows what the manifest declares.
func install(agreement *negotiation.Agreement) peer.Session {
	return peer.Session{
		Open:          agreement.Open(),
		MaxConcurrent: int(min(agreement.MaxConcurrent, featurewire.MaxConcurrentRequests)),
	}
}

// unsupported refuses an offer that the SDK cannot fulfil (EXT04-NEG-008, EXT04-NEG-009).
func (d featureDialect) unsupported(err error, offer *featurewire.ProtocolOffer) *refusal {
	refused := &refusal{row: featurewire.ErrServerError, message: err.Error()}
	if missing := negotiation.Unsupported(offer); len(missing) > 0 {
		refused.message = fmt.Sprintf("required API %s features are unsupported: %s", d.api, strings.Join(missing, ", "))
		refused.data = map[string]any{"unsupported_features": missing}
	}
	return refused
}

func (d featureDialect) shutdown(params json.RawMessage) (wirejson.Encoder, error) {
	if params == nil { // this wire lets a request leave them out
		return featurewire.ShutdownResult{}, nil
	}
	if _, err := featurewire.DecodeShutdownParams(params); err != nil {
		return nil, err
	}
	return featurewire.ShutdownResult{}, nil
}

func (d featureDialect) toolCall(params wirejson.Value, s *session) (toolCall, error) {
	if d.api == API01 {
		asked, err := featurewire.DecodeToolCallParamsV01Value(params)
		if err != nil {
			return toolCall{}, err
		}
		return toolCall{name: asked.Name, context: contextV01(asked.Context)}, nil
	}
	asked, err := featurewire.DecodeToolCallParamsValue(params)
	if err != nil {
		return toolCall{}, err
	}
	call := toolCall{name: asked.Name, context: featureContext(asked.Context, params.Member(contextMember).AppendCanonical(nil))}
	call.revision, call.pinned = asked.CatalogRevision.Get()
	if call.pinned && !s.has(featurewire.FeatureDynamicTools) {
		return toolCall{}, d.invalidParams(wirejson.Forbidden, "/catalog_revision", "the catalog has no revisions: "+featurewire.FeatureDynamicTools+" was not selected")
	}
	return call, nil
}

func contextOf(where featurewire.ExecutionContext) Context {
	return featureContext(where, where.AppendJSON(nil))
}

func contextV01(old featurewire.ExecutionContextV01) Context {
	where := featurewire.ExecutionContext{Workspace: old.Workspace, ExecutionScope: old.ExecutionScope, Host: old.Host}
	return featureContext(where, old.AppendJSON(nil))
}

func ownerFrom(o featurewire.ResourceOwner) Owner {
	return Owner{o.SessionID, o.ExtensionInstanceID, o.ProcessGeneration}
}

func featureContext(where featurewire.ExecutionContext, text json.RawMessage) Context {
	c := Context{
		Workspace: where.Workspace, ExecutionScope: where.ExecutionScope.Or(""),
		SessionID: where.Host.SessionID.Or(""), SessionName: where.Host.SessionName.Or(""), Model: where.Host.Model.Or(""),
		JSON: text,
	}
	if owner, owned := where.ResourceOwner.Get(); owned {
		from := ownerFrom(owner)
		c.Owner = &from
	}
	return c
}

func (d featureDialect) result(o outcome, s *session) (wirejson.Encoder, error) {
	if len(o.media) > 0 && !s.has(featurewire.FeatureArtifacts) {
		return nil, fmt.Errorf("the result refers to media, which this host does not take: %s was not negotiated", featurewire.FeatureArtifacts)
	}
	if d.api == API01 {
		return featurewire.ToolCallResultV01{Content: strings.Join(o.texts, "\n"), IsError: o.isError}, nil
	}
	if parts := len(o.texts) + len(o.media); parts > featurewire.MaxContentParts {
		return nil, fmt.Errorf("the result has %d parts, more than %d: join some", parts, featurewire.MaxContentParts)
	}
	if err := resultbounds.Structured.Check(o.structured); err != nil {
		return nil, err
	}
	if err := resultbounds.Metadata.Check(o.metadata); err != nil {
		return nil, err
	}
	result := featurewire.ToolCallResult{IsError: o.isError}
	for _, text := range o.texts {
		result.Content = append(result.Content, featurewire.TextPart{Text: text})
	}
	for _, m := range o.media {
		part, err := m.part()
		if err != nil {
			return nil, err
		}
		result.Content = append(result.Content, part)
	}
	if o.structured != nil {
		result.StructuredContent = wirejson.Some(o.structured)
	}
	if o.metadata != nil {
		result.Metadata = wirejson.Some(o.metadata)
	}
	return result, nil
}

func (d featureDialect) invalidParams(kind wirejson.ViolationKind, pointer, detail string) *refusal {
	return &refusal{
		row:     featurewire.ErrInvalidParams,
		message: fmt.Sprintf("%s at %q: %s", featurewire.ErrInvalidParams.Message, pointer, detail),
		data:    located(kind, pointer, detail),
	}
}

func (d featureDialect) unknownTool(name string) *refusal {
	return &refusal{row: featurewire.ErrUnknownMethod, message: "unknown tool: " + name}
}
