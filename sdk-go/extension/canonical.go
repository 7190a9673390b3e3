package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
)

// canonicalDialect speaks API 0.3 with the required part of the contract.
type canonicalDialect struct{}

func (d canonicalDialect) maxDepth() int { return canonicalwire.MaxDepth }

func (d canonicalDialect) checkTool(t *Tool) error {
	if t.name == "" {
		return fmt.Errorf("the name is empty")
	}
	if needs := t.extra.features(); len(needs) > 0 {
		return fmt.Errorf("API %s has no %s: leave it out", API03, needs[0])
	}
	for _, schema := range []json.RawMessage{t.definition().Parameters, t.definition().OutputSchema.Or(nil)} {
		if err := carries(schema, schemaLevel); err != nil {
			return fmt.Errorf("API %s cannot carry the schema %s: %w", API03, schema, err)
		}
	}
	return t.definition().Validate()
}

// Levels of the author's values in a frame: envelope, result, then tools and definition above a schema.
const (
	contentLevel = 2
	schemaLevel  = 4
)

// carries reports why a value has no canonical spelling at a level of a frame: it may hold a fraction or
// nest too deeply. nil is no value.
func carries(value json.RawMessage, level int) error {
	if value == nil {
		return nil
	}
	nested := slices.Concat(bytes.Repeat([]byte{'['}, level), value, bytes.Repeat([]byte{']'}, level))
	_, err := canonical.Append(nil, nested)
	return err
}

func (t *Tool) definition() canonicalwire.ToolDefinition {
	definition := canonicalwire.ToolDefinition{Name: t.name, Description: t.description, Parameters: t.input.JSON()}
	if t.output != nil {
		definition.OutputSchema = wirejson.Some(t.output.JSON())
	}
	return definition
}

func (d canonicalDialect) initialize(params json.RawMessage, e *Extension, p *plan) (wirejson.Encoder, *session, error) {
	if version, isText := versionOf(params); isText && version != canonicalwire.Version03 {
		return nil, nil, d.versionMismatch(canonicalwire.Version03, version)
	}
	asked, err := canonicalwire.DecodeInitializeRequest(params)
	if err != nil {
		return nil, nil, err
	}
	if err := negotiation.ValidateOffer(&asked.Contract); err != nil {
		return nil, nil, d.mismatch(err)
	}
	declared := declarationOf(asked.Contributes)
	hooks := declared.declaresSessionHooks()
	limits := canonicalwire.ProtocolLimits{MaxConcurrentRequests: int64(e.options.Concurrency)}
	selection := negotiation.Select(&asked.Contract, limits, e.capabilities(p, hooks)...)
	contract, err := negotiation.Negotiate(&asked.Contract, &selection)
	if err == nil {
		err = contract.CheckTools(len(p.tools))
	}
	if err != nil {
		return nil, nil, d.mismatch(err)
	}
	agreed := &session{
		workspace:    asked.Workspace,
		flags:        flagsOf(asked.FlagValues, func(f canonicalwire.InitializeFlagValue) (string, json.RawMessage) { return f.Name, f.Value }),
		hooksMissing: hooks && !contract.HasMethod(canonicalwire.MethodHookRun),
		context:      canonicalContext(asked.Workspace, asked.Host),
		features:     slices.Sorted(slices.Values(selection.Capabilities)),
		open:         map[string]bool{},
		declared:     declared,
		install: peer.Session{
			Open:          contract.Open(),
			MaxFrameBytes: int(contract.Limits.MaxFrameBytes),
			MaxConcurrent: int(contract.Limits.MaxConcurrentRequests),
		},
	}
	answer := canonicalwire.InitializeResponse{APIVersion: asked.APIVersion, Contract: selection}
	for _, name := range contract.Open() {
		agreed.open[name] = true
	}
	for _, t := range p.tools {
		answer.Tools = append(answer.Tools, t.definition())
	}
	return answer, agreed, nil
}

func (d canonicalDialect) shutdown(params json.RawMessage) (wirejson.Encoder, error) {
	if _, err := canonicalwire.DecodeShutdownParams(params); err != nil {
		return nil, err
	}
	return canonicalwire.ShutdownResult{Terminal: canonicalwire.ShutdownTerminalShutdown}, nil
}

func (d canonicalDialect) toolCall(params wirejson.Value, _ *session) (toolCall, error) {
	asked, err := canonicalwire.DecodeToolCallParamsValue(params)
	if err != nil {
		return toolCall{}, err
	}
	return toolCall{name: asked.Name, context: opaqueContext(bytes.Clone(asked.Context))}, nil
}

// opaqueContext reads a context that has the shape of the feature wire's, as that of an octet host has; this
// wire promises none. Of any other there is only the JSON.
func opaqueContext(text json.RawMessage) Context {
	where, err := featurewire.DecodeExecutionContext(text)
	if err != nil {
		return Context{JSON: text}
	}
	return featureContext(where, text)
}

// canonicalContext is the context of a session as such; what the host says of itself is opaque on this wire.
func canonicalContext(workspace string, host json.RawMessage) Context {
	state, err := featurewire.DecodeHostState(host)
	if err != nil {
		return Context{Workspace: workspace}
	}
	return hostContext(workspace, state)
}

func (d canonicalDialect) result(o outcome, _ *session) (wirejson.Encoder, error) {
	if len(o.media) > 0 {
		return nil, fmt.Errorf("the result refers to media, which API %s has not: return text", API03)
	}
	if len(o.texts) > canonicalwire.MaxContentParts {
		return nil, fmt.Errorf("the result has %d parts, more than %d: join some", len(o.texts), canonicalwire.MaxContentParts)
	}
	for _, value := range []json.RawMessage{o.structured, o.metadata} {
		if err := carries(value, contentLevel); err != nil {
			return nil, fmt.Errorf("API %s cannot carry the result: %w", API03, err)
		}
	}
	result := canonicalwire.ToolCallResult{IsError: o.isError, Metadata: wirejson.Null[json.RawMessage]()}
	for _, text := range o.texts {
		result.Content = append(result.Content, canonicalwire.TextPart{Text: text})
	}
	if o.structured != nil {
		result.StructuredContent = wirejson.Some(o.structured)
	}
	if o.metadata != nil {
		result.Metadata = wirejson.Some(o.metadata)
	}
	return result, nil
}

func (d canonicalDialect) invalidParams(kind wirejson.ViolationKind, pointer, detail string) *refusal {
	return &refusal{row: canonicalwire.ErrInvalidParams, data: located(kind, pointer, detail)}
}

// mismatch refuses an offer. The data names what is wrong with it; the message belongs to the row.
func (d canonicalDialect) mismatch(err error) *refusal {
	refused := &refusal{row: canonicalwire.ErrCapabilityMismatch, data: map[string]any{"detail": err.Error()}}
	var m *negotiation.Mismatch
	if errors.As(err, &m) {
		refused.row = m.Code
		refused.data = map[string]any{"detail": m.Text, "name": m.Name}
		if m.Code == canonicalwire.ErrVersionMismatch {
			return d.versionMismatch(contractSchema(), m.Name)
		}
	}
	return refused
}

// contractSchema returns the schema id of the contract.
func contractSchema() string { return canonicalwire.TableContractIdentity[0].Value }

func (d canonicalDialect) versionMismatch(expected, received string) *refusal {
	return &refusal{row: canonicalwire.ErrVersionMismatch, data: map[string]any{"expected": expected, "received": received}}
}

func (d canonicalDialect) unknownTool(name string) *refusal {
	return &refusal{row: canonicalwire.ErrUnknownMethod, data: map[string]any{"method": name}}
}
