package minimise_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/minimise"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

const seed = 7

// patience is short: peers inside this process answer at once or never.
var patience = steps.DefaultPatience.Scale(0.2)

func setupOf(t *testing.T, f faultypeer.Fault) *steps.Setup {
	t.Helper()
	setup, err := selftest.Setup(f, selftest.Options{Patience: patience}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	setup.Learn()
	return setup
}

// unsteady are faults that show as silence where something would have come by itself: with patience this short a busy
// machine is silent, too, so that a smaller conversation shows them at one time and not at another.
var unsteady = []string{"subscribes-once"}

// sample is every so-many-th fault that shows inside this process.
func sample(every int) []faultypeer.Fault {
	var out []faultypeer.Fault
	for i, f := range faultypeer.Faults() {
		if i%every == 0 && !f.Process && !slices.Contains(unsteady, f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// The smallest conversation with a faulty peer still breaks the rule, and none of its frames can go.
func TestScenarios_isLeast(t *testing.T) {
	every := 25
	if testing.Short() {
		every = 80
	}
	var minimised, kept, of atomic.Int64
	t.Run("faults", func(t *testing.T) {
		for _, f := range sample(every) {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				for _, s := range minimal(t, f) {
					minimised.Add(1)
					kept.Add(int64(s.Minimal.Kept))
					of.Add(int64(len(s.Minimal.Sent)))
				}
			})
		}
	})
	if minimised.Load() < 5 {
		t.Errorf("%d failures were minimised, want at least 5", minimised.Load())
	}
	t.Logf("%d failures: %d of %d frames", minimised.Load(), kept.Load(), of.Load())
}

// tries is how often a failure is minimised before it is said not to be least: a busy machine is late now and then, and
// what was late seems to be needed. What is wrong with minimising is so each time.
const tries = 3

// minimal minimises what a faulty peer is red for, and checks each.
func minimal(t *testing.T, f faultypeer.Fault) []verdict.Scenario {
	t.Helper()
	for try := 1; ; try++ {
		setup := setupOf(t, f)
		out := minimised(t, setup, f)
		var faults []string
		for _, s := range out {
			faults = append(faults, check(t, setup, f, s)...)
		}
		if len(faults) == 0 {
			return out
		}
		if try == tries {
			t.Errorf("minimised %d times, at last so that %s", tries, strings.Join(faults, "\n"))
			return out
		}
		t.Logf("once more, as %s", strings.Join(faults, "\n"))
	}
}

// minimised are the failures of a faulty peer that are as small as can be.
func minimised(t *testing.T, setup *steps.Setup, f faultypeer.Fault) []verdict.Scenario {
	t.Helper()
	all, err := referee.Run(t.Context(), referee.Options{
		Setup: setup, Jobs: 2, Seed: seed, Select: func(s features.Scenario) bool { return slices.Contains(s.Rules, f.Rule) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := minimise.Scenarios(t.Context(), minimise.Options{Setup: setup, Seed: seed, Limit: time.Minute, Jobs: 2}, all); err != nil {
		t.Fatal(err)
	}
	var out []verdict.Scenario
	for _, s := range all {
		if s.Minimal == nil || s.Minimal.Finding.Rule != f.Rule {
			continue
		}
		if !s.Minimal.Least {
			t.Logf("%s: %s", s.Name, s.Minimal.Note)
			continue
		}
		out = append(out, s)
	}
	return out
}

// check plays the smallest conversation again, and then without each of its frames. It returns what is wrong with it.
func check(t *testing.T, setup *steps.Setup, f faultypeer.Fault, s verdict.Scenario) (faults []string) {
	t.Helper()
	broken := func(without string) bool {
		var frames []string
		for _, frame := range s.Frames {
			if frame.Origin != "" && frame.Origin != without {
				frames = append(frames, frame.Origin)
			}
		}
		again, err := minimise.Play(t.Context(), setup, minimise.Conversation{
			Scenario: fmt.Sprintf("%s:%d", s.File, s.Line), Sent: s.Minimal.Sent, Kept: frames, Steps: s.Minimal.Steps, Finding: s.Minimal.Finding, Seed: seed,
		})
		if err != nil {
			t.Fatal(err)
		}
		return again.Shows
	}
	if !broken("") {
		return []string{fmt.Sprintf("%s: %s: the failure does not show in its %d frames", f.Name, s.Name, s.Minimal.Kept)}
	}
	frames, tried := s.Frames, 0
	for i, frame := range frames {
		// Each of the answers that a tool waits for one by one is the same case, and costs a wait.
		if tried++; tried > 6 {
			break
		}
		if frame.Origin != "" && !minimise.Initializes(frame) && broken(frame.Origin) {
			faults = append(faults, fmt.Sprintf("%s: %s: the failure shows without frame %d of %d: %s", f.Name, s.Name, i, len(s.Frames), frame.Bytes))
		}
	}
	return faults
}
