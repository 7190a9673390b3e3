package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// TextOptions say how the text looks.
type TextOptions struct {
	Color   bool
	Verbose bool // a line for every rule, and every failing scenario in full
}

// maxShown bounds the scenarios shown in full unless the text is verbose. The JSON report has all.
const maxShown = 5

// Text writes the report for people: one line if all is well, everything that is needed to mend it
// otherwise. The scenarios must be those of the report, with their frames.
func (r *Report) Text(w io.Writer, scenarios []verdict.Scenario, opts TextOptions) error {
	t := &texter{w: w, opts: opts}
	if opts.Verbose {
		t.ruleLines(r)
	}
	t.broken(r)
	t.failures(r, scenarios)
	t.notApplicable(r)
	t.advice(r)
	t.known(r)
	t.headline(r)
	return t.err
}

type texter struct {
	w    io.Writer
	opts TextOptions
	err  error
}

func (t *texter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

var colors = map[verdict.Class]string{
	verdict.Pass: "\x1b[32m", verdict.Fail: "\x1b[31m", verdict.NoAnswer: "\x1b[31m", verdict.Errored: "\x1b[33m", verdict.NotApplicable: "\x1b[2m",
}

func (t *texter) paint(c verdict.Class, text string) string {
	if !t.opts.Color {
		return text
	}
	return colors[c] + text + "\x1b[0m"
}

// Paint is a verdict as people read it, in its colour if asked for.
func Paint(c verdict.Class, color bool) string {
	t := texter{opts: TextOptions{Color: color}}
	return t.paint(c, c.Text())
}

func (t *texter) ruleLines(r *Report) {
	for _, row := range r.Rules {
		t.line("%s %s %s: %s", t.paint(row.Class, fmt.Sprintf("%-14s", row.word())), row.ID, row.Level, row.Text)
	}
	t.line("")
}

// broken lists the rules that are red and count. Those of which nothing was run are one line together, and so
// are those that one fault blocks.
func (t *texter) broken(r *Report) {
	blocked := r.causes(r.counts)
	for _, c := range blocked {
		t.line("%s %s", t.paint(c.class, strings.ToUpper(c.class.Text())), c.text())
		t.line("    %s", c.examples(t.opts.Verbose))
	}
	for _, row := range r.Rules {
		if !red(row.Class) || !r.counts(row) || row.NotJudged || blocked.explain(row.Findings) {
			continue
		}
		t.line("%s %s (%s): %s", t.paint(row.Class, strings.ToUpper(row.Class.Text())), row.ID, row.Level, row.Text)
		seen := map[string]bool{}
		for _, f := range row.Findings {
			if text := printable(r.where(f) + f.Message); !seen[text] && !f.unrun {
				seen[text] = true
				t.line("    %s", text)
			}
		}
	}
	for _, c := range r.notRun(r.counts) {
		t.line("%s %d rules: %s", t.paint(c.class, strings.ToUpper(notJudgedWord)), len(c.rules), printable(c.message))
		t.lastWords(r, c.message)
	}
}

// lastWords tells how a subject ended that was not judged, where that is known.
func (t *texter) lastWords(r *Report, reason string) {
	for _, s := range r.Scenarios {
		words := LastWords(s.Stderr, s.Ended)
		if !s.unrun || s.Reason != reason || len(words) == 0 {
			continue
		}
		for _, text := range words {
			t.line("    %s", text)
		}
		return
	}
}

// notRun reports whether none of a rule's scenarios found anything by running, and why they did not run.
func notRun(row Rule) (reason string, all bool) {
	for _, f := range row.Findings {
		if !f.unrun {
			return "", false
		}
		reason = f.Message
	}
	return reason, reason != ""
}

// notJudgedWord is what people read instead of the class of a rule for which nothing was run.
const notJudgedWord = "not judged"

// word is the verdict on a rule as people read it.
func (row *Rule) word() string {
	if row.NotJudged {
		return notJudgedWord
	}
	return row.Class.Text()
}

func printable(s string) string { return wire.Printable([]byte(s), 400) }

// failures shows scenarios that did not pass, with both lanes.
// Those in which nothing but rules that do not count was broken are advice, not failures.
func (t *texter) failures(r *Report, scenarios []verdict.Scenario) {
	counted := map[string]bool{"": true}
	for _, row := range r.Rules {
		counted[row.ID] = r.counts(row)
	}
	blocked := r.causes(func(Rule) bool { return true })
	examples := blocked.examples(r.Scenarios)
	told := map[verdict.Finding]bool{}
	shown, more, alike := 0, 0, 0
	for _, i := range byRule(scenarios) {
		s := scenarios[i]
		weighs := slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return counted[f.Rule] })
		if s.Unrun || inManifest(s) {
			continue
		}
		if s.Class != verdict.Errored && (!red(s.Class) || !weighs && !t.opts.Verbose) {
			continue
		}
		if !slices.Contains(examples, i) && blocked.explain(scenario(s).Findings) && !t.opts.Verbose {
			alike++
			continue
		}
		if (shown >= maxShown || !tells(told, s)) && !t.opts.Verbose {
			more++
			continue
		}
		shown++
		t.scenario(s, func(f verdict.Finding) bool { return counted[f.Rule] })
	}
	if alike > 0 {
		t.line("")
		t.line("in the same way %d more did not get as far as judging their rules; --verbose shows all", alike)
	}
	if more > 0 {
		t.line("")
		t.line("%d more did not pass; --verbose shows all", more)
	}
	if shown > 0 {
		t.line("")
	}
}

