// Package minimise makes conversations smaller: it leaves frames of the host out as long as the same rule is still
// broken, until none can be left out.
package minimise

import (
	"context"
	"fmt"
	"slices"
)

// Attempt reports whether a failure still shows when nothing but some items are kept. Their numbers ascend.
type Attempt func(ctx context.Context, keep []int) (bool, error)

// Reduction is what came of making something smaller.
type Reduction struct {
	Keep  []int // numbers of the items, ascending
	Tries int
	// Least says that each item that could be left out was tried alone at the end, and that the failure was lost
	// every time.
	Least bool
}

// Reduce looks for fewer of n items with which a failure still shows. Those that are fixed stay. It ends early
// once the context is done or the tries are used up, with the best that it has found; an error of an attempt
// counts only if it is not the end of the context.
//
// It is delta debugging without its first half: pieces are taken out, first large ones and then single items,
// from the end, because what comes behind a failure is needed least often.
func Reduce(ctx context.Context, n int, fixed func(int) bool, tries int, attempt Attempt) (Reduction, error) {
	r := reducer{ctx: ctx, fixed: fixed, left: tries, attempt: attempt, known: map[string]bool{}}
	for i := range n {
		r.keep = append(r.keep, i)
	}
	for size := max(len(r.free()), 1); ; {
		taken, err := r.pass(size)
		switch {
		case err != nil:
			return Reduction{Keep: r.keep, Tries: r.tries}, err
		case r.over:
			return Reduction{Keep: r.keep, Tries: r.tries}, nil
		case size == 1 && !taken:
			return Reduction{Keep: r.keep, Tries: r.tries, Least: true}, nil
		case size > 1:
			size = min(size/2, max(len(r.free()), 1))
		}
	}
}

type reducer struct {
	ctx     context.Context
	fixed   func(int) bool
	attempt Attempt
	keep    []int
	known   map[string]bool // sets that were tried
	tries   int
	left    int
	over    bool // the bounds are reached
}

// free are the items that may be taken out.
func (r *reducer) free() []int {
	return slices.DeleteFunc(slices.Clone(r.keep), r.fixed)
}

// pass tries to take out every piece of a size, and reports whether one could be.
func (r *reducer) pass(size int) (taken bool, err error) {
	free := r.free()
	for end := len(free); end > 0; end -= size {
		piece := free[max(end-size, 0):end]
		without := slices.DeleteFunc(slices.Clone(r.keep), func(i int) bool { return slices.Contains(piece, i) })
		shows, err := r.try(without)
		if err != nil || r.over {
			return taken, err
		}
		if shows {
			r.keep, taken = without, true
		}
	}
	return taken, nil
}

func (r *reducer) try(keep []int) (bool, error) {
	key := fmt.Sprint(keep)
	if shows, known := r.known[key]; known {
		return shows, nil
	}
	if r.left == 0 || r.ctx.Err() != nil {
		r.over = true
		return false, nil
	}
	r.left--
	r.tries++
	shows, err := r.attempt(r.ctx, keep)
	if r.ctx.Err() != nil {
		r.over = true // what an attempt says that was cut off is worth nothing
		return false, nil
	}
	if err == nil {
		r.known[key] = shows
	}
	return shows, err
}
