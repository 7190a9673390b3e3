package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/octet-dev/octet/runtime/peer"
)

// interrupts turns the first interrupt into the cancellation of a context, and later ones into calls of
// again. Stop must be called; again is not called after it has returned.
func interrupts(ctx context.Context, first, again func()) (cancelled context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for count := 0; ; count++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if count == 0 {
				first()
				cancel(peer.Reason("user"))
			} else {
				again()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-ended
		cancel(nil)
	}
}
