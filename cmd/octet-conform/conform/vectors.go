package conform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/gen/derive"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/spec"
)

// everyVector returns the vectors that the spec holds and those that follow from its schemas.
func everyVector() ([]vectors.Vector, error) {
	all, err := vectors.Load(spec.Files)
	if err != nil {
		return nil, err
	}
	loaded, err := load.Load(spec.Files)
	if err != nil {
		return nil, err
	}
	for _, w := range loaded.Wires {
		document, err := derive.Document(w)
		if err != nil {
			return nil, err
		}
		derived, err := vectors.Read("derived-"+w.Name+".json", document)
		if err != nil {
			return nil, err
		}
		all = append(all, derived...)
	}
	return all, nil
}

// vectors drives a testee over every vector of the spec.
func (inv *invocation) vectors() int {
	f := inv.flags()
	run := f.StringSlice("run", nil, "only vectors that match: ids, files, rules, operations or wires, with * at the end for any text")
	scale := f.Float64("timeout-scale", 1, "multiply the deadline of an answer, on top of the calibration")
	show := f.Int("show", 100, "print so many findings in full; 0 for all")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	before, argv := split(f)
	if len(before) > 0 || len(argv) == 0 {
		return inv.wrong("vectors needs the command of a testee behind --")
	}
	if *show < 0 {
		return inv.wrong("--show is %d; use 0 or more", *show)
	}
	if err := checkScale(*scale); err != nil {
		return inv.wrong("%v", err)
	}
	all, err := everyVector()
	if err != nil {
		return inv.unable(err)
	}
	chosen := vectors.Select(all, *run)
	if len(chosen) == 0 {
		return inv.wrong("no vector matches --run %s; give ids, files, rules, operations or wires, with * at the end for any text", quoted(*run))
	}
	program, err := exec.LookPath(argv[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return inv.unable(fmt.Errorf("testee %q: %w", argv[0], cause(err)))
	}
	limit := steps.DefaultPatience.Scale(*scale * calibrate(inv.ctx)).Initialize
	testee, results, err := vectors.Drive(inv.ctx, subject.Command{Path: program, Args: argv[1:], Env: os.Environ()}, chosen, limit)
	if err != nil && inv.ctx.Err() != nil {
		return inv.unable(interruptedError{judged: len(results), all: len(chosen), what: "vectors"})
	}
	if err != nil {
		return inv.unable(withLastWords(err))
	}
	return inv.tell(testee, results, *show)
}

// tell prints what a testee made of the vectors: failures in full, at most so many as shown says unless it is
// 0, then a line per file.
func (inv *invocation) tell(testee vectors.Testee, results []vectors.Result, shown int) int {
	w := inv.stdout
	var files []string
	counts := map[string]map[verdict.Class]int{}
	total := map[verdict.Class]int{}
	findings := 0
	for _, r := range results {
		if counts[r.File] == nil {
			counts[r.File] = map[verdict.Class]int{}
			files = append(files, r.File)
		}
		counts[r.File][r.Class]++
		total[r.Class]++
		// Answers come in order: behind the first that is missing all are.
		if r.Class == verdict.Pass || r.Class == verdict.NotApplicable || r.Class == verdict.NoAnswer && total[r.Class] > 1 {
			continue
		}
		if findings++; shown > 0 && findings > shown {
			continue
		}
		place := r.File
		if r.Rule != "" {
			place += ", " + r.Rule // derived vectors follow from a schema, not from a rule
		}
		fmt.Fprintf(w, "%s: %s (%s): %s\n    %s\n", r.Class.Text(), r.ID, place, r.Note, r.Reason)
		fmt.Fprintf(w, "    asked: %s\n", r.Asked())
		if r.Got != "" {
			fmt.Fprintf(w, "    got:   %s\n", r.Got)
		}
	}
	if shown > 0 && findings > shown {
		fmt.Fprintf(w, "%d more findings; --show 0 prints them all\n", findings-shown)
	}
	if n := total[verdict.NoAnswer]; n > 1 {
		fmt.Fprintf(w, "%s: %d more vectors behind it: %s\n", verdict.NoAnswer.Text(), n-1, results[len(results)-1].Reason)
	}
	if total[verdict.Pass]+total[verdict.NotApplicable] != len(results) {
		for _, file := range files {
			fmt.Fprintf(w, "%-28s %s\n", file, tally(counts[file]))
		}
	}
	fmt.Fprintf(w, "%s: %s of %d vectors\n", testee.Name, tally(total), len(results))
	switch {
	case total[verdict.Fail]+total[verdict.NoAnswer] > 0:
		return report.ExitFindings
	case total[verdict.Errored] > 0:
		return report.ExitUnable
	}
	return report.ExitClean
}

func tally(counts map[verdict.Class]int) string {
	text := ""
	for _, c := range verdict.Classes() {
		if counts[c] > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", counts[c], c.Text())
		}
	}
	return text
}
