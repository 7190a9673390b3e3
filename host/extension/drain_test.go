package extension_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// While it drains, an extension may finish what is live, and nothing new begins on either side.
//
// EXT04-ORDER-014, EXT04-ORDER-015.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		r := s.rig(t, "0.4", "")
		var settled int64
		r.During(front, func(id int64) { settled = id })
		running, finish := make(chan int64, 1), make(chan struct{})
		r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			running <- id
			<-finish
			return r.ToolText("done"), nil
		})
		called := make(chan error, 1)
		go func() {
			_, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front})
			called <- err
		}()
		parent := <-running
		closed := make(chan extension.Ending, 1)
		go func() { closed <- r.X.Close() }()
		synctest.Wait()

		r.Ask(required, tie(parent, "")).OK(t, "{}")
		r.Ask(retained, tie(parent, "")).OK(t, "{}")
		r.Ask(retained, tie(settled, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
		r.Ask(settling, tie(settled, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
		var draining *extension.DrainingError
		if err := r.X.Notify(t.Context(), featurewire.MethodTurnStarted, peer.Raw("{}")); !errors.As(err, &draining) {
			t.Errorf("a beginning is told: %v", err)
		}
		for _, method := range []string{featurewire.MethodTurnSettled, featurewire.MethodToolSettled, featurewire.MethodSessionSettled} {
			if err := r.X.Notify(t.Context(), method, peer.Raw("{}")); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		if _, err := r.X.Execute(t.Context(), extension.Execution{Command: "do"}); err == nil {
			t.Error("a new request was made")
		}
		close(finish)
		if err := <-called; err != nil {
			t.Errorf("the running call: %v", err)
		}
		if ending := <-closed; !ending.Orderly() {
			t.Errorf("ending %+v", ending)
		}
		for _, method := range []string{featurewire.MethodTurnSettled, featurewire.MethodToolSettled, featurewire.MethodSessionSettled} {
			if n := len(r.Told(method)); n != 1 {
				t.Errorf("%s was told %d times", method, n)
			}
		}
	})
}

// Requests that are still running when the drain is over are cancelled, and what belongs to them ends.
//
// EXT04-PARENT-005.
func TestDrain_cancelsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		r := s.rig(t, "0.4", "")
		r.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) {
			r.WaitTold(featurewire.MethodCancelRequest, 1)
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
		})
		called := make(chan error, 1)
		go func() {
			_, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front})
			called <- err
		}()
		synctest.Wait()
		if ending := r.X.Close(); !ending.Orderly() {
			t.Errorf("ending %+v", ending)
		}
		var failure *extension.Failure
		if err := <-called; !errors.As(err, &failure) || failure.Kind != extension.Cancelled {
			t.Errorf("the running call: %v", err)
		}
	})
}
