package oupreferee_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/verdict"
)

// Where nothing answers, no scenario is run, and each says why; one that answers or says something of its own is judged.
func TestRun_knocks(t *testing.T) {
	const wait = 50 * time.Millisecond
	own := oupreferee.Target{Transport: oupreferee.Stdio, Inside: &oupserver.Fault{}}
	for _, test := range []struct {
		name, why string // no why: it is judged
		command   []string
		said      string
	}{
		{"ends", "nothing is served: two requests get no answer; the connection has ended", []string{"sh", "-c", "read -r line; echo no mood >&2"}, "no mood\n"},
		{"prints and ends", `what it wrote begins with "hello"`, []string{"sh", "-c", "echo hello"}, ""},
		{"repeats what it hears", "two requests get no answer within 50ms", []string{"cat"}, ""},
		{"says nothing", "two requests get no answer within 50ms", []string{"sh", "-c", "while read -r line; do :; done"}, ""},
		{"floods", "", []string{"yes", `{"jsonrpc":"2.0","method":"warning","params":{}}`}, ""},
		{"answers", "", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			target := own
			if test.command != nil {
				program, err := exec.LookPath(test.command[0])
				if err != nil {
					t.Fatal(err)
				}
				target = oupreferee.Target{Transport: oupreferee.Stdio, Command: append([]string{program}, test.command[1:]...), Wait: time.Hour}
			}
			setup := &oupreferee.Setup{Target: target, Wait: time.Hour}
			if strings.Contains(test.why, "within") {
				setup.Wait = wait
			}
			scenarios, err := oupreferee.Run(t.Context(), oupreferee.Options{Setup: setup, Select: one(), Knock: true})
			if err != nil || len(scenarios) != 1 {
				t.Fatalf("%d scenarios, %v", len(scenarios), err)
			}
			s := scenarios[0]
			if s.Unrun != (test.why != "") || !strings.Contains(s.Reason, test.why) || s.Unrun && (s.Class != verdict.NoAnswer || s.Stderr != test.said) {
				t.Errorf("got %+v, want the reason %q and the last words %q", s, test.why, test.said)
			}
		})
	}
}

// one chooses the first scenario of a plan.
func one() func(features.Scenario) bool {
	first := true
	return func(features.Scenario) bool {
		defer func() { first = false }()
		return first
	}
}
