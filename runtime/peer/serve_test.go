package peer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
)

const (
	request  = `{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`
	cancel7  = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7,"reason":"user"}}`
	answer7  = `{"id":7,"jsonrpc":"2.0","result":{}}`
	shutdown = `{"id":9,"jsonrpc":"2.0","method":"shutdown","params":{}}`
)

// echo answers with the params it got.
func echo(_ context.Context, r *Request) (Value, error) {
	if r.Params == nil {
		return Raw(`{}`), nil
	}
	return Raw(strings.Clone(string(r.Params))), nil
}

// untilCancelled runs until its context ends.
func untilCancelled(ctx context.Context, _ *Request) (Value, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestServe_roundTrip(t *testing.T) {
	for _, version := range []string{"0.1", "0.2", "0.3", "0.4"} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: echo})
			r.send(request)
			r.want(`{"id":7,"jsonrpc":"2.0","result":{"name":"t"}}`)
			r.send(`{"id":"q\n\u0001","jsonrpc":"2.0","method":"tool/call","params":{"a":"b"}}`)
			r.want(`{"id":"q\n\u0001","jsonrpc":"2.0","result":{"a":"b"}}`)
			if version != "0.3" {
				r.send(` { "jsonrpc" : "2.0" , "id" : "q\u002d1" , "method" : "tool/c\u0061ll" } `)
				r.want(`{"id":"q-1","jsonrpc":"2.0","result":{}}`)
			}
			r.quiet()
		}))
	}
}

func TestServe_exitedGivesTheOutcomeOfGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: func(_ context.Context, r *Request) (Value, error) {
			r.Exited(func() (Value, error) { return Raw(`{"gone":true}`), nil })
			runtime.Goexit()
			return nil, nil
		}})
		for range 3 { // on the reading goroutine too
			r.send(`{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{}}`)
			r.want(`{"id":7,"jsonrpc":"2.0","result":{"gone":true}}`)
		}
		r.quiet()
	})
}

func TestServe_whatHandlersReturn(t *testing.T) {
	internal3 := `{"error":{"code":-32603,"message":"internal error"},"id":7,"jsonrpc":"2.0"}`
	internal4 := `{"error":{"code":-32603,"message":"Internal error"},"id":7,"jsonrpc":"2.0"}`
	_, violation3 := canonicalwire.DecodeToolCallParams([]byte(`{"arguments":{},"name":"t"}`))
	detail3 := strconv.Quote(violation3.(*wirejson.Violation).Detail)
	_, violation4 := featurewire.DecodeToolCallParams([]byte(`{"name":7}`))
	_, syntax4 := featurewire.DecodeToolCallParams([]byte(`{"name":"a","name":"b"}`))
	for _, c := range []struct {
		name    string
		version string
		handle  func(context.Context, *Request) (Value, error)
		want    string
		note    string // part of the diagnostic, or empty
	}{
		{"error of the table", "0.3", func(context.Context, *Request) (Value, error) {
			return nil, Fail(canonicalwire.ErrUnknownMethod, Raw(`{"method":"t"}`))
		}, `{"error":{"code":-32601,"data":{"method":"t"},"message":"unknown or unnegotiated method"},"id":7,"jsonrpc":"2.0"}`, ""},
		{"wrapped error with another text", "0.3", func(context.Context, *Request) (Value, error) {
			return nil, fmt.Errorf("tool: %w", &Error{Code: -32602, Message: "no such file"})
		}, `{"error":{"code":-32602,"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`, ""},
		{"code outside the table", "0.3", func(context.Context, *Request) (Value, error) {
			return nil, &Error{Code: -32000, Message: "mine"}
		}, internal3, "no such error: mine (-32000)"},
		{"own code of the feature wire", "0.4", func(context.Context, *Request) (Value, error) {
			return nil, &Error{Code: -32000, Message: "mine\n", Data: []byte("null")}
		}, `{"error":{"code":-32000,"data":null,"message":"mine\n"},"id":7,"jsonrpc":"2.0"}`, ""},
		{
			"violation", "0.3", func(context.Context, *Request) (Value, error) { return nil, violation3 },
			`{"error":{"code":-32602,"data":{"detail":` + detail3 + `,"pointer":"/context","violation":"missing"},"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`, "",
		},
		{
			"violation of the feature wire", "0.4", func(context.Context, *Request) (Value, error) { return nil, violation4 },
			`{"error":{"code":-32602,"data":{"detail":`, "",
		},
		{
			"syntax", "0.4", func(context.Context, *Request) (Value, error) { return nil, syntax4 },
			`{"error":{"code":-32602,"data":{"detail":`, "",
		},
		{"plain error", "0.3", func(context.Context, *Request) (Value, error) { return nil, errors.New("disk is full") }, internal3, "disk is full"},
		{"plain error of the feature wire", "0.4", func(context.Context, *Request) (Value, error) { return nil, errors.New("disk is full") }, internal4, "disk is full"},
		{"panic", "0.4", func(context.Context, *Request) (Value, error) { panic("at the disco") }, internal4, "panic: at the disco"},
		{"goexit", "0.3", func(context.Context, *Request) (Value, error) { runtime.Goexit(); return nil, nil }, internal3, "handler failed"},
		{"panic with an outcome of goexit", "0.4", func(_ context.Context, r *Request) (Value, error) {
			r.Exited(func() (Value, error) { return Raw(`{}`), nil })
			panic("at the disco")
		}, internal4, "panic: at the disco"},
		{"nothing", "0.3", func(context.Context, *Request) (Value, error) { return nil, nil }, internal3, "neither a value nor an error"},
		{"nobody", "0.3", nil, internal3, "serves no requests"},
		{"cancellation nobody asked for", "0.4", func(context.Context, *Request) (Value, error) { return nil, context.Canceled }, internal4, "context canceled"},
		{"no canonical spelling", "0.3", func(context.Context, *Request) (Value, error) { return Raw(`{"a":1.5}`), nil }, internal3, "result cannot be sent"},
		{"error data without canonical spelling", "0.3", func(context.Context, *Request) (Value, error) {
			return nil, Fail(canonicalwire.ErrInternalError, Raw(`1.5`))
		}, internal3, "error cannot be sent"},
		{"too large for the wire", "0.3", func(context.Context, *Request) (Value, error) {
			return Raw(`"` + strings.Repeat("x", 1<<20) + `"`), nil
		}, `{"error":{"code":-32012,"message":"extension resource exhausted"},"id":7,"jsonrpc":"2.0"}`, "exceeds the bound"},
		{"too large for the feature wire", "0.4", func(context.Context, *Request) (Value, error) {
			return Raw(`"` + strings.Repeat("x", 1<<20) + `"`), nil
		}, internal4, "exceeds the bound"},
	} {
		t.Run(c.name, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, c.version, Options{Handle: c.handle})
			r.send(request)
			got, err := r.in.Next()
			if err != nil || !strings.HasPrefix(string(got), c.want) {
				t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
			}
			if c.note != "" {
				r.noted("local", c.note)
			}
			if strings.Contains(string(got), "disk") {
				t.Error("the text of an internal error must not reach the wire")
			}
			var e envelope.Envelope
			wire := profile(t, frame.Host, c.version).Wire
			if err := envelope.Read(wire, got, &e); err != nil || e.Kind != envelope.Error {
				t.Errorf("%s is %v (%v), %v: want an error of the wire", got, e.Kind, e.Reason, err)
			}
			r.quiet()
		}))
	}
}

