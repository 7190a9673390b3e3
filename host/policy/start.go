package policy

import "fmt"

// Surface is where a start is asked for.
type Surface string

// The surfaces. Only Session and Embedder start processes.
const (
	Session    Surface = "session"     // an ordinary start of octet
	Embedder   Surface = "embedder"    // a program that uses this module; it has its own policy
	NativeHost Surface = "native host" // protocol 1: discovery and diagnostics only
	Doctor     Surface = "doctor"
	Sessions   Surface = "sessions"
	Migrate    Surface = "migrate"
	Manage     Surface = "extension" // the commands that manage what is installed
)

func (s Surface) starts() bool { return s == Session || s == Embedder }

// Reason says why an extension does not start.
type Reason string

// The reasons, in the order in which they are looked for. Started is none.
const (
	Started      Reason = ""
	NoProcesses  Reason = "surface"        // the surface starts no process
	Disabled     Reason = "disabled"       // nothing enables it
	Undiscovered Reason = "not_discovered" // no manifest of that name was selected
	GateClosed   Reason = "process_gate"   // processes are switched off
	PolicyDenies Reason = "effect_policy"  // the policy is not full access
	Untrusted    Reason = "untrusted"      // nothing trusts it
)

// Case is everything the decision looks at.
type Case struct {
	Surface    Surface
	Enabled    bool
	Discovered bool
	Trusted    bool
	Settings   Settings
}

// Decide says why an extension does not start, Started if it does. The first reason counts. An embedder
// answers for its own process gate and policy, so only enablement and trust are looked at.
func Decide(c Case) Reason {
	switch {
	case !c.Surface.starts():
		return NoProcesses
	case !c.Enabled:
		return Disabled
	case !c.Discovered:
		return Undiscovered
	case c.Surface != Embedder && !c.Settings.GateOpen():
		return GateClosed
	case c.Surface != Embedder && !c.Settings.FullAccess():
		return PolicyDenies
	case !c.Trusted:
		return Untrusted
	}
	return Started
}

// Explain says in one line what a reason means for one extension, with the remedy.
func (r Reason) Explain(s Settings) string {
	switch r {
	case Started:
		return ""
	case NoProcesses:
		return "this surface starts no extensions"
	case Disabled:
		return "nothing enables it; use --enable-extension or enabled_extensions"
	case Undiscovered:
		return "it was not discovered"
	case GateClosed:
		return "processes are switched off; drop --no-process or --no-shell, and set allow_process and allow_shell to true"
	case PolicyDenies:
		return fmt.Sprintf("%s starts no extensions, trusted or not; only %s does", s.Name(), UnsafeHost)
	default:
		return "nothing trusts it; grant trusted_extensions or use --trust-extension"
	}
}

// RefusalError says that an extension must not be started.
type RefusalError struct {
	Extension string
	Reason    Reason
}

var refusals = map[Reason]string{
	NoProcesses: "is not started here", Disabled: "is not enabled", Undiscovered: "was not discovered",
	GateClosed: "is stopped by the process gate", PolicyDenies: "is stopped by the effect policy", Untrusted: "is not trusted",
}

// Error names the extension and the state it lacks.
func (e *RefusalError) Error() string {
	return fmt.Sprintf("extension `%s` %s", e.Extension, refusals[e.Reason])
}

// Admit returns nil if the case starts, and a *RefusalError if not.
func Admit(extension string, c Case) error {
	if reason := Decide(c); reason != Started {
		return &RefusalError{Extension: extension, Reason: reason}
	}
	return nil
}

// Stopped tells once per cause that enabled extensions were not started: at most one line for the process
// gate and one for the policy, in this order. The reasons are those of all extensions; extensions that
// nobody enabled stay silent.
func Stopped(reasons []Reason, s Settings) []string {
	var gate, denied bool
	for _, r := range reasons {
		gate, denied = gate || r == GateClosed, denied || r == PolicyDenies
	}
	var lines []string
	if gate {
		lines = append(lines, "enabled extensions were not started: process execution is switched off by "+
			"--no-process or --no-shell, or by allow_process or allow_shell")
	}
	if denied {
		lines = append(lines, fmt.Sprintf("enabled extensions were not started: %s denies extension processes, also with "+
			"explicit trust; only full access (%s) starts them, to be used inside isolation by the system", s.Name(), UnsafeHost))
	}
	return lines
}
