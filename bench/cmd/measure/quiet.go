package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Building the subjects loads the machine, and the load average remembers that for a minute or two.
const (
	quietLooks    = 36
	quietInterval = 5 * time.Second
)

// quiet waits until the load average is at most enough, for three minutes at most: then something else keeps the
// machine busy, which the report says. after is time.After.
func quiet(ctx context.Context, out io.Writer, load func() float64, enough float64, after func(time.Duration) <-chan time.Time) error {
	now := load()
	if now <= enough {
		return nil
	}
	fmt.Fprintf(out, "waiting for the machine to come to rest: its load is %.2f, at most %.2f is wanted\n", now, enough)
	for range quietLooks {
		select {
		case <-after(quietInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if load() <= enough {
			return nil
		}
	}
	fmt.Fprintf(out, "the machine does not come to rest: its load is %.2f; what is measured says so\n", load())
	return nil
}
