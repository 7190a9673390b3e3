package conform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/baseline"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

// runFlags are the flags of a run.
type runFlags struct {
	api        string
	tools      []string
	profile    string
	allowCalls bool
	run        []string
	strict     bool
	files      reportFiles
	scale      float64
	jobs       int
	seed       int64
	output     string
	verbose    bool
	minimise   string
	hostWords  []string // that name a host again; nil for an extension

	knownFailing string
	fix          bool
	list         *baseline.List
	knownFlaky   string
	repeats      bool // --flaky-repeats is a flag of the command
	flakyRepeats int
	flaky        *baseline.List
	requirements string
}

func (r *runFlags) register(f *pflag.FlagSet) {
	f.StringVar(&r.api, "api", "", "API version of the command behind --: 0.1, 0.2, 0.3 or 0.4")
	r.registerSubject(f)
	r.registerVerdict(f)
	r.registerFix(f)
	r.registerFlaky(f)
	f.StringVar(&r.minimise, "minimise", minimiseFew, "leave frames out of what failed until each is needed: off, how long that may take, or few: as long as few rules are broken, in one scenario of each")
	f.Float64Var(&r.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.IntVar(&r.jobs, "jobs", 2*runtime.NumCPU(), "scenarios at a time")
	f.Int64Var(&r.seed, "seed", 0, "order of the scenarios, and what their schedules leave open (default: random)")
}

// registerSubject registers the flags that say more of an extension than where it is.
func (r *runFlags) registerSubject(f *pflag.FlagSet) {
	f.StringSliceVar(&r.tools, "contributes-tools", nil, "tools that a manifest of the command would declare, with commas")
	f.StringVar(&r.profile, "profile", "", "file that says how to exercise the extension (default: conform.toml beside the manifest)")
	f.BoolVar(&r.allowCalls, "allow-calls", false, "call tools with made-up arguments even if the manifest asks for files, processes or network")
}

// maxScale keeps every deadline far from the longest time that can be counted.
const maxScale = 1000

// checkScale refuses what is no number to multiply a deadline by; NaN is above and below nothing.
func checkScale(scale float64) error {
	if !(scale > 0 && scale <= maxScale) {
		return fmt.Errorf("--timeout-scale is %v; use a number above 0, at most %d", scale, maxScale)
	}
	return nil
}

// maxJobs is more than any machine has use for, and little enough to be begun at once.
const maxJobs = 1000

// checkJobs refuses what is no number of things to do at a time.
func checkJobs(jobs int) error {
	if jobs < 1 || jobs > maxJobs {
		return fmt.Errorf("--jobs is %d; use a number from 1 to %d", jobs, maxJobs)
	}
	return nil
}

func (r *runFlags) check() error {
	if err := checkScale(r.scale); err != nil {
		return err
	}
	if err := checkJobs(r.jobs); err != nil {
		return err
	}
	if _, err := r.minimiseLimit(); err != nil {
		return err
	}
	if r.repeats && (r.flakyRepeats < 1 || r.flakyRepeats > maxRepeats) {
		return fmt.Errorf("--flaky-repeats is %d; use a number from 1 to %d", r.flakyRepeats, maxRepeats)
	}
	return oneOf("output", r.output, "text", "json", "github")
}

// extension judges one extension.
func (inv *invocation) extension() int {
	var flags runFlags
	f := inv.flags()
	flags.register(f)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.check(); err != nil {
		return inv.wrong("%v", err)
	}
	if err := flags.readLists(); err != nil {
		return inv.refuse(err)
	}
	dirs, argv := split(f)
	target, err := inv.subject(dirs, argv, &flags)
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	if _, err := flags.required(target.subject.API); err != nil {
		return inv.refuse(err)
	}
	rep, scenarios, err := inv.judge(target, &flags)
	switch {
	case errors.Is(err, referee.ErrNothing):
		return inv.wrong("no scenario of API %s matches --run %s; see 'octet-conform list --api %s'", target.subject.API, quoted(flags.run), target.subject.API)
	case err != nil:
		return inv.unable(err)
	}
	return inv.conclude(rep, scenarios, &flags)
}

// conclude publishes a report, mends the list of known failures if that was asked for, and returns the exit code.
func (inv *invocation) conclude(rep *report.Report, scenarios []verdict.Scenario, flags *runFlags) int {
	if err := inv.publish(rep, scenarios, flags); err != nil {
		return inv.unable(err)
	}
	if flags.fix && rep.Summary.Exit != report.ExitUnable {
		if err := inv.fix(flags.knownFailing, rep); err != nil {
			return inv.unable(err)
		}
		return report.ExitClean
	}
	return rep.Summary.Exit
}

// usageError is a wrong command line that was found behind the flags.
type usageError string

func (e usageError) Error() string { return string(e) }

func (inv *invocation) refuse(err error) int {
	var usage usageError
	if errors.As(err, &usage) {
		return inv.wrong("%s", usage)
	}
	return inv.unable(err)
}

// judge runs the scenarios.
func (inv *invocation) judge(target *target, flags *runFlags) (*report.Report, []verdict.Scenario, error) {
	return inv.judgeScaled(target, flags, flags.scale*calibrate(inv.ctx))
}

// judgeScaled is judge for a machine whose speed is known.
func (inv *invocation) judgeScaled(target *target, flags *runFlags, scale float64) (*report.Report, []verdict.Scenario, error) {
	seed := flags.seed
	if seed == 0 {
		seed = rand.Int64N(1<<31-1) + 1
	}
	began := time.Now()
	scenarios, err := inv.scenarios(target, flags, seed, scale)
	if err != nil {
		return nil, nil, err
	}
	if err := interruption(scenarios); err != nil {
		return nil, nil, err
	}
	if err := inv.minimise(target, flags, seed, scenarios); err != nil {
		return nil, nil, err
	}
	if err := inv.keepTranscripts(flags, target.subject, seed, scenarios); err != nil {
		return nil, nil, err
	}
	j := judgement{subject: target.subject, run: report.Run{Seed: seed, Scale: scale, Jobs: flags.jobs}, scenarios: scenarios, took: time.Since(began)}
	if target.setup != nil {
		j.again = func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
			return inv.started(target, chosen, flags.jobs, seed)
		}
	}
	rep, err := flags.report(j)
	return rep, scenarios, err
}

