package conform

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
)

// peerPatience makes faulty peers that never answer cost less; they are on this machine and small.
const peerPatience = 0.3

// selftest proves that the checks can fail, and that they accuse nobody who keeps the rules.
func (inv *invocation) selftest() int {
	f := inv.flags()
	examples := f.StringSlice("example", nil, "directory of an extension that keeps every rule; may be given several times")
	repeat := f.Int("repeat", 1, "how often every example is judged")
	jobs := f.Int("jobs", 6*runtime.NumCPU(), "peers at a time; most of the time they wait")
	scale := f.Float64("timeout-scale", 1, "multiply every deadline, on top of the calibration")
	run := f.StringSlice("run", nil, "only faults with these names or rules")
	verbose := f.Bool("verbose", false, "a line for every peer")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() > 0 || *repeat < 1 || *jobs < 1 || *scale <= 0 {
		return inv.wrong("selftest takes no arguments, and numbers from 1; see 'octet-conform selftest --help'")
	}
	self, err := os.Executable()
	if err != nil {
		return inv.unable(err)
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		return inv.unable(err)
	}
	bar := inv.bar("peers")
	factor := *scale * calibrate(inv.ctx)
	results, err := selftest.Run(inv.ctx, selftest.Options{
		Command:  subject.Command{Path: self, Args: []string{"faulty-peer"}, Dir: dir, Env: os.Environ()},
		Patience: steps.DefaultPatience.Scale(peerPatience * factor),
		Jobs:     *jobs,
		Only:     named(*run),
		Progress: bar.update,
	})
	bar.clear()
	if err != nil {
		return inv.unable(err)
	}
	if n := unknown(results); n > 0 {
		return inv.unable(interruptedError{len(results) - n, len(results), "peers"})
	}
	code := inv.tellPeers("peers", results, *verbose)
	manifests, err := selftest.Manifests(namedManifest(*run))
	if err != nil {
		return inv.unable(err)
	}
	code = max(code, inv.tellPeers("manifests", manifests, *verbose))
	for _, example := range *examples {
		code = max(code, inv.example(example, *repeat, factor, *jobs))
	}
	return code
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

func namedManifest(patterns []string) func(name, rule string) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(name, rule string) bool { return named(patterns)(faultypeer.Fault{Name: name, Rule: rule}) }
}

// tellPeers prints the peers, or manifests, that were not caught as they should be, and the tally.
func (inv *invocation) tellPeers(kind string, results []selftest.Result, verbose bool) int {
	w := inv.stdout
	n := map[selftest.Verdict]int{}
	for _, r := range results {
		n[r.Verdict]++
		good := r.Verdict == selftest.Caught || r.Verdict == selftest.Clean
		if good && !verbose {
			continue
		}
		name := r.Fault
		if name == "" {
			name = "(no fault)"
		}
		fmt.Fprintf(w, "%-34s %-18s API %s  %s: %s\n", name, r.Rule, r.API, r.Verdict.Text(), r.Reason)
		if !good && len(r.Others) > 0 {
			fmt.Fprintf(w, "    broken instead: %s\n", strings.Join(r.Others, ", "))
		}
	}
	faulty := n[selftest.Caught] + n[selftest.Other] + n[selftest.Missed]
	fmt.Fprintf(w, "%d faulty %s: %d caught by the rule they break, %d by others only, %d missed; %d sound %[2]s: %[7]d accused\n",
		faulty, kind, n[selftest.Caught], n[selftest.Other], n[selftest.Missed], n[selftest.Clean]+n[selftest.Alarmed], n[selftest.Alarmed])
	if n[selftest.Other]+n[selftest.Missed]+n[selftest.Alarmed] > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}

// example judges an extension that keeps every rule, several times, should-rules included.
func (inv *invocation) example(dir string, repeat int, factor float64, jobs int) int {
	runs, accused := 0, 0
	for range repeat {
		flags := &runFlags{scale: factor, jobs: jobs, strict: true, output: "text"}
		target, err := inv.subject([]string{dir}, nil, flags)
		if err != nil {
			return inv.refuse(err)
		}
		rep, scenarios, err := inv.judgeScaled(target, flags, factor)
		target.remove()
		if err != nil {
			return inv.unable(err)
		}
		runs++
		if rep.Summary.Exit == report.ExitClean {
			continue
		}
		accused++
		if err := rep.Text(inv.stdout, scenarios, report.TextOptions{Color: colored(inv.stdout)}); err != nil {
			return inv.unable(err)
		}
	}
	fmt.Fprintf(inv.stdout, "%s: %d runs, %d with findings\n", dir, runs, accused)
	if accused > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}
