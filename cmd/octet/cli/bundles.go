package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/bundle"
)

// exitRefused is the exit code of an installation, update or removal that was refused.
const exitRefused = 1

const bundleExitCodes = `Exit codes:
  0    done
  1    it was refused, and nothing has changed
  2    the command line is wrong
` + signalExitCodes

// bundles manages the bundles of this machine. Without a home there is no place for them.
//
// Rule: MAN-INSTALL-021.
func bundles() (bundle.Manager, error) {
	home := machine().Home
	if !filepath.IsAbs(home) {
		return bundle.Manager{}, &bundle.Refusal{
			Rule: "MAN-INSTALL-021", Message: "extensions cannot be managed: the home directory of the user is unknown",
			Remedy: "set the variable that names your home directory to an absolute path",
		}
	}
	return bundle.Manager{Root: filepath.Join(home, ".octet", "extensions")}, nil
}

// placeCommand is octet extension install and octet extension update.
type placeCommand struct {
	update bool
	path   string
	given  *pflag.FlagSet
}

const helpExtensionInstall = `octet extension install installs a bundle: an extension in a gzip-compressed tar archive. It runs nothing of it, and
switches nothing on.

Usage:
  octet extension install NAME             install an official bundle, from the release of this octet version
  octet extension install --path ARCHIVE   install an archive of your own

Options:
  --path ARCHIVE     a file NAME-VERSION.tar.gz
  -h, --help         show this text

The archive has one directory, called like the extension, with an extension.toml that pins this octet version. It is read
to its end and judged before anything is written; one that is refused leaves nothing behind.

Examples:
  octet extension install octet-web-search
  octet extension install --path ./word-count-1.0.0.tar.gz

` + bundleExitCodes

const helpExtensionUpdate = `octet extension update replaces a bundle that was installed, in one step where the system can. When it fails, the
earlier one is as it was.

Usage:
  octet extension update NAME             update from the release of this octet version
  octet extension update --path ARCHIVE   update from an archive; it must be of an installed bundle

Options:
  --path ARCHIVE     a file NAME-VERSION.tar.gz
  -h, --help         show this text

Examples:
  octet extension update octet-web-search
  octet extension update --path ./word-count-1.1.0.tar.gz

` + bundleExitCodes

func extensionInstall() *command {
	p := &placeCommand{}
	return &command{name: "install", short: "Install a bundle.", help: helpExtensionInstall, flags: p.register, run: p.run}
}

func extensionUpdate() *command {
	p := &placeCommand{update: true}
	return &command{name: "update", short: "Replace a bundle by another version.", help: helpExtensionUpdate, flags: p.register, run: p.run}
}

func (p *placeCommand) register(set *pflag.FlagSet) {
	p.given = set
	set.StringVar(&p.path, "path", "", "")
}

func (p *placeCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	name := "install"
	if p.update {
		name = "update"
	}
	byPath := p.given.Changed("path")
	switch {
	case len(args) > 1:
		return exitUsage, usagef("unexpected argument %q; octet extension %s takes one name, or --path ARCHIVE", args[1], name)
	case byPath == (len(args) == 1):
		return exitUsage, usagef("octet extension %s needs either a name or --path ARCHIVE, and not both", name)
	case byPath && p.path == "":
		return exitUsage, usagef("--path has an empty value; name an archive")
	}
	manager, err := bundles()
	if err != nil {
		return exitRefused, err
	}
	ctx, finish := ended(ctx, context.Canceled)
	return finish(p.place(ctx, c, manager, args))
}

// place installs or updates.
func (p *placeCommand) place(ctx context.Context, c *console, manager bundle.Manager, args []string) (int, error) {
	byPath := len(args) == 0
	source := bundle.Source{Archive: p.path}
	act, done := manager.Install, "installed"
	if p.update {
		act, done = manager.Update, "updated"
	}
	if !byPath {
		source = bundle.Source{Name: args[0]}
		c.status("fetching " + args[0] + " from its release")
	}
	record, err := act(ctx, source)
	c.clear()
	if err != nil {
		return refusedBundle(c, err)
	}
	c.print(plain(fmt.Sprintf("%s %s %s (API %s, for octet %s)\n", done, record.ID, record.Version, record.APIVersion, record.RequiresOctet)))
	if !p.update {
		c.print("Nothing was switched on: use --enable-extension or enabled_extensions. Full access trusts what is switched on,\nand safe mode starts nothing.\n")
	}
	return exitOK, nil
}

// refusedBundle shows everything that is wrong with the manifest of an archive, then ends the command.
func refusedBundle(c *console, err error) (int, error) {
	var refusal *bundle.Refusal
	switch {
	case errors.Is(err, context.Canceled):
		return exitCancelled, errors.New("interrupted; nothing has changed")
	case errors.As(err, &refusal):
		for _, problem := range refusal.Problems[:min(len(refusal.Problems), maxProblems)] {
			c.line(plain("extension.toml:" + problem.String()))
			c.line(plain("    " + problem.Remedy))
		}
	}
	return exitRefused, err
}

const helpExtensionRemove = `octet extension remove removes a bundle that was installed. Configuration, sessions and everything else outside of it
stay, and so does a directory that was not installed as a bundle.

Usage:
  octet extension remove NAME

Options:
  -h, --help         show this text

` + bundleExitCodes

func extensionRemove() *command {
	return &command{
		name: "remove", short: "Remove a bundle.", help: helpExtensionRemove, flags: func(*pflag.FlagSet) {},
		run: func(ctx context.Context, c *console, args []string) (int, error) {
			if len(args) != 1 {
				return exitUsage, usagef("octet extension remove takes one name; octet extension list shows them")
			}
			manager, err := bundles()
			if err != nil {
				return exitRefused, err
			}
			if err := manager.Remove(ctx, args[0]); err != nil {
				return exitRefused, err
			}
			c.print(plain("removed " + args[0] + "; configuration and other data outside of the bundle are as they were\n"))
			return exitOK, nil
		},
	}
}

// bundleTable shows a line for every bundle, its columns separated by tabs.
//
// Rule: MAN-INSTALL-019.
func bundleTable(list []bundle.Installed) string {
	if len(list) == 0 {
		return "no extension bundles installed\n"
	}
	var b strings.Builder
	b.WriteString("ID\tVERSION\tKIND\tAPI\tOCTET\tTARGET\n")
	for _, i := range list {
		b.WriteString(strings.Join([]string{i.ID, i.Version, bundleKind, i.APIVersion, i.RequiresOctet, bundleTarget}, "\t") + "\n")
	}
	return b.String()
}

// What every bundle is, as listings say it.
const (
	bundleKind   = "executable"
	bundleTarget = "any"
)

// bundleText tells in one line where a bundle comes from.
func bundleText(i bundle.Installed) string {
	text := fmt.Sprintf("%s, %s, SHA-256 %s", i.SourceKind, i.Source, i.ArchiveSHA256)
	if !i.Compatible() {
		text += "; not usable: " + i.Problem
	}
	return text
}

// bundleDescription is the JSON form of a bundle.
type bundleDescription struct {
	bundle.Record
	Kind       string `json:"kind"`
	Target     string `json:"target"`
	Directory  string `json:"directory"`
	Compatible bool   `json:"compatible"`
	Problem    string `json:"problem,omitempty"`
}

func describeBundles(list []bundle.Installed) []bundleDescription {
	described := make([]bundleDescription, len(list))
	for n, i := range list {
		described[n] = bundleDescription{
			Record: i.Record, Kind: bundleKind, Target: bundleTarget, Directory: i.Directory, Compatible: i.Compatible(), Problem: i.Problem,
		}
	}
	return described
}
