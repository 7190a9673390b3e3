package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/bundle"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/trust"
)

// listCommand is octet extension list.
type listCommand struct {
	globals
	format
	bundles bool
}

func extensionList() *command {
	var list listCommand
	return &command{
		name: "list", short: "Show which extensions there are, and which would start.", help: helpExtensionList, selects: true,
		flags: func(set *pflag.FlagSet) {
			list.globals.register(set)
			list.format.register(set)
			set.BoolVar(&list.bundles, "bundles", false, "")
		},
		run: list.run,
	}
}

func (l *listCommand) run(_ context.Context, c *console, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("unexpected argument %q; octet extension list takes options only", args[0])
	}
	if err := l.format.check(); err != nil {
		return exitUsage, err
	}
	invocation, err := l.invocation()
	if err != nil {
		return exitUsage, err
	}
	manager, err := bundles()
	if err != nil {
		return exitRefused, err
	}
	installed, told, err := manager.List()
	if err != nil {
		return exitRefused, err
	}
	if l.bundles && !l.json {
		tell(c, told)
		c.print(plain(bundleTable(installed)))
		return exitOK, nil
	}
	// The list tells what an ordinary start would do; the command itself starts nothing.
	s, err := selection.Resolve(machine(), invocation, policy.Session)
	if err != nil {
		return refused(c, err)
	}
	s.Diagnostics = append(s.Diagnostics, told...)
	if l.json {
		description := describeSelection(s)
		description.Bundles = describeBundles(installed)
		return exitOK, c.json(description)
	}
	tell(c, s.Diagnostics)
	c.print(plain(selectionText(s, installed) + "\n" + bundleTable(installed)))
	for _, line := range s.Stopped() {
		c.note("%s", line)
	}
	return exitOK, nil
}

// selectionText shows every extension with its states, and where it comes from if it is a bundle.
func selectionText(s *selection.Selection, installed []bundle.Installed) string {
	if len(s.Extensions) == 0 {
		return "no extensions discovered\n"
	}
	blocks := make([]string, len(s.Extensions))
	for i := range s.Extensions {
		e := &s.Extensions[i]
		var b strings.Builder
		rows(&b,
			[2]string{"name", e.Name},
			[2]string{"version", e.Manifest.Version},
			[2]string{"description", e.Manifest.Description},
			[2]string{"API", e.Manifest.API},
			[2]string{"source", fmt.Sprintf("%s, %s", e.Scope, e.ManifestPath)},
			[2]string{"bundle", originText(e, installed)},
			[2]string{"enabled", enabledText(e)},
			[2]string{"trusted", trustText(e)},
			[2]string{"would start", startText(e, s.Policy)},
		)
		blocks[i] = b.String()
	}
	return strings.Join(blocks, "\n")
}

// originText tells where the bundle of an extension comes from, "" if it is none.
func originText(e *selection.Extension, installed []bundle.Installed) string {
	for _, i := range installed {
		if e.Scope == discovery.Global && i.ID == e.Name {
			return bundleText(i)
		}
	}
	return ""
}

func enabledText(e *selection.Extension) string {
	if !e.Enabled {
		return "no"
	}
	return "yes, by " + e.EnabledBy
}

func trustText(e *selection.Extension) string {
	switch e.Trust {
	case trust.Implicit:
		return "yes, by " + e.Trust.By() + " " + string(policy.UnsafeHost)
	case trust.Invocation, trust.Source, trust.Bare:
		return "yes, by " + e.Trust.By()
	default:
		return fmt.Sprintf("no; the grant for it is %q, for one run --trust-extension %s", trust.Copyable(e.Subject()), e.Name)
	}
}

func startText(e *selection.Extension, s policy.Settings) string {
	if e.Reason == policy.Started {
		return "yes"
	}
	return "no: " + e.Reason.Explain(s)
}

// selectionDescription is the JSON form of a selection.
type selectionDescription struct {
	Generation       uint64                  `json:"generation"`
	Workspace        string                  `json:"workspace"`
	WorkspaceTrusted bool                    `json:"workspace_trusted"`
	EffectPolicy     policy.Effect           `json:"effect_policy"`
	SafeMode         bool                    `json:"safe_mode"`
	ProcessGate      bool                    `json:"process_gate_open"`
	Extensions       []selectedDescription   `json:"extensions"`
	Bundles          []bundleDescription     `json:"bundles"`
	Stopped          []string                `json:"stopped"`
	Diagnostics      []diagnosticDescription `json:"diagnostics"`
}

type selectedDescription struct {
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	API          string          `json:"api_version"`
	Description  string          `json:"description,omitempty"`
	Source       discovery.Scope `json:"source"`
	ManifestPath string          `json:"manifest_path"`
	Digest       string          `json:"manifest_sha256"`
	Enabled      bool            `json:"enabled"`
	EnabledBy    string          `json:"enabled_by,omitempty"`
	Trusted      bool            `json:"trusted"`
	Trust        trust.Basis     `json:"trusted_by,omitempty"`
	Grant        string          `json:"grant"`
	WouldStart   bool            `json:"would_start"`
	Reason       policy.Reason   `json:"reason,omitempty"`
	Explanation  string          `json:"explanation,omitempty"`
}

func describeSelection(s *selection.Selection) selectionDescription {
	kept, _ := boundedDiagnostics(s.Diagnostics)
	d := selectionDescription{
		Generation: s.Generation, Workspace: s.Workspace, WorkspaceTrusted: s.WorkspaceTrusted,
		EffectPolicy: s.Policy.Effect, SafeMode: s.Policy.SafeMode, ProcessGate: s.Policy.GateOpen(),
		Extensions: []selectedDescription{}, Stopped: append([]string{}, s.Stopped()...),
		Diagnostics: describeDiagnostics(kept),
	}
	for i := range s.Extensions {
		e := &s.Extensions[i]
		d.Extensions = append(d.Extensions, selectedDescription{
			Name: e.Name, Version: e.Manifest.Version, API: e.Manifest.API, Description: e.Manifest.Description,
			Source: e.Scope, ManifestPath: e.ManifestPath, Digest: e.Digest,
			Enabled: e.Enabled, EnabledBy: e.EnabledBy, Trusted: e.Trusted(), Trust: e.Trust, Grant: trust.Copyable(e.Subject()),
			WouldStart: e.Reason == policy.Started, Reason: e.Reason, Explanation: e.Reason.Explain(s.Policy),
		})
	}
	return d
}
