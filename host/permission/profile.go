package permission

import "github.com/octet-dev/octet/host/tool"

// Mode says how far tools reach without being asked about.
type Mode string

// The modes, the one that allows least first.
const (
	ReadOnly       Mode = "read_only"          // nothing but reading
	WorkspaceWrite Mode = "workspace_write"    // files of the workspace
	FullAccess     Mode = "danger_full_access" // whatever the policy allows
)

// Profile is what a client has chosen for one conversation. It only ever tightens the policy.
//
//	effect      read_only  workspace_write                danger_full_access
//	none, read  allow      allow                          allow
//	write       ask        allow, ask outside of the      allow
//	                       workspace
//	command     ask        ask                            allow
//	external    ask        ask                            allow
//
// The zero value has no opinion.
type Profile struct {
	Mode Mode
	// Never says that nobody is to be asked: what would be asked about is denied.
	Never bool
}

// question says why somebody must be asked about a call, empty if the profile lets it through.
func (p Profile) question(r Request) string {
	inside := r.Tool.Effect == tool.None || r.Tool.Effect == tool.Read || r.Tool.Effect == tool.Write && p.Mode == WorkspaceWrite
	switch {
	case p.Mode == "" || p.Mode == FullAccess:
		return ""
	case inside && !r.Summary.External:
		return ""
	case r.Summary.External && fileEffect(r.Tool.Effect):
		return "the permission profile " + string(p.Mode) + " asks before files outside of the workspace are reached"
	}
	return "the permission profile " + string(p.Mode) + " asks before this is done"
}
