package conform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// stage is one part of the smoke check: what is looked at, and the areas of rules that say whether it holds.
type stage struct {
	name  string
	areas []string
}

// smokeStages follow discovery, in the order in which an author meets them. An area stands for its rules of
// every wire.
var smokeStages = []stage{
	{"negotiation", []string{"INIT", "NEG", "CONTRACT"}},
	{"tool call", []string{"CALL", "RESULT", "TOOL"}},
	{"cancellation", []string{"CANCEL"}},
	{"shutdown", []string{"SHUT"}},
}

// other is a rule of no stage that was broken on the way. It has a line only then.
var other = stage{name: "other rules"}

// holds reports whether a rule of an area belongs to a stage.
func (s stage) holds(area string) bool {
	if s.areas != nil {
		return slices.Contains(s.areas, area)
	}
	return !slices.ContainsFunc(smokeStages, func(t stage) bool { return t.holds(area) })
}

// smoke is the check of an author who wants to know whether an extension works at all: a few lines in a few
// seconds. The whole judgement is that of extension.
func (inv *invocation) smoke() int {
	var flags runFlags
	f := inv.flags()
	f.StringVar(&flags.profile, "profile", "", "file that says how to exercise the extension (default: conform.toml beside the manifest)")
	f.BoolVar(&flags.allowCalls, "allow-calls", false, "call tools with made-up arguments even if the manifest asks for files, processes or network")
	f.Float64Var(&flags.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.Int64Var(&flags.seed, "seed", 0, "order of the scenarios, and what their schedules leave open (default: random)")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	flags.jobs, flags.output = smokeJobs, "text"
	if err := flags.check(); err != nil {
		return inv.wrong("%v", err)
	}
	if f.NArg() != 1 {
		return inv.wrong("smoke wants one directory with a manifest, and %d are given", f.NArg())
	}
	dir := f.Arg(0)
	target, err := inv.target([]string{dir}, nil, &flags)
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	for _, s := range smokeStages {
		for _, area := range s.areas {
			flags.run = append(flags.run, "*-"+area+"-*")
		}
	}
	scale := flags.scale * calibrate(inv.ctx)
	target.setup.Patience = steps.DefaultPatience.Scale(scale)
	x := target.setup.Extension
	discovered := fmt.Sprintf("%s %s on API %s; octet --extension-dir %s --enable-extension %s runs it", x.Name, x.Version, target.subject.API, filepath.Dir(filepath.Clean(dir)), x.Name)
	if silent := target.silent(inv.ctx); silent != nil {
		inv.stageLine("discovery", verdict.Pass, discovered)
		return inv.unserved(dir, silent)
	}
	rep, _, err := inv.judgeScaled(target, &flags, scale)
	if err != nil && !errors.Is(err, referee.ErrNothing) {
		return inv.unable(err)
	}
	inv.stageLine("discovery", verdict.Pass, discovered)
	for _, s := range smokeStages {
		inv.stage(rep, s)
	}
	inv.stage(rep, other)
	if rep.Summary.Exit == report.ExitFindings {
		fmt.Fprintf(inv.stdout, "octet-conform extension %s shows the frames\n", dir)
	}
	return rep.Summary.Exit
}

// silent starts the extension once, and says what is wrong with one that ends, or lets the time pass, and has said
// nothing: no stage can tell more of it than that. It returns nil for every other.
func (t *target) silent(ctx context.Context) *steps.Unready {
	setup := *t.setup
	setup.Starter = subject.Bounded(ctx, setup.Starter)
	_, err := steps.Tools(&setup)
	var unready *steps.Unready
	if ctx.Err() != nil || !errors.As(err, &unready) || unready.Said > 0 {
		return nil
	}
	var outcome *steps.Outcome
	if !errors.As(err, &outcome) || outcome.Class == verdict.Errored {
		return nil
	}
	return unready
}

// unserved tells of an extension that says nothing.
func (inv *invocation) unserved(dir string, silent *steps.Unready) int {
	inv.stageLine(smokeStages[0].name, verdict.NoAnswer, silent.Error())
	for _, line := range report.LastWords(silent.Stderr, silent.Ended) {
		fmt.Fprintf(inv.stdout, "    %s\n", line)
	}
	for _, s := range smokeStages[1:] {
		inv.stageLine(s.name, verdict.NoAnswer, "not tried: the extension says nothing")
	}
	fmt.Fprintf(inv.stdout, "octet-conform extension %s shows the frames\n", dir)
	return report.ExitFindings
}

// smokeJobs keeps a smoke check short without starting more processes than a small machine likes.
const smokeJobs = 4

// stage writes what became of a stage, and each of its red rules that counts.
func (inv *invocation) stage(rep *report.Report, s stage) {
	var broken []report.Rule
	counts := map[verdict.Class]int{}
	unjudged, reason := 0, "no rule binds this API version"
	for _, row := range rep.Rules {
		if rule, _ := rulebook.Find(row.ID); !s.holds(rule.Area) || row.Level != "must" {
			continue
		}
		if row.NotJudged {
			unjudged, reason = unjudged+1, row.Reason
			continue
		}
		counts[row.Class]++
		switch row.Class {
		case verdict.Fail, verdict.NoAnswer:
			broken = append(broken, row)
		case verdict.NotApplicable:
			reason = row.Reason
		}
	}
	switch {
	case broken != nil:
		inv.stageLine(s.name, broken[0].Class, fmt.Sprintf("%d of %d rules are broken", len(broken), len(broken)+counts[verdict.Pass]))
		for _, row := range broken {
			fmt.Fprintf(inv.stdout, "    %s %s\n        %s\n", row.ID, row.Text, strings.Join(strings.Fields(row.Reason), " "))
		}
	case unjudged > 0:
		inv.stageLine(s.name, verdict.NoAnswer, fmt.Sprintf("%d rules are not judged: %s", unjudged, reason))
	case s.areas == nil:
	case counts[verdict.Errored] > 0:
		inv.stageLine(s.name, verdict.Errored, "could not be judged")
	case counts[verdict.Pass] == 0:
		inv.stageLine(s.name, verdict.NotApplicable, reason)
	default:
		inv.stageLine(s.name, verdict.Pass, fmt.Sprintf("%d rules kept", counts[verdict.Pass]))
	}
}

func (inv *invocation) stageLine(name string, class verdict.Class, text string) {
	fmt.Fprintf(inv.stdout, "%-14s %-15s %s\n", name, report.Paint(class, colored(inv.stdout)), text)
}