// byRule is the order in which scenarios are shown: those that found one of their own rules broken come in front of
// those that met a fault on the way.
func byRule(scenarios []verdict.Scenario) []int {
	var own, others []int
	for i, s := range scenarios {
		if slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return proves(s, f) }) {
			own = append(own, i)
		} else {
			others = append(others, i)
		}
	}
	return append(own, others...)
}

// proves reports whether a finding is of a rule that its scenario is about.
func proves(s verdict.Scenario, f verdict.Finding) bool { return slices.Contains(s.Rules, f.Rule) }

// tells reports whether a scenario found something that none before it has told, and marks what it found as told.
// One fault that every scenario meets must not keep the others from being shown: a rule that was told is news only
// in a scenario about it that found something else.
func tells(told map[verdict.Finding]bool, s verdict.Scenario) bool {
	news := len(s.Findings) == 0
	for _, f := range s.Findings {
		rule, found := verdict.Finding{Rule: f.Rule}, verdict.Finding{Rule: f.Rule, Message: f.Message}
		if f.Rule == "" || proves(s, f) {
			news = news || !told[found]
		} else {
			news = news || !told[rule]
		}
		told[found] = true
		told[rule] = told[rule] || f.Rule != ""
	}
	return news
}

// inManifest reports whether all that a scenario found has its place in the manifest, which is told with the rules.
func inManifest(s verdict.Scenario) bool {
	return len(s.Findings) > 0 && !slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return f.Line == 0 })
}

// LastWords are the lines that tell how a subject ended: the newest of its standard error, and its end where that is
// known.
func LastWords(stderr, ended string) []string {
	var lines []string
	for _, text := range lastLines(stderr, 5) {
		lines = append(lines, "stderr: "+printable(text))
	}
	if ended != "" {
		lines = append(lines, "ended: "+ended)
	}
	return lines
}

// scenario shows one scenario, and of what it found that which counts.
func (t *texter) scenario(s verdict.Scenario, counts func(verdict.Finding) bool) {
	reason, mark := shownOf(s, counts)
	t.line("")
	t.line("%s %s (%s:%d)", t.paint(s.Class, s.Class.Text()+":"), s.Name, s.File, s.Line)
	t.line("    %s", printable(reason))
	if t.err == nil {
		t.err = wire.Render(t.w, s.Frames, wire.RenderOptions{Mark: mark})
	}
	if s.Dropped > 0 {
		t.line("  %d more frames were not kept", s.Dropped)
	}
	for _, text := range LastWords(s.Stderr, s.Ended) {
		t.line("  %s", text)
	}
	if s.Minimal != nil {
		t.line("  shown: %s", s.Minimal.Text())
	}
	if s.Again != "" {
		t.line("  again: %s", s.Again)
	}
}

// shownOf is what a scenario is said to have failed of, and the frame that is marked for it, or -1. Advice that it
// found as well comes second.
func shownOf(s verdict.Scenario, counts func(verdict.Finding) bool) (reason string, mark int) {
	weighing := slices.DeleteFunc(slices.Clone(s.Findings), func(f verdict.Finding) bool { return !counts(f) })
	if len(weighing) == 0 {
		weighing = s.Findings
	}
	reason, mark = s.Reason, -1
	is := func(f verdict.Finding) bool { return f.Message == s.Reason }
	if slices.ContainsFunc(s.Findings, is) && !slices.ContainsFunc(weighing, is) {
		reason = weighing[0].Message
	}
	for _, f := range append(slices.Clone(weighing), s.Findings...) {
		if f.Frame >= 0 {
			return reason, f.Frame
		}
	}
	return reason, mark
}

