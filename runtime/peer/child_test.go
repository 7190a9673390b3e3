package peer

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/frame"
)

// child is a request of an extension.
var child = Call{Method: featurewire.MethodToolsRegister, Params: Raw(`{}`)}

const childFrame = `{"id":"c-1","jsonrpc":"2.0","method":"tools/register","params":{}}`

// newChildRig is a running extension that may send child.
func newChildRig(t *testing.T, o Options) *rig {
	o.IDPrefix = "c-"
	r := newRig(t, frame.Extension, "0.4", o)
	r.conn.Install(Session{Open: []string{child.Method, featurewire.MethodToolCall, featurewire.MethodCancelRequest}})
	return r
}

func TestDo_hostGivesAChildUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newChildRig(t, Options{})
		p := r.call(t.Context(), child)
		r.want(childFrame)
		r.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1","reason":"parent settled"}}`)
		<-p.done
		var why *CancelledError
		if !errors.As(p.err, &why) || why.Reason != "parent settled" {
			t.Errorf("the call gives %s, %v", p.result, p.err)
		}
		r.send(`{"id":"c-1","jsonrpc":"2.0","result":{}}`)
		r.noted("late answer to an abandoned call absorbed")
		r.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1"}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-9"}}`)
		p = r.call(t.Context(), child)
		r.want(strings.Replace(childFrame, "c-1", "c-2", 1))
		r.send(`{"id":"c-2","jsonrpc":"2.0","result":2}`)
		p.gives("2")
		r.quiet()
	})
}

func TestDo_canonicalHostCannotGiveAChildUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.3", Options{IDPrefix: "c-"})
		p := r.call(t.Context(), Call{Method: "theme/select", Params: Raw(`{}`)})
		r.want(`{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`)
		r.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1"}}`, `{"id":"c-1","jsonrpc":"2.0","result":1}`)
		p.gives("1")
	})
}

