// Package load makes calls and times them: one after the other, or so many in flight.
package load

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/bench/sample"
)

// Call is one operation to be timed.
type Call func() error

// Loop makes calls for a time.
type Loop struct {
	For      time.Duration
	InFlight int // 1: one after the other, each timed
	PID      int // the other process; 0: none
}

// Run warms up for a quarter of the time, then measures, and returns p50, p99 and cpu, or rate and cpu.
func (l Loop) Run(call Call) ([]sample.Sample, error) {
	if _, _, err := l.loop(call, l.For/4); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	runtime.GC()
	busy, known := l.busy()
	took, lasted, err := l.loop(call, l.For)
	if err != nil {
		return nil, err
	}
	after, _ := l.busy()
	count := len(took)
	var found []sample.Sample
	add := func(metric sample.Metric, value float64) {
		found = append(found, sample.Sample{Metric: metric, Value: value, Count: count})
	}
	if l.InFlight == 1 {
		slices.Sort(took)
		add(sample.P50, micros(took[count/2]))
		add(sample.P99, micros(took[count*99/100]))
	} else {
		add(sample.Rate, float64(count)/lasted.Seconds())
	}
	if known {
		add(sample.CPU, micros(after-busy)/float64(count))
	}
	return found, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// busy is the processor time of both processes so far.
func (l Loop) busy() (time.Duration, bool) {
	mine, known := cpuOf(0)
	if !known || l.PID == 0 {
		return mine, known
	}
	theirs, known := cpuOf(l.PID)
	return mine + theirs, known
}

// loop makes calls for a time and returns how long each took, and all together.
func (l Loop) loop(call Call, lasts time.Duration) ([]time.Duration, time.Duration, error) {
	began := time.Now()
	var late atomic.Bool
	timer := time.AfterFunc(lasts, func() { late.Store(true) })
	defer timer.Stop()
	each := make([][]time.Duration, l.InFlight)
	failed := make([]error, l.InFlight)
	one := func(n int) {
		took := make([]time.Duration, 0, 4096)
		for last := time.Now(); !late.Load() || len(took) == 0; {
			if err := call(); err != nil {
				failed[n] = err
				return
			}
			now := time.Now()
			took = append(took, now.Sub(last))
			last = now
		}
		each[n] = took
	}
	if l.InFlight == 1 {
		one(0)
	} else {
		var tasks sync.WaitGroup
		for n := range l.InFlight {
			tasks.Go(func() { one(n) })
		}
		tasks.Wait()
	}
	lasted := time.Since(began)
	for _, err := range failed {
		if err != nil {
			return nil, 0, err
		}
	}
	return slices.Concat(each...), lasted, nil
}