// scenarios judges the manifest, if there is one, and then, if that can be used, the extension.
func (inv *invocation) scenarios(target *target, flags *runFlags, seed int64, scale float64) ([]verdict.Scenario, error) {
	chosen := referee.Matches(flags.run)
	var scenarios []verdict.Scenario
	if target.reading != nil {
		var err error
		if scenarios, err = target.reading.Run(chosen); err != nil {
			return nil, err
		}
	}
	if target.setup == nil {
		if len(scenarios) == 0 {
			return nil, target.broken()
		}
		left, err := referee.LeaveOut(target.subject.API, chosen, "the manifest is broken, so the extension was not started")
		return append(scenarios, left...), err
	}
	target.setup.Patience = steps.DefaultPatience.Scale(scale)
	if err := target.knowsTools(); err != nil {
		return nil, err
	}
	started, err := inv.started(target, chosen, flags.jobs, seed)
	if errors.Is(err, referee.ErrNothing) && len(scenarios) > 0 {
		err = nil
	}
	return append(scenarios, started...), err
}

// started judges the extension by the chosen scenarios of the wire.
func (inv *invocation) started(target *target, chosen func(features.Scenario) bool, jobs int, seed int64) ([]verdict.Scenario, error) {
	bar := inv.bar("scenarios")
	defer bar.clear()
	return referee.Run(inv.ctx, referee.Options{Setup: target.setup, Select: chosen, Jobs: jobs, Seed: seed, Progress: bar.update})
}
