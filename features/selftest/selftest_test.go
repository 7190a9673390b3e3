package selftest_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
)

func TestRun(t *testing.T) {
	results, err := selftest.Run(t.Context(), selftest.Options{Patience: steps.DefaultPatience.Scale(0.3), Jobs: 12})
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