func TestServe_cancel(t *testing.T) {
	for version, want := range map[string]string{
		"0.3": `{"error":{"code":-32800,"data":{"reason":"user","terminal":"cancelled"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
		"0.4": `{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
	} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: untilCancelled})
			r.send(request, strings.Replace(request, "7", `"7"`, 1), cancel7, cancel7)
			r.want(want)
			r.send(cancel7) // of a finished request
			r.quiet()       // the string id 7 goes on
		}))
		t.Run(version+" cause", in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}})
			r.send(request, cancel7)
			r.want(want)
			r.quiet()
		}))
		t.Run(version+" result wins", in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				<-ctx.Done()
				return Raw(`{}`), nil
			}})
			r.send(request, cancel7)
			r.want(answer7)
			r.quiet()
		}))
		t.Run(version+" without reason", in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: untilCancelled})
			r.send(request, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`)
			r.want(strings.NewReplacer(`"reason":"user",`, "", `"reason":"user"`, "").Replace(want))
			r.quiet()
		}))
		t.Run(version+" remembers nothing", in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: echo})
			r.send(cancel7, request)
			r.want(`{"id":7,"jsonrpc":"2.0","result":{"name":"t"}}`)
			r.quiet()
		}))
	}
}

func TestServe_cancelWithBadParams(t *testing.T) {
	for _, params := range []string{`{}`, `{"id":null}`, `{"id":-1}`, `{"id":7,"reason":7}`, `{"id":7,"why":"x"}`, `[7]`, `7`} {
		t.Run(params, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, "0.3", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				time.Sleep(time.Second)
				return Raw(`{}`), ctx.Err()
			}})
			r.send(request, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":`+params+`}`)
			r.noted("remote", "bad params")
			r.want(answer7)
			r.quiet()
		}))
	}
}

func TestServe_withoutCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.1", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			time.Sleep(time.Second)
			return Raw(`{}`), ctx.Err()
		}})
		r.send(request, cancel7)
		r.noted("not open")
		r.want(answer7)
		r.quiet()
	})
}

