package selftest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
)

// sampled is how far apart the peers stand that are judged inside this process.
const sampled = 12

// The referee and its peers share this process, so that the race detector sees both; a sample is enough for
// that. Every peer is judged as a process of its own by make selftest.
func TestRun(t *testing.T) {
	peers := slices.Concat(faultypeer.Variants(), faultypeer.Faults())
	chosen := map[string]bool{}
	for i := 0; i < len(peers); i += sampled {
		chosen[peers[i].Name] = true
	}
	results, err := selftest.Run(t.Context(), selftest.Options{
		Patience: steps.DefaultPatience.Scale(0.3), Jobs: 12,
		Only: func(f faultypeer.Fault) bool { return chosen[f.Name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Logf("%-28s %-18s %-8s %s (others: %s)", r.Fault, r.Rule, r.Verdict, r.Reason, strings.Join(r.Others, ", "))
		switch r.Verdict {
		case selftest.Caught, selftest.Clean:
		default:
			t.Errorf("peer %q on API %s: %s, want rule %q red; %s (others: %s)", r.Fault, r.API, r.Verdict, r.Rule, r.Reason, strings.Join(r.Others, ", "))
		}
	}
}

func TestRun_interruptedAccusesAndMissesNobody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	chosen := func(f faultypeer.Fault) bool { return f.Rule == "EXT04-SHUT-002" || f.Rule == "EXT03-READ-009" }
	results, err := selftest.Run(ctx, selftest.Options{
		Patience: steps.DefaultPatience, Jobs: 2, Only: chosen,
		Progress: func(done, _ int) {
			if done == 2 {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := map[selftest.Verdict]int{}
	for _, r := range results {
		n[r.Verdict]++
	}
	if n[selftest.Missed]+n[selftest.Other]+n[selftest.Alarmed] > 0 || n[selftest.Unknown] == 0 {
		t.Errorf("got %v, want no finding about an interrupted peer", n)
	}
}

func TestManifests(t *testing.T) {
	results, err := selftest.Manifests(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := map[selftest.Verdict]int{}
	for _, r := range results {
		n[r.Verdict]++
		if r.Verdict != selftest.Caught && r.Verdict != selftest.Clean || len(r.Others) > 0 {
			t.Errorf("manifest %q on API %s: %s, want rule %q red alone; %s (others: %v)", r.Fault, r.API, r.Verdict, r.Rule, r.Reason, r.Others)
		}
	}
	if n[selftest.Caught] < 200 || n[selftest.Clean] != 4 {
		t.Errorf("got %v", n)
	}
	few, err := selftest.Manifests(func(name, _ string) bool { return name == "is-a-link" })
	if err != nil || len(few) != 8 {
		t.Errorf("chose %d manifests, %v; want 4 sound ones and one fault on 4 versions", len(few), err)
	}
}
