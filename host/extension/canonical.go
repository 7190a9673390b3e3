package extension

import (
	"context"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
)

// canonicalWire is API 0.3.
type canonicalWire struct {
	identity
	side     *peer.Profile
	contract canonicalwire.ContractOffer
}

func newCanonicalWire(i identity) (*canonicalWire, error) {
	contract, err := negotiation.Offer(canonicalwire.MaxFrameBytes, canonicalwire.MaxConcurrentRequests, offeredCapabilities(i.bound)...)
	return &canonicalWire{identity: i, side: peer.CanonicalProfile(frame.Host), contract: contract}, err
}

func (w *canonicalWire) profile() *peer.Profile { return w.side }

// strict: parameters and output schema may be any JSON on this wire.
func (w *canonicalWire) strict() bool { return false }

func (w *canonicalWire) farewell(answer []byte) error {
	_, err := canonicalwire.DecodeShutdownResult(answer)
	return err
}

func (w *canonicalWire) offers(m *wirejson.Method) bool {
	return slices.Contains(w.contract.OptionalMethods, m.Name) || slices.Contains(w.contract.RequiredMethods, m.Name)
}

func (w *canonicalWire) offer(*Extension) peer.Value {
	values := make([]canonicalwire.InitializeFlagValue, len(w.flags))
	for i, flag := range w.flags {
		values[i] = canonicalwire.InitializeFlagValue{Name: flag.Name, Value: flag.Value}
	}
	return canonicalwire.InitializeRequest{
		APIVersion:   canonicalwire.ApiVersion(w.manifest().API),
		OctetVersion: manifest.OctetVersion().String(),
		Extension:    w.extension().AppendJSON(nil),
		Workspace:    w.workspace,
		Capabilities: w.grants().AppendJSON(nil),
		Contributes:  w.baseContributes().AppendJSON(nil),
		FlagValues:   values,
		Host:         w.host.wire().AppendJSON(nil),
		Contract:     w.contract,
	}
}

func (w *canonicalWire) accept(answer []byte) (*Agreement, *peer.Session, error) {
	result, err := canonicalwire.DecodeInitializeResponse(answer)
	if err != nil {
		return nil, nil, err
	}
	contract, err := negotiation.Negotiate(&w.contract, &result.Contract)
	if err == nil {
		err = contract.CheckTools(len(result.Tools))
	}
	if err == nil {
		_, err = contract.CheckSessionHooks(w.declaresSessionHooks(), &w.contract)
	}
	if err != nil {
		return nil, nil, err
	}
	limits := contract.Limits
	agreement := &Agreement{
		API: w.manifest().API, Wire: canonicalwire.Wire,
		Capabilities: contract.Capabilities, Methods: contract.Methods,
		MaxFrameBytes: limits.MaxFrameBytes, MaxConcurrentRequests: limits.MaxConcurrentRequests, MaxTools: limits.MaxTools,
	}
	names := map[string]bool{}
	var tools []string
	for _, t := range result.Tools {
		if t.Name == "" || names[t.Name] {
			return nil, nil, fmt.Errorf("the catalog has the tool name %q twice or it is empty", t.Name)
		}
		names[t.Name] = true
		tools = append(tools, t.Name)
		schema, _ := t.OutputSchema.Get()
		agreement.Tools = append(agreement.Tools, &Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, OutputSchema: schema})
	}
	if err := sameNames("tool", tools, w.manifest().Contributes.Tools); err != nil {
		return nil, nil, err
	}
	return agreement, &peer.Session{
		Open:          contract.Open(),
		MaxFrameBytes: int(limits.MaxFrameBytes),
		MaxConcurrent: int(limits.MaxConcurrentRequests),
	}, nil
}

func (w *canonicalWire) declaresSessionHooks() bool {
	return slices.Contains(w.manifest().Contributes.Hooks, manifestdoc.HookSessionStart)
}

func (w *canonicalWire) maxDepth() int { return canonicalwire.MaxDepth }

// call carries a context that is opaque on this wire; it says what the other wire would.
func (w *canonicalWire) call(x *Extension, tool string, r Request) peer.Value {
	return canonicalwire.ToolCallParams{Name: tool, Arguments: r.Arguments, Context: x.Context(r.Scope).AppendJSON(nil)}
}

func (w *canonicalWire) result(ctx context.Context, tool *Tool, answer []byte) (*ToolResult, error) {
	decoded, err := canonicalwire.DecodeToolCallResult(answer)
	if err != nil {
		return nil, err
	}
	result := &ToolResult{IsError: decoded.IsError, Structured: raw(decoded.StructuredContent), Metadata: raw(decoded.Metadata)}
	for i, part := range decoded.Content {
		text, isText := part.(canonicalwire.TextPart)
		if !isText {
			return nil, fmt.Errorf("content part %d is of a deferred type", i)
		}
		result.Content = append(result.Content, Part{Type: textType, Text: text.Text})
	}
	if tool.output != nil && !decoded.StructuredContent.IsNull() && result.Structured != nil {
		if err := tool.output.Check(ctx, result.Structured); err != nil {
			return nil, fmt.Errorf("structured content: %w", err)
		}
	}
	return result, nil
}
