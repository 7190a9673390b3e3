package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// open is full access with open gates.
var open = Settings{Effect: UnsafeHost, AllowProcess: true, AllowShell: true, AllowExternalPaths: true}

func with(change func(*Settings)) Settings {
	s := open
	change(&s)
	return s
}

// TestDecide has, for every gate, the case in which only that gate is shut, and the cases in which several
// are: the first in the fixed order is the one reason. The truth table with sources and grants is held by
// package selection.
//
// MAN-START-001, MAN-START-003, MAN-START-004, MAN-START-005, MAN-START-006,
// MAN-POLICY-001, MAN-POLICY-003, MAN-POLICY-005, MAN-POLICY-006, MAN-POLICY-007, MAN-TRUST-004.
func TestDecide(t *testing.T) {
	noProcess := with(func(s *Settings) { s.AllowProcess = false })
	noShell := with(func(s *Settings) { s.AllowShell = false })
	controlled := with(func(s *Settings) { s.Effect = Controlled })
	approval := with(func(s *Settings) { s.Effect = ControlledBashApproval })
	confined := with(func(s *Settings) { s.AllowExternalPaths = false })
	shut := with(func(s *Settings) { s.AllowProcess, s.Effect = false, Controlled })
	for _, c := range []struct {
		name string
		c    Case
		want Reason
	}{
		{"everything open", Case{Session, true, true, true, open}, Started},
		{"external paths do not matter", Case{Session, true, true, true, confined}, Started},
		{"native host", Case{NativeHost, true, true, true, open}, NoProcesses},
		{"doctor", Case{Doctor, true, true, true, open}, NoProcesses},
		{"sessions", Case{Sessions, true, true, true, open}, NoProcesses},
		{"migrate", Case{Migrate, true, true, true, open}, NoProcesses},
		{"extension commands", Case{Manage, true, true, true, open}, NoProcesses},
		{"not enabled", Case{Session, false, true, true, open}, Disabled},
		{"not discovered", Case{Session, true, false, true, open}, Undiscovered},
		{"process switched off", Case{Session, true, true, true, noProcess}, GateClosed},
		{"shell switched off", Case{Session, true, true, true, noShell}, GateClosed},
		{"controlled", Case{Session, true, true, true, controlled}, PolicyDenies},
		{"an approval lifts nothing", Case{Session, true, true, true, approval}, PolicyDenies},
		{"safe mode", Case{Session, true, true, true, open.Safe()}, PolicyDenies},
		{"not trusted", Case{Session, true, true, false, open}, Untrusted},
		{"surface before enablement", Case{Doctor, false, false, false, shut}, NoProcesses},
		{"enablement before discovery", Case{Session, false, false, false, shut}, Disabled},
		{"discovery before the gate", Case{Session, true, false, false, shut}, Undiscovered},
		{"gate before policy", Case{Session, true, true, false, shut}, GateClosed},
		{"policy before trust", Case{Session, true, true, false, controlled}, PolicyDenies},
	} {
		if got := Decide(c.c); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if text := c.want.Explain(c.c.Settings); (text == "") != (c.want == Started) {
			t.Errorf("%s is explained as %q", c.name, text)
		}
	}
}

// Row 17 of the truth table: an embedder answers for gate and policy itself.
//
// MAN-START-011.
func TestAdmit_embedder(t *testing.T) {
	nothing := Settings{}
	for _, c := range []struct {
		c    Case
		want string
	}{
		{Case{Embedder, false, true, false, nothing}, "extension `demo` is not enabled"},
		{Case{Embedder, true, true, false, nothing}, "extension `demo` is not trusted"},
		{Case{Embedder, true, false, true, nothing}, "extension `demo` was not discovered"},
		{Case{Session, true, true, true, nothing}, "extension `demo` is stopped by the process gate"},
		{Case{Session, true, true, true, open.Safe()}, "extension `demo` is stopped by the effect policy"},
		{Case{Doctor, true, true, true, open}, "extension `demo` is not started here"},
	} {
		err := Admit("demo", c.c)
		var refused *RefusalError
		if !errors.As(err, &refused) || err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.c, err, c.want)
		}
	}
	if err := Admit("demo", Case{Embedder, true, true, true, nothing}); err != nil {
		t.Errorf("an enabled and trusted extension is refused: %v", err)
	}
}

