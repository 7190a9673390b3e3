package conform

import (
	"testing"
	"time"

	"github.com/octet-dev/octet/features/steps"
)

// A slow machine gets more time, and short waits do not make it less.
func TestOnMachine(t *testing.T) {
	for scale, want := range map[float64]time.Duration{0.05: time.Minute, 1: time.Minute, 4: 4 * time.Minute} {
		if got := onMachine(time.Minute, steps.DefaultPatience.Scale(scale)); got != want {
			t.Errorf("with waits scaled by %v: %v, want %v", scale, got, want)
		}
	}
}
