package selection

import (
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/policy"
)

// MAN-POLICY-002, MAN-POLICY-004, MAN-POLICY-005.
func TestResolve_wrongInvocations(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("file"), "")
	for _, c := range []struct {
		i    Invocation
		want string
	}{
		{Invocation{SafeMode: true, EffectPolicy: "controlled"}, "--safe-mode and --effect-policy exclude each other; use one of them (MAN-POLICY-004)"},
		{Invocation{EffectPolicy: "safe"}, `--effect-policy is "safe", which is no policy; use one of unsafe_host, controlled, controlled_bash_approval (MAN-POLICY-002)`},
		{Invocation{AllowShell: true, NoShell: true}, "--allow-shell excludes --no-shell and --no-process"},
		{Invocation{AllowShell: true, NoProcess: true}, "--allow-shell excludes"},
		{Invocation{Workspace: w.path("none")}, "--workspace: the workspace"},
		{Invocation{Workspace: w.path("file")}, "is not a directory; name a directory that exists"},
	} {
		_, err := w.try(c.i)
		var wrong *InvocationError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.i, err, c.want)
		}
	}
}

func TestResolve_workspace(t *testing.T) {
	w := newWorld(t)
	t.Chdir(w.path("more"))
	for _, c := range []struct{ option, variable, want string }{
		{"", "", "more"}, {"", w.path("work"), "work"}, {w.path("home"), w.path("work"), "home"}, {"../home", "", "home"},
	} {
		w.variables["OCTET_WORKSPACE"] = c.variable
		s, err := Resolve(w.machine(), Invocation{Workspace: c.option}, policy.Session)
		if err != nil || s.Workspace != w.path(c.want) {
			t.Errorf("%+v: %v, want %s", c, err, c.want)
		}
	}
	w.variables["OCTET_WORKSPACE"] = "none"
	if _, err := Resolve(w.machine(), Invocation{}, policy.Session); err == nil || !strings.Contains(err.Error(), "OCTET_WORKSPACE") {
		t.Errorf("a wrong variable gives %v", err)
	}
}

// MAN-ENABLE-011, MAN-TRUST-013.
func TestResolve_configuration(t *testing.T) {
	w := newWorld(t)
	w.user("colour = 1")
	if s := w.resolve(Invocation{}); len(s.Diagnostics) != 1 || s.Diagnostics[0].Level != diagnostic.Warning {
		t.Errorf("an unknown key tells %v", s.Diagnostics)
	}
	for _, c := range []struct {
		user, project string
		i             Invocation
		count         int
	}{
		{"colour = 1", "", Invocation{StrictConfig: true}, 1},
		{"strict_config = true\ncolour = 1", "", Invocation{}, 1},
		{"colour = 1", "strict_config = true\nx = 1", Invocation{WorkspaceTrusted: true}, 2},
		{"allow_shell = 1\nallow_process = 2", "", Invocation{}, 2},
		{"", "effect_policy = 1", Invocation{WorkspaceTrusted: true}, 1},
	} {
		w.user(c.user)
		w.project(c.project)
		_, err := w.try(c.i)
		var wrong *ConfigurationError
		if !errors.As(err, &wrong) || len(wrong.Diagnostics) != c.count || !strings.HasPrefix(err.Error(), "the configuration has ") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// An untrusted workspace cannot break anything.
	w.user("")
	w.project("effect_policy = 1")
	w.resolve(Invocation{})
	// A trusted one can tighten.
	w.project(`effect_policy = "controlled"`)
	if s := w.resolve(Invocation{WorkspaceTrusted: true}); s.Policy.FullAccess() || s.Policy.Effect != policy.Controlled {
		t.Errorf("the policy is %+v", s.Policy)
	}
	w.user(`effect_policy = "controlled"`)
	w.project(`effect_policy = "unsafe_host"`)
	if s := w.resolve(Invocation{WorkspaceTrusted: true}); s.Policy.FullAccess() {
		t.Error("a project relaxed the policy")
	}
}
