package steps

import (
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/generated/featurewire"
)

// cancelsNext cancels the request that is made next. Its id means nothing yet.
func (w *World) cancelsNext() error {
	w.stray = w.upcoming()
	return w.cancels(w.stray)
}

// makesCancelledCalls makes every call that is known, each under an id that was cancelled before anybody used it.
// A handler that ends before it looks whether it was cancelled hides what another one shows, so each of them counts.
func (w *World) makesCancelledCalls() error {
	calls, err := w.known()
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		_, err := w.sample()
		return err
	}
	for _, call := range calls {
		if err := w.makesCancelledCall(call); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) makesCancelledCall(call profile.Call) error {
	if err := unlessOmitted(w.cancelsNext()); err != nil {
		return err
	}
	if err := w.makeAndAwait(call); err != nil {
		return unlessOmitted(err)
	}
	answer, got := w.answer, w.outcome()
	switch {
	case w.answeredAsCancelled():
		return failAt(answer, "the call of %q is answered as cancelled; its id was cancelled before it was used", call.Tool)
	case call.Expect == "" || got == call.Expect:
		return nil
	}
	// Only a call that ends as the profile says without a cancellation tells what the cancellation has done.
	if err := w.makeAndAwait(call); err != nil {
		return unlessOmitted(err)
	}
	if again := w.outcome(); again != call.Expect {
		return missing(failAt(w.answer, "the call of %q ended with %q; the profile expects %q", call.Tool, again, call.Expect))
	}
	return failAt(answer, "the call of %q ended with %q and not with %q; its id was cancelled before it was used", call.Tool, got, call.Expect)
}

func (w *World) makeAndAwait(call profile.Call) error {
	if err := w.makeCall(call); err != nil {
		return err
	}
	return w.anyAnswer()
}

// answeredAsCancelled reports whether the answer taken last is the error of a cancelled request.
func (w *World) answeredAsCancelled() bool {
	code, isError := w.answer.ErrorCode()
	return isError && w.setup.Dialect.ErrorName(code) == featurewire.ErrRequestCancelled.Name
}
