package soak

import (
	"fmt"
	"slices"
	"time"
)

// band says how much a host may grow between the second fifth of a soak and its last: a part of what it had, and a bit
// more, which lets a short soak of a small host be judged by the same bands.
type band struct {
	name    string
	of      func(Sample) int64
	percent int64
	more    int64
	bytes   bool
}

var bands = []band{
	{"live heap", func(s Sample) int64 { return s.Heap }, 10, 2 << 20, true},
	{"resident memory", func(s Sample) int64 { return s.Resident }, 15, 8 << 20, true},
	{"goroutines", func(s Sample) int64 { return s.Goroutines }, 5, 8, false},
	{"descriptors", func(s Sample) int64 { return s.Descriptors }, 5, 4, false},
}

// least is how many settled samples there must be for a judgement.
const least = 10

// growth is what a band found.
type growth struct {
	band
	base, end, most int64 // medians of the two fifths, and the largest of all settled samples behind the first fifth
	allowed         int64
}

func (g growth) held() bool { return g.end <= g.allowed }

// grown measures every band on the settled samples.
func grown(settled []Sample) []growth {
	fifth := len(settled) / 5
	var list []growth
	for _, b := range bands {
		values := func(samples []Sample) (list []int64) {
			for _, s := range samples {
				list = append(list, b.of(s))
			}
			slices.Sort(list)
			return list
		}
		median := func(samples []Sample) int64 { return values(samples)[len(samples)/2] }
		g := growth{band: b, base: median(settled[fifth : 2*fifth]), end: median(settled[len(settled)-fifth:])}
		g.most = slices.Max(values(settled[fifth:]))
		g.allowed = g.base + g.base*b.percent/100 + b.more
		list = append(list, g)
	}
	return list
}

func settledOf(samples []Sample) (list []Sample) {
	for _, s := range samples {
		if s.Settled {
			list = append(list, s)
		}
	}
	return list
}

// judge says what is wrong with a soak: growth beyond a band, processes that should not be there, wrong answers, and
// extensions that served nobody.
func judge(samples []Sample, extensions int) (findings []string) {
	settled := settledOf(samples)
	if len(settled) < least {
		return []string{fmt.Sprintf("only %d settled samples, %d are needed: soak for longer", len(settled), least)}
	}
	for _, g := range grown(settled) {
		if !g.held() {
			findings = append(findings, fmt.Sprintf("%s grew from %s to %s, beyond %s", g.name, g.show(g.base), g.show(g.end), g.show(g.allowed)))
		}
	}
	for _, s := range settled {
		if s.Strays > 0 {
			findings = append(findings, fmt.Sprintf("%d processes of extensions that are gone, after %s", s.Strays, s.At.Round(time.Second)))
		}
		if least := int64(extensions) + 1; s.Processes < least {
			findings = append(findings, fmt.Sprintf("%d processes at rest after %s, not at least %d", s.Processes, s.At.Round(time.Second), least))
		}
	}
	counts := settled[len(settled)-1].Counts
	if counts.Wrong > 0 {
		findings = append(findings, fmt.Sprintf("%d answers were not those of their questions", counts.Wrong))
	}
	if len(counts.Answers) < extensions {
		findings = append(findings, fmt.Sprintf("only %d of %d extensions have answered anything", len(counts.Answers), extensions))
	}
	if len(counts.Faults) == 0 {
		findings = append(findings, "no fault was made: this was no soak")
	}
	return findings
}

// show is a value for people.
func (b band) show(value int64) string {
	if b.bytes {
		return fmt.Sprintf("%.1f MiB", float64(value)/(1<<20))
	}
	return fmt.Sprint(value)
}
