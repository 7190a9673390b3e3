package oupreferee

import (
	"context"
	"fmt"
	"time"

	"github.com/octet-dev/octet/features/subject"
)

// patience begins a wait for the server.
func (w *world) patience() *subject.Patience {
	return subject.NewPatience(w.setup.Wait, func() time.Duration {
		if w.server == nil {
			return 0
		}
		return w.server.FreshDelay()
	})
}

// bounded is a context that ends when a wait for the server is over.
func (w *world) bounded() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	go func() {
		patience := w.patience()
		defer patience.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-patience.C:
				if !patience.Extended() {
					cancel(fmt.Errorf("nothing comes within %s", w.setup.Wait))
				}
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
