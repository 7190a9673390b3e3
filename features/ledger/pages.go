package ledger

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/octet-dev/octet/features/verdict"
)

// Counts sums the ledger up.
type Counts struct {
	Rules, Judged, Reasoned, Unproven, Faulty int
}

// Count counts the rules by what stands behind them, and all that is faulty.
func (l *Ledger) Count() Counts {
	var n Counts
	for _, row := range l.Rows {
		n.Rules++
		n.Faulty += row.Faulty
		switch {
		case row.Reason == "":
			n.Judged++
		case row.ProvenBy == "":
			n.Unproven++
		default:
			n.Reasoned++
		}
	}
	return n
}

// Sentence says the counts.
func (n Counts) Sentence() string {
	return fmt.Sprintf("%d rules: %d judged in runs, with %d faulty peers, hosts and manifests that break them; %d proven by a test, with the reason why no run judges them; %d that nothing proves yet.",
		n.Rules, n.Judged, n.Faulty, n.Reasoned, n.Unproven)
}

// Why is the reason of a row with the place that proves the rule instead.
func (r Row) Why() string {
	switch {
	case r.Reason == "":
		return ""
	case r.ProvenBy == "":
		return r.Reason
	default:
		return r.Reason + " (proven by " + r.ProvenBy + ")"
	}
}

// Text is a cell in words.
func (c Cell) Text() string {
	switch {
	case c.Class != "":
		return c.Class.Text()
	default:
		return "–"
	}
}

// Title explains a cell.
func (c Cell) Title() string {
	switch {
	case c.Beside:
		return "the rule binds another role"
	case c.Class == "":
		return "no run judges it"
	case len(c.Missing) > 0:
		return c.Note + "; no run on " + strings.Join(c.Missing, ", ")
	default:
		return c.Note
	}
}

// Markdown writes the ledger as a document: a table for each subject of rules.
func (l *Ledger) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The rule ledger\n\n%s\n\nMade by `octet-conform ledger`. A dash in a column of a subject: no run judges the rule, for the reason in the last column, or it binds another role.\n", l.Count().Sentence())
	area := ""
	for _, row := range l.Rows {
		if row.Area != area {
			area = row.Area
			fmt.Fprintf(&b, "\n## %s\n\n| rule | level | role | API | scenarios | faulty |", area)
			for _, s := range l.Subjects {
				fmt.Fprintf(&b, " %s |", inline(s))
			}
			b.WriteString(" why no run |\n| --- | --- | --- | --- | ---: | ---: |" + strings.Repeat(" --- |", len(l.Subjects)) + " --- |\n")
		}
		fmt.Fprintf(&b, "| `%s` %s | %s | %s | %s | %s | %d |", row.ID, inline(row.Text), row.Level, row.Role, strings.Join(row.APIs, " "), row.Scenarios, row.Faulty)
		for _, c := range row.Cells {
			text := c.Text()
			if c.Class == verdict.Fail || c.Class == verdict.NoAnswer || c.Class == verdict.Errored {
				text = "**" + text + "** " + inline(c.Title())
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		fmt.Fprintf(&b, " %s |\n", inline(row.Why()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inline makes text safe for a cell of a table. Rules may hold code in backquotes, which stays.
func inline(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;").Replace(s)
}

//go:embed ledger.html.tmpl
var pageText string

var page = template.Must(template.New("ledger").Funcs(template.FuncMap{"join": strings.Join, "class": class}).Parse(pageText))

// class is that of a cell on the page.
func class(c Cell) string {
	if c.Class == "" {
		return "none"
	}
	return string(c.Class)
}

// HTML writes the ledger as one page that needs nothing else, with a search over everything it says.
func (l *Ledger) HTML(w io.Writer) error { return page.Execute(w, l) }
