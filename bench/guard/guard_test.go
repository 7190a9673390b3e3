// Package guard notices when something of the speed is lost by a mistake: ratios inside one run, with bounds so wide that
// no busy machine reaches them. The figures themselves are the business of make bench.
package guard

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/octet-dev/octet/bench/call"
	"github.com/octet-dev/octet/bench/codec"
	"github.com/octet-dev/octet/bench/sample"
	"github.com/octet-dev/octet/runtime/canonical"
)

func TestMain(m *testing.M) {
	call.Child()
	os.Exit(m.Run())
}

// rounds is how often each side of a ratio is measured, in turns. The best of them counts: what disturbs only adds.
const rounds = 5

// TestCall_staysNearTheEcho holds a call of the peer to a multiple of a bare echo, and below the libraries that it is
// compared with. The budget of the first is 3.
func TestCall_staysNearTheEcho(t *testing.T) {
	const shape = "100 B, 1 in flight"
	best := map[string]float64{}
	for range rounds {
		for _, run := range call.Runs() {
			if !slices.Contains([]string{call.Ours, call.Echo, "jrpc2"}, run.Subject) {
				continue
			}
			err := run.Do(t.Context(), 500*time.Millisecond, func(one sample.Sample) {
				if one.Case == shape && one.Metric == sample.P50 && (best[run.Subject] == 0 || one.Value < best[run.Subject]) {
					best[run.Subject] = one.Value
				}
			})
			if err != nil {
				t.Fatalf("%s: %v", run.Subject, err)
			}
		}
	}
	t.Logf("medians of %s in µs, the best of %d rounds: %v", shape, rounds, best)
	if ratio := best[call.Ours] / best[call.Echo]; !(ratio < 12) {
		t.Errorf("a call costs %.1f echoes, want fewer than 12", ratio)
	}
	if best[call.Ours] >= best["jrpc2"] {
		t.Errorf("a call takes %.1f µs, and %.1f µs with jrpc2", best[call.Ours], best["jrpc2"])
	}
}

// TestCheck_isFarFasterThanWritingAgain holds the canonical check to a multiple of the plain way. The budget is 5 times the
// fastest one, which is a good deal faster than this one.
func TestCheck_isFarFasterThanWritingAgain(t *testing.T) {
	text := codec.Frame(16 << 10)
	checks := []func() bool{
		func() bool { return canonical.Check(text) == nil },
		func() bool {
			var value any
			if json.Unmarshal(text, &value) != nil {
				return false
			}
			out, err := json.Marshal(value)
			return err == nil && bytes.Equal(out, text)
		},
	}
	best := make([]time.Duration, len(checks))
	for range 20 * rounds {
		for n, check := range checks {
			began := time.Now()
			if !check() {
				t.Fatal("a canonical frame is refused")
			}
			if took := time.Since(began); best[n] == 0 || took < best[n] {
				best[n] = took
			}
		}
	}
	t.Logf("the best of %d rounds: %v", 20*rounds, best)
	if ratio := float64(best[1]) / float64(best[0]); !(ratio > 4) {
		t.Errorf("the check is %.1f times as fast as writing again, want more than 4", ratio)
	}
	if count := testing.AllocsPerRun(10, func() { checks[0]() }); count != 0 {
		t.Errorf("the check makes %.0f allocations, want none", count)
	}
}
