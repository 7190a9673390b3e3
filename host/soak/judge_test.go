package soak

import (
	"strings"
	"testing"
	"time"
)

// calm are the samples of a host that does not grow.
func calm(extensions int) []Sample {
	answers := map[string]int64{}
	for n := range extensions {
		answers[extensionName(raw, n)] = 1
	}
	var list []Sample
	for n := range 20 {
		s := Sample{
			At: time.Duration(n) * time.Minute, Settled: true, Heap: 10 << 20, Resident: 40 << 20, Goroutines: 100, Descriptors: 80,
			Processes: int64(extensions) + 1, Counts: Counts{Answers: answers, Faults: map[string]int64{"kill": int64(n)}},
		}
		list = append(list, s, Sample{At: s.At, Heap: 1 << 30, Resident: 1 << 30, Goroutines: 1000, Descriptors: 1000, Processes: 99})
	}
	return list
}

func TestJudge(t *testing.T) {
	const extensions = 3
	for name, c := range map[string]struct {
		change func(n int, s *Sample)
		want   string // empty: nothing
	}{
		"calm":               {func(int, *Sample) {}, ""},
		"within the bands":   {func(n int, s *Sample) { s.Heap, s.Goroutines = s.Heap+int64(n)<<17, s.Goroutines+int64(n)/2 }, ""},
		"warming up":         {func(n int, s *Sample) { s.Heap = map[bool]int64{true: 1 << 20, false: s.Heap}[n < 4] }, ""},
		"one peak":           {func(n int, s *Sample) { s.Resident += map[bool]int64{true: 1 << 30}[n == 17] }, ""},
		"heap":               {func(n int, s *Sample) { s.Heap += int64(n) << 19 }, "live heap grew from 13.0 MiB to 19.0 MiB, beyond 16.3 MiB"},
		"resident":           {func(n int, s *Sample) { s.Resident += int64(n) << 21 }, "resident memory grew from 52.0 MiB to 76.0 MiB"},
		"goroutines":         {func(n int, s *Sample) { s.Goroutines += int64(n) * 2 }, "goroutines grew from 112 to 136, beyond 125"},
		"descriptors":        {func(n int, s *Sample) { s.Descriptors += int64(n) }, "descriptors grew from"},
		"a process too many": {func(n int, s *Sample) { s.Strays += map[bool]int64{true: 1}[n == 9] }, "1 processes of extensions that are gone, after 9m0s"},
		"children":           {func(n int, s *Sample) { s.Processes += map[bool]int64{true: 1}[n == 9] }, ""},
		"one too few":        {func(n int, s *Sample) { s.Processes -= map[bool]int64{true: 1}[n == 9] }, "3 processes at rest after 9m0s, not at least 4"},
		"a wrong answer":     {func(_ int, s *Sample) { s.Counts.Wrong = 1 }, "1 answers were not those"},
		"a silent extension": {func(_ int, s *Sample) { s.Counts.Answers = nil }, "only 0 of 3 extensions have answered"},
		"no fault":           {func(_ int, s *Sample) { s.Counts.Faults = nil }, "no fault was made"},
	} {
		samples := calm(extensions)
		for n := range samples {
			if samples[n].Settled {
				c.change(n/2, &samples[n])
			}
		}
		found := strings.Join(judge(samples, extensions), "\n")
		if c.want == "" && found != "" || c.want != "" && !strings.HasPrefix(found, c.want) || strings.Count(found, "\n") > 0 {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
	if found := judge(calm(extensions)[:18], extensions); len(found) != 1 || !strings.Contains(found[0], "only 9 settled samples") {
		t.Errorf("too few samples: found %q", found)
	}
}