// MAN-POLICY-002.
func TestEffect_known(t *testing.T) {
	for _, name := range Effects {
		if !Effect(name).Known() {
			t.Errorf("%q is not known", name)
		}
	}
	for _, name := range []string{"", "Controlled", "unsafe-host", "safe"} {
		if Effect(name).Known() {
			t.Errorf("%q is known", name)
		}
	}
	if len(Effects) != 3 {
		t.Errorf("there are %d policies, want 3", len(Effects))
	}
}

// MAN-POLICY-003, MAN-TRUST-002.
func TestSettings_safe(t *testing.T) {
	safe := open.Safe()
	want := Settings{Effect: ControlledBashApproval, SafeMode: true, AllowProcess: true, AllowShell: true}
	if safe != want {
		t.Errorf("safe mode makes %+v, want %+v", safe, want)
	}
	if safe.FullAccess() || !open.FullAccess() || with(func(s *Settings) { s.Effect = Controlled }).FullAccess() {
		t.Error("full access is not exactly unsafe_host without safe mode")
	}
	if (Settings{Effect: UnsafeHost, SafeMode: true}).FullAccess() {
		t.Error("unsafe_host lifts safe mode")
	}
	if safe.Name() != "safe mode" || open.Name() != "unsafe_host" {
		t.Errorf("called %q and %q", safe.Name(), open.Name())
	}
}

// MAN-START-013, MAN-DIAG-010, MAN-START-003.
func TestStopped(t *testing.T) {
	for _, c := range []struct {
		reasons []Reason
		want    []string
	}{
		{nil, nil},
		{[]Reason{Started, Disabled, Undiscovered, Untrusted, NoProcesses}, nil},
		{[]Reason{GateClosed, GateClosed}, []string{"--no-process"}},
		{[]Reason{PolicyDenies, Disabled, PolicyDenies}, []string{"safe mode denies"}},
		{[]Reason{PolicyDenies, GateClosed}, []string{"--no-process", "safe mode denies"}},
	} {
		got := Stopped(c.reasons, open.Safe())
		same := slices.EqualFunc(got, c.want, func(line, part string) bool { return strings.Contains(line, part) })
		if !same {
			t.Errorf("%v tells %q, want lines with %q", c.reasons, got, c.want)
		}
	}
}

func TestMayOffer(t *testing.T) {
	agents := []string{
		featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1,
		featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
	}
	for _, feature := range agents {
		if !MayOffer("octet-subagents", feature) || MayOffer("octet-mcp", feature) || MayOffer("octet-subagents2", feature) {
			t.Errorf("%s is not offered to octet-subagents alone", feature)
		}
	}
	for _, name := range []string{"octet-subagents", "octet-mcp", "octet-web-search", "demo"} {
		if MayOffer(name, featurewire.FeatureApprovals) || MayOffer(name, featurewire.FeatureSecrets) {
			t.Errorf("approvals or secrets are offered to %s", name)
		}
		if !MayOffer(name, featurewire.FeatureRequestProgress) {
			t.Errorf("%s is treated in a way of its own", name)
		}
	}
}

func TestAllowMCPCall(t *testing.T) {
	long := strings.Repeat("s", maxServerBytes)
	for _, c := range []struct {
		call MCPCall
		want bool
	}{
		{MCPCall{"octet-mcp", "git-hub", "mcp_git_hub_search"}, true},
		{MCPCall{"octet-mcp", long, "mcp_" + long + "_x"}, true},
		{MCPCall{"octet-mcp", long + "s", "mcp_" + long + "s_x"}, false},
		{MCPCall{"octet-mcp2", "git-hub", "mcp_git_hub_search"}, false},
		{MCPCall{"octet-mcp", "git-hub", "mcp_git-hub_search"}, false},
		{MCPCall{"octet-mcp", "git", "mcp_github_search"}, false},
		{MCPCall{"octet-mcp", "Git", "mcp_Git_search"}, false},
		{MCPCall{"octet-mcp", "1git", "mcp_1git_search"}, false},
		{MCPCall{"octet-mcp", "git\n", "mcp_git\n_search"}, false},
		{MCPCall{"octet-mcp", "", "mcp__search"}, false},
	} {
		if got := AllowMCPCall(c.call, open); got != c.want {
			t.Errorf("%+v: %v, want %v", c.call, got, c.want)
		}
		if AllowMCPCall(c.call, open.Safe()) || AllowMCPCall(c.call, with(func(s *Settings) { s.Effect = Controlled })) {
			t.Errorf("%+v is allowed without full access", c.call)
		}
	}
}
