//go:build unix

package oupreferee_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/verdict"
)

// A server that floods, or that is gone, is not waited for, and the report says which it was.
func TestRun_serversThatNeverAnswer(t *testing.T) {
	tests := []struct {
		name, says string
		command    []string
	}{
		{"floods", "and is read no further", []string{"yes", `{"jsonrpc":"2.0","method":"warning","params":{}}`}},
		{"sends long lines", "and is read no further", []string{"yes", strings.Repeat("x", 100_000)}},
		{"is gone", "is not answered; the connection has ended", []string{"sh", "-c", "read -r line"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			program, err := exec.LookPath(test.command[0])
			if err != nil {
				t.Fatal(err)
			}
			test.command[0] = program
			setup := &oupreferee.Setup{Target: oupreferee.Target{Transport: oupreferee.Stdio, Command: test.command, Wait: time.Hour}, Wait: time.Hour}
			first := ""
			scenarios, err := oupreferee.Run(t.Context(), oupreferee.Options{Setup: setup, Select: func(s features.Scenario) bool {
				if first == "" {
					first = s.Name
				}
				return s.Name == first
			}})
			if err != nil {
				t.Fatal(err)
			}
			if len(scenarios) != 1 || scenarios[0].Class != verdict.NoAnswer && scenarios[0].Class != verdict.Fail || !strings.Contains(scenarios[0].Reason, test.says) {
				t.Errorf("want one scenario that says %q: %+v", test.says, scenarios)
			}
		})
	}
}

// What follows a call that a server says it does not offer is not applicable, and stays so where the monitor finds
// something else.
func TestRun_serverThatOffersLittle(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	// It answers every request as one that it does not offer, but session/open, which is all that the scenarios need.
	little := `while read -r line; do
		id=${line#*'"id":"'}; id=${id%%'"'*}
		case $line in
		*'"session/open"'*|*'"turn/start"'*|*'"client_hello"'*) printf '{"id":"%s","jsonrpc":"2.0","result":{"opened":{"cursor":{"seq":1,"stream":"s"}}}}\n' "$id" ;;
		*) printf '{"error":{"code":-32004,"message":"not offered"},"id":"%s","jsonrpc":"2.0"}\n' "$id" ;;
		esac
	done`
	setup := &oupreferee.Setup{Target: oupreferee.Target{Transport: oupreferee.Stdio, Command: []string{shell, "-c", little}, Wait: time.Hour}, Wait: time.Hour}
	scenarios, err := oupreferee.Run(t.Context(), oupreferee.Options{Setup: setup, Select: func(s features.Scenario) bool {
		return slices.Contains(s.Rules, "OUP-APPEND-004") || slices.Contains(s.Rules, "OUP-REPLAY-008")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(scenarios) != 2 {
		t.Errorf("%d scenarios, want 2", len(scenarios))
	}
	for _, s := range scenarios {
		if s.Class != verdict.Fail || !strings.HasPrefix(s.Idle, "the server does not offer session/") {
			t.Errorf("%s is %s (%s), idle %q", s.Name, s.Class, s.Reason, s.Idle)
		}
		for _, f := range s.Findings {
			if slices.Contains(s.Rules, f.Rule) {
				t.Errorf("%s is accused: %s", f.Rule, f.Message)
			}
		}
	}
}