func TestDo_hastyAndMoot(t *testing.T) {
	for name, c := range map[string]struct {
		call  Call
		cause error
		sends bool
	}{
		"hasty": {Call{Method: child.Method, Params: child.Params, Hasty: true}, Reason("user"), true},
		"moot":  {Call{Method: child.Method, Params: child.Params, Moot: func() bool { return true }}, errors.New("answered"), false},
	} {
		t.Run(name, in(func(t *testing.T) {
			r := newChildRig(t, Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			p := r.call(ctx, c.call)
			r.want(childFrame)
			cancel(c.cause)
			p.fails(ErrUnsettled, c.cause)
			if p.took != 0 {
				t.Errorf("the call took %s to end", p.took)
			}
			if c.sends {
				r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1","reason":"user"}}`)
			}
			r.send(`{"id":"c-1","jsonrpc":"2.0","result":{}}`)
			r.noted("late answer to an abandoned call absorbed")
			r.quiet()
		}))
	}
}

func TestDo_malformedAnswerFailsTheChild(t *testing.T) {
	answers := map[string][]string{
		"0.4": {
			`{"jsonrpc":"2.0","id":"c-1"}`,
			`{"id":"c-1"}`,
			`{"jsonrpc":"1.0","id":"c-1","result":{}}`,
			`{"jsonrpc":"2.0","id":"c-1","result":{},"error":{"code":1,"message":"x"}}`,
			`{"jsonrpc":"2.0","id":"c-1","method":"tool/call","result":{}}`,
			`{"jsonrpc":"2.0","id":"c-1","error":null}`,
			`{"jsonrpc":"2.0","id":"c-1","error":"boo"}`,
			`{"jsonrpc":"2.0","id":"c-1","error":{}}`,
			`{"jsonrpc":"2.0","id":"c-1","error":{"code":"1","message":"x"}}`,
		},
		"0.3": {
			`{"id":"c-1","jsonrpc":"2.0"}`,
			`{"id":"c-1"}`,
			`{"id":"c-1","jsonrpc":"2.0","result":null}`,
			`{"id":"c-1","jsonrpc":"1.0","result":{}}`,
			`{"id":"c-1","jsonrpc":"2.0","params":{},"result":{}}`,
			`{"id":"c-1","jsonrpc":"2.0","result":{},"zone":1}`,
			`{"error":{"code":-32600,"message":"invalid_request"},"id":"c-1","jsonrpc":"2.0","result":{}}`,
			`{"id":"c-1","jsonrpc":"2.0","method":"tool/call","params":{},"result":{}}`,
			`{"error":null,"id":"c-1","jsonrpc":"2.0"}`,
			`{"error":{"code":-32600,"message":"boo"},"id":"c-1","jsonrpc":"2.0"}`,
			`{"error":{"code":7,"message":"boo"},"id":"c-1","jsonrpc":"2.0"}`,
			`{"error":{"code":-32600,"message":"invalid_request","more":1},"id":"c-1","jsonrpc":"2.0"}`,
		},
	}
	method := map[string]string{"0.4": child.Method, "0.3": "theme/select"}
	for version, texts := range answers {
		for _, text := range texts {
			t.Run(version+" "+text, in(func(t *testing.T) {
				r := newRig(t, frame.Extension, version, Options{IDPrefix: "c-"})
				r.conn.Install(Session{Open: []string{method[version]}})
				p := r.call(t.Context(), Call{Method: method[version], Params: Raw(`{}`)})
				r.want(`{"id":"c-1","jsonrpc":"2.0","method":"` + method[version] + `","params":{}}`)
				r.send(text)
				synctest.Wait()
				select {
				case <-p.done:
				default:
					t.Fatal("the call hangs")
				}
				var e *ProtocolError
				if !errors.As(p.err, &e) || e.Blame != Remote || e.Rule == "" {
					t.Errorf("the call gives %s, %v, want a remote fault", p.result, p.err)
				}
				r.noted("invalid message", "remote")
				p = r.call(t.Context(), Call{Method: method[version], Params: Raw(`{}`)})
				r.want(`{"id":"c-2","jsonrpc":"2.0","method":"` + method[version] + `","params":{}}`)
				r.send(`{"id":"c-2","jsonrpc":"2.0","result":{}}`)
				p.gives(`{}`)
				r.quiet()
			}))
		}
	}
}

func TestDo_boundsTheUnansweredOfAnExtension(t *testing.T) {
	for _, version := range []string{"0.4", "0.3"} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{IDPrefix: "c-"})
			method := map[string]string{"0.4": child.Method, "0.3": "theme/select"}[version]
			r.conn.Install(Session{Open: []string{method}})
			for range featurewire.MaxChildRequests {
				r.call(t.Context(), Call{Method: method, Params: Raw(`{}`)})
			}
			var refused *ProtocolError
			_, err := r.conn.Call(t.Context(), method, Raw(`{}`))
			rule := map[string]string{"0.4": rules.EXT04Limit002}[version]
			if !errors.As(err, &refused) || refused.Blame != Local || refused.Rule != rule {
				t.Errorf("one more gives %v", err)
			}
			r.send(`{"id":"c-3","jsonrpc":"2.0","result":{}}`)
			synctest.Wait()
			p := r.call(t.Context(), Call{Method: method, Params: Raw(`{}`)})
			id := `"c-` + strconv.Itoa(featurewire.MaxChildRequests+1) + `"` // the refused one has used no id
			r.send(`{"id":` + id + `,"jsonrpc":"2.0","result":7}`)
			p.gives("7")
		}))
	}
}

const (
	initializeFrame = `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{}}`
	shortcutFrame   = `{"id":"c-1","jsonrpc":"2.0","method":"shortcut/register","params":{}}`
)

func TestSession_mayRegisterWhileInitializeIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.4", Options{IDPrefix: "c-", Handle: func(ctx context.Context, q *Request) (Value, error) {
			if _, err := q.Conn().Call(ctx, child.Method, Raw(`{}`)); err == nil {
				t.Error("a method that is not tied to initialize was sent before its answer")
			}
			got, err := q.Conn().Call(ctx, featurewire.MethodShortcutRegister, Raw(`{}`))
			q.BeforeAnswer(func() { q.Conn().Install(Session{Open: []string{child.Method}}) })
			return Raw(got), err
		}})
		if _, err := r.conn.Call(t.Context(), featurewire.MethodShortcutRegister, Raw(`{}`)); err == nil {
			t.Error("a shortcut was sent before initialize arrived")
		}
		r.send(initializeFrame)
		r.want(shortcutFrame)
		r.send(`{"id":"c-1","jsonrpc":"2.0","result":"ack"}`)
		r.want(`{"id":1,"jsonrpc":"2.0","result":"ack"}`)
		if _, err := r.conn.Call(t.Context(), featurewire.MethodShortcutRegister, Raw(`{}`)); err == nil {
			t.Error("a shortcut was sent behind the answer of initialize")
		}
	})
}

