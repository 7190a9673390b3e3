package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// oupFlags are what the judges of OUP take beside the flags of every run.
type oupFlags struct {
	runFlags
	adapter string
	stdio   bool
	url     string
	token   string
	beats   bool
	command []string // behind --
}

// server judges an OUP server: we are its clients.
func (inv *invocation) server() int {
	var flags oupFlags
	f := inv.flags()
	f.StringVar(&flags.adapter, "adapter", "", "how the server is started and its model asked: a server that is known (octet), or a file; see docs/guide/oup-conformance.md")
	f.BoolVar(&flags.stdio, "stdio", false, "the command behind -- is a server over standard streams, or of the adapter only that is judged")
	f.StringVar(&flags.url, "url", "", "WebSocket address of a server that runs, as ws://127.0.0.1:8080/api/ui-protocol/ws")
	f.StringVar(&flags.token, "token", "", "what that server lets clients in for")
	f.BoolVar(&flags.beats, "beats", false, "wait for heartbeats, which takes 20 s")
	registerOUP(f, &flags.runFlags)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.checkOUP(); err != nil {
		return inv.wrong("%v", err)
	}
	before, argv := split(f)
	targets, ask, err := flags.targets(before, argv)
	if err != nil {
		return inv.refuse(err)
	}
	if len(targets) > 1 && (flags.files != reportFiles{} || flags.output == "json") {
		return inv.wrong("reports are of one transport; give --stdio or --url as well")
	}
	if err := flags.readLists(); err != nil {
		return inv.refuse(err)
	}
	if _, err := flags.required(oupreferee.API); err != nil {
		return inv.refuse(err)
	}
	exit := report.ExitClean
	for i := range targets {
		setup := &oupreferee.Setup{Target: targets[i], Ask: ask, Beats: flags.beats}
		if len(targets) == 2 {
			setup.Other = &targets[1-i]
		}
		if code := inv.serverOn(setup, &flags); code != report.ExitClean && exit != report.ExitFindings {
			exit = code
		}
	}
	return exit
}

