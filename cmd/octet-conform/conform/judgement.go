package conform

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/baseline"
	"github.com/octet-dev/octet/features/flaky"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/requirements"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/spec"
)

// judgement is what a run found, and how to find it again.
type judgement struct {
	subject   report.Subject
	run       report.Run
	scenarios []verdict.Scenario
	took      time.Duration
	// again runs the chosen scenarios once more; nil: there is nothing that could differ.
	again func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error)
}

// registerVerdict registers the flags of everything that ends in a report.
func (r *runFlags) registerVerdict(f *pflag.FlagSet) {
	f.StringSliceVar(&r.run, "run", nil, "only scenarios that match: rule ids or their prefixes, areas, parts of names, with * for any text")
	f.BoolVar(&r.strict, "strict", false, "should-rules count")
	r.files.register(f)
	f.StringVar(&r.requirements, "requirements", requirements.Current, "name of the set of rules that count: current, or the number of a frozen one")
	f.StringVar(&r.knownFailing, "known-failing", "", "list of failures that do not count: a rule and what was found on each line")
	f.StringVar(&r.output, "output", "text", "text, json, or github: annotations for a workflow")
	f.BoolVar(&r.verbose, "verbose", false, "show every rule and every failing scenario")
}

func (r *runFlags) registerFix(f *pflag.FlagSet) {
	f.BoolVar(&r.fix, "fix", false, "write what was found into the list of --known-failing")
}

// Bounds of --flaky-repeats, and how often a scenario is repeated where it is not given.
const (
	defaultRepeats = 10
	maxRepeats     = 1000
)

func (r *runFlags) registerFlaky(f *pflag.FlagSet) {
	r.repeats = true
	f.StringVar(&r.knownFlaky, "known-flaky", "", "list of failures that do not count while they come now and then: a rule and what was found on each line")
	f.IntVar(&r.flakyRepeats, "flaky-repeats", defaultRepeats, "how often a scenario of --known-flaky is repeated")
}

// readLists reads the lists of known failures and flakes that a run was given, once its reports can be written.
func (r *runFlags) readLists() error {
	err := r.files.check()
	if err != nil {
		return err
	}
	if r.list, err = r.known(); err != nil {
		return err
	}
	if r.knownFlaky != "" {
		r.flaky, err = baseline.Read(r.knownFlaky, ruleIDs())
	}
	return err
}

// required is the set of rules that an API version is held to; nil for the current one, by which every rule counts.
func (r *runFlags) required(api string) (*requirements.Set, error) {
	if r.requirements == requirements.Current || r.requirements == "" || api == report.UnknownAPI {
		return nil, nil
	}
	set, err := requirements.Load(spec.Files, r.requirements, api)
	if errors.Is(err, requirements.ErrUnknown) {
		return nil, usageError("--requirements: " + err.Error())
	}
	return set, err
}

// report makes the report of what a run with these flags found. Scenarios that are known to be flaky are repeated.
func (r *runFlags) report(j judgement) (*report.Report, error) {
	set, err := r.required(j.subject.API)
	if err != nil {
		return nil, err
	}
	j.run.Strict, j.run.Filter, j.run.Requirements = r.strict, r.run, requirements.Current
	in := report.Input{Subject: j.subject, Run: j.run, Scenarios: j.scenarios, Rules: verdict.Aggregate(referee.Known(), j.scenarios)}
	if set != nil {
		in.Run.Requirements, in.Required = set.Name, set.Level
	}
	began := time.Now()
	var lists []*baseline.List
	if r.list != nil {
		lists = append(lists, r.list)
		in.Known = r.list.Knows
	}
	if r.flaky != nil && j.again != nil {
		settled, err := flaky.Settle(r.flaky, j.scenarios, r.flakyRepeats, j.again)
		if err != nil {
			return nil, err
		}
		lists = append(lists, r.flaky)
		in.Flaky, in.Repeats = settled.Excuses, settled.Repeats
	}
	in.Duration = j.took + time.Since(began)
	in.Stale = func(judged func(string) bool) []string { return stale(lists, judged) }
	return report.New(in), nil
}

// stale names the entries of lists that nothing needed.
func stale(lists []*baseline.List, judged func(string) bool) []string {
	var out []string
	for _, l := range lists {
		for _, e := range l.Stale(judged, ruleIDs()) {
			out = append(out, l.Place(e))
		}
	}
	return out
}
