package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// The deadlines that are proven here to the nanosecond, on a clock that the bubble turns.
const (
	requestTimeout    = 30 * time.Second
	cancellationGrace = 2 * time.Second
	moment            = time.Nanosecond
)

// answersAfter serves a method with a result that takes its time.
func answersAfter(r *extensiontest.Rig, method string, wait time.Duration, result any) {
	r.Serve(method, func(int64, json.RawMessage) (any, error) {
		time.Sleep(wait)
		return result, nil
	})
}

// wantTimeout fails the test unless err is a timeout, or nil where none is wanted.
func wantTimeout(t *testing.T, err error, want bool) *extension.Failure {
	t.Helper()
	var failure *extension.Failure
	switch {
	case !want && err != nil:
		t.Errorf("%v, want an answer", err)
	case want && (!errors.As(err, &failure) || failure.Kind != extension.Timeout):
		t.Errorf("%v, want a timeout", err)
	}
	return failure
}

// wantTook fails the test unless so much time has passed.
func wantTook(t *testing.T, begun time.Time, want time.Duration) {
	t.Helper()
	if took := time.Since(begun); took != want {
		t.Errorf("it took %s, want %s", took, want)
	}
}

// An answer counts until the thirty seconds are over. Then the request is cancelled where the version has
// that, and fails at once where it has not.
//
// EXT04-LIMIT-005, MAN-SUPER-002.
func TestRequestTimeout_isExact(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.3", "0.4"} {
		t.Run(api+" in time", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := extensiontest.Start(t, extensiontest.Setup{API: api})
				answersAfter(r, featurewire.MethodToolCall, requestTimeout-moment, r.ToolText("done"))
				begun := time.Now()
				_, err := r.X.Call(t.Context(), extension.Request{Tool: "work"})
				wantTimeout(t, err, false)
				wantTook(t, begun, requestTimeout-moment)
				if n := len(r.Told(featurewire.MethodCancelRequest)); n != 0 {
					t.Errorf("%d cancellations were told of, want none", n)
				}
			})
		})
		t.Run(api+" too late", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := extensiontest.Start(t, extensiontest.Setup{API: api})
				r.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) {
					if api == "0.1" {
						time.Sleep(requestTimeout + moment)
						return r.ToolText("done"), nil
					}
					r.WaitTold(featurewire.MethodCancelRequest, 1)
					return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
				})
				begun := time.Now()
				_, err := r.X.Call(t.Context(), extension.Request{Tool: "work"})
				wantTimeout(t, err, true)
				wantTook(t, begun, requestTimeout)
				time.Sleep(cancellationGrace)
				if r.X.Err() != nil {
					t.Errorf("the generation has ended: %v", r.X.Err())
				}
			})
		})
	}
}

// The time for initialize is that of every request.
//
// EXT04-INIT-017, EXT03-INIT-032.
func TestInitializeTimeout_isExact(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.3", "0.4"} {
		for wait, late := range map[time.Duration]bool{requestTimeout - moment: false, requestTimeout + moment: true} {
			t.Run(fmt.Sprint(api, " ", wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := time.Now()
					_, err := extensiontest.TryStart(t, extensiontest.Setup{
						API: api, Early: func(*extensiontest.Rig, int64, json.RawMessage) { time.Sleep(wait) },
					})
					if (err != nil) != late {
						t.Errorf("%v, want a refusal %t", err, late)
					}
					wantTook(t, begun, min(wait, requestTimeout))
					time.Sleep(moment) // for the extension that is still at it
				})
			})
		}
	}
}

// An answer to a cancelled request counts until the two seconds are over, and saves the generation. The
// generation of one that would come later is ended.
//
// EXT04-CANCEL-012, EXT03-CANCEL-011, MAN-SUPER-003.
func TestCancellationGrace_isExact(t *testing.T) {
	for _, api := range []string{"0.2", "0.3", "0.4"} {
		for wait, late := range map[time.Duration]bool{cancellationGrace - moment: false, cancellationGrace + moment: true} {
			t.Run(fmt.Sprint(api, " ", wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const patience = time.Second
					r := extensiontest.Start(t, extensiontest.Setup{API: api})
					answersAfter(r, featurewire.MethodToolCall, patience+wait, r.ToolText("done"))
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					begun := time.Now()
					_, err := r.X.Call(ctx, extension.Request{Tool: "work"})
					failure := wantTimeout(t, err, late)
					wantTook(t, begun, patience+min(wait, cancellationGrace))
					if late && failure != nil && (!failure.Unsettled || failure.Ended == nil) {
						t.Errorf("failure %+v, want an ended generation", failure)
					}
					if n := len(r.Told(featurewire.MethodCancelRequest)); n != 1 {
						t.Errorf("%d cancellations were told of, want 1", n)
					}
					synctest.Wait()
					if ended := r.X.Err() != nil; ended != late {
						t.Errorf("the generation has ended %t, want %t", ended, late)
					}
					time.Sleep(moment) // for the extension that is still at it
				})
			})
		}
	}
}
