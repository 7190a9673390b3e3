package conform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
)

// peerPatience makes faulty peers that never answer cost less; they are on this machine and small.
const peerPatience = 0.3

// selftestFlags are the flags of a selftest.
type selftestFlags struct {
	examples, peers, run []string
	repeat, jobs         int
	sample, ownSample    int
	scale                float64
	seed                 int64
	json                 string
	verbose              bool
}

func (s *selftestFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&s.examples, "example", nil, "directory of an extension that keeps every rule; may be given several times")
	f.IntVar(&s.repeat, "repeat", 1, "how often every example is judged")
	f.StringArrayVar(&s.peers, "peers", nil, "command, with blanks between its words, of a program that plays further faulty peers; may be given several times")
	f.IntVar(&s.sample, "sample", 1, "judge one in so many of the faulty hosts, servers and clients, and of the peers of --peers")
	f.IntVar(&s.ownSample, "sample-extensions", 1, "judge one in so many of the referee's own extensions, faulty or sound in a way of their own")
	f.IntVar(&s.jobs, "jobs", 6*runtime.NumCPU(), "peers at a time; most of the time they wait")
	f.Float64Var(&s.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.Int64Var(&s.seed, "seed", 0, "order of the scenarios, and what their schedules leave open (default: random)")
	f.StringSliceVar(&s.run, "run", nil, "only faults with these names or rules")
	f.StringVar(&s.json, "report-json", "", "write the figures and the verdict on every peer to this file")
	f.BoolVar(&s.verbose, "verbose", false, "a line for every peer")
}

// check refuses numbers with which nothing would be judged.
func (s *selftestFlags) check() error {
	for _, number := range []struct {
		flag  string
		value int
	}{{"repeat", s.repeat}, {"sample", s.sample}, {"sample-extensions", s.ownSample}} {
		if number.value < 1 {
			return fmt.Errorf("--%s is %d; use a number from 1", number.flag, number.value)
		}
	}
	if err := checkJobs(s.jobs); err != nil {
		return err
	}
	return checkScale(s.scale)
}

// selftest proves that the checks can fail, and that they accuse nobody who keeps the rules.
func (inv *invocation) selftest() int {
	var flags selftestFlags
	f := inv.flags()
	flags.register(f)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() > 0 {
		return inv.wrong("selftest takes no arguments, and %d are given; see 'octet-conform selftest --help'", f.NArg())
	}
	if err := flags.check(); err != nil {
		return inv.wrong("%v", err)
	}
	if err := (&reportFiles{json: flags.json}).check(); err != nil {
		return inv.refuse(err)
	}
	if flags.seed == 0 {
		flags.seed = rand.Int64N(1<<31-1) + 1
	}
	factor := flags.scale * calibrate(inv.ctx)
	results, err := inv.judgePeers(&flags, factor)
	if err != nil {
		return inv.refuse(err)
	}
	var examples []selftest.Example
	for _, dir := range flags.examples {
		example, err := inv.example(dir, &flags, factor)
		if err != nil {
			return inv.refuse(err)
		}
		examples = append(examples, example)
	}
	return inv.publishSelftest(selftest.Tally(flags.seed, results, examples), &flags)
}

// judgePeers judges the referee's own peers, those of the programs that were named, and manifests.
func (inv *invocation) judgePeers(flags *selftestFlags, factor float64) ([]selftest.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	programs, err := programs(flags.peers, dir)
	if err != nil {
		return nil, err
	}
	bar := inv.bar("peers")
	results, err := selftest.Run(inv.ctx, selftest.Options{
		Command:   subject.Command{Path: self, Args: []string{"faulty-peer"}, Dir: dir, Env: os.Environ()},
		Programs:  programs,
		Sample:    flags.sample,
		OwnSample: flags.ownSample,
		Seed:      flags.seed,
		Patience:  steps.DefaultPatience.Scale(peerPatience * factor),
		Jobs:      flags.jobs,
		Only:      named(flags.run),
		Progress:  bar.update,
	})
	bar.clear()
	if err != nil {
		return nil, err
	}
	if n := unknown(results); n > 0 {
		return nil, interruptedError{judged: len(results) - n, all: len(results), what: "peers"}
	}
	hosts, err := inv.judgeHosts(self, flags, factor)
	if err != nil {
		return nil, err
	}
	results = append(results, hosts...)
	servers, err := inv.judgeServers(flags, factor)
	if err != nil {
		return nil, err
	}
	results = append(results, servers...)
	manifests, err := selftest.Manifests(namedOther(flags.run))
	if err != nil {
		return nil, err
	}
	results = append(results, manifests...)
	if len(flags.run) > 0 && !slices.ContainsFunc(results, func(r selftest.Result) bool { return r.Fault != "" }) {
		return nil, usageError(fmt.Sprintf("no peer is called or breaks %s", quoted(flags.run)))
	}
	inv.tellPeers(results, flags.verbose)
	return results, nil
}