func TestServe_activeIDIsNotDisturbed(t *testing.T) {
	for version, want := range map[string]string{
		"0.3": `{"error":{"code":-32600,"message":"invalid request"},"id":7,"jsonrpc":"2.0"}`,
		"0.4": `{"error":{"code":-32600,"message":"Invalid Request"},"id":7,"jsonrpc":"2.0"}`,
	} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				time.Sleep(time.Second)
				return Raw(`{}`), ctx.Err()
			}})
			r.send(request, request)
			r.want(want, answer7)
			r.noted(map[string]string{"0.3": "EXT03-ENV-022", "0.4": "EXT04-ENV-014"}[version], "remote")
			r.send(request) // the id is free again
			r.want(answer7)
			r.quiet()
		}))
	}
}

func TestServe_hostRefusesReusedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		unsupported := `{"error":{"code":-32601,"message":"unsupported_feature input/request"},"id":"c-1","jsonrpc":"2.0"}`
		ask := `{"jsonrpc":"2.0","id":"c-1","method":"input/request","params":{}}`
		r.send(ask)
		r.want(unsupported)
		r.send(ask)
		r.want(`{"error":{"code":-32600,"message":"Invalid Request"},"id":"c-1","jsonrpc":"2.0"}`)
		r.noted("EXT04-ENV-010", "remote")
		r.quiet()
	})
}

func TestServe_hostBoundsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.4", Options{})
		p := *r.conn.profile
		p.MaxIDs = 2
		r.conn.Install(Session{Profile: &p, Open: []string{}})
		for n, want := range []string{"unsupported_feature x", "unsupported_feature x", "unsupported_feature x"} {
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, n))
			r.want(fmt.Sprintf(`{"error":{"code":-32601,"message":"%s"},"id":%d,"jsonrpc":"2.0"}`, want, n))
		}
		r.conn.mu.Lock()
		seen := len(r.conn.served.seen)
		r.conn.mu.Unlock()
		if seen != 2 {
			t.Errorf("%d ids are remembered, want no more than the bound of 2", seen)
		}
		r.quiet()
	})
}

func TestServe_excessIsRefused(t *testing.T) {
	for version, want := range map[string]string{
		"0.3": `{"error":{"code":-32012,"message":"extension resource exhausted"},"id":8,"jsonrpc":"2.0"}`,
		"0.4": `{"error":{"code":-32000,"message":"extension request queue is full"},"id":8,"jsonrpc":"2.0"}`,
	} {
		t.Run(version, in(func(t *testing.T) {
			r := newRig(t, frame.Extension, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				if q.Method == "shutdown" {
					q.Final()
					q.Drain(ctx, "shutdown")
					return Raw(`{}`), nil
				}
				return untilCancelled(ctx, q)
			}})
			r.conn.Install(Session{MaxConcurrent: 1})
			r.send(request, strings.Replace(request, "7", "8", 1))
			r.want(want)
			r.send(shutdown) // needs no permit
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
			r.want(`{"id":9,"jsonrpc":"2.0","result":{}}`)
			if err := r.ended(); err != nil {
				t.Error(err)
			}
		}))
	}
}

func TestServe_methodsThatAreNotOpen(t *testing.T) {
	for _, c := range []struct {
		side    frame.Side
		version string
		method  string
		want    string
	}{
		{frame.Extension, "0.3", "no/such", `{"code":-32601,"data":{"method":"no/such"},"message":"unknown or unnegotiated method"}`},
		{frame.Extension, "0.3", "context/collect", `{"code":-32601,"data":{"method":"context/collect"},"message":"unknown or unnegotiated method"}`},
		{frame.Extension, "0.3", "theme/select", `{"code":-32601,"data":{"method":"theme/select"},"message":"unknown or unnegotiated method"}`},
		{frame.Extension, "0.3", "hook/run", `{"code":-32601,"data":{"method":"hook/run"},"message":"unknown or unnegotiated method"}`},
		{frame.Extension, "0.4", "no/such", `{"code":-32601,"message":"Method not found: no/such"}`},
		{frame.Extension, "0.4", "notification", `{"code":-32601,"message":"unsupported_feature notification"}`},
		{frame.Host, "0.4", "no/such", `{"code":-32601,"message":"unsupported_feature no/such"}`},
		{frame.Host, "0.4", "tool/call", `{"code":-32601,"message":"unsupported_feature tool/call"}`},
		{frame.Host, "0.3", "tool/call", `{"code":-32601,"data":{"method":"tool/call"},"message":"unknown or unnegotiated method"}`},
	} {
		t.Run(c.side.String()+" "+c.version+" "+c.method, in(func(t *testing.T) {
			r := newRig(t, c.side, c.version, Options{Handle: echo})
			r.send(`{"id":7,"jsonrpc":"2.0","method":"` + c.method + `","params":{}}`)
			r.want(`{"error":` + c.want + `,"id":7,"jsonrpc":"2.0"}`)
			r.quiet()
		}))
	}
}

