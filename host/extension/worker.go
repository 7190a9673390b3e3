package extension

import (
	"context"
	"sync"
)

// maxWorkers is how many requests of one extension are worked on at a time; the others wait for a worker.
//
// Source: manifest and host sheet 9.2.
const maxWorkers = 8

// workers hands out the right to work.
type workers chan struct{}

func newWorkers() workers { return make(workers, maxWorkers) }

// worker is one that is taken.
type worker struct {
	from workers
	once sync.Once
}

// take waits for a free worker. The error is the cause of ctx.
func (w workers) take(ctx context.Context) (*worker, error) {
	select {
	case w <- struct{}{}:
		return &worker{from: w}, nil
	default:
	}
	select {
	case w <- struct{}{}:
		return &worker{from: w}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// release gives the worker back, once.
func (w *worker) release() { w.once.Do(func() { <-w.from }) }
