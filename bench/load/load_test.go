package load

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/bench/sample"
)

func TestLoop_tellsWhatItMeasured(t *testing.T) {
	for inFlight, want := range map[int][]sample.Metric{1: {sample.P50, sample.P99}, 8: {sample.Rate}} {
		var calls, now, most atomic.Int64
		found, err := Loop{For: 20 * time.Millisecond, InFlight: inFlight}.Run(func() error {
			calls.Add(1)
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			now.Add(-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for n, metric := range want {
			if one := found[n]; one.Metric != metric || one.Value <= 0 || one.Count <= 0 || int64(one.Count) > calls.Load() {
				t.Errorf("%d in flight: %+v of %d calls", inFlight, one, calls.Load())
			}
		}
		if most.Load() > int64(inFlight) {
			t.Errorf("%d calls at a time, want at most %d", most.Load(), inFlight)
		}
	}
}

func TestLoop_endsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, inFlight := range []int{1, 4} {
		if _, err := (Loop{For: time.Millisecond, InFlight: inFlight}).Run(func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("%d in flight: %v", inFlight, err)
		}
	}
}
