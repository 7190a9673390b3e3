package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/bench/driver"
	"github.com/octet-dev/octet/bench/sample"
)

// Write writes benchmarks.md and, in a folder benchmarks beside it, the plots.
func Write(d *Data, directory string) error {
	f := newFigures(d)
	plots := filepath.Join(directory, "benchmarks")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	head(&b, d)
	budgetTable(&b, f)
	for _, row := range f.rows() {
		section(&b, f, row)
		for _, c := range textOf(row).charts {
			text := f.chart(row, c).svg()
			if err := os.WriteFile(filepath.Join(plots, c.file+".svg"), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	failures(&b, d.Failures)
	return os.WriteFile(filepath.Join(directory, "benchmarks.md"), []byte(b.String()), 0o644)
}

func head(b *strings.Builder, d *Data) {
	b.WriteString("# Benchmarks\n\nWritten by `make bench`, which measures everything again and takes its time; `make bench ROWS=call ROUNDS=3` measures one row.\n\n")
	fmt.Fprintf(b, "Machine: %d cores, %.0f GiB of memory, %s, %s. %d rounds of %s s for each subject, seed %d. ",
		d.Machine.Cores, d.Machine.Memory, d.Machine.System, d.Machine.Go, d.Rounds, number(d.Seconds), d.Seed)
	fmt.Fprintf(b, "Load average of one minute: %s in front, %s behind.\n\n", number(d.Machine.Load[0]), number(d.Machine.Load[1]))
	if d.Machine.busy() {
		b.WriteString("**The machine was busy with other work.** Times are too long for that, and ratios between subjects of different length " +
			"lean to the shorter one; measure again where nothing else runs.\n\n")
	}
	b.WriteString("In every round each subject runs once, in a new order, in processes of its own, and warms up first. A figure is the median over the " +
		"rounds, with p5 to p95 in parentheses. Ratios are taken inside each round, so that both sides met the same machine.\n\n")
}

func budgetTable(b *strings.Builder, f *figures) {
	b.WriteString("## Budgets\n\n| What | Budget | Figure | Kept | |\n| --- | --- | --- | --- | --- |\n")
	for _, one := range budgets {
		v := one.judge(f)
		word := "yes"
		switch {
		case !v.known:
			word, v.figure = "not measured", ""
		case !v.held:
			word = "**no**"
		}
		note := one.note
		if why, missed := missedBecause[one.what+"/"+one.promise]; missed && v.known && !v.held {
			note = why
		}
		if v.known && !v.held && note == "" && f.data.Machine.busy() {
			note = "the machine was busy; to be measured again"
		}
		if one.beside != nil {
			if beside := one.beside(f); beside.known {
				note = strings.TrimPrefix(note+"; the whole host: "+beside.figure, "; ")
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", one.what, one.promise, v.figure, word, note)
	}
	b.WriteString("\n")
}

// section is a table of a row for each metric: a line for each case, a column for each subject.
func section(b *strings.Builder, f *figures, row string) {
	text := textOf(row)
	fmt.Fprintf(b, "## %s\n\n", text.title)
	if text.text != "" {
		fmt.Fprintf(b, "%s\n\n", text.text)
	}
	for _, c := range text.charts {
		fmt.Fprintf(b, "![%s](benchmarks/%s.svg)\n\n", c.title, c.file)
	}
	subjects := f.distinct(row, func(s driver.Found) string { return s.Subject })
	subjects = oursFirst(subjects)
	for _, metric := range f.distinct(row, func(s driver.Found) string { return string(s.Metric) }) {
		table(b, f, row, sample.Metric(metric), subjects)
	}
}

// oursFirst moves what begins with our name to the front and the floors to the end; the others are ascending.
func oursFirst(subjects []string) []string {
	rank := func(subject string) int {
		switch {
		case strings.HasPrefix(subject, ours):
			return 0
		case isFloor(subject):
			return 2
		}
		return 1
	}
	sorted := slices.Clone(subjects)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return sorted
}

// isFloor reports whether a subject does nothing but what everybody must.
func isFloor(subject string) bool {
	return slices.Contains([]string{floor, copying, "nothing", "Python alone", "Node alone"}, subject)
}

// metricNames are the titles of tables.
var metricNames = map[sample.Metric]string{
	sample.P50: "median latency", sample.P99: "p99 latency", sample.Rate: "operations a second", sample.CPU: "processor time for one call, both processes",
	sample.Throughput: "bytes of the frame a second", sample.Wall: "time", sample.Allocs: "allocations for one operation", sample.Memory: "resident memory",
}

func table(b *strings.Builder, f *figures, row string, metric sample.Metric, subjects []string) {
	has := func(subject string) bool {
		for k := range f.series {
			if k.row == row && k.subject == subject && k.metric == metric {
				return true
			}
		}
		return false
	}
	var columns []string
	for _, s := range subjects {
		if has(s) {
			columns = append(columns, s)
		}
	}
	name := metricNames[metric]
	if row == "generator" && metric == sample.Allocs {
		name = "files"
	}
	fmt.Fprintf(b, "| %s | %s |\n| --- |%s\n", name, strings.Join(columns, " | "), strings.Repeat(" ---: |", len(columns)))
	for _, shape := range f.distinct(row, func(s driver.Found) string { return s.Case }) {
		var cells []string
		empty := true
		for _, s := range columns {
			d, found := f.of(key{row, s, shape, metric})
			cell := ""
			if found {
				empty = false
				cell = format(d.median, metric.Unit())
				if d.runs > 1 {
					cell += fmt.Sprintf(" (%s to %s)", format(d.low, metric.Unit()), format(d.high, metric.Unit()))
				}
			}
			cells = append(cells, cell)
		}
		if !empty {
			fmt.Fprintf(b, "| %s | %s |\n", shape, strings.Join(cells, " | "))
		}
	}
	b.WriteString("\n")
}

func failures(b *strings.Builder, list []driver.Failure) {
	if len(list) == 0 {
		return
	}
	b.WriteString("## Not measured\n\n| Row | Subject | Why |\n| --- | --- | --- |\n")
	for _, one := range list {
		fmt.Fprintf(b, "| %s | %s | %s |\n", one.Row, one.Subject, strings.ReplaceAll(one.Reason, "|", "\\|"))
	}
	b.WriteString("\n")
}

// chart is a plot of a row.
func (f *figures) chart(row string, of chartOf) chart {
	better := "shorter bars are better"
	if of.metric.HigherIsBetter() {
		better = "longer bars are better"
	}
	c := chart{title: of.title, subtitle: "logarithmic; medians, the line reaches from p5 to p95; " + better, unit: of.metric.Unit()}
	cases := of.cases
	if cases == nil {
		cases = f.distinct(row, func(s driver.Found) string { return s.Case })
	}
	for _, shape := range cases {
		g := group{name: shape}
		for _, subject := range oursFirst(f.distinct(row, func(s driver.Found) string { return s.Subject })) {
			if d, found := f.of(key{row, subject, shape, of.metric}); found {
				g.bars = append(g.bars, bar{
					name: subject, distribution: d, ours: strings.HasPrefix(subject, ours), floor: isFloor(subject),
				})
			}
		}
		if len(g.bars) > 0 {
			c.groups = append(c.groups, g)
		}
	}
	return c
}

// Print writes the verdicts and all tables for a terminal.
func Print(to io.Writer, d *Data) {
	f := newFigures(d)
	var b strings.Builder
	budgetTable(&b, f)
	for _, row := range f.rows() {
		fmt.Fprintf(&b, "## %s\n\n", textOf(row).title)
		subjects := oursFirst(f.distinct(row, func(s driver.Found) string { return s.Subject }))
		for _, metric := range f.distinct(row, func(s driver.Found) string { return string(s.Metric) }) {
			table(&b, f, row, sample.Metric(metric), subjects)
		}
	}
	failures(&b, d.Failures)
	_, _ = io.WriteString(to, b.String()) // whoever reads it may have left
}
