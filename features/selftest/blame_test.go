package selftest_test

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

// A step that ends a scenario about something else blames its own rule, and the scenario's is not said to be kept.
func TestScenarios_blameTheRuleOfTheStep(t *testing.T) {
	for _, test := range []struct {
		fault, api string
		ran        []string // patterns
		innocent   []string // rules that are not blamed
	}{
		{"answers-calls-late", "0.4", []string{"EXT04-SHUT"}, []string{"EXT04-SHUT-001", "EXT04-SHUT-002", "EXT04-SHUT-005", "EXT04-SHUT-006"}},
		{"waits-for-calls", "0.4", []string{"EXT04-SHUT"}, []string{"EXT04-SHUT-003", "EXT04-SHUT-006"}},
		{"waits-behind-farewell", "0.1", []string{"EXT04-SHUT"}, []string{"EXT04-SHUT-004"}},
		{"drops-shutdown", "0.1", []string{"EXT04-SHUT", "EXT04-FRAME"}, []string{"EXT04-SHUT-002", "EXT04-SHUT-003", "EXT04-SHUT-004", "EXT04-SHUT-005", "EXT04-FRAME-001"}},
		{"lingers", "0.3", []string{"EXT03-SHUT"}, []string{"EXT03-SHUT-001", "EXT03-SHUT-002", "EXT03-SHUT-003", "EXT03-SHUT-006", "EXT03-SHUT-008"}},
		{"leaves-without-a-word", "0.3", []string{"EXT03-SHUT"}, []string{"EXT03-SHUT-001", "EXT03-SHUT-003", "EXT03-SHUT-004"}},
		{"interrupted-as-internal-error", "0.4", []string{"EXT04-SHUT"}, []string{"EXT04-SHUT-003"}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(faultypeer.Faults(), func(f faultypeer.Fault) bool { return f.Name == test.fault && f.API == test.api })
			if at < 0 {
				t.Fatalf("there is no peer %q on API %s", test.fault, test.api)
			}
			fault := faultypeer.Faults()[at]
			setup, err := selftest.Setup(fault, selftest.Options{Patience: steps.DefaultPatience}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			matches := referee.Matches(test.ran)
			scenarios, err := referee.Run(t.Context(), referee.Options{Setup: setup, Jobs: 2, Seed: 1, Select: func(s features.Scenario) bool { return matches(s) }})
			if err != nil {
				t.Fatal(err)
			}
			blamed := false
			for _, row := range verdict.Aggregate(referee.Known(), scenarios) {
				red := row.Class == verdict.Fail || row.Class == verdict.NoAnswer
				blamed = blamed || red && row.ID == fault.Rule
				if red && slices.Contains(test.innocent, row.ID) {
					t.Errorf("%s is blamed: %s", row.ID, row.Reason)
				}
			}
			if !blamed {
				t.Errorf("%s is not blamed, which the peer breaks", fault.Rule)
			}
		})
	}
}