func registerOUP(f *pflag.FlagSet, flags *runFlags) {
	f.StringVar(&flags.api, "api", oupreferee.API, "the version of the protocol")
	flags.registerVerdict(f)
	flags.registerFix(f)
	flags.registerFlaky(f)
	f.Float64Var(&flags.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.IntVar(&flags.jobs, "jobs", 4, "scenarios at a time")
	f.Int64Var(&flags.seed, "seed", 0, "order of the scenarios (default: random)")
}

func (r *runFlags) checkOUP() error {
	if err := oneOf("api", r.api, oupreferee.API); err != nil {
		return err
	}
	return r.check()
}

// targets are the servers to be judged: one for each transport.
func (o *oupFlags) targets(before, argv []string) ([]oupreferee.Target, oupreferee.Ask, error) {
	adapter, err := oupAdapter(o.adapter)
	switch {
	case err != nil:
		return nil, oupreferee.Ask{}, err
	case len(before) > 0:
		return nil, oupreferee.Ask{}, usageError(fmt.Sprintf("unexpected argument %q; the command of a server stands behind --", before[0]))
	case o.url != "" && (o.stdio || argv != nil):
		return nil, oupreferee.Ask{}, usageError("--url names a server that runs; leave --stdio and the command out")
	case argv != nil && !o.stdio:
		return nil, oupreferee.Ask{}, usageError("a command behind -- is a server over standard streams; give --stdio as well, or --url for one that runs")
	case argv == nil && o.url == "" && o.adapter == "":
		return nil, oupreferee.Ask{}, usageError("server wants --stdio -- CMD, --url URL or --adapter NAME")
	}
	o.command = argv
	env := subject.Environment(os.Environ(), adapter.Env)
	if o.url != "" {
		return []oupreferee.Target{{Transport: oupreferee.WebSocket, URL: o.url, Token: o.token}}, adapter.Ask, nil
	}
	if argv == nil {
		argv = adapter.Stdio
	}
	targets := []oupreferee.Target{{Transport: oupreferee.Stdio, Command: argv}}
	if !o.stdio {
		targets = append(targets, oupreferee.Target{Transport: oupreferee.WebSocket, Command: adapter.WebSocket})
	}
	var out []oupreferee.Target
	for _, t := range targets {
		if len(t.Command) == 0 {
			continue
		}
		t.Env, t.Files = env, adapter.File
		if t.Secret = slices.Clone(adapter.WorkSecret); len(t.Secret) > 0 {
			if err := findProgram(t.Secret); err != nil {
				return nil, oupreferee.Ask{}, err
			}
		}
		if err := findProgram(t.Command); err != nil {
			return nil, oupreferee.Ask{}, err
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, oupreferee.Ask{}, usageError("the adapter starts no server; put its command behind --stdio --, or give --url")
	}
	return out, adapter.Ask, nil
}

// words name the server on a command line.
func (o *oupFlags) words(transport string) []string {
	var words []string
	if o.adapter != "" {
		adapter := o.adapter
		if !slices.Contains(oupreferee.ReadyAdapters(), adapter) {
			adapter = absolute(adapter)
		}
		words = append(words, "--adapter", adapter)
	}
	switch {
	case o.url != "":
		return append(words, "--url", o.url, "--token", "TOKEN")
	case o.command != nil:
		return append(append(words, "--stdio", "--"), o.command...)
	case transport == oupreferee.Stdio:
		return append(words, "--stdio")
	}
	return words
}

// oupAdapter reads an adapter; no name is the one that knows nothing.
func oupAdapter(name string) (*oupreferee.Adapter, error) {
	if name == "" {
		return &oupreferee.Adapter{}, nil
	}
	adapter, err := oupreferee.LoadAdapter(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError(fmt.Sprintf("--adapter is %q, which is no file; name one, or use %s", name, strings.Join(oupreferee.ReadyAdapters(), ", ")))
	}
	return adapter, err
}

// findProgram makes the program of a command absolute. One that PATH does not have may lie beside this one, as it does
// in what is built or unpacked here; the report names the place.
func findProgram(argv []string) error {
	program, err := exec.LookPath(argv[0])
	if errors.Is(err, exec.ErrNotFound) {
		if self, failed := os.Executable(); failed == nil {
			if beside, failed := exec.LookPath(filepath.Join(filepath.Dir(self), argv[0])); failed == nil {
				program, err = beside, nil
			}
		}
	}
	if err == nil {
		argv[0], err = filepath.Abs(program)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("command %q: it is neither on PATH nor beside octet-conform; add its directory to PATH, or write an adapter that names its path", argv[0])
	}
	if err != nil {
		return fmt.Errorf("command %q: %w", argv[0], cause(err))
	}
	return nil
}

// serverOn judges a server on one transport.
func (inv *invocation) serverOn(setup *oupreferee.Setup, flags *oupFlags) int {
	scale := flags.scale * calibrate(inv.ctx)
	setup.Wait = steps.DefaultPatience.Scale(scale).Initialize
	setup.Target.Wait = setup.Wait
	if setup.Other != nil {
		setup.Other.Wait = setup.Wait
	}
	seed := flags.seed
	if seed == 0 {
		seed = rand.Int64N(1<<31-1) + 1
	}
	flags.hostWords = flags.words(setup.Target.Transport)
	name, command := setup.Target.URL, []string{setup.Target.URL}
	if name == "" {
		name, command = filepath.Base(setup.Target.Command[0])+" over "+setup.Target.Transport, setup.Target.Command
	}
	run := func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
		bar := inv.bar("scenarios")
		defer bar.clear()
		return oupreferee.Run(inv.ctx, oupreferee.Options{Setup: setup, Select: chosen, Jobs: flags.jobs, Seed: seed, Knock: true, Progress: bar.update})
	}
	return inv.concludeOUP(oupRun{
		subject: report.Subject{Role: report.RoleServer, Name: name, API: oupreferee.API, Command: command},
		run:     report.Run{Seed: seed, Scale: scale, Jobs: flags.jobs}, again: run, what: "servers",
	}, &flags.runFlags)
}

// oupRun is a run of a judge of OUP.
type oupRun struct {
	subject report.Subject
	run     report.Run
	again   func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error)
	what    string
}

// concludeOUP runs the scenarios and writes the reports.
func (inv *invocation) concludeOUP(r oupRun, flags *runFlags) int {
	began := time.Now()
	scenarios, err := r.again(referee.Matches(flags.run))
	if errors.Is(err, referee.ErrNothing) {
		return inv.wrong("no scenario for %s matches --run %s", r.what, quoted(flags.run))
	}
	if err == nil {
		err = interruption(scenarios)
	}
	if err != nil {
		return inv.unable(err)
	}
	if err := inv.keepTranscripts(flags, r.subject, r.run.Seed, scenarios); err != nil {
		return inv.unable(err)
	}
	rep, err := flags.report(judgement{subject: r.subject, run: r.run, scenarios: scenarios, took: time.Since(began), again: r.again})
	if err != nil {
		return inv.refuse(err)
	}
	return inv.conclude(rep, scenarios, flags)
}
