package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestQuiet: a machine that comes to rest is waited for, one that does not is measured all the same.
func TestQuiet(t *testing.T) {
	soon := func(time.Duration) <-chan time.Time {
		passed := make(chan time.Time, 1)
		passed <- time.Time{}
		return passed
	}
	for name, c := range map[string]struct {
		loads []float64 // the last one stays
		looks int
		said  string
	}{
		"at rest":         {[]float64{0.9}, 1, ""},
		"comes to rest":   {[]float64{4, 2, 1}, 3, "waiting"},
		"never at rest":   {[]float64{4}, quietLooks + 2, "does not come to rest: its load is 4.00"},
		"nobody knows it": {[]float64{0}, 1, ""},
	} {
		var out strings.Builder
		looks := 0
		err := quiet(t.Context(), &out, func() float64 {
			looks++
			return c.loads[min(looks, len(c.loads))-1]
		}, 1, soon)
		if err != nil || looks != c.looks || !strings.Contains(out.String(), c.said) || c.said == "" && out.Len() > 0 {
			t.Errorf("%s: %v after %d looks, said %q", name, err, looks, out.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(time.Duration) <-chan time.Time { return nil }
	if err := quiet(ctx, &strings.Builder{}, func() float64 { return 9 }, 1, never); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is given up: %v", err)
	}
}
