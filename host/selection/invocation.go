package selection

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/policy"
)

// Invocation is what the command line says. The zero value says nothing.
type Invocation struct {
	SafeMode         bool
	EffectPolicy     string // empty: not given
	Workspace        string // empty: not given
	WorkspaceTrusted bool
	Directories      []string
	Enable, Trust    []string
	NoProcess        bool
	NoShell          bool
	AllowShell       bool
	StrictConfig     bool
}

// InvocationError says that options do not fit together or have a wrong value.
type InvocationError struct{ Message, Remedy, Rule string }

// Error names the options, the remedy and the rule.
func (e *InvocationError) Error() string {
	text := e.Message + "; " + e.Remedy
	if e.Rule != "" {
		text += " (" + e.Rule + ")"
	}
	return text
}

// check looks at the options alone.
func (i Invocation) check() error {
	switch {
	case i.SafeMode && i.EffectPolicy != "":
		return &InvocationError{"--safe-mode and --effect-policy exclude each other", "use one of them", "MAN-POLICY-004"}
	case i.EffectPolicy != "" && !policy.Effect(i.EffectPolicy).Known():
		return &InvocationError{
			fmt.Sprintf("--effect-policy is %q, which is no policy", i.EffectPolicy), "use one of " + strings.Join(policy.Effects, ", "), "MAN-POLICY-002",
		}
	case i.AllowShell && (i.NoShell || i.NoProcess):
		return &InvocationError{"--allow-shell excludes --no-shell and --no-process", "use one of them", "MAN-POLICY-005"}
	}
	return nil
}

// layer is the command line as a layer of the configuration. Enablement and trust are not in it: they add
// to the lists below instead of replacing them. The two options that forbid processes mean the same.
func (i Invocation) layer() config.Layer {
	var layer config.Layer
	set := func(key string, value config.Value, option string) {
		layer.Set(key, value, config.Place{Origin: config.CommandLine, Name: option})
	}
	boolean := func(on bool) config.Value { return config.Value{Kind: config.Bool, Bool: on} }
	if i.EffectPolicy != "" {
		set(config.EffectPolicy, config.Value{Kind: config.Word, Word: i.EffectPolicy}, "--effect-policy")
	}
	for _, option := range []struct {
		given bool
		name  string
	}{{i.NoProcess, "--no-process"}, {i.NoShell, "--no-shell"}} {
		if option.given {
			set(config.AllowProcess, boolean(false), option.name)
			set(config.AllowShell, boolean(false), option.name)
		}
	}
	if i.AllowShell {
		set(config.AllowShell, boolean(true), "--allow-shell")
	}
	if i.StrictConfig {
		set(config.StrictConfig, boolean(true), "--strict-config")
	}
	if i.SafeMode {
		set(config.EffectPolicy, config.Value{Kind: config.Word, Word: string(policy.ControlledBashApproval)}, "--safe-mode")
		set(config.AllowExternalPaths, boolean(false), "--safe-mode")
	}
	return layer
}

// ConfigurationError says that the configuration cannot be used. Each of its diagnostics of level Error
// names the place and the remedy.
type ConfigurationError struct{ Diagnostics []diagnostic.Diagnostic }

// Error counts.
func (e *ConfigurationError) Error() string {
	count := 0
	for _, d := range e.Diagnostics {
		if d.Level == diagnostic.Error {
			count++
		}
	}
	if count == 1 {
		return "the configuration has an error"
	}
	return fmt.Sprintf("the configuration has %d errors", count)
}

// Configure settles workspace, configuration and policy, and looks for no extension: the selection it
// returns has none. The error is an *InvocationError or a *ConfigurationError. No session is resumed here;
// one that is brings a layer of its own.
func Configure(m Machine, i Invocation) (*Selection, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	workspace, err := workspace(m, i)
	if err != nil {
		return nil, err
	}
	s := &Selection{Workspace: workspace, WorkspaceTrusted: i.WorkspaceTrusted}
	user, told := config.ReadUser(m.Home)
	layers := []config.Layer{user}
	if i.WorkspaceTrusted {
		project, more := config.ReadProject(workspace)
		layers, told = append(layers, project), append(told, more...)
	}
	environment, more := config.FromEnvironment(m.Lookup)
	told = append(told, more...)
	effective, more := config.Resolve(append(layers, environment, i.layer())...)
	told = append(told, more...)
	if diagnostic.Any(told, diagnostic.Error) {
		return nil, &ConfigurationError{Diagnostics: told}
	}
	s.Config, s.Diagnostics = effective, told
	s.Policy = policy.Settings{
		Effect:             policy.Effect(effective.Word(config.EffectPolicy)),
		AllowProcess:       effective.Bool(config.AllowProcess),
		AllowShell:         effective.Bool(config.AllowShell),
		AllowExternalPaths: effective.Bool(config.AllowExternalPaths),
	}
	if i.SafeMode {
		s.Policy = s.Policy.Safe()
	}
	return s, nil
}

// workspaceVariable names the workspace where --workspace does not.
const workspaceVariable = "OCTET_WORKSPACE"

// workspace finds the canonical path of the workspace: the option, the variable, or the current directory.
func workspace(m Machine, i Invocation) (string, error) {
	path, from := i.Workspace, "--workspace"
	if path == "" {
		path, _ = m.Lookup(workspaceVariable)
		from = workspaceVariable
	}
	if path == "" {
		path, from = ".", "the current directory"
	}
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(absolute); err == nil && !info.IsDir() {
			err = errNoDirectory
		}
	}
	if err != nil {
		return "", &InvocationError{
			Message: fmt.Sprintf("%s: the workspace %q is not a directory", from, path), Remedy: "name a directory that exists",
		}
	}
	return absolute, nil
}

var errNoDirectory = errors.New("not a directory")
