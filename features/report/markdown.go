package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/octet-dev/octet/features/verdict"
)

// maxMarkdownRules bounds the rules that a summary lists; the JSON report has all.
const maxMarkdownRules = 50

// Markdown writes a summary for a page of a CI run: the headline, a table of counts, and every red rule
// with what was found.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## octet-conform: %s\n\n%s **%s** on API %s\n\n", inline(r.Subject.Name), r.mark(), r.word(), r.Subject.API)
	if name := r.Run.Requirements; name != "" {
		fmt.Fprintf(&b, "Requirements: %s\n\n", inline(name))
	}
	b.WriteString("| | rules | scenarios |\n| --- | ---: | ---: |\n")
	for _, c := range verdict.Classes() {
		if n, m := r.Summary.Rules[c], r.Summary.Scenarios[c]; n+m > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d |\n", c.Text(), n, m)
		}
	}
	if n, m := r.Summary.NotJudged, r.Summary.NotRun; n+m > 0 {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", notJudgedWord, n, m)
	}
	blocked := r.causes(func(Rule) bool { return true })
	for i, c := range blocked {
		if i == 0 {
			b.WriteString("\n### To mend first\n\n")
		}
		fmt.Fprintf(&b, "- %s (%s)\n", inline(c.text()), c.examples(false))
	}
	r.markdownRules(&b, "Broken rules", func(row Rule) bool {
		return red(row.Class) && r.counts(row) && !row.NotJudged && !blocked.explain(row.Findings)
	})
	r.markdownRules(&b, "Advice", func(row Rule) bool {
		return red(row.Class) && !r.counts(row) && !row.Known && !row.Flaky && !row.NotJudged && !blocked.explain(row.Findings)
	})
	r.markdownRules(&b, "Known failures", func(row Rule) bool { return row.Known })
	r.markdownRules(&b, "Known flakes", func(row Rule) bool { return row.Flaky })
	for i, p := range r.Summary.Repeats {
		if i == 0 {
			b.WriteString("\n### Repeats\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", inline(p.Text()))
	}
	for _, c := range r.notRun(r.counts) {
		fmt.Fprintf(&b, "\n%s.\n", inline(c.text()))
	}
	for i, entry := range r.Summary.Stale {
		if i == 0 {
			b.WriteString("\n### Stale entries\n\nNothing of this kind was found; remove them.\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", inline(entry))
	}
	fmt.Fprintf(&b, "\nRepeat it with `--seed %d`.\n", r.Run.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) markdownRules(b *strings.Builder, title string, chosen func(Rule) bool) {
	n := 0
	for _, row := range r.Rules {
		if !chosen(row) {
			continue
		}
		n++
		switch {
		case n == 1:
			fmt.Fprintf(b, "\n### %s\n\n| rule | it says | found |\n| --- | --- | --- |\n", title)
		case n > maxMarkdownRules:
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", row.ID, inline(row.Text), inline(r.reason(row)))
	}
	if n > maxMarkdownRules {
		fmt.Fprintf(b, "\n%d more are in the JSON report.\n", n-maxMarkdownRules)
	}
}

// inline makes text safe for a cell of a Markdown table that is shown as HTML.
func inline(s string) string {
	s = printable(s)
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "\n", " ",
	).Replace(s)
}

// word is the verdict on the subject.
func (r *Report) word() string {
	switch r.Summary.Exit {
	case ExitFindings:
		return "not conformant"
	case ExitUnable:
		return "could not be judged"
	default:
		return "conformant"
	}
}

func (r *Report) mark() string {
	switch r.Summary.Exit {
	case ExitFindings:
		return "❌"
	case ExitUnable:
		return "⚠️"
	default:
		return "✅"
	}
}

// GitHub writes one annotation for each red rule, and one for each fault that blocks many, as the workflow commands that GitHub reads from the
// output of a step.
func (r *Report) GitHub(w io.Writer) error {
	for _, c := range r.notRun(r.counts) {
		if _, err := fmt.Fprintf(w, "::error file=%s,line=1::%s\n", property(r.place()), message(c.text())); err != nil {
			return err
		}
	}
	blocked := r.causes(r.counts)
	for _, c := range blocked {
		if _, err := fmt.Fprintf(w, "::error file=%s,line=1::%s\n", property(r.place()), message(c.text())); err != nil {
			return err
		}
	}
	for _, row := range r.Rules {
		if !red(row.Class) || row.NotJudged || r.counts(row) && blocked.explain(row.Findings) {
			continue
		}
		kind := "warning"
		switch {
		case row.Known, row.Flaky:
			kind = "notice"
		case r.counts(row):
			kind = "error"
		}
		place := "line=1"
		if len(row.Findings) > 0 && row.Findings[0].Line > 0 {
			place = fmt.Sprintf("line=%d,col=%d", row.Findings[0].Line, row.Findings[0].Column)
		}
		_, err := fmt.Fprintf(w, "::%s file=%s,%s,title=%s::%s\n", kind, property(r.place()), place, property(row.ID), message(row.Text+" Found: "+row.Reason))
		if err != nil {
			return err
		}
	}
	return nil
}

// message escapes the text of a workflow command.
func message(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(printable(s))
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s))
}

// badge is what shields.io's endpoint badge reads.
type badge struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
}

// Badge writes the verdict as the JSON of an endpoint badge.
func (r *Report) Badge(w io.Writer) error {
	b := badge{SchemaVersion: 1, Label: "octet API " + r.Subject.API, Message: r.word(), Color: "brightgreen"}
	switch r.Summary.Exit {
	case ExitFindings:
		b.Message, b.Color = fmt.Sprintf("%d rules broken", r.Summary.Rules[verdict.Fail]+r.Summary.Rules[verdict.NoAnswer]), "red"
		if r.Summary.Rules[verdict.Fail]+r.Summary.Rules[verdict.NoAnswer] == 0 && r.Summary.NotJudged > 0 {
			b.Message = fmt.Sprintf("%d rules not judged", r.Summary.NotJudged)
		}
	case ExitUnable:
		b.Color = "lightgrey"
	}
	return json.NewEncoder(w).Encode(b)
}
