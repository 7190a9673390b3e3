// Package sample is what a measuring program prints and the driver reads: one JSON object a line. bench/SAMPLES.md
// says what each member means and which rows, cases and metrics there are.
package sample

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Sample is one figure of one run of one subject.
type Sample struct {
	Row     string  `json:"row"`
	Subject string  `json:"subject"`
	Case    string  `json:"case"`
	Metric  Metric  `json:"metric"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Count   int     `json:"count"`
}

// Metric names what a value is.
type Metric string

// The metrics, and the unit that each has.
const (
	P50        Metric = "p50"
	P99        Metric = "p99"
	Rate       Metric = "rate"
	CPU        Metric = "cpu"
	Throughput Metric = "throughput"
	Wall       Metric = "wall"
	Allocs     Metric = "allocs"
	Memory     Metric = "memory"
)

var units = map[Metric]string{
	P50: "us", P99: "us", Rate: "calls/s", CPU: "us", Throughput: "MB/s", Wall: "ms", Allocs: "count", Memory: "B",
}

// HigherIsBetter reports which way a metric improves.
func (m Metric) HigherIsBetter() bool { return m == Rate || m == Throughput }

// Unit returns the unit of a metric, empty where the metric is unknown.
func (m Metric) Unit() string { return units[m] }

// Write prints samples, one a line.
func Write(to io.Writer, samples ...Sample) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	for _, one := range samples {
		one.Unit = one.Metric.Unit()
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// Read reads samples to the end, and refuses a line that is none.
func Read(from io.Reader) ([]Sample, error) {
	var samples []Sample
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var one Sample
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %q is no sample: %w", lines.Text(), err)
		}
		if unit, known := units[one.Metric]; !known || unit != one.Unit {
			return nil, fmt.Errorf("sample %q has metric %q in %q, which bench/SAMPLES.md does not list", lines.Text(), one.Metric, one.Unit)
		}
		samples = append(samples, one)
	}
	return samples, lines.Err()
}
