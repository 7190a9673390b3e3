package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/selection"
)

// configCommand is octet config.
type configCommand struct {
	globals
	format
}

func configShow() *command {
	var show configCommand
	return &command{
		name: "config", short: "Show the configuration that counts, and where it comes from.", help: helpConfig, selects: true,
		flags: func(set *pflag.FlagSet) {
			show.globals.register(set)
			show.format.register(set)
		},
		run: show.run,
	}
}

func (s *configCommand) run(_ context.Context, c *console, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("unexpected argument %q; octet config takes options only", args[0])
	}
	if err := s.format.check(); err != nil {
		return exitUsage, err
	}
	invocation, err := s.invocation()
	if err != nil {
		return exitUsage, err
	}
	settled, err := selection.Configure(machine(), invocation)
	if err != nil {
		return refused(c, err)
	}
	if s.json {
		return exitOK, c.json(describeConfiguration(settled, invocation))
	}
	tell(c, settled.Diagnostics)
	c.print(plain(configurationText(settled.Config, invocation)))
	return exitOK, nil
}

// added are the names that options add to a list.
type added struct {
	key, option string
	names       []string
}

func additions(i selection.Invocation) []added {
	var list []added
	for _, a := range []added{
		{config.EnabledExtensions, "--enable-extension", i.Enable},
		{config.TrustedExtensions, "--trust-extension", i.Trust},
	} {
		if len(a.names) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// configurationText shows a line for every key, and one for what options add to it.
func configurationText(e *config.Effective, i selection.Invocation) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range e.Settings() {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key.Name, s.Value, s.Place)
		for _, a := range additions(i) {
			if a.key == s.Key.Name {
				_, _ = fmt.Fprintf(table, "%s\tadds %s\t%s\n", a.key, config.Value{Kind: config.List, List: a.names}, a.option)
			}
		}
	}
	_ = table.Flush()
	return b.String()
}

// configurationDescription is the JSON form of a configuration.
type configurationDescription struct {
	Workspace        string                  `json:"workspace"`
	WorkspaceTrusted bool                    `json:"workspace_trusted"`
	Settings         []settingDescription    `json:"settings"`
	Diagnostics      []diagnosticDescription `json:"diagnostics"`
}

type settingDescription struct {
	Key      string   `json:"key"`
	Value    any      `json:"value"`
	Origin   string   `json:"origin"`
	Place    string   `json:"place,omitempty"` // file, variable or option
	Line     int      `json:"line,omitempty"`
	Variable string   `json:"variable,omitempty"` // that would set it
	Added    []string `json:"added,omitempty"`    // by an option, to a list
	Help     string   `json:"help"`
}

func describeConfiguration(s *selection.Selection, i selection.Invocation) configurationDescription {
	kept, _ := boundedDiagnostics(s.Diagnostics)
	d := configurationDescription{
		Workspace: s.Workspace, WorkspaceTrusted: s.WorkspaceTrusted, Diagnostics: describeDiagnostics(kept),
	}
	for _, setting := range s.Config.Settings() {
		described := settingDescription{
			Key: setting.Key.Name, Value: jsonValue(setting.Value), Origin: setting.Place.Origin.String(),
			Place: setting.Place.Name, Line: setting.Place.Line, Variable: setting.Key.Variable, Help: setting.Key.Help,
		}
		for _, a := range additions(i) {
			if a.key == setting.Key.Name {
				described.Added = a.names
			}
		}
		d.Settings = append(d.Settings, described)
	}
	return d
}

func jsonValue(v config.Value) any {
	switch v.Kind {
	case config.Bool:
		return v.Bool
	case config.Word:
		return v.Word
	default:
		return append([]string{}, v.List...)
	}
}
