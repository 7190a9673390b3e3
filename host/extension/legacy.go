package extension

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/schema"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
)

// legacyWire is API 0.1, which negotiates nothing.
type legacyWire struct {
	identity
	side *peer.Profile
}

func (w *legacyWire) profile() *peer.Profile { return w.side }

func (w *legacyWire) strict() bool { return true }

func (w *legacyWire) farewell(answer []byte) error { return farewell(answer) }

func (w *legacyWire) offers(m *wirejson.Method) bool { return negotiation.GateFeature(m.Gate) == "" }

func (w *legacyWire) offer(*Extension) peer.Value {
	return featurewire.InitializeParamsV01{
		APIVersion:   featurewire.ApiVersion(w.manifest().API),
		OctetVersion: manifest.OctetVersion().String(),
		Extension:    w.extension(),
		Workspace:    w.workspace,
		Capabilities: w.grants(),
		Contributes:  w.baseContributes(),
		Host:         w.host.wire(),
	}
}

func (w *legacyWire) accept(answer []byte) (*Agreement, *peer.Session, error) {
	result, err := featurewire.DecodeInitializeResultV01(answer)
	if err != nil {
		return nil, nil, err
	}
	if string(result.APIVersion) != w.manifest().API {
		return nil, nil, fmt.Errorf("the answer selects API %q, want %q", result.APIVersion, w.manifest().API)
	}
	tools := make([]*Tool, len(result.Tools))
	for i, t := range result.Tools {
		tools[i] = &Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if err := schema.ParametersOK(t.Parameters); err != nil {
			return nil, nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	agreement := &Agreement{
		API: w.manifest().API, Wire: featurewire.Wire,
		MaxFrameBytes: featurewire.MaxLineBytes, MaxConcurrentRequests: featurewire.MaxConcurrentRequests, MaxTools: featurewire.MaxTools,
		Tools: tools, Commands: commands(result.Commands),
	}
	if err := w.catalog(agreement); err != nil {
		return nil, nil, err
	}
	return agreement, &peer.Session{Open: negotiation.Legacy().Open()}, nil
}

func (w *legacyWire) maxDepth() int { return featurewire.MaxDepth }

func (w *legacyWire) call(x *Extension, tool string, r Request) peer.Value {
	return featurewire.ToolCallParamsV01{Name: featurewire.ToolName(tool), Arguments: r.Arguments, Context: x.contextV01(r.Scope)}
}

// result drops the metadata: this version accepts any and keeps none.
func (w *legacyWire) result(_ context.Context, _ *Tool, answer []byte) (*ToolResult, error) {
	decoded, err := featurewire.DecodeToolCallResultV01(answer)
	if err != nil {
		return nil, err
	}
	return &ToolResult{Content: []Part{{Type: textType, Text: decoded.Content}}, IsError: decoded.IsError}, nil
}
