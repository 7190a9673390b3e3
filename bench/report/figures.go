// Package report turns samples into tables, plots and the verdict on each budget.
package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/octet-dev/octet/bench/driver"
	"github.com/octet-dev/octet/bench/sample"
)

// Machine is what is said of the machine: no names.
type Machine struct {
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_gib"`
	System string  `json:"system"`
	Go     string  `json:"go"`
	// Load is the load average of one minute, in front and behind; 0 where nobody knows it.
	Load [2]float64 `json:"load"`
}

// busy reports whether others wanted more of the machine than there is.
func (m Machine) busy() bool { return max(m.Load[0], m.Load[1]) > 2*float64(m.Cores) }

// Data is everything about one measurement: build/bench.json.
type Data struct {
	Machine Machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`
	driver.Result
}

// key names a series: one value a round.
type key struct {
	row, subject, shape string
	metric              sample.Metric
}

// figures finds series.
type figures struct {
	data   *Data
	series map[key]map[int]float64 // by round
	counts map[key]int
}

func newFigures(d *Data) *figures {
	f := &figures{data: d, series: map[key]map[int]float64{}, counts: map[key]int{}}
	for _, s := range d.Samples {
		k := key{s.Row, s.Subject, s.Case, s.Metric}
		if f.series[k] == nil {
			f.series[k] = map[int]float64{}
		}
		f.series[k][s.Round] = s.Value
		f.counts[k] += s.Count
	}
	return f
}

// distribution is a median with its spread.
type distribution struct {
	median, low, high float64
	runs              int
}

func distributionOf(values []float64) distribution {
	slices.Sort(values)
	return distribution{quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95), len(values)}
}

// quantile reads between two values; values are sorted and at least one.
func quantile(values []float64, q float64) float64 {
	at := q * float64(len(values)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(values)-1)
	return values[low] + (values[high]-values[low])*(at-float64(low))
}

// of is the distribution of a series, if there is one.
func (f *figures) of(k key) (distribution, bool) {
	var values []float64
	for _, value := range f.series[k] {
		values = append(values, value)
	}
	if len(values) == 0 {
		return distribution{}, false
	}
	return distributionOf(values), true
}

// ratio is the distribution of a/b, round by round: both met the same load of the machine.
func (f *figures) ratio(a, b key) (distribution, bool) {
	var values []float64
	for round, value := range f.series[a] {
		if other, has := f.series[b][round]; has && other > 0 {
			values = append(values, value/other)
		}
	}
	if len(values) == 0 {
		return distribution{}, false
	}
	return distributionOf(values), true
}

// best is the subject of a series that is best beside those that are left out.
func (f *figures) best(k key, without ...string) (subject string, found bool) {
	best := 0.0
	for candidate := range f.series {
		same := candidate.row == k.row && candidate.shape == k.shape && candidate.metric == k.metric
		if !same || slices.Contains(without, candidate.subject) {
			continue
		}
		d, _ := f.of(candidate)
		better := d.median < best
		if k.metric.HigherIsBetter() {
			better = d.median > best
		}
		if !found || better || d.median == best && candidate.subject < subject {
			best, subject, found = d.median, candidate.subject, true
		}
	}
	return subject, found
}

// rows lists the rows in the order in which they are told of first.
func (f *figures) rows() []string {
	var list []string
	for _, s := range f.data.Samples {
		if !slices.Contains(list, s.Row) {
			list = append(list, s.Row)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(placeOf(a), placeOf(b)) })
	return list
}

// distinct lists what a function says of the samples of a row, in order of their first.
func (f *figures) distinct(row string, of func(driver.Found) string) []string {
	var list []string
	for _, s := range f.data.Samples {
		if s.Row == row && !slices.Contains(list, of(s)) {
			list = append(list, of(s))
		}
	}
	return list
}

// format writes a value with three digits that mean something, and its unit.
func format(value float64, unit string) string {
	switch unit {
	case "us":
		if value >= 10_000 {
			return number(value/1000) + " ms"
		}
		return number(value) + " µs"
	case "B":
		return number(value/1e6) + " MB"
	case "count":
		return number(value)
	}
	return number(value) + " " + unit
}

func number(value float64) string {
	switch size := math.Abs(value); {
	case size >= 1000:
		return grouped(int64(math.Round(value)))
	case size >= 100:
		return fmt.Sprintf("%.0f", value)
	case size >= 10:
		return fmt.Sprintf("%.1f", value)
	case size == 0:
		return "0"
	}
	return fmt.Sprintf("%.2f", value)
}

// grouped writes thousands apart.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
