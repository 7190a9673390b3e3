package flaky

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/baseline"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

var known = []string{"X-A-001", "X-A-002", "X-A-003"}

func list(t *testing.T, text string) *baseline.List {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flaky")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := baseline.Read(path, known)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func scenario(line int, rule, message string) verdict.Scenario {
	s := verdict.Scenario{Name: "about " + rule, File: "a.feature", Line: line, Rules: []string{rule}, Class: verdict.Pass}
	if message != "" {
		s.Class, s.Reason = verdict.Fail, message
		s.Findings = []verdict.Finding{{Rule: rule, Message: message, Frame: -1, Offset: -1}}
	}
	return s
}

// settle repeats with a script: what the scenario at line 1 finds in each further run.
func settle(t *testing.T, l *baseline.List, first verdict.Scenario, n int, later ...string) (*Settled, int) {
	t.Helper()
	other := scenario(2, "X-A-003", "always")
	runs := 0
	s, err := Settle(l, []verdict.Scenario{first, other}, n, func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
		if chosen(features.Scenario{File: "a.feature", Line: 2}) {
			t.Error("a scenario that is not listed is repeated")
		}
		if !chosen(features.Scenario{File: "a.feature", Line: 1}) {
			return nil, nil
		}
		runs++
		return []verdict.Scenario{scenario(1, "X-A-001", later[(runs-1)%len(later)])}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, runs
}

func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name, list, first string
		later             []string
		runs              int
		excused, stale    bool
		repeats           []report.Repeats
	}{
		{
			"fails now and then", "X-A-001 late", "late",
			[]string{"", "late"},
			10, true, false,
			[]report.Repeats{{Failed: 6, Runs: 11}},
		},
		{"fails each time", "X-A-001 late", "late", []string{"late"}, 10, false, false, []report.Repeats{{Failed: 11, Runs: 11}}},
		{"fails in another way", "X-A-001 late", "wrong", []string{"wrong"}, 10, false, true, []report.Repeats{{Failed: 11, Runs: 11}}},
		{"never fails", "X-A-001 late", "", []string{""}, 10, false, true, []report.Repeats{{Failed: 0, Runs: 11}}},
		{"fails at last", "X-A-001 late", "", []string{"", "", "late"}, 10, true, false, []report.Repeats{{Failed: 3, Runs: 11}}},
		{"is not listed", "X-A-002 late", "late", []string{"late"}, 0, false, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := list(t, c.list)
			s, runs := settle(t, l, scenario(1, "X-A-001", c.first), 10, c.later...)
			if runs != c.runs {
				t.Errorf("%d repeats, want %d", runs, c.runs)
			}
			if stale := len(l.Stale(func(string) bool { return true }, known)) == 1; stale != c.stale {
				t.Errorf("stale %t, want %t", stale, c.stale)
			}
			if got := s.Excuses("X-A-001", "about X-A-001", "late"); got != c.excused {
				t.Errorf("excused %t, want %t", got, c.excused)
			}
			if s.Excuses("X-A-001", "about X-A-001", "wrong") {
				t.Error("another finding is excused")
			}
			if len(s.Repeats) != len(c.repeats) {
				t.Fatalf("got %+v, want %+v", s.Repeats, c.repeats)
			}
			for i, want := range c.repeats {
				if got := s.Repeats[i]; got.Failed != want.Failed || got.Runs != want.Runs || got.Low > got.High {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
		})
	}
}

// The figures are those of the formula for 3 of 10, and for the ends.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{3, 10, 0.1078, 0.6032}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {0, 0, 0, 1}} {
		low, high := Wilson(c.k, c.n)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: got %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}
