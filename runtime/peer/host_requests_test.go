package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
)

// callFrame is the frame of toolCall under an id, answerFrame an answer to it.
func callFrame(id int) string {
	return fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`, id)
}

func answerFrame(id int) string {
	return fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":%d}`, id, id)
}

// Whatever becomes of a request, its id is never that of another.
func TestHostRequests_idsAreUsedOnce(t *testing.T) {
	for version, rule := range map[string]string{"0.1": "EXT04-ENV-014", "0.2": "EXT04-ENV-014", "0.3": "EXT03-ENV-022", "0.4": "EXT04-ENV-014"} {
		t.Run(rule+" "+version, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Host, version, Options{})
			k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func([]byte) error {
				r.conn.Install(Session{Open: []string{"tool/call", "shutdown", "$/cancelRequest"}})
				return nil
			}})
			r.want(initCall)
			r.send(initAnswer)
			k.gives(`{"ok":1}`)

			k = r.call(t.Context(), toolCall)
			r.want(callFrame(2))
			r.send(answerFrame(2))
			k.gives("2")

			k = r.call(t.Context(), toolCall)
			r.want(callFrame(3))
			r.send(`{"error":{"code":-32603,"message":"internal error"},"id":3,"jsonrpc":"2.0"}`)
			if <-k.done; k.err == nil {
				t.Error("an error was answered")
			}

			ctx, stop := context.WithCancel(t.Context())
			k = r.call(ctx, toolCall)
			r.want(callFrame(4))
			stop() // abandoned, and forgotten half a minute later
			if version != "0.1" {
				r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4,"reason":"cancelled"}}`)
			}
			k.fails(ErrUnsettled)
			time.Sleep(time.Minute)

			k = r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`"` + strings.Repeat("x", 1<<20) + `"`)})
			if <-k.done; k.err == nil { // never sent
				t.Error("a call over the bound was sent")
			}

			k = r.call(t.Context(), toolCall)
			r.want(callFrame(6))
			r.send(answerFrame(6))
			k.gives("6")
			r.quiet()
		}))
	}
}

// As many calls as the bound are in flight; one more goes out for each that is settled, in order.
func TestHostRequests_waitWhileTheBoundIsReached(t *testing.T) {
	for _, c := range []struct {
		binds, version string
		selected       int // 0: nothing was selected
		bound          int
	}{
		{"EXT04-LIMIT-004", "0.1", 0, 64},
		{"EXT04-LIMIT-004", "0.2", 64, 64},
		{"EXT04-LIMIT-004", "0.4", 3, 3},
		{"EXT03-LIMIT-005", "0.3", 64, 64},
		{"EXT03-LIMIT-005", "0.3", 3, 3},
		{"EXT03-LIMIT-005", "0.3", 1, 1},
	} {
		t.Run(fmt.Sprint(c.binds, " ", c.version, " ", c.bound), in(func(t *testing.T) {
			r := newRig(t, frame.Host, c.version, Options{})
			r.conn.Install(Session{MaxConcurrent: c.selected})
			var calls []*pending
			for range c.bound + 2 {
				calls = append(calls, r.call(t.Context(), toolCall))
			}
			for id := 1; id <= c.bound; id++ {
				r.want(callFrame(id))
			}
			r.silent() // the two others wait
			r.send(answerFrame(c.bound))
			calls[c.bound-1].gives(fmt.Sprint(c.bound))
			r.want(callFrame(c.bound + 1))
			r.silent()                                                               // one answer makes room for one call
			down := r.call(t.Context(), Call{Method: "shutdown", Params: Raw(`{}`)}) // needs no room
			r.want(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":"shutdown","params":{}}`, c.bound+2))
			r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":{}}`, c.bound+2))
			down.gives(`{}`)
			r.quiet()
		}))
	}
}

