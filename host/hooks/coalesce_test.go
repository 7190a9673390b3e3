package hooks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// EXT04-HOOK-055: 256 wishes are kept, and not one more; empty ones take no room.
func TestCoalesce(t *testing.T) {
	var answers [][]string
	for n := range featurewire.MaxPendingRescans {
		answers = append(answers, nil, []string{fmt.Sprintf("r%03d", n), "same"})
	}
	want := coalesce(answers)
	if len(want) != featurewire.MaxPendingRescans+1 || !slices.IsSorted(want) {
		t.Errorf("%d resources", len(want))
	}
	if got := coalesce(append(answers, []string{"zzz"})); !slices.Equal(got, want) {
		t.Errorf("one wish more makes %d resources", len(got))
	}
}
