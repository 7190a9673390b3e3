package driver

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const roleVariable = "OCTET_BENCH_ROLE"

// TestMain is also a measuring program with three subjects, of which one fails.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	switch words := strings.Join(os.Args[1:], " "); {
	case words == "list":
		fmt.Println(`{"row":"a","subject":"x"}` + "\n" + `{"row":"a","subject":"y","rounds":2}` + "\n" + `{"row":"b","subject":"z"}`)
	case strings.Contains(words, "--subject x"):
		fmt.Println(`{"row":"a","subject":"x","case":"c","metric":"p50","unit":"us","value":1,"count":1}`)
	case strings.Contains(words, "--subject y"):
		fmt.Println(`{"row":"a","subject":"y","case":"c","metric":"rate","unit":"calls/s","value":2,"count":1}`)
	default:
		fmt.Fprintln(os.Stderr, "first\nno such library")
		os.Exit(1)
	}
	os.Exit(0)
}

func TestPlan_measuresEveryRoundAndNamesFailures(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(roleVariable, "program")
	result, err := Plan{Programs: []Program{{Name: "Go", Command: []string{self}}, {Name: "none", Command: []string{self + "-missing"}}}, Rounds: 3, Seconds: 1}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, s := range result.Samples {
		count[s.Subject]++
	}
	if count["x"] != 3 || count["y"] != 2 || len(count) != 2 {
		t.Errorf("samples %v", count)
	}
	if len(result.Failures) != 2 || !strings.Contains(result.Failures[0].Reason, "-missing") || !strings.HasSuffix(result.Failures[1].Reason, "no such library") {
		t.Errorf("failures %+v", result.Failures)
	}
	result, err = Plan{Programs: []Program{{Name: "Go", Command: []string{self}}}, Rows: regexp.MustCompile("^a$"), Rounds: 1}.Run(t.Context())
	if err != nil || len(result.Samples) != 2 || len(result.Failures) != 0 {
		t.Errorf("a row alone gives %+v, %v", result, err)
	}
}

// What is compared lies side by side in time, in another order each round and the same for the same seed.
func TestSteps_interleave(t *testing.T) {
	subjects := make([]Subject, 6)
	first, again := Plan{Rounds: 4, Seed: 7}.steps(subjects), Plan{Rounds: 4, Seed: 7}.steps(subjects)
	if !slices.Equal(first, again) {
		t.Error("a seed does not decide the order")
	}
	for n, s := range first {
		if s.round != n/6 {
			t.Fatalf("step %d belongs to round %d", n, s.round)
		}
	}
	order := func(round int) (list []int) {
		for _, s := range first[6*round : 6*round+6] {
			list = append(list, s.subject)
		}
		return list
	}
	if slices.Equal(order(0), order(1)) && slices.Equal(order(1), order(2)) {
		t.Error("every round has the same order")
	}
}
