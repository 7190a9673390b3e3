package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a soak has seen.
type Report struct {
	Length     time.Duration `json:"length"`
	Seed       uint64        `json:"seed"`
	Extensions int           `json:"extensions"`
	Languages  []string      `json:"languages"`
	Cores      int           `json:"cores"`
	Memory     int64         `json:"memory"` // of the machine, in bytes
	Findings   []string      `json:"findings"`
	Samples    []Sample      `json:"samples"`
}

// Markdown is the report for people. Plot is the address of the plot as seen from it; empty: none.
func (r *Report) Markdown(plot string) string {
	var b strings.Builder
	settled := settledOf(r.Samples)
	low, high := loads(r.Samples)
	fmt.Fprintf(&b, "# Soak\n\n")
	fmt.Fprintf(&b, "One host, %d extensions (%s), %s of calls and faults on %d cores and %.0f GiB of memory; load of the machine %.1f to %.1f.\n",
		r.Extensions, strings.Join(r.Languages, ", "), r.Length, r.Cores, float64(r.Memory)/(1<<30), low, high)
	fmt.Fprintf(&b, "`make soak TIME=%s SEED=%d` does it again.\n\n", short(r.Length), r.Seed)
	if len(r.Findings) == 0 {
		fmt.Fprintf(&b, "**Every band is held.**\n")
	}
	for _, finding := range r.Findings {
		fmt.Fprintf(&b, "- **%s**\n", finding)
	}
	if len(settled) >= least {
		fmt.Fprintf(&b, "\nBetween the second fifth and the last, medians of %d settled samples:\n\n", len(settled))
		fmt.Fprintf(&b, "| What | Before | At the end | Most | Band |  |\n| --- | --- | --- | --- | --- | --- |\n")
		for _, g := range grown(settled) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | up to %s (%d %% and %s more) | %s |\n", g.name, g.show(g.base), g.show(g.end), g.show(g.most),
				g.show(g.allowed), g.percent, g.show(g.more), map[bool]string{true: "held", false: "missed"}[g.held()])
		}
		strays := 0
		for _, s := range settled {
			if s.Strays > 0 {
				strays++
			}
		}
		fmt.Fprintf(&b, "| processes | %d | %d |  | in no settled sample one of an extension that is gone | %s |\n", settled[len(settled)/5].Processes,
			settled[len(settled)-1].Processes, map[bool]string{true: "held", false: fmt.Sprintf("missed in %d", strays)}[strays == 0])
	}
	if len(r.Samples) > 0 {
		r.done(&b, r.Samples[len(r.Samples)-1].Counts)
	}
	if plot != "" {
		fmt.Fprintf(&b, "\n![Memory, goroutines, descriptors and processes over time](%s)\n", plot)
	}
	return b.String()
}

// done tells what the host was kept busy with.
func (r *Report) done(b *strings.Builder, c Counts) {
	var faults int64
	for _, n := range c.Faults {
		faults += n
	}
	fmt.Fprintf(b, "\n%d calls: %d answered as they must be, %d cancelled, %d failed because their extension was broken or away, %d answered wrongly. ",
		c.Calls, c.Answered, c.Cancelled, c.Failed, c.Wrong)
	fmt.Fprintf(b, "%d records of sessions. %d generations of extensions were replaced. %d faults:\n\n", c.Records, c.Restarts, faults)
	fmt.Fprintf(b, "| Fault | Times |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(c.Faults)) {
		fmt.Fprintf(b, "| %s | %d |\n", name, c.Faults[name])
	}
}

func loads(samples []Sample) (low, high float64) {
	for i, s := range samples {
		if i == 0 || s.Load < low {
			low = s.Load
		}
		high = max(high, s.Load)
	}
	return low, high
}

// short is a duration without what is zero: 30m, not 30m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}
