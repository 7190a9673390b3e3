package fuzz_test

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/fuzz"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
)

const seed = 20

func setupOf(t *testing.T, f faultypeer.Fault, scale float64) *steps.Setup {
	t.Helper()
	setup, err := selftest.Setup(f, selftest.Options{Patience: steps.DefaultPatience.Scale(scale)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// once leaves a profile no call but the sample: the tour of a full peer is made for one call of a process.
func once(setup *steps.Setup) *steps.Setup {
	setup.Profile.Call = setup.Profile.Call[:1]
	return setup
}

// Nothing is found in peers that keep every rule, however odd they are.
func TestRun_soundPeers(t *testing.T) {
	peers := faultypeer.Variants()
	for _, api := range dialect.Versions() {
		peers = append(peers, faultypeer.Fault{API: api})
	}
	for _, f := range peers {
		t.Run(f.API+" "+f.Name, func(t *testing.T) {
			t.Parallel()
			report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: once(setupOf(t, f, 1)), Seed: seed, Runs: 40, Jobs: 2, Most: 3, Shrink: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range report.Failures {
				t.Errorf("run %d breaks %s: %s", found.Run, found.Finding.Rule, found.Finding.Message)
				for _, frame := range found.Result.Frames {
					t.Logf("%s %.300s  (%s)", frame.Lane, frame.Bytes, frame.Origin)
				}
			}
			t.Logf("%d runs, %d lines", report.Runs, report.Lines)
		})
	}
}

// planted are faults that need no special scenario: what breaks them is part of any conversation.
func planted() []faultypeer.Fault {
	var out []faultypeer.Fault
	for i, f := range faultypeer.Faults() {
		if !f.Process && i%10 == 0 {
			out = append(out, f)
		}
	}
	return out
}

// wanted is how many of those must be found.
const wanted = 20

// Faults are found at a fixed seed within so many conversations, under their own rule, and the smallest
// conversation shows them again.
func TestRun_faultyPeers(t *testing.T) {
	var mu sync.Mutex
	found := map[string]int{}
	t.Run("faults", func(t *testing.T) {
		for _, f := range planted() {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				setup := once(setupOf(t, f, 0.15))
				report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: setup, Seed: seed, Runs: 60, Jobs: 1, Most: 1, Time: 20 * time.Second, Shrink: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				for _, each := range report.Failures {
					if each.Finding.Rule != f.Rule {
						continue
					}
					mu.Lock()
					found[f.Name] = each.Lines
					mu.Unlock()
					shows(t, setup, each)
				}
			})
		}
	})
	if len(found) < wanted {
		t.Errorf("%d of %d faults were found under their rule, want at least %d", len(found), len(planted()), wanted)
	}
	t.Logf("%d of %d faults: %v", len(found), len(planted()), found)
}

// shows plays the smallest conversation again, as a transcript keeps it.
func shows(t *testing.T, setup *steps.Setup, f fuzz.Failure) {
	t.Helper()
	if !f.Least {
		return
	}
	items, err := fuzz.Items(f.Result.Frames)
	if err != nil {
		t.Fatal(err)
	}
	again, err := fuzz.Play(t.Context(), setup, items)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range again.Findings {
		if found.Rule == f.Finding.Rule {
			return
		}
	}
	t.Errorf("%s does not show in the %d lines of its transcript", f.Finding.Rule, len(items))
}

// The same seed makes the same conversations.
func TestGenerate_repeats(t *testing.T) {
	setup := setupOf(t, faultypeer.Fault{API: "0.4"}, 1)
	traffic := setup.Traffic(nil)
	for run := range 50 {
		a, b := fuzz.Generate(setup, traffic, seed, run, 30), fuzz.Generate(setup, traffic, seed, run, 30)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("run %d differs", run)
		}
	}
}