func TestDrain_answersOthersFirst(t *testing.T) {
	for version, want := range map[string][]string{
		"0.3": {
			`{"error":{"code":-32800,"data":{"reason":"shutdown","terminal":"cancelled"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
			`{"error":{"code":-32800,"message":"request cancelled"},"id":8,"jsonrpc":"2.0"}`,
			`{"id":9,"jsonrpc":"2.0","result":{}}`,
		},
		"0.4": {
			`{"error":{"code":-32800,"data":{"reason":"shutdown"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
			`{"error":{"code":-32000,"message":"extension error"},"id":8,"jsonrpc":"2.0"}`,
			`{"id":9,"jsonrpc":"2.0","result":{}}`,
		},
		"0.1": {
			`{"error":{"code":-32000,"data":{"reason":"shutdown"},"message":"extension error"},"id":7,"jsonrpc":"2.0"}`,
			`{"error":{"code":-32000,"message":"extension error"},"id":8,"jsonrpc":"2.0"}`,
			`{"id":9,"jsonrpc":"2.0","result":{}}`,
		},
	} {
		t.Run(version, in(func(t *testing.T) {
			var took time.Duration
			r := newRig(t, frame.Extension, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				if q.Method == "tool/call" {
					<-ctx.Done()
					time.Sleep(time.Hour) // deaf: its answer is given for it
					return Raw(`"late"`), nil
				}
				start := time.Now()
				grace, stop := context.WithTimeout(ctx, time.Second)
				defer stop()
				q.Final()
				q.Drain(grace, "shutdown")
				took = time.Since(start)
				return Raw(`{}`), nil
			}})
			r.send(request, shutdown)
			synctest.Wait()
			r.send(strings.Replace(request, "7", "8", 1)) // behind shutdown
			r.want(want[1], want[0], want[2])
			if err := r.ended(); err != nil {
				t.Errorf("a final answer ends with %v, want nil", err)
			}
			if took != time.Second {
				t.Errorf("draining took %v, want its bound of 1 s", took)
			}
		}))
	}
}

// Behind a final answer nothing goes out, also while it still waits to be written.
func TestFinal_sealsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			if q.Method == "shutdown" {
				q.Final()
				return Raw(`{}`), nil
			}
			return Raw(`"` + strings.Repeat("x", 100<<10) + `"`), nil
		}})
		r.send(request)
		synctest.Wait() // its answer is in the middle of the pipe
		r.send(shutdown, strings.Replace(request, "7", "8", 1))
		synctest.Wait()
		if err := r.conn.Notify(t.Context(), "notification", Raw(`{"message":"x"}`)); err != ErrClosed {
			t.Errorf("Notify behind a final answer = %v, want %v", err, ErrClosed)
		}
		if _, err := r.in.Next(); err != nil {
			t.Fatal(err)
		}
		r.want(`{"id":9,"jsonrpc":"2.0","result":{}}`)
		if err := r.ended(); err != nil {
			t.Error(err)
		}
	})
}

func TestServe_readsOnWhileHandlersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		r := newRig(t, frame.Host, "0.4", Options{
			Notice: func(n *Notice) { seen = append(seen, n.Method+string(n.Params)) },
		})
		k := r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.send(
			`{"jsonrpc":"2.0","method":"$/progress","params":{"request_id":1,"sequence":1}}`,
			`{"jsonrpc":"2.0","method":"notification","params":{"message":"hi"}}`,
			`{"jsonrpc":"2.0","method":"$/progress","params":{"request_id":1,"sequence":2}}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`,
		)
		k.gives(`{}`)
		// The answer never overtakes what was sent before it.
		if got := strings.Join(seen, " "); got != `$/progress{"request_id":1,"sequence":1} notification{"message":"hi"} $/progress{"request_id":1,"sequence":2}` {
			t.Errorf("saw %s", got)
		}
		r.quiet()
	})
}

func TestNotice_panicEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{Notice: func(*Notice) { panic("boo") }})
		r.send(`{"jsonrpc":"2.0","method":"notification","params":{}}`)
		r.noted("local", "notice panicked", "boo")
		k := r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		k.gives(`{}`)
	})
}

func TestClose_cancelsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		r := newRig(t, frame.Extension, "0.3", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return Raw(`{}`), nil
		}})
		r.send(request)
		synctest.Wait()
		if err := r.conn.Close(); err != nil {
			t.Error(err)
		}
		if cause != ErrClosed {
			t.Errorf("the handler's context ended with %v, want %v", cause, ErrClosed)
		}
		if err := r.conn.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		if _, err := r.in.Next(); err == nil {
			t.Error("an answer was written behind Close")
		}
	})
}
