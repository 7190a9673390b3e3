package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultyhost"
	"github.com/octet-dev/octet/features/hostreferee"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/verdict"
)

// hosts stands for a program in what became of a host.
const hosts = "host"

// Words that make the program of HostOptions play a host, with the words of PlayHost and PlayTalker behind them.
const (
	HostWord   = "faulty-host"
	TalkerWord = "faulty-talker"
)

// HostOptions say how faulty hosts are judged.
type HostOptions struct {
	// Self is a program that plays hosts by the words above, and their extensions as hostreferee.Setup.Self does;
	// absolute.
	Self string
	// Wait and Grace are those of hostreferee.Setup; they scale with the machine. A host without a fault gets ten
	// times as much, and so does a faulty one that went uncaught.
	Wait, Grace time.Duration
	// Env are changes to our environment for the hosts.
	Env []string
	// Sample is how many faults stand for the one that is judged; under 2 all are. The same are chosen every time,
	// others in each version, so that every part of the table has some.
	Sample int
	// Sound has a host without a fault judged as well on every version: by all scenarios, or where faults are chosen
	// by those of the rules that they break.
	Sound bool
	// Seed decides what schedules leave open, and the order of the scenarios; 0 is the order of the files.
	Seed int64
	// Jobs is how many hosts are judged at a time.
	Jobs int
	// Only chooses by name and rule; nil for all.
	Only func(name, rule string) bool
	// Progress is called behind every host, never twice at a time; nil for none.
	Progress func(done, total int)
}

// suspectHost is a host to be judged.
type suspectHost struct {
	faultyhost.Fault
	rules []string // that a sound one is judged by; nil for all
}

func (s suspectHost) result(v Verdict) Result {
	return Result{Program: hosts, Fault: s.Name, Rule: s.Rule, API: s.API, Verdict: v}
}

// chosen are the hosts to be judged, sound ones first.
func (o HostOptions) chosen() []suspectHost {
	var sound, faulty []suspectHost
	for at, api := range dialect.Versions() {
		var rules []string
		n := 0
		for _, f := range faultyhost.Faults() {
			if f.API != api || o.Only != nil && !o.Only(f.Name, f.Rule) {
				continue
			}
			if n%max(o.Sample, 1) == at%max(o.Sample, 1) {
				faulty = append(faulty, suspectHost{Fault: f})
				rules = append(rules, f.Rule)
			}
			n++
		}
		if o.Sample < 2 && o.Only == nil {
			sound = append(sound, suspectHost{Fault: faultyhost.Fault{API: api}})
		} else if len(rules) > 0 {
			sound = append(sound, suspectHost{faultyhost.Fault{API: api}, rules})
		}
	}
	if !o.Sound {
		sound = nil
	}
	return append(sound, faulty...)
}

// Hosts judges hosts. A context that is done ends the run at once.
func Hosts(ctx context.Context, opts HostOptions) ([]Result, error) {
	cases := opts.chosen()
	patient := opts
	patient.Wait, patient.Grace = longPatience*opts.Wait, longPatience*opts.Grace
	results, at, err := each(cases, opts.Jobs, opts.Progress, func(f suspectHost) (Result, error) {
		return judge(ctx, f.Rule == "", f.result(Unknown), opts, patient, func(o HostOptions) (Result, error) { return attemptHost(ctx, f, o) })
	})
	if err != nil {
		return nil, fmt.Errorf("host %q on API %s: %w", cases[at].Name, cases[at].API, err)
	}
	return results, nil
}

// scenariosAtATime is how many scenarios of one host run at a time: they wait for the clocks of the wires.
const scenariosAtATime = 4

