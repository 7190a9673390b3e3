package selftest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/selftest"
)

func results(byRule, other, missed, clean, alarmed int) []selftest.Result {
	var out []selftest.Result
	for verdict, n := range map[selftest.Verdict]int{
		selftest.Caught: byRule, selftest.Other: other, selftest.Missed: missed, selftest.Clean: clean, selftest.Alarmed: alarmed,
	} {
		for range n {
			r := selftest.Result{API: "0.4", Verdict: verdict}
			if verdict != selftest.Clean && verdict != selftest.Alarmed {
				r.Rule = "EXT04-ENV-005"
			}
			out = append(out, r)
		}
	}
	return out
}

func TestTally(t *testing.T) {
	for _, c := range []struct {
		name    string
		peers   []selftest.Result
		accused int
		passed  bool
	}{
		{"all as they should be", results(100, 0, 0, 4, 0), 0, true},
		{"some by other rules", results(95, 5, 0, 4, 0), 0, true},
		{"too many by other rules", results(94, 6, 0, 4, 0), 0, false},
		{"one missed", results(99, 0, 1, 4, 0), 0, false},
		{"a sound peer accused", results(100, 0, 0, 3, 1), 0, false},
		{"an example accused", results(100, 0, 0, 4, 0), 1, false},
	} {
		r := selftest.Tally(7, c.peers, []selftest.Example{{Directory: "x", Runs: 3, Accused: c.accused}})
		if r.Passed != c.passed {
			t.Errorf("%s: passed is %v, want %v", c.name, r.Passed, c.passed)
		}
		if r.Faulty != 100 || r.Sound != 4 {
			t.Errorf("%s: %d faulty peers and %d sound ones", c.name, r.Faulty, r.Sound)
		}
	}
}

func TestReport_saysTheFigures(t *testing.T) {
	r := selftest.Tally(7, results(95, 4, 1, 4, 0), []selftest.Example{{Directory: "x", Runs: 50}})
	var text, doc bytes.Buffer
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"caught              99  99.0 %", "by their rule       95  95.0 %", "missed               1  1.0 %", "0  in 4 sound ones and 50 runs of 1 examples", "failed, seed 7"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, text.String())
		}
	}
	if err := r.JSON(&doc); err != nil {
		t.Fatal(err)
	}
	var back selftest.Report
	if err := json.Unmarshal(doc.Bytes(), &back); err != nil || back.Caught != 99 || back.Missed != 1 || back.Seed != 7 || len(back.Peers) != 104 {
		t.Errorf("the JSON reads back as %+v, %v", back, err)
	}
}

func TestPercent_neverRoundsUp(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		want        string
	}{{9999, 10000, "99.9 %"}, {3, 3, "100.0 %"}, {0, 0, "none"}, {1, 3, "33.3 %"}} {
		if got := selftest.Percent(c.part, c.whole); got != c.want {
			t.Errorf("Percent(%d, %d) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}
