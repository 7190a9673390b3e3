package oupreferee_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupclient"
	"github.com/octet-dev/octet/features/oupmonitor"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/verdict"
)

// Waits for a frame that does not come. A server without a fault is given far more, which costs nothing where all is well.
const (
	wait   = 400 * time.Millisecond
	longer = 150
)

// A sound server is accused of nothing, on either transport.
func TestRun_soundServer(t *testing.T) {
	for _, transport := range []string{oupreferee.Stdio, oupreferee.WebSocket} {
		for _, f := range append([]oupserver.Fault{{}}, oupserver.Variants()...) {
			t.Run(transport+" "+f.Doc, func(t *testing.T) {
				setup := selftest.ServerSetup(f, transport, longer*wait)
				scenarios, err := oupreferee.Run(t.Context(), oupreferee.Options{Setup: setup, Jobs: 4, Select: concerned(f)})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range scenarios {
					if s.Class == verdict.Pass || s.Class == verdict.NotApplicable {
						continue
					}
					t.Errorf("%s (%s) is %s: %s", s.Name, s.File, s.Class, s.Reason)
					for _, f := range s.Findings {
						t.Logf("  %s: %s (frame %d)", f.Rule, f.Message, f.Frame)
					}
					for _, f := range s.Frames {
						t.Logf("  %d %s %.400s", f.Index, f.Lane, f.Bytes)
					}
				}
			})
		}
	}
}

// concerned chooses the scenarios for a sound server: all, but for one that serves many people those in which that
// shows. make selftest runs all of both.
func concerned(f oupserver.Fault) func(features.Scenario) bool {
	if f.Name != "serves-many-people" {
		return nil
	}
	return func(s features.Scenario) bool {
		return slices.ContainsFunc(s.Rules, func(id string) bool {
			area := strings.Split(id, "-")[1]
			return slices.Contains([]string{"CAPABILITY", "LAUNCH", "LLM", "ONBOARD", "PERMISSION", "PROFILE", "SERVICE"}, area)
		})
	}
}

// sampled is how many faulty servers stand for the one that is judged here. All are judged by make selftest.
const sampled = 5

// Faulty servers are caught by the rules that they break.
func TestRun_faultyServers(t *testing.T) {
	results, err := selftest.Servers(t.Context(), selftest.ServerOptions{Wait: wait, Jobs: 16, Sample: sampled})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Verdict != selftest.Caught && r.Verdict != selftest.Clean {
			t.Errorf("server %q: %s, want rule %q red; others: %v; %s", r.Fault, r.Verdict, r.Rule, r.Others, r.Reason)
		}
	}
}

// Every judged rule of a server is proven by a scenario, or by the monitor that hears every one, and has a faulty
// server. What is proven so says so.
func TestServerRules_areProven(t *testing.T) {
	all, err := features.ServerScenarios()
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, f := range oupserver.Faults() {
		if broken[f.Name] {
			t.Errorf("the fault %q is there twice", f.Name)
		}
		broken[f.Name] = true
		broken[f.Rule] = true
	}
	proven(t, "server", all, oupmonitor.ServerRules(), broken)
}

func proven(t *testing.T, role string, scenarios []features.Scenario, heard []string, broken map[string]bool) {
	t.Helper()
	by := map[string]bool{}
	for _, s := range scenarios {
		if len(s.Rules) == 0 || len(s.APIs) == 0 {
			t.Errorf("%s %q has %d rules and %d versions; it needs both", s.Key(), s.Name, len(s.Rules), len(s.APIs))
		}
		for _, id := range s.Rules {
			by[id] = true
		}
	}
	// A frame that is judged everywhere needs a scenario that provokes it all the same.
	for _, id := range heard {
		if !by[id] {
			t.Errorf("no scenario provokes what breaks %s", id)
		}
	}
	for id := range by {
		if r, found := rulebook.Find(id); !found || r.Role != role || !rulebook.Judged(r) {
			t.Errorf("a scenario names %s, which is no rule of a %s that a run judges; remove its no_peer or unproven, or the tag", id, role)
		}
	}
	for _, r := range rulebook.All() {
		if r.Role != role || !rulebook.Judged(r) {
			continue
		}
		if !by[r.ID] {
			t.Errorf("%s is proven by no scenario: %s", r.ID, r.Text)
		}
		if !broken[r.ID] {
			t.Errorf("%s is broken by no faulty %s: %s", r.ID, role, r.Text)
		}
	}
}

// A sound client is accused of nothing.
func TestRunClient_soundClient(t *testing.T) {
	scenarios, err := oupreferee.RunClient(t.Context(), oupreferee.ClientOptions{Setup: selftest.ClientSetup(oupclient.Fault{}, longer*wait), Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		if s.Class == verdict.Pass {
			continue
		}
		t.Errorf("%s (%s) is %s: %s\n%s", s.Name, s.File, s.Class, s.Reason, s.Stderr)
		for _, f := range s.Findings {
			t.Logf("  %s: %s (frame %d)", f.Rule, f.Message, f.Frame)
		}
		for _, f := range s.Frames {
			t.Logf("  %d %s %.400s", f.Index, f.Lane, f.Bytes)
		}
	}
}

// Faulty clients are caught by the rules that they break.
func TestRunClient_faultyClients(t *testing.T) {
	results, err := selftest.Clients(t.Context(), selftest.ServerOptions{Wait: wait, Jobs: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Verdict != selftest.Caught && r.Verdict != selftest.Clean {
			t.Errorf("client %q: %s, want rule %q red; others: %v; %s", r.Fault, r.Verdict, r.Rule, r.Others, r.Reason)
		}
	}
}

// Every judged rule of a client is proven by a scenario, and has a faulty client.
func TestClientRules_areProven(t *testing.T) {
	all, err := features.ClientScenarios()
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, f := range oupclient.Faults() {
		if broken[f.Name] {
			t.Errorf("the fault %q is there twice", f.Name)
		}
		broken[f.Name] = true
		broken[f.Rule] = true
	}
	proven(t, "client", all, oupmonitor.ClientRules(), broken)
}
