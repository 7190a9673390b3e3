package product

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/bench/call"
	"github.com/octet-dev/octet/bench/load"
	"github.com/octet-dev/octet/bench/sample"
)

const (
	callers   = 1000
	manyCount = 10
)

// muchAtOnce has a thousand callers, then one beside neighbours that are loud.
func muchAtOnce(ctx context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	dir, err := extensions(manyCount)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const loud = "loud"
	if err := call.LoudManifest(dir, loud); err != nil {
		return err
	}
	names := []string{loud}
	for n := range manyCount {
		names = append(names, extensionName(n))
	}
	slices.Sort(names)
	host, err := call.OpenHost(ctx, filepath.Clean(dir), names...)
	if err != nil {
		return err
	}
	err = errors.Join(thousand(ctx, host, lasts/3, emit), neighbours(ctx, host, loud, lasts/3, emit))
	return errors.Join(err, host.Close())
}

// thousand has every caller make one call at a time, for a time.
func thousand(ctx context.Context, host *call.Host, lasts time.Duration, emit func(sample.Sample)) error {
	loop := load.Loop{For: lasts, InFlight: callers}
	var mu sync.Mutex
	turn := 0
	found, err := loop.Run(func() error {
		mu.Lock()
		turn++
		name := extensionName(turn % manyCount)
		mu.Unlock()
		return host.CallOn(ctx, name, "one two three")
	})
	if err != nil {
		return fmt.Errorf("%d callers: %w", callers, err)
	}
	for _, one := range found {
		if one.Metric == sample.Rate {
			one.Case = "1,000 calls at a time over 10 extensions"
			emit(one)
		}
	}
	return nil
}

// neighbours times one caller of one extension: alone, beside the one that floods its standard error, and beside one
// that answers 64 calls at a time.
func neighbours(ctx context.Context, host *call.Host, loud string, lasts time.Duration, emit func(sample.Sample)) error {
	quiet := extensionName(0)
	alone := func(shape string) error {
		found, err := load.Loop{For: lasts / 3, InFlight: 1}.Run(func() error { return host.CallOn(ctx, quiet, "one two three") })
		if err != nil {
			return fmt.Errorf("%s: %w", shape, err)
		}
		for _, one := range found {
			if one.Metric != sample.CPU {
				one.Case = shape
				emit(one)
			}
		}
		return nil
	}
	if err := alone("one caller, alone"); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	others.Go(func() { _ = host.CallOn(ctx, loud, call.Flood) }) // it writes until it is cancelled
	if err := alone("one caller, beside a flood of standard error"); err != nil {
		return err
	}
	text := strings.Repeat("words ", 100)
	for range 64 {
		others.Go(func() {
			for ctx.Err() == nil {
				if host.CallOn(ctx, extensionName(1), text) != nil {
					return
				}
			}
		})
	}
	return alone("one caller, beside the flood and 64 calls at a time")
}
