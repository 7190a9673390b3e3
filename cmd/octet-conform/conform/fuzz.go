package conform

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/octet-dev/octet/features/fuzz"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/wire"
)

// fuzzFlags are the flags of a search.
type fuzzFlags struct {
	runFlags
	runs   int
	first  int
	time   time.Duration
	most   int
	dir    string
	shrink time.Duration // what --minimise says; 0: not at all
}

// fuzz makes conversations up and has them with an extension.
func (inv *invocation) fuzz() int {
	var flags fuzzFlags
	f := inv.flags()
	f.StringVar(&flags.api, "api", "", "API version of the command behind --: 0.1, 0.2, 0.3 or 0.4")
	flags.registerSubject(f)
	f.Int64Var(&flags.seed, "seed", 0, "what conversations are made from (default: random, and printed)")
	f.IntVar(&flags.runs, "runs", 200, "conversations")
	f.IntVar(&flags.first, "first", 0, "number of the first conversation: the same seed and number make the same one")
	f.DurationVar(&flags.time, "time", time.Minute, "how long to search at most; 0 for as long as it takes")
	f.IntVar(&flags.most, "most", 1, "broken rules to search for")
	f.StringVar(&flags.minimise, "minimise", fewLimit.String(), "leave lines out of what was found until each is needed: off, or how long that may take for one finding")
	f.StringVar(&flags.dir, "transcripts", ".", "directory for the transcripts of what is found")
	f.BoolVar(&flags.strict, "strict", false, "should-rules count")
	f.Float64Var(&flags.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.IntVar(&flags.jobs, "jobs", 2*runtime.NumCPU(), "conversations at a time")
	f.StringVar(&flags.output, "output", "text", "text or json")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.checkFuzz(); err != nil {
		return inv.wrong("%v", err)
	}
	dirs, argv := split(f)
	target, err := inv.target(dirs, argv, &flags.runFlags)
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	return inv.search(target, &flags)
}

// maxRuns keeps the numbers of conversations, which are counted up from the first, far from the largest integer.
const maxRuns = 1_000_000_000

func (r *fuzzFlags) checkFuzz() error {
	switch {
	case r.runs < 1 || r.runs > maxRuns:
		return fmt.Errorf("--runs is %d; use a number from 1 to %d", r.runs, maxRuns)
	case r.first < 0 || r.first > maxRuns:
		return fmt.Errorf("--first is %d; use a number from 0 to %d", r.first, maxRuns)
	case r.most < 1:
		return fmt.Errorf("--most is %d; use a number from 1", r.most)
	case r.time < 0:
		return fmt.Errorf("--time is %s; use a time such as 30s, or 0 for as long as it takes", r.time)
	case r.output == "github":
		return oneOf("output", r.output, "text", "json")
	}
	limit, err := r.minimiseLimit()
	if err != nil || r.minimise == minimiseFew {
		return fmt.Errorf("--minimise is %q; use off, or a time such as 30s", r.minimise)
	}
	r.shrink = limit
	return r.check()
}

// search searches and tells what was found.
func (inv *invocation) search(target *target, flags *fuzzFlags) int {
	if flags.seed == 0 {
		flags.seed = rand.Int64N(1<<31-1) + 1
	}
	target.setup.Patience = steps.DefaultPatience.Scale(flags.scale * calibrate(inv.ctx))
	all, err := everyVector()
	if err != nil {
		return inv.unable(err)
	}
	bar := inv.bar("conversations")
	began := time.Now()
	found, err := fuzz.Run(inv.ctx, fuzz.Options{
		Setup: target.setup, Vectors: all, Seed: flags.seed, First: flags.first, Runs: flags.runs, Time: flags.time, Shrink: flags.shrink,
		Jobs: flags.jobs, Most: flags.most, Strict: flags.strict, Progress: bar.update,
	})
	bar.clear()
	if err != nil {
		return inv.unable(err)
	}
	out := fuzzReport{Seed: flags.seed, API: target.subject.API, Subject: target.subject.Name, Runs: found.Runs, Lines: found.Lines, DurationMS: time.Since(began).Milliseconds(), Failures: []fuzzFailure{}}
	for _, failure := range found.Failures {
		told, err := inv.keepFailure(target, flags, failure)
		if err != nil {
			return inv.unable(err)
		}
		out.Failures = append(out.Failures, told)
	}
	if err := inv.tellFuzz(out, found, flags); err != nil {
		return inv.unable(err)
	}
	if len(found.Failures) > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}

// fuzzReport is the result of a search for programs.
type fuzzReport struct {
	Seed       int64         `json:"seed"`
	API        string        `json:"api"`
	Subject    string        `json:"subject"`
	Runs       int           `json:"runs"`
	Lines      int           `json:"lines"`
	DurationMS int64         `json:"duration_ms"`
	Failures   []fuzzFailure `json:"failures"`
}

type fuzzFailure struct {
	Run        int    `json:"run"`
	Rule       string `json:"rule"`
	Message    string `json:"message"`
	Lines      int    `json:"lines"`
	Of         int    `json:"of"`
	Least      bool   `json:"least"`
	Note       string `json:"note,omitempty"`
	Transcript string `json:"transcript"`
	Again      string `json:"again"`
}

// keepFailure writes the transcript of a finding.
func (inv *invocation) keepFailure(target *target, flags *fuzzFlags, f fuzz.Failure) (fuzzFailure, error) {
	if err := os.MkdirAll(flags.dir, 0o777); err != nil {
		return fuzzFailure{}, err
	}
	name := fmt.Sprintf("fuzz-%d-%d.jsonl", flags.seed, max(f.Run, 0))
	path := absolute(filepath.Join(flags.dir, name))
	header := transcript.Header{API: target.subject.API, Command: target.subject.Command, Fuzz: &transcript.Fuzz{Seed: flags.seed, Run: max(f.Run, 0)}}
	header.Failure = &transcript.Failure{Rule: f.Finding.Rule, Message: f.Finding.Message}
	if f.Finding.Frame >= 0 {
		header.Failure.Frame = &f.Finding.Frame
	}
	if err := keep(path, header, f.Result.Frames); err != nil {
		return fuzzFailure{}, err
	}
	words := append([]string{"replay", path}, flags.subjectWords()...)
	return fuzzFailure{
		Run: max(f.Run, 0), Rule: f.Finding.Rule, Message: f.Finding.Message, Lines: f.Lines, Of: f.Of, Least: f.Least, Note: f.Note, Transcript: path,
		Again: again(target.subject, words, nil),
	}, nil
}

func (inv *invocation) tellFuzz(out fuzzReport, found *fuzz.Report, flags *fuzzFlags) error {
	if flags.output == "json" {
		enc := json.NewEncoder(inv.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	for i, f := range out.Failures {
		r := found.Failures[i].Result
		fmt.Fprintf(inv.stdout, "FAIL %s: %s\n", ruleName(f.Rule), wire.Printable([]byte(f.Message), 400))
		if err := wire.Render(inv.stdout, r.Frames, wire.RenderOptions{Mark: found.Failures[i].Finding.Frame}); err != nil {
			return err
		}
		for _, mark := range []struct{ name, text string }{{"ended", r.Ended}, {"shown", shown(f)}, {"again", f.Again}} {
			fmt.Fprintf(inv.stdout, "  %s: %s\n", mark.name, mark.text)
		}
		fmt.Fprintln(inv.stdout)
	}
	_, err := fmt.Fprintf(inv.stdout, "%s on API %s: %d findings in %d conversations of %d lines, %.1f s, seed %d\n",
		out.Subject, out.API, len(out.Failures), out.Runs, out.Lines, float64(out.DurationMS)/1000, out.Seed)
	return err
}

func ruleName(id string) string {
	if id == "" {
		return "the models of the wire"
	}
	return id
}

func shown(f fuzzFailure) string {
	switch {
	case f.Least:
		return fmt.Sprintf("%d of %d lines of the host, each of which the failure needs", f.Lines, f.Of)
	case f.Note != "":
		return fmt.Sprintf("%d of %d lines of the host, perhaps more than the failure needs: %s", f.Lines, f.Of, f.Note)
	default:
		return fmt.Sprintf("%d lines of the host", f.Lines)
	}
}

// replayFuzz has a conversation again that was made up.
func (inv *invocation) replayFuzz(target *target, header transcript.Header, frames []wire.Frame, whole bool) int {
	items, err := fuzz.Items(frames)
	if err != nil {
		return inv.unable(err)
	}
	r, err := fuzz.Play(inv.ctx, target.setup, items)
	if err != nil {
		return inv.unable(err)
	}
	return inv.showFuzz(target, header, r, whole)
}

func (inv *invocation) showFuzz(target *target, header transcript.Header, r *fuzz.Result, whole bool) int {
	opts := wire.RenderOptions{Mark: -1}
	if whole {
		opts.Frames, opts.Bytes = len(r.Frames)+1, 1<<30
	}
	var found []tap.Finding
	shows := false
	for _, f := range r.Findings {
		found = append(found, tap.Finding{By: wire.FromSubject, Finding: f})
		if header.Failure != nil && f.Rule == header.Failure.Rule && !shows {
			shows, opts.Mark = true, f.Frame
		}
	}
	if err := inv.show(transcript.Header{API: header.API, Command: target.subject.Command}, r.Frames, found, opts); err != nil {
		return inv.unable(err)
	}
	fmt.Fprintf(inv.stdout, "ended: %s\n", r.Ended)
	if header.Failure != nil {
		word := "the failure does not show: %s is mended, or it cannot be repeated\n"
		if shows {
			word = "the failure shows again: %s\n"
		}
		fmt.Fprintf(inv.stdout, word, ruleName(header.Failure.Rule))
	}
	if len(found) > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}
