package extension

import (
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Every hook of the spec is held to the members of its own result.
func TestHookResults_areKnown(t *testing.T) {
	seen := 0
	for _, row := range featurewire.Hooks {
		seen++
		if ownResults[row.Result] == nil {
			t.Errorf("the result of hook %q, %s, is not listed", row.Name, row.Result)
		}
	}
	if seen != len(ownResults) {
		t.Errorf("%d hooks, %d results", seen, len(ownResults))
	}
}
