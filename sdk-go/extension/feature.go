package extension

import (
	"encoding/json"
	"fmt"
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

func (d featureDialect) checkTool(t *tool) error {
	if d.api == API01 {
		definition := d.definitionV01(t)
		return definition.Validate()
	}
	definition := d.definition(t)
	return definition.Validate()
}

func (d featureDialect) definitionV01(t *tool) featurewire.ToolDefinitionV01 {
	return featurewire.ToolDefinitionV01{Name: t.name, Description: t.description, Parameters: t.input.JSON()}
}

func (d featureDialect) definition(t *tool) featurewire.ToolDefinition {
	definition := featurewire.ToolDefinition{Name: t.name, Description: t.description, Parameters: t.input.JSON()}
	if t.output != nil {
		definition.OutputSchema = wirejson.Some(t.output.JSON())
	}
	return definition
}

func (d featureDialect) initialize(params json.RawMessage, tools []*tool, concurrency int) (wirejson.Encoder, *session, error) {
	if err := d.checkVersion(params); err != nil {
		return nil, nil, err
	}
	if d.api == API01 {
		return d.initializeV01(params, tools)
	}
	asked, err := featurewire.DecodeInitializeParams(params)
	if err != nil {
		return nil, nil, err
	}
	if err := negotiation.CheckOffer(string(d.api), &asked.Protocol); err != nil {
		return nil, nil, d.unsupported(err, &asked.Protocol)
	}
	selection := negotiation.SelectFeatures(&asked.Protocol, int64(concurrency), featurewire.FeatureRequestProgress)
	agreement, err := negotiation.NegotiateFeatures(string(d.api), &asked.Protocol, &selection)
	if err != nil {
		return nil, nil, d.unsupported(err, &asked.Protocol)
	}
	agreed := &session{
		workspace:     asked.Workspace,
		flags:         flagsOf(asked.FlagValues.Or(nil), func(f featurewire.FlagValue) (string, json.RawMessage) { return f.Name, f.Value }),
		progress:      agreement.Has(featurewire.FeatureRequestProgress),
		notifications: asked.Contributes.Notifications,
		declared:      declaration{true, asked.Contributes.Tools},
		install:       install(agreement),
	}
	answer := featurewire.InitializeResult{APIVersion: asked.APIVersion, Protocol: selection}
	for _, t := range tools {
		answer.Tools = append(answer.Tools, d.definition(t))
	}
	return answer, agreed, nil
}

func (d featureDialect) initializeV01(params json.RawMessage, tools []*tool) (wirejson.Encoder, *session, error) {
	asked, err := featurewire.DecodeInitializeParamsV01(params)
	if err != nil {
		return nil, nil, err
	}
	agreed := &session{
		workspace:     asked.Workspace,
		notifications: asked.Contributes.Notifications,
		declared:      declaration{true, asked.Contributes.Tools},
		install:       install(negotiation.Legacy()),
	}
	answer := featurewire.InitializeResultV01{APIVersion: asked.APIVersion}
	for _, t := range tools {
		answer.Tools = append(answer.Tools, d.definitionV01(t))
	}
	return answer, agreed, nil
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

// install opens what was agreed. Call.Notify knows what the manifest declares.
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

func (d featureDialect) toolCall(params wirejson.Value) (toolCall, error) {
	if d.api == API01 {
		asked, err := featurewire.DecodeToolCallParamsV01Value(params)
		if err != nil {
			return toolCall{}, err
		}
		where := featurewire.ExecutionContext{Workspace: asked.Context.Workspace, ExecutionScope: asked.Context.ExecutionScope, Host: asked.Context.Host}
		return toolCall{asked.Name, featureContext(where, asked.Context.AppendJSON(nil))}, nil
	}
	asked, err := featurewire.DecodeToolCallParamsValue(params)
	if err != nil {
		return toolCall{}, err
	}
	if !asked.CatalogRevision.IsAbsent() {
		return toolCall{}, d.invalidParams("/catalog_revision", "the catalog has no revisions: "+featurewire.FeatureDynamicTools+" was not selected")
	}
	return toolCall{asked.Name, featureContext(asked.Context, asked.Context.AppendJSON(nil))}, nil
}

func featureContext(where featurewire.ExecutionContext, text json.RawMessage) Context {
	c := Context{
		Workspace: where.Workspace, ExecutionScope: where.ExecutionScope.Or(""),
		SessionID: where.Host.SessionID.Or(""), SessionName: where.Host.SessionName.Or(""), Model: where.Host.Model.Or(""),
		JSON: text,
	}
	if owner, owned := where.ResourceOwner.Get(); owned {
		c.Owner = &Owner{owner.SessionID, owner.ExtensionInstanceID, owner.ProcessGeneration}
	}
	return c
}

func (d featureDialect) result(o outcome) (wirejson.Encoder, error) {
	if d.api == API01 {
		return featurewire.ToolCallResultV01{Content: strings.Join(o.texts, "\n"), IsError: o.isError}, nil
	}
	if len(o.texts) > featurewire.MaxContentParts {
		return nil, fmt.Errorf("the result has %d texts, more than %d: join some", len(o.texts), featurewire.MaxContentParts)
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
	if o.structured != nil {
		result.StructuredContent = wirejson.Some(o.structured)
	}
	if o.metadata != nil {
		result.Metadata = wirejson.Some(o.metadata)
	}
	return result, nil
}

func (d featureDialect) invalidParams(pointer, detail string) *refusal {
	return &refusal{
		row:     featurewire.ErrInvalidParams,
		message: fmt.Sprintf("%s at %q: %s", featurewire.ErrInvalidParams.Message, pointer, detail),
		data:    located(pointer, detail),
	}
}

func (d featureDialect) unknownTool(name string) *refusal {
	return &refusal{row: featurewire.ErrUnknownMethod, message: "unknown tool: " + name}
}
