package policy

import (
	"regexp"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Names that get a service of their own. Sheet: manifest 9.7.
const (
	subagents = "octet-subagents"
	mcp       = "octet-mcp"
)

// MayOffer reports whether the coding product offers a feature of the feature wire to the extension, as
// far as that depends on its name. Most features do not.
func MayOffer(extension, feature string) bool {
	switch feature {
	case featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1,
		featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1:
		return extension == subagents
	case featurewire.FeatureApprovals, featurewire.FeatureSecrets:
		return false
	}
	return true
}

// TellsOfAgents reports whether an extension, once it is offered child agents, has to select the telemetry
// about them as well.
func TellsOfAgents(extension string) bool { return extension == subagents }

// maxServerBytes bounds the id of an MCP server.
const maxServerBytes = 32

var serverID = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// MCPCall is what an intent of octet-mcp asks leave for.
type MCPCall struct {
	Extension string
	Server    string
	Tool      string // as the model calls it
}

// AllowMCPCall reports whether the names of an intent fit together and the policy lets the effect
// through. Whether the call is live with the same arguments is for the caller to check.
func AllowMCPCall(c MCPCall, s Settings) bool {
	return c.Extension == mcp && s.FullAccess() &&
		len(c.Server) <= maxServerBytes && serverID.MatchString(c.Server) &&
		strings.HasPrefix(c.Tool, "mcp_"+strings.ReplaceAll(c.Server, "-", "_")+"_")
}