func TestSession_hostTakesEarlyOnlyWhatItLists(t *testing.T) {
	for name, early := range map[string][]string{"listed": {featurewire.MethodShortcutRegister, child.Method}, "not listed": nil} {
		t.Run(name, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Host, "0.4", Options{Early: early, Handle: func(context.Context, *Request) (Value, error) { return Raw(`{}`), nil }})
			r.send(shortcutFrame)
			r.want(`{"error":{"code":-32601,"message":"unsupported_feature shortcut/register"},"id":"c-1","jsonrpc":"2.0"}`)
			p := r.call(t.Context(), Call{Method: featurewire.MethodInitialize, Params: Raw(`{}`)})
			r.want(initializeFrame)
			r.send(strings.Replace(shortcutFrame, "c-1", "c-2", 1), strings.Replace(childFrame, "c-1", "c-3", 1))
			if early == nil {
				r.want(`{"error":{"code":-32601,"message":"unsupported_feature shortcut/register"},"id":"c-2","jsonrpc":"2.0"}`)
			} else {
				r.want(`{"id":"c-2","jsonrpc":"2.0","result":{}}`)
			}
			r.want(`{"error":{"code":-32601,"message":"unsupported_feature tools/register"},"id":"c-3","jsonrpc":"2.0"}`)
			r.send(`{"id":1,"jsonrpc":"2.0","result":1}`)
			p.gives("1")
		}))
	}
}

func TestBehind_runsWhenTheAnswerHasItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		value  Value
		err    error
		result bool
	}{
		"result": {Raw(`1`), nil, true},
		"error":  {nil, Fail(featurewire.ErrInternalError, nil), false},
	} {
		t.Run(name, in(func(t *testing.T) {
			var served *Request
			var told []bool
			r := newChildRig(t, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				served = q
				if q.Answered() {
					t.Error("answered before its handler returned")
				}
				q.Behind(func(result bool) {
					told = append(told, result)
					go func() { _, _ = q.Conn().Call(t.Context(), child.Method, Raw(`{}`)) }()
				})
				return c.value, c.err
			}})
			r.send(callSeven)
			answer, err := r.in.Next()
			if err != nil || !strings.Contains(string(answer), `"id":7`) {
				t.Fatalf("got %s, %v", answer, err)
			}
			r.want(childFrame)
			synctest.Wait()
			if len(told) != 1 || told[0] != c.result {
				t.Errorf("told %v", told)
			}
			if !served.Answered() {
				t.Error("not answered behind the answer")
			}
			late := false
			served.Behind(func(result bool) { late = result == c.result })
			if !late {
				t.Error("behind the answer it does not run at once, or is told another outcome")
			}
		}))
	}
}

func TestBehind_runsOnceHoweverTheRequestEnds(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"cancelled and deaf": func(r *rig) { r.send(cancelSeven); time.Sleep(2 * time.Second) },
		"connection lost":    func(r *rig) { r.conn.end(errors.New("gone")) },
	} {
		t.Run(name, in(func(t *testing.T) {
			told := make(chan bool, 9)
			release := make(chan struct{})
			r := newChildRig(t, Options{HandlerGrace: time.Second, Handle: func(ctx context.Context, q *Request) (Value, error) {
				q.Behind(func(result bool) { told <- result })
				<-release
				return Raw(`1`), nil
			}})
			r.send(callSeven)
			synctest.Wait()
			end(r)
			if result := <-told; result {
				t.Error("told of a result")
			}
			close(release)
			synctest.Wait()
			if len(told) != 0 {
				t.Error("told twice")
			}
		}))
	}
}

func TestInstead_replacesAResultThatIsTooLarge(t *testing.T) {
	for name, second := range map[string]int{"fits": 1, "too large as well": 600} {
		t.Run(name, in(func(t *testing.T) {
			r := newChildRig(t, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				q.Instead(func(err error) Value {
					if err == nil {
						t.Error("no reason is given")
					}
					return Raw(`"` + strings.Repeat("y", second) + `"`)
				})
				return Raw(`"` + strings.Repeat("x", 600) + `"`), nil
			}})
			r.conn.Install(Session{MaxFrameBytes: 500})
			r.send(callSeven)
			if second == 1 {
				r.want(`{"id":7,"jsonrpc":"2.0","result":"y"}`)
			} else {
				r.want(`{"error":{"code":-32603,"message":"Internal error"},"id":7,"jsonrpc":"2.0"}`)
			}
			r.noted("result cannot be sent")
		}))
	}
}
