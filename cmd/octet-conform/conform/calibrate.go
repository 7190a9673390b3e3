package conform

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Bounds of the calibration.
const (
	usualStart = 25 * time.Millisecond // a trivial child on a machine that is not busy
	maxFactor  = 10
	probes     = 3
)

// calibrate starts a trivial child of this program a few times and returns by how much this machine is
// slower than usual, at least 1. Deadlines grow with it, so that a busy machine accuses nobody.
func calibrate(ctx context.Context) float64 {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	var times []time.Duration
	for range probes {
		began := time.Now()
		if exec.CommandContext(ctx, self, "nothing").Run() != nil {
			return 1
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	factor := float64(times[probes/2]) / float64(usualStart)
	return min(max(factor, 1), maxFactor)
}

// bar shows how far a run is, on a terminal only.
type bar struct {
	w    io.Writer
	what string
}

func (inv *invocation) bar(what string) bar {
	if !terminal(inv.stderr) {
		return bar{}
	}
	return bar{w: inv.stderr, what: what}
}

func (b bar) update(done, total int) {
	if b.w != nil {
		fmt.Fprintf(b.w, "\r%d of %d %s", done, total, b.what)
	}
}

func (b bar) clear() {
	if b.w != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
