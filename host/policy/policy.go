// Package policy decides what effects are let through, and whether an extension may start. Everything in
// it is a pure function over plain data.
//
// Sheet: manifest 6.4, 7, 9.7.
package policy

import "slices"

// Effect is the policy for effects of tools and extensions.
type Effect string

// The effect policies.
const (
	UnsafeHost             Effect = "unsafe_host"              // full access; trusts what is enabled
	Controlled             Effect = "controlled"               // mutations and unknown commands ask
	ControlledBashApproval Effect = "controlled_bash_approval" // every command asks as well
)

// Effects lists the policies, the one that allows most first. A project may move down the list only.
var Effects = []string{string(UnsafeHost), string(Controlled), string(ControlledBashApproval)}

// Known reports whether the policy is one of Effects.
func (e Effect) Known() bool { return slices.Contains(Effects, string(e)) }

// Settings are the answers of configuration and command line that bear on effects and processes. Only
// Effect, AllowProcess and AllowShell decide about extensions; a process of an extension is not confined
// by AllowExternalPaths.
type Settings struct {
	Effect             Effect
	SafeMode           bool
	AllowProcess       bool
	AllowShell         bool
	AllowExternalPaths bool
}

// Safe returns the settings under --safe-mode: every command and file change asks, and external paths are
// off. The process gates stay as they are.
func (s Settings) Safe() Settings {
	s.SafeMode, s.Effect, s.AllowExternalPaths = true, ControlledBashApproval, false
	return s
}

// FullAccess reports whether the policy lets extensions start and trusts the enabled ones by itself.
func (s Settings) FullAccess() bool { return s.Effect == UnsafeHost && !s.SafeMode }

// GateOpen reports whether processes may be started at all.
func (s Settings) GateOpen() bool { return s.AllowProcess && s.AllowShell }

// Name is how people are told about the policy.
func (s Settings) Name() string {
	if s.SafeMode {
		return "safe mode"
	}
	return string(s.Effect)
}
