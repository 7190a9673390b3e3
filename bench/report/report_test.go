package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/bench/driver"
	"github.com/octet-dev/octet/bench/sample"
)

// found makes a series with one value a round.
func found(subject, shape string, metric sample.Metric, values ...float64) (list []driver.Found) {
	for round, value := range values {
		list = append(list, driver.Found{Round: round, Sample: sample.Sample{Row: "call", Subject: subject, Case: shape, Metric: metric, Value: value, Count: 10}})
	}
	return list
}

func data() *Data {
	d := &Data{Machine: Machine{Cores: 2, Memory: 8, System: "linux/amd64", Go: "go1"}, Rounds: 3, Seconds: 1}
	d.Samples = append(d.Samples, found(ours, lone100, sample.P50, 10, 200, 12)...)
	d.Samples = append(d.Samples, found(floor, lone100, sample.P50, 5, 100, 4)...)
	d.Samples = append(d.Samples, found("slow", lone100, sample.P50, 90, 800, 100)...)
	d.Samples = append(d.Samples, found("quick", lone100, sample.P50, 60, 700, 70)...)
	d.Samples = append(d.Samples, found(ours, many100, sample.Rate, 900, 1000, 1100)...)
	d.Samples = append(d.Samples, found("quick", many100, sample.Rate, 400, 300, 500)...)
	return d
}

// A ratio is taken inside a round: the second round was ten times slower for everybody.
func TestRatio_isOfOneRound(t *testing.T) {
	f := newFigures(data())
	d, has := f.ratio(key{"call", ours, lone100, sample.P50}, key{"call", floor, lone100, sample.P50})
	if !has || d.median != 2 || d.runs != 3 {
		t.Errorf("got %+v, %v", d, has)
	}
}

func TestBudgets_areJudged(t *testing.T) {
	f := newFigures(data())
	for name, test := range map[string]struct {
		judge func(*figures) verdict
		held  bool
		says  string
	}{
		"a multiple that is kept":    {timesOf("call", ours, floor, lone100, sample.P50, 3), true, "2.00 times"},
		"a multiple that is not":     {timesOf("call", ours, floor, lone100, sample.P50, 1.5), false, "2.00 times"},
		"a part of the fastest peer": {quarterOf("call", ours, lone100, 0.25), true, "of quick"},
		"so many times the fastest":  {fasterThan("call", ours, many100, sample.Rate, 3, whole, floor), false, "2.25 times"},
	} {
		if v := test.judge(f); !v.known || v.held != test.held || !strings.Contains(v.figure, test.says) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := below("commands", "octet --help", "start to end", sample.Wall, 40)(f); v.known || v.held {
		t.Errorf("what was not measured is judged: %+v", v)
	}
}

func TestWrite_hasEveryBudgetAndPlotsThatAreXML(t *testing.T) {
	dir := t.TempDir()
	if err := Write(data(), dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range budgets {
		if !strings.Contains(string(text), b.promise) {
			t.Errorf("the report has no row %q", b.promise)
		}
	}
	plots, err := filepath.Glob(filepath.Join(dir, "benchmarks", "*.svg"))
	if err != nil || len(plots) != 2 {
		t.Fatalf("plots %v, %v", plots, err)
	}
	for _, plot := range plots {
		text, err := os.ReadFile(plot)
		if err != nil {
			t.Fatal(err)
		}
		for tokens := xml.NewDecoder(strings.NewReader(string(text))); ; {
			if _, err := tokens.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", plot, err)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		value float64
		unit  string
		want  string
	}{
		{3.456, "us", "3.46 µs"},
		{9999, "us", "9,999 µs"},
		{12_345, "us", "12.3 ms"},
		{1_234_567, "calls/s", "1,234,567 calls/s"},
		{41_000_000, "B", "41.0 MB"},
		{0, "count", "0"},
	} {
		if got := format(test.value, test.unit); got != test.want {
			t.Errorf("%v %s is written %q, want %q", test.value, test.unit, got, test.want)
		}
	}
}
