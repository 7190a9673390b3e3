package oup

import (
	"encoding/json"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// unnamed is the set of features of a connection that named none.
const unnamed = "no_tokens"

// ordinary is what a server can do that says nothing about it: everything, with the features of a connection that
// named none.
func ordinary() oupwire.ServerCapabilities {
	c := oupwire.ServerCapabilities{
		Version: oupwire.ProtocolVersion{
			Protocol: text("identifier"), SchemaVersion: oupwire.SchemaVersion, JSONRPC: text("jsonrpc"),
		},
		CapabilitiesSchemaVersion: oupwire.CapabilitiesSchemaVersion,
	}
	for _, m := range oupwire.Methods {
		switch {
		case m.Direction == wirejson.ClientToServer && !m.Notification:
			c.SupportedMethods = append(c.SupportedMethods, m.Name)
		case m.Direction == wirejson.ServerToClient && m.Notification:
			c.SupportedNotifications = append(c.SupportedNotifications, m.Name)
		}
	}
	var features []string
	for _, f := range oupwire.Features {
		if slices.Contains(f.Sets, unnamed) {
			features = append(features, f.Name)
		}
	}
	c.SupportedFeatures = wirejson.Some(features)
	return c
}

// withCapabilities gives an opened session capabilities where it has none (OUP-CAPABILITY-011). What is no object is
// left as it is, for the model to refuse.
func withCapabilities(opened []byte) []byte {
	const member = "capabilities"
	var members map[string]json.RawMessage
	if err := json.Unmarshal(opened, &members); err != nil || members == nil {
		return opened
	}
	if given := members[member]; given != nil && string(given) != "null" {
		return opened
	}
	members[member] = ordinary().AppendJSON(nil)
	filled, err := json.Marshal(members)
	if err != nil {
		return opened
	}
	return filled
}

// openResult reads the answer to session/open.
func openResult(raw []byte) (oupwire.SessionOpenResult, error) {
	const member = "opened"
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err == nil && members[member] != nil {
		members[member] = withCapabilities(members[member])
		if filled, err := json.Marshal(members); err == nil {
			raw = filled
		}
	}
	return oupwire.DecodeSessionOpenResult(raw)
}
