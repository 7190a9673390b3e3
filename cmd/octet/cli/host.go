package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/nativehost"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/runtime/manifest"
)

const helpHost = `octet host lets a program embed octet: native-host protocol 1, JSON lines over standard input and output.
It answers hello, models, run and shutdown, one at a time. Standard error is for people.

Usage:
  octet host

Options:
  -h, --help                 show this text

A run works under the controlled policy, whatever it asks for, and nobody is asked: what needs leave is denied.
Extensions are discovered and told about, and none is started. Sessions lie in WORKSPACE/.octet/sessions.
There is no command to abort: end the process group. On HUP, INT, QUIT and TERM a run is ended, and the exit code is
128 and the number of the signal.

Example:
  echo '{"protocol_version":1,"request_id":"1","command":"hello"}' | octet host

` + exitCodes

func hostServe() *command {
	return &command{
		name: "host", short: "Let a program embed octet: JSON lines over standard input and output.", help: helpHost,
		flags: func(*pflag.FlagSet) {},
		run:   runHost,
	}
}

func runHost(ctx context.Context, c *console, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("unexpected argument %q; octet host takes its requests from standard input", args[0])
	}
	m := machine()
	options := registry.Options{Lookup: m.Lookup}
	if settled, err := selection.Configure(m, selection.Invocation{}); err == nil { // what is wrong there is told by a run
		options.Default = settled.Config.Word(config.Model)
	}
	if filepath.IsAbs(m.Home) {
		options.Home = m.Home
	}
	models, err := registry.New(options)
	if err != nil {
		return exitUsage, err
	}
	for _, d := range models.Diagnostics() {
		c.errorf("%s", d)
	}
	ctx, finish := ended(ctx, fmt.Errorf("%w: %w", agent.ErrShutdown, errSignal))
	host := nativehost.New(nativehost.Options{
		In: c.in, Out: c.out, Release: manifest.OctetVersion().String(), Machine: m, Models: models,
		Diagnose: func(text string) { c.errorf("%s", text) },
	})
	served := host.Serve(ctx)
	if code, _ := finish(exitOK, nil); code != exitOK {
		return code, nil
	}
	if served != nil {
		return exitTool, fmt.Errorf("the conversation broke: %w", served)
	}
	return exitOK, nil
}

// errSignal is why a run is ended by a signal.
var errSignal = errors.New("the host is ended by a signal")