func TestHostRequests_nothingBehindShutdown(t *testing.T) {
	t.Run("EXT03-SHUT-012", in(func(t *testing.T) {
		release := make(chan struct{})
		r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-release
			return Raw(`{}`), nil
		}})
		r.conn.Install(Session{Open: []string{"tool/call", "shutdown", "$/cancelRequest", "theme/select", "bus/event"}})
		ctx, stop := context.WithCancelCause(t.Context())
		running := r.call(ctx, toolCall)
		r.want(callFrame(1))
		r.send(`{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`)
		synctest.Wait() // it is being served
		if err := r.conn.Notify(t.Context(), "bus/event", Raw(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		r.want(`{"jsonrpc":"2.0","method":"bus/event","params":{"n":1}}`)

		down := r.call(t.Context(), Call{Method: "shutdown", Params: Raw(`{}`)})
		r.want(`{"id":2,"jsonrpc":"2.0","method":"shutdown","params":{}}`)
		for _, method := range []string{"tool/call", "shutdown", "initialize"} {
			k := r.call(t.Context(), Call{Method: method, Params: Raw(`{}`)})
			if <-k.done; !errors.Is(k.err, ErrDraining) {
				t.Errorf("%s behind shutdown: %v", method, k.err)
			}
		}
		if err := r.conn.Notify(t.Context(), "bus/event", Raw(`{"n":2}`)); !errors.Is(err, ErrDraining) {
			t.Errorf("a notification behind shutdown: %v", err)
		}
		r.send(`{"id":"c-2","jsonrpc":"2.0","method":"no/such","params":{}}`) // would be refused
		close(release)                                                        // c-1 would be answered
		r.noted("local answer dropped")
		stop(Reason("shutdown"))
		r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"shutdown"}}`)
		r.send(`{"error":{"code":-32800,"message":"request cancelled"},"id":1,"jsonrpc":"2.0"}`)
		r.send(`{"id":2,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`)
		if <-running.done; !IsCancelled(running.err) {
			t.Errorf("the running call gives %v", running.err)
		}
		down.gives(`{"terminal":"shutdown"}`)
		r.quiet()
	}))
}

// What is pending when the stream ends fails, wherever it has come to, and is not sent again.
func TestHostRequests_failTogetherWithTheStream(t *testing.T) {
	for name, end := range map[string]func(r *rig) error{
		"end of file": func(r *rig) error { r.bytes.close(); return io.EOF },
		"fault":       func(r *rig) error { r.send(`{"a": 1}`); return nil },
	} {
		t.Run("EXT03-ORDER-010 "+name, in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.3", Options{})
			r.conn.Install(Session{MaxConcurrent: 4})
			a, b := r.call(t.Context(), toolCall), r.call(t.Context(), toolCall)
			r.want(callFrame(1), callFrame(2))
			half := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`"` + strings.Repeat("x", 100<<10) + `"`)}) // fills the pipe
			queued := r.call(t.Context(), toolCall)
			waiting := r.call(t.Context(), toolCall) // for a permit
			want := end(r)
			for n, k := range []*pending{a, b, half, queued, waiting} {
				<-k.done
				var fault *ProtocolError
				if want != nil && k.err != want || want == nil && !errors.As(k.err, &fault) {
					t.Errorf("pending request %d gives %s, %v", n, k.result, k.err)
				}
			}
			if err := r.conn.Wait(); err == nil {
				t.Error("Wait = nil")
			}
			if f, err := r.in.Next(); err == nil || !errors.As(err, new(*frame.Error)) { // half a frame, and nothing behind it
				t.Errorf("behind the end there is %.40s, %v", f, err)
			}
			again := r.call(t.Context(), toolCall)
			if <-again.done; again.err == nil {
				t.Error("a call behind the end was answered")
			}
		}))
	}
}

// An extension has so many ids, and its connection stops there; the host judges the same.
func TestExtensionRequests_idsRunOut(t *testing.T) {
	t.Run("EXT04-LIMIT-003", in(func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{IDPrefix: "c-"})
		p := *r.conn.profile
		p.methods = map[string]*wirejson.Method{"input/request": {Name: "input/request", Direction: wirejson.ExtensionToHost}}
		r.conn.Install(Session{Profile: &p, Open: []string{"input/request"}})
		outcomes := make(chan error, 1)
		go func() {
			defer close(outcomes)
			for range 65536 + 2 {
				_, err := r.conn.Call(t.Context(), "input/request", Raw(`{}`))
				outcomes <- err
			}
		}()
		for n := 1; n <= 65536; n++ {
			r.want(fmt.Sprintf(`{"id":"c-%d","jsonrpc":"2.0","method":"input/request","params":{}}`, n))
			r.send(fmt.Sprintf(`{"id":"c-%d","jsonrpc":"2.0","result":{}}`, n))
			if err := <-outcomes; err != nil {
				t.Fatal(err)
			}
		}
		for err := range outcomes {
			var e *ProtocolError
			if !errors.As(err, &e) || e.Rule != "EXT04-LIMIT-003" || e.Blame != Local {
				t.Errorf("a call with one id too many gives %v", err)
			}
		}
		r.quiet()
	}))
}

func TestHostAnswers_boundsOnWhatOneExtensionAsks(t *testing.T) {
	refusal := func(id int) string {
		return fmt.Sprintf(`{"error":{"code":-32602,"message":"bounds_exceeded too many requests"},"id":%d,"jsonrpc":"2.0"}`, id)
	}
	ask := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"input/request","params":{}}`, id)
	}
	for _, version := range featureVersions {
		t.Run("EXT04-LIMIT-006 outstanding "+version, in(func(t *testing.T) {
			release := make(chan struct{})
			r := newServingRig(t, version, Options{Handle: func(context.Context, *Request) (Value, error) {
				<-release
				return Raw(`{}`), nil
			}})
			for id := 1; id <= 130; id++ {
				r.send(ask(id))
			}
			r.want(refusal(129), refusal(130))
			close(release)
			answers := map[string]bool{}
			for range 128 {
				f, err := r.in.Next()
				if err != nil {
					t.Fatal(err)
				}
				answers[string(f)] = true
			}
			for id := 1; id <= 128; id++ {
				if want := fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":{}}`, id); !answers[want] {
					t.Errorf("%s is missing", want)
				}
			}
			r.send(ask(131)) // there is room again, and the connection lives
			r.want(`{"id":131,"jsonrpc":"2.0","result":{}}`)
			r.quiet()
		}))
	}
	t.Run("EXT04-LIMIT-006 ids", in(func(t *testing.T) {
		r := newServingRig(t, "0.4", Options{})
		const batch = 64
		for id := 1; id <= 65536; id += batch {
			var asks []string
			for n := range batch {
				asks = append(asks, ask(id+n))
			}
			r.send(asks...)
			for range batch {
				if f, err := r.in.Next(); err != nil || !strings.HasSuffix(string(f), `,"result":{}}`) {
					t.Fatalf("around id %d: %s, %v", id, f, err)
				}
			}
		}
		r.send(ask(65537))
		r.want(refusal(65537))
		r.send(ask(9)) // a used one is still told from a new one
		r.want(`{"error":{"code":-32600,"message":"Invalid Request"},"id":9,"jsonrpc":"2.0"}`)
		k := r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.send(answerFrame(1))
		k.gives("1")
		r.quiet()
	}))
}