// judgeHosts judges faulty hosts, and those without a fault.
func (inv *invocation) judgeHosts(self string, flags *selftestFlags, factor float64) ([]selftest.Result, error) {
	patience := steps.DefaultPatience.Scale(peerPatience * factor)
	bar := inv.bar("hosts")
	defer bar.clear()
	results, err := selftest.Hosts(inv.ctx, selftest.HostOptions{
		Self: self, Wait: hostWaits * patience.Initialize, Grace: patience.Grace,
		Sample: flags.sample, Sound: true, Seed: flags.seed, Jobs: max(flags.jobs/hostsPerJobs, 1),
		Only: namedOther(flags.run), Progress: bar.update,
	})
	if err != nil {
		return nil, err
	}
	if n := unknown(results); n > 0 {
		return nil, interruptedError{judged: len(results) - n, all: len(results), what: "hosts"}
	}
	return results, nil
}

// judgeServers judges faulty OUP servers and clients, and those without a fault, in this process.
func (inv *invocation) judgeServers(flags *selftestFlags, factor float64) ([]selftest.Result, error) {
	bar := inv.bar("servers")
	defer bar.clear()
	opts := selftest.ServerOptions{
		Wait: steps.DefaultPatience.Scale(serverPatience * factor).Initialize, Sample: flags.sample, Seed: flags.seed, Jobs: flags.jobs,
		Only: namedOther(flags.run), Progress: bar.update,
	}
	results, err := selftest.Servers(inv.ctx, opts)
	if err != nil {
		return nil, err
	}
	clients, err := selftest.Clients(inv.ctx, opts)
	if err != nil {
		return nil, err
	}
	results = append(results, clients...)
	if n := unknown(results); n > 0 {
		return nil, interruptedError{judged: len(results) - n, all: len(results), what: "servers and clients"}
	}
	return results, nil
}

// serverPatience makes servers in this process cost little that never answer.
const serverPatience = 0.05

// hostsPerJobs is how many peers take as much of the machine as one host, which runs several scenarios at a time and
// starts an extension in each.
const hostsPerJobs = 4

// programs reads commands. A program is called by its last word.
func programs(commands []string, dir string) ([]selftest.Program, error) {
	var out []selftest.Program
	for _, command := range commands {
		words := strings.Fields(command)
		if len(words) == 0 {
			return nil, usageError("--peers names no program")
		}
		path, err := exec.LookPath(words[0])
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return nil, usageError(fmt.Sprintf("--peers %q: %v", command, err))
		}
		out = append(out, selftest.Program{
			Name:    words[len(words)-1],
			Command: subject.Command{Path: path, Args: words[1:], Dir: dir, Env: os.Environ()},
		})
	}
	return out, nil
}

// publishSelftest writes the figures.
func (inv *invocation) publishSelftest(rep *selftest.Report, flags *selftestFlags) int {
	if err := errors.Join(rep.Text(inv.stdout), writeFile(flags.json, os.O_TRUNC, rep.JSON)); err != nil {
		return inv.unable(err)
	}
	if !rep.Passed {
		return report.ExitFindings
	}
	return report.ExitClean
}

func unknown(results []selftest.Result) int {
	n := 0
	for _, r := range results {
		if r.Verdict == selftest.Unknown {
			n++
		}
	}
	return n
}

func named(patterns []string) func(faultypeer.Fault) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(f faultypeer.Fault) bool {
		for _, p := range patterns {
			if f.Name == p || strings.EqualFold(f.Rule, p) {
				return true
			}
		}
		return false
	}
}

// namedOther chooses manifests and hosts.
func namedOther(patterns []string) func(name, rule string) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(name, rule string) bool { return named(patterns)(faultypeer.Fault{Name: name, Rule: rule}) }
}

// tellPeers prints the peers, and manifests, that were not caught as they should be.
func (inv *invocation) tellPeers(results []selftest.Result, verbose bool) {
	w := inv.stdout
	for _, r := range results {
		good := r.Verdict == selftest.Caught || r.Verdict == selftest.Clean
		if good && !verbose {
			continue
		}
		name := r.Fault
		if name == "" {
			name = "(no fault)"
		}
		if r.Program != "" {
			name += " of " + filepath.Base(r.Program)
		}
		fmt.Fprintf(w, "%-34s %-18s API %s  %s: %s\n", name, r.Rule, r.API, r.Verdict.Text(), r.Reason)
		if !good && len(r.Others) > 0 {
			fmt.Fprintf(w, "    broken instead: %s\n", strings.Join(r.Others, ", "))
		}
	}
}

// example judges an extension that keeps every rule, several times, should-rules included.
func (inv *invocation) example(dir string, options *selftestFlags, factor float64) (selftest.Example, error) {
	done := selftest.Example{Directory: dir}
	for run := range options.repeat {
		flags := &runFlags{scale: factor, jobs: options.jobs, seed: options.seed + int64(run), strict: true, output: "text"}
		target, err := inv.target([]string{dir}, nil, flags)
		if err != nil {
			return done, err
		}
		rep, scenarios, err := inv.judgeScaled(target, flags, factor)
		target.remove()
		if err != nil {
			return done, err
		}
		done.Runs++
		if rep.Summary.Exit == report.ExitClean {
			continue
		}
		done.Accused++
		if err := rep.Text(inv.stdout, scenarios, report.TextOptions{Color: colored(inv.stdout)}); err != nil {
			return done, err
		}
	}
	fmt.Fprintf(inv.stdout, "%s: %d runs, %d with findings\n", dir, done.Runs, done.Accused)
	return done, nil
}
