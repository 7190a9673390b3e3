package minimise_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/features/minimise"
)

func never(int) bool { return false }

// Whatever set of items a failure needs, no more than it is kept, and no single one can go.
func TestReduce_keepsWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		need := rapid.SliceOfNDistinct(rapid.IntRange(0, max(n-1, 0)), 0, min(n, 6), rapid.ID[int]).Draw(t, "need")
		fixed := rapid.SliceOfN(rapid.IntRange(0, max(n-1, 0)), 0, 3).Draw(t, "fixed")
		r, err := minimise.Reduce(t.Context(), n, func(i int) bool { return slices.Contains(fixed, i) }, 10_000, func(_ context.Context, keep []int) (bool, error) {
			return !slices.ContainsFunc(need, func(i int) bool { return !slices.Contains(keep, i) }), nil
		})
		if err != nil || !r.Least {
			t.Fatalf("got %v, %v, want the least", r, err)
		}
		for i := range n {
			want := slices.Contains(need, i) || slices.Contains(fixed, i)
			if slices.Contains(r.Keep, i) != want {
				t.Fatalf("%d is kept: %v, want %v; %v of %d are kept", i, !want, want, r.Keep, n)
			}
		}
	})
}

// A failure that needs any two of its items, whichever: the rest goes, though no single set of items is needed.
func TestReduce_alternatives(t *testing.T) {
	r, err := minimise.Reduce(t.Context(), 16, never, 1000, func(_ context.Context, keep []int) (bool, error) { return len(keep) >= 2, nil })
	if err != nil || len(r.Keep) != 2 || !r.Least {
		t.Errorf("got %v, %v, want two items and the least", r, err)
	}
}

func TestReduce_bounds(t *testing.T) {
	need := func(_ context.Context, keep []int) (bool, error) { return slices.Contains(keep, 3), nil }
	r, err := minimise.Reduce(t.Context(), 100, never, 3, need)
	if err != nil || r.Least || r.Tries != 3 || !slices.Contains(r.Keep, 3) {
		t.Errorf("after three tries got %v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = minimise.Reduce(ctx, 100, never, 1000, func(_ context.Context, keep []int) (bool, error) {
		cancel()
		return true, ctx.Err()
	})
	if err != nil || r.Least || len(r.Keep) != 100 {
		t.Errorf("a try that was cut off counts: %d are kept, %v", len(r.Keep), err)
	}
	broken := errors.New("no such program")
	if _, err = minimise.Reduce(t.Context(), 4, never, 1000, func(context.Context, []int) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