// attemptHost runs the scenarios that prove the expected rule; those that are chosen for a sound host.
func attemptHost(ctx context.Context, f suspectHost, opts HostOptions) (Result, error) {
	setup, err := HostSetup(f.Name, f.API, opts)
	if err != nil {
		return Result{}, err
	}
	run := hostreferee.Options{Setup: setup, Jobs: scenariosAtATime, Seed: opts.Seed}
	if rules := f.rules; f.Rule != "" || rules != nil {
		run.Select = func(s features.Scenario) bool {
			return slices.ContainsFunc(s.Rules, func(id string) bool { return id == f.Rule || slices.Contains(rules, id) })
		}
	}
	scenarios, err := hostreferee.Run(ctx, run)
	if err != nil && !(f.Rule == "" && errors.Is(err, referee.ErrNothing)) {
		return Result{}, err
	}
	return weighScenarios(f.result(Missed), scenarios), nil
}

// weighScenarios compares what was found with what was expected.
func weighScenarios(r Result, scenarios []verdict.Scenario) Result {
	sound := r.Rule == ""
	if sound {
		r.Verdict = Clean
	}
	for _, s := range scenarios {
		if sound && s.Class != verdict.Pass && s.Class != verdict.NotApplicable {
			r.Verdict = Alarmed
			if r.Reason == "" {
				r.Reason = s.Name + ": " + s.Reason
			}
		}
		for _, found := range s.Findings {
			switch {
			case !sound && found.Rule == r.Rule && !found.Missing:
				r.Verdict, r.Reason = Caught, found.Message
			case !slices.Contains(r.Others, found.Rule):
				r.Others = append(r.Others, found.Rule)
			}
		}
	}
	if r.Verdict == Missed && len(r.Others) > 0 {
		r.Verdict = Other
	}
	if r.Verdict != Caught && slices.ContainsFunc(scenarios, func(s verdict.Scenario) bool { return s.Interrupted() }) {
		r.Verdict, r.Reason, r.Others = Unknown, "", nil
	}
	return r
}

// HostSetup describes the run of one host. An empty name is the host without a fault.
func HostSetup(fault, api string, opts HostOptions) (*hostreferee.Setup, error) {
	d, err := dialect.For(api)
	if err != nil {
		return nil, err
	}
	setup := &hostreferee.Setup{
		Dialect: d, Self: opts.Self, Env: opts.Env, Wait: opts.Wait, Grace: opts.Grace,
		Adapter: []string{opts.Self, HostWord, fault, hostreferee.PlaceExtension, hostreferee.PlaceTool, hostreferee.PlaceArguments},
		Talk: &hostreferee.Talk{
			Command: []string{opts.Self, TalkerWord, fault, hostreferee.PlaceExtensions, hostreferee.PlaceModel},
			Prompt:  hostreferee.PlaceText, CommandLine: "/" + hostreferee.PlaceCommand + " " + hostreferee.PlaceArguments,
			Reload: "/reload " + hostreferee.PlaceName, Rebuild: "/rebuild", Write: []string{"write", "{}"}, New: "/new", Compact: "/compact", End: "/exit",
		},
	}
	if f, _ := faultyhost.Find(fault, api); !f.Alone() {
		setup.Host = func(ctx context.Context, argv []string, dir string, env []string, stdout, stderr io.Writer) int {
			return PlayHost(ctx, argv[2:], dir, env, stdout, stderr)
		}
	}
	return setup, nil
}

// PlayHost is a host that makes one call. Its words are FAULT EXTENSION TOOL ARGUMENTS.
func PlayHost(ctx context.Context, words []string, dir string, env []string, stdout, stderr io.Writer) int {
	cfg := faultyhost.Config{Fault: words[0], Directory: words[1], Tool: words[2], Arguments: words[3], Workspace: dir, Environ: env}
	return faultyhost.Run(ctx, cfg, stdout, stderr)
}

// PlayTalker is a host that holds a conversation. Its words are FAULT EXTENSIONS MODEL.
func PlayTalker(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg := faultyhost.TalkConfig{Fault: words[0], Extensions: words[1], Model: words[2]}
	return faultyhost.Talk(ctx, cfg, stdin, stdout, stderr)
}
