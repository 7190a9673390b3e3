package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/octet-dev/octet/host/doctor"
	"github.com/octet-dev/octet/runtime/manifest"
)

const helpDoctor = `octet doctor examines whether this machine is fit for octet: home, configuration, the place for sessions and
what octet serve keeps beside them, every extension and why it would or would not start, interpreters, keys of model
providers by name, and the terminal. It starts no extension and writes nothing that stays.

Usage:
  octet doctor [options]

Options:
` + helpGlobals + helpDataDir + `  --json, --output json      print everything as JSON
  -h, --help                 show this text

Each line says ok, note, warning or problem, and what to do about it. With a problem the exit code is 1; warnings and
notes leave it at 0: octet works, and something that is set up does not.

Examples:
  octet doctor
  octet doctor --workspace-trusted --json

` + exitCodes

// doctorCommand is octet doctor.
type doctorCommand struct {
	globals
	format
	store storeOptions
}

func doctorExamine() *command {
	var d doctorCommand
	return &command{
		name: "doctor", short: "Examine whether this machine is fit for octet.", help: helpDoctor, selects: true,
		flags: func(set *pflag.FlagSet) {
			d.globals.register(set)
			d.format.register(set)
			d.store.register(set)
		},
		run: d.run,
	}
}

// diagnosis is the JSON form of what the doctor finds.
type diagnosis struct {
	Release    string           `json:"release"`
	Implements string           `json:"implements"`
	System     string           `json:"system"`
	Worst      doctor.Status    `json:"worst"`
	Findings   []doctor.Finding `json:"findings"`
}

func (d *doctorCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("unexpected argument %q; octet doctor takes options only", args[0])
	}
	if err := d.format.check(); err != nil {
		return exitUsage, err
	}
	invocation, err := d.invocation()
	if err != nil {
		return exitUsage, err
	}
	store := storePath() // none is a finding
	if d.store.given.Changed("data-dir") {
		if store, err = d.store.path(); err != nil {
			return exitUsage, err
		}
	}
	findings := doctor.Examine(ctx, doctor.Patient{
		Machine: machine(), Invocation: invocation, Store: store, Terminal: describeTerminal(), Keys: providerKeys(),
	})
	found := diagnosis{Release, manifest.OctetVersion().String(), runtime.GOOS + "/" + runtime.GOARCH, doctor.Worst(findings), findings}
	code := exitOK
	if found.Worst == doctor.Problem {
		code = exitTool
	}
	if d.json {
		return code, c.json(found)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "octet %s on %s, implements octet %s\n\n", found.Release, found.System, found.Implements)
	count := map[doctor.Status]int{}
	for _, f := range findings {
		count[f.Status]++
		fmt.Fprintf(&b, "%-8s %-18s %s\n", f.Status, f.Check, strings.ReplaceAll(f.Summary, "\n", " "))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%-27s %s\n", "", f.Remedy)
		}
	}
	fmt.Fprintf(&b, "\n%s, %s\n", countText(count[doctor.Problem], "problem", "problems"), countText(count[doctor.Warning], "warning", "warnings"))
	c.print(plain(b.String()))
	return code, nil
}

func describeTerminal() doctor.Terminal {
	t := doctor.Terminal{
		Input: term.IsTerminal(int(os.Stdin.Fd())), Output: term.IsTerminal(int(os.Stdout.Fd())),
		Kind: os.Getenv("TERM"), NoColour: os.Getenv("NO_COLOR") != "",
	}
	t.Width, t.Height, _ = term.GetSize(int(os.Stdout.Fd()))
	return t
}
