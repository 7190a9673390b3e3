package policyintent

import (
	"bytes"
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/tool"
)

// target is what an intent to call a tool of an MCP server names. Other members say nothing to this host.
type target struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// gated reports whether an intent is one that a host decides by itself for the extension of a name.
func gated(extension string, intent featurewire.PolicyIntent) bool {
	for _, row := range featurewire.TablePolicyGates {
		if row.Extension == extension && row.Kind == intent.Kind && row.Operation == intent.Operation {
			return true
		}
	}
	return false
}

// allowed decides about an intent to call a tool of an MCP server: it must be the very call of the model
// that the extension is asked to make right now, for the session that asked.
//
// Rule: EXT04-POLICY-012, MAN-GATE-003.
func allowed(r *extension.Incoming, intent featurewire.PolicyIntent, settings policy.Settings) bool {
	var t target
	if json.Unmarshal(intent.Target, &t) != nil || r.Owner.IsZero() || r.Parent == nil || r.Parent.Method != featurewire.MethodToolCall {
		return false
	}
	select {
	case <-r.Parent.Done():
		return false
	default:
	}
	call, known := r.Parent.Value.(*tool.Call)
	if !known || call == nil || t.Tool != r.Parent.Subject || call.Name != t.Tool || !same(call.Arguments, t.Arguments) {
		return false
	}
	return policy.AllowMCPCall(policy.MCPCall{Extension: r.Extension.Source().Manifest.Name, Server: t.Server, Tool: t.Tool}, settings)
}

// same reports whether two JSON texts say the same. No arguments are an empty object.
func same(a, b json.RawMessage) bool {
	first, errA := canonical(a)
	second, errB := canonical(b)
	return errA == nil && errB == nil && bytes.Equal(first, second)
}

func canonical(text json.RawMessage) ([]byte, error) {
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	return wirejson.AppendCanonical(nil, text, featurewire.MaxJSONDepth)
}
