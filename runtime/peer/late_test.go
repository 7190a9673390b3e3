package peer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

const (
	callSeven   = `{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{}}`
	callEight   = `{"id":8,"jsonrpc":"2.0","method":"tool/call","params":{}}`
	cancelSeven = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7,"reason":"user"}}`
)

func TestArm_answersInPlaceOfADeafHandler(t *testing.T) {
	for version, want := range map[string]string{
		"0.4": `{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
		"0.3": `{"error":{"code":-32800,"data":{"reason":"user","terminal":"cancelled"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
	} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{HandlerGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
				if q.ID.String() == "8" {
					return Raw(`"8"`), nil
				}
				time.Sleep(5 * time.Second)
				return Raw(`"late"`), nil
			}})
			r.conn.Install(Session{MaxConcurrent: 1})
			start := time.Now()
			r.send(callSeven, cancelSeven, cancelSeven)
			r.want(want)
			if took := time.Since(start); took != time.Second {
				t.Errorf("answered after %v, want the grace of 1 s", took)
			}
			r.noted("has not returned in time")
			r.send(callEight) // the permit is free again
			r.want(`{"id":8,"jsonrpc":"2.0","result":"8"}`)
			time.Sleep(5 * time.Second)
			r.quiet()
		}))
	}
}

func TestArm_leavesAHandlerThatListensAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{HandlerGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-ctx.Done()
			time.Sleep(999 * time.Millisecond)
			return Raw(`"won"`), nil
		}})
		r.send(callSeven, cancelSeven)
		r.want(`{"id":7,"jsonrpc":"2.0","result":"won"}`)
		time.Sleep(time.Minute)
		r.quiet()
	})
}

func TestArm_endsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{HandlerGrace: time.Hour, Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			return Raw(`1`), nil
		}})
		r.send(callSeven, cancelSeven, cancelSeven)
		synctest.Wait()
		start := time.Now()
		if err := r.conn.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("Close took %v, want that of the handler and no more", took)
		}
	})
}

func TestRequestNotify_neverBehindTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := make(chan error, 1), make(chan error, 1)
		r := newRig(t, frame.Extension, "0.4", Options{HandlerGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
			before <- q.Notify(ctx, "notification", Raw(`{"message":"a"}`))
			time.Sleep(5 * time.Second)
			after <- q.Notify(ctx, "notification", Raw(`{"message":"b"}`))
			return Raw(`"late"`), nil
		}})
		r.send(callSeven, cancelSeven)
		r.want(
			`{"jsonrpc":"2.0","method":"notification","params":{"message":"a"}}`,
			`{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
		)
		if err := <-before; err != nil {
			t.Errorf("before the answer: %v", err)
		}
		if err := <-after; !errors.Is(err, ErrAnswered) {
			t.Errorf("behind the answer: %v, want %v", err, ErrAnswered)
		}
		r.quiet()
	})
}

func TestEndGrace_servesWhatHasArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{EndGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
			time.Sleep(900 * time.Millisecond)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return Raw(`"done"`), nil
		}})
		r.send(callSeven)
		r.bytes.close()
		r.want(`{"id":7,"jsonrpc":"2.0","result":"done"}`)
		if err := r.ended(); err != io.EOF {
			t.Errorf("ended with %v, want the end of the stream", err)
		}
	})
}

func TestEndGrace_lastsUntilTheAnswerIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := `"` + strings.Repeat("x", 3*streamMost) + `"`
		r := newRig(t, frame.Extension, "0.4", Options{EndGrace: time.Second, Handle: func(context.Context, *Request) (Value, error) {
			return Raw(big), nil
		}})
		r.send(callSeven)
		r.bytes.close()
		synctest.Wait() // the answer has been given, and the pipe holds a third of it
		start := time.Now()
		r.want(`{"id":7,"jsonrpc":"2.0","result":` + big + `}`)
		if err := r.ended(); err != io.EOF || time.Since(start) != 0 {
			t.Errorf("ended with %v after %v, want the end of the stream at once", err, time.Since(start))
		}
	})
}

func TestEndGrace_isABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{EndGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		start := time.Now()
		r.send(callSeven)
		r.bytes.close()
		if err := r.ended(); err != io.EOF { // ended also wants no frame: nobody cancelled the request
			t.Errorf("ended with %v, want the end of the stream", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("ended after %v, want the grace of 1 s", took)
		}
	})
}

func TestEndGrace_endsAtOnceWhenNothingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{EndGrace: time.Hour})
		start := time.Now()
		r.bytes.close()
		if err := r.ended(); err != io.EOF || time.Since(start) != 0 {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
	})
}

// A fault of the stream is no orderly end: nothing more is written.
func TestEndGrace_isForAnOrderlyEndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.3", Options{EndGrace: time.Hour, Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-ctx.Done()
			return Raw(`1`), nil
		}})
		r.send(callSeven)
		r.sendRaw("{}\r\n")
		start := time.Now()
		if err := r.ended(); err == nil || err == io.EOF || time.Since(start) != 0 {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
	})
}

func TestCall_queuedComesInFrontOfWhatIsSentNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		queued := make(chan struct{})
		k := toolCall
		k.Queued = func() { close(queued) }
		go r.conn.Do(t.Context(), k)
		<-queued
		if err := r.conn.Notify(t.Context(), "$/cancelRequest", Raw(`{"id":1}`)); err != nil {
			t.Fatal(err)
		}
		r.want(firstCall, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	})
}
