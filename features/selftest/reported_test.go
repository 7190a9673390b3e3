package selftest_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/octet-dev/octet/features/faultyhost"
	"github.com/octet-dev/octet/features/faultypeer"
)

// Every fault that the page of reported ones names is there, and breaks the rule that the page says.
func TestReported_areThere(t *testing.T) {
	page, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range faultypeer.Faults() {
		there[f.Name+" "+f.Rule] = true
	}
	for _, f := range faultyhost.Faults() {
		there[f.Name+" "+f.Rule] = true
	}
	named := regexp.MustCompile("`([a-z0-9-]+)` ([A-Z0-9]+-[A-Z]+-[0-9]{3})").FindAllStringSubmatch(string(page), -1)
	if len(named) < 20 {
		t.Errorf("%d faults are named; the page has more than 20", len(named))
	}
	for _, n := range named {
		if !there[n[1]+" "+n[2]] {
			t.Errorf("no faulty peer or host %q breaks %s", n[1], n[2])
		}
	}
}