func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines[max(len(lines)-n, 0):]
}

// notApplicable says once per reason what could not be judged, and last what to add so that it can.
func (t *texter) notApplicable(r *Report) {
	reasons := map[string][]string{}
	for _, row := range r.Rules {
		if row.Class == verdict.NotApplicable {
			reasons[row.Reason] = append(reasons[row.Reason], row.ID)
		}
	}
	sorted := slices.Sorted(maps.Keys(reasons))
	slices.SortStableFunc(sorted, func(a, b string) int { return strings.Count(a, "; add ") - strings.Count(b, "; add ") })
	for _, reason := range sorted {
		ids := reasons[reason]
		t.line("not applicable: %s (%s)", printable(reason), someOf(ids, t.opts.Verbose))
	}
}

// advice lists rules that are red and do not count: should-rules, and those that the requirement set lacks.
func (t *texter) advice(r *Report) {
	advised := func(row Rule) bool { return row.Level == "should" && !row.excused() && !r.counts(row) }
	blocked := r.causes(advised)
	for _, c := range blocked {
		t.line("should: %s", c.text())
		t.line("    %s", c.examples(t.opts.Verbose))
	}
	for _, row := range r.Rules {
		if advised(row) && blocked.explain(row.Findings) {
			continue
		}
		if red(row.Class) && !r.counts(row) && !row.Known && !row.Flaky && !row.NotJudged {
			word := row.Level
			if row.Beyond {
				word = "beyond the requirements"
			}
			t.line("%s: %s %s", word, row.ID, row.Text)
			t.line("    %s", printable(r.reason(row)))
		}
	}
}

// known says what the lists of known failures and flakes cover, and what is wrong with them.
func (t *texter) known(r *Report) {
	for _, row := range r.Rules {
		if row.Known {
			t.line("known: %s %s", row.ID, printable(r.reason(row)))
		}
		if row.Flaky {
			t.line("flaky: %s %s", row.ID, printable(r.reason(row)))
		}
	}
	for _, p := range r.Summary.Repeats {
		t.line("repeated: %s", printable(p.Text()))
	}
	for _, entry := range r.Summary.Stale {
		t.line("%s %s: nothing of this kind was found; remove the entry", t.paint(verdict.Fail, "STALE"), printable(entry))
	}
}

func (t *texter) headline(r *Report) {
	n := r.Summary.Rules
	word, class := "ok", verdict.Pass
	switch r.Summary.Exit {
	case ExitFindings:
		word, class = "not conformant", verdict.Fail
	case ExitUnable:
		word, class = "could not be judged", verdict.Errored
	}
	var parts []string
	for _, c := range verdict.Classes() {
		if n[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[c], c.Text()))
		}
	}
	if r.Summary.NotJudged > 0 {
		parts = append(parts, fmt.Sprintf("%d not judged", r.Summary.NotJudged))
	}
	if r.Summary.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d known failing", r.Summary.Known))
	}
	if parts == nil {
		parts = []string{"none"}
	}
	if r.Summary.Flaky > 0 {
		parts = append(parts, fmt.Sprintf("%d flaky", r.Summary.Flaky))
	}
	if r.Summary.Beyond > 0 {
		parts = append(parts, fmt.Sprintf("%d beyond the requirements failing", r.Summary.Beyond))
	}
	api := r.Subject.API
	if name := r.Run.Requirements; name != "" && name != CurrentRequirements {
		api += ", requirements " + name
	}
	scenarios := 0
	for _, count := range r.Summary.Scenarios {
		scenarios += count
	}
	ran := fmt.Sprintf("%d scenarios", scenarios)
	if n := r.Summary.NotRun; n > 0 {
		ran += fmt.Sprintf(" run and %d not", n)
	}
	t.line("%s: %s on API %s: rules %s; %s in %.1f s, seed %d",
		r.Subject.Name, t.paint(class, word), api, strings.Join(parts, ", "), ran, float64(r.Run.DurationMS)/1000, r.Run.Seed)
}
