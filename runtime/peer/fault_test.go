package peer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
)

// Frames that end the stream, without an answer: the rule that their writer broke, and that of the host
// who must end it.
func TestFault_endsTheStream(t *testing.T) {
	for _, c := range []struct {
		side    frame.Side // that reads
		version string
		binds   string // a rule of the canonical wire's host, or empty
		text    string
		rule    string
	}{
		{frame.Host, "0.3", "EXT03-READ-025", `nonsense`, "EXT03-CANON-011"},
		{frame.Host, "0.3", "EXT03-READ-025", `{"id":1,"jsonrpc":"2.0","result":{}`, "EXT03-CANON-011"},
		{frame.Host, "0.3", "EXT03-READ-025", `{"id":1,"jsonrpc":"2.0","result":{},}`, "EXT03-CANON-011"},
		{frame.Host, "0.3", "EXT03-READ-025", "{\"a\":\"\t\"}", "EXT03-CANON-005"},
		{frame.Host, "0.3", "EXT03-READ-025", `{}{}`, "EXT03-FRAME-004"},
		{frame.Host, "0.3", "EXT03-READ-025", "\xef\xbb\xbf{}", "EXT03-FRAME-008"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"a": 1}`, "EXT03-CANON-001"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"a":1} `, "EXT03-CANON-001"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"b":1,"a":1}`, "EXT03-CANON-002"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"id":7,"jsonrpc":"2.0","params":{},"method":"theme/select"}`, "EXT03-CANON-002"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"a":"\/"}`, "EXT03-CANON-006"},
		{frame.Host, "0.3", "EXT03-READ-026", `{"a":"\u001F"}`, "EXT03-CANON-006"},
		{frame.Host, "0.3", "EXT03-READ-027", `{"a":1,"a":1}`, "EXT03-CANON-003"},
		{frame.Host, "0.3", "EXT03-READ-027", `{"id":7,"jsonrpc":"2.0","method":"theme/select","params":{"a":[{"b":1,"c":2,"b":3}]}}`, "EXT03-CANON-003"},
		{frame.Host, "0.3", "EXT03-READ-027", `{"\t":1,"\u001f":2,"\t":1}`, "EXT03-CANON-003"},
		{frame.Host, "0.3", "EXT03-READ-027", `{"a":1,"\u0061":1}`, "EXT03-CANON-006"}, // the second key is misspelt before it is the first again
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":1.0}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":1e2}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":-0}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":01}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":9007199254740992}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-028", `{"a":-9007199254740992}`, "EXT03-CANON-008"},
		{frame.Host, "0.3", "EXT03-READ-029", "{\"a\":\"\xff\"}", "EXT03-FRAME-007"},
		{frame.Host, "0.3", "EXT03-READ-029", "{\"a\":\"\xed\xa0\x80\"}", "EXT03-FRAME-007"},
		{frame.Host, "0.3", "EXT03-READ-029", `{"a":"\ud800"}`, "EXT03-CANON-007"},
		{frame.Host, "0.3", "EXT03-READ-029", `{"a":"\udc27"}`, "EXT03-CANON-007"},
		{frame.Host, "0.3", "EXT03-READ-030", strings.Repeat("[", 33) + "0" + strings.Repeat("]", 33), "EXT03-CANON-010"},
		{frame.Host, "0.3", "EXT03-READ-030", strings.Repeat("[", 34) + strings.Repeat("]", 34), "EXT03-CANON-010"},
		{frame.Host, "0.3", "EXT03-ENV-019", `[]`, "EXT03-ENV-001"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":1,"jsonrpc":"1.0","result":{}}`, "EXT03-ENV-001"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":7,"jsonrpc":"2.0","method":"theme/select"}`, "EXT03-ENV-002"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":7,"jsonrpc":"2.0","method":"theme/select","params":{},"x":1}`, "EXT03-ENV-002"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":7,"jsonrpc":"2.0","method":"theme/select","params":{},"result":{}}`, "EXT03-ENV-002"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"error":{"code":-32603,"message":"internal error"},"id":1,"jsonrpc":"2.0","result":{}}`, "EXT03-ENV-003"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":7,"jsonrpc":"2.0"}`, "EXT03-ENV-004"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":1,"jsonrpc":"2.0","result":null}`, "EXT03-ENV-005"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":null,"jsonrpc":"2.0","result":{}}`, "EXT03-ENV-006"},
		{frame.Host, "0.3", "EXT03-ENV-019", `{"id":-1,"jsonrpc":"2.0","method":"theme/select","params":{}}`, "EXT03-ENV-006"},
		{frame.Host, "0.3", "EXT03-ENV-020", `{"error":{"code":1,"message":"boo"},"id":1,"jsonrpc":"2.0"}`, "EXT03-ERR-001"},
		{frame.Host, "0.3", "EXT03-ENV-020", `{"error":{"code":-32000,"message":"internal error"},"id":1,"jsonrpc":"2.0"}`, "EXT03-ERR-001"},
		{frame.Host, "0.3", "EXT03-ENV-020", `{"error":{"code":-32603,"message":"boo"},"id":1,"jsonrpc":"2.0"}`, "EXT03-ERR-002"},
		{frame.Host, "0.3", "EXT03-ENV-020", `{"error":{"code":-32603,"message":"Internal error"},"id":1,"jsonrpc":"2.0"}`, "EXT03-ERR-002"},
		{frame.Host, "0.3", "EXT03-ENV-021", `{"id":1,"jsonrpc":"2.0","result":{}}`, "EXT03-ORDER-007"},
		{frame.Host, "0.3", "EXT03-ENV-021", `{"error":{"code":-32603,"message":"internal error"},"id":"1","jsonrpc":"2.0"}`, "EXT03-ORDER-007"},
		{frame.Host, "0.3", "EXT03-METHOD-007", `{"jsonrpc":"2.0","method":"bus/event","params":{}}`, "EXT03-ORDER-004"},
		{frame.Host, "0.3", "EXT03-METHOD-007", `{"jsonrpc":"2.0","method":"providers/complete","params":{}}`, "EXT03-ORDER-004"},
		{frame.Host, "0.3", "EXT03-METHOD-007", `{"jsonrpc":"2.0","method":"no/such","params":{}}`, "EXT03-ORDER-004"},
		{frame.Extension, "0.3", "", `{"a": 1}`, "EXT03-CANON-013"},
		{frame.Extension, "0.3", "", `{"id":1,"jsonrpc":"2.0","result":{}}`, "EXT03-ENV-018"},
		{frame.Host, "0.4", "", `nonsense`, "EXT04-FRAME-001"},
		{frame.Host, "0.4", "", `[]`, "EXT04-FRAME-001"},
		{frame.Host, "0.4", "", "{\"a\":\"\xff\"}", "EXT04-FRAME-001"},
	} {
		t.Run(fmt.Sprintf("%v %s %s %.40s", c.side, c.version, c.binds, c.text), in(func(t *testing.T) {
			r := newRig(t, c.side, c.version, Options{Handle: echo})
			r.send(c.text, request, `{"id":8,"jsonrpc":"2.0","method":"theme/select","params":{}}`)
			r.endedBy(c.rule, Remote)
			if rules.Lookup(c.rule) == nil {
				t.Errorf("there is no rule %s", c.rule)
			}
		}))
	}
}

// What is as large, deep or long as the encoding allows ends nothing.
func TestFault_limitsOfTheEncodingAreRead(t *testing.T) {
	deep := strings.Repeat("[", 31) + "0" + strings.Repeat("]", 31) // the envelope is the first of 32 levels
	for binds, params := range map[string]string{
		"EXT03-READ-028": `{"a":9007199254740991,"b":-9007199254740991}`,
		"EXT03-READ-030": deep,
	} {
		t.Run(binds, in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.3", Options{Handle: echo})
			r.send(`{"id":8,"jsonrpc":"2.0","method":"theme/select","params":` + params + `}`)
			r.want(`{"id":8,"jsonrpc":"2.0","result":` + params + `}`)
			r.quiet()
		}))
	}
}

// Frames that are answered, or ignored, while the stream goes on.
func TestFault_isSurvived(t *testing.T) {
	const (
		invalid3 = `{"error":{"code":-32600,"message":"invalid request"},"id":7,"jsonrpc":"2.0"}`
		invalid4 = `{"error":{"code":-32600,"message":"Invalid Request"},"id":7,"jsonrpc":"2.0"}`
		null4    = `{"error":{"code":-32600,"message":"Invalid Request"},"id":null,"jsonrpc":"2.0"}`
		parse4   = `{"error":{"code":-32700,"message":"Parse error"},"id":null,"jsonrpc":"2.0"}`
	)
	for _, c := range []struct {
		side    frame.Side
		version string
		text    string
		want    string // the answer, or empty
		note    string
	}{
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{},"x":1}`, invalid3, "EXT03-FRAME-009"},
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0","method":"tool/call"}`, invalid3, "params"},
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{},"result":{}}`, invalid3, "method stands beside"},
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`, invalid3, "EXT03-ENV-023"},
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0"}`, invalid3, "neither"},
		{frame.Extension, "0.3", `{"id":null,"jsonrpc":"2.0","method":"tool/call","params":{}}`, "", "an id is"},
		{frame.Extension, "0.3", `{"jsonrpc":"2.0","method":"tool/call","params":{}}`, "", "EXT03-ENV-023"},
		{frame.Extension, "0.3", `{"id":7,"jsonrpc":"2.0","result":null}`, "", "must not be null"},
		{frame.Extension, "0.3", `[]`, "", "a message is"},
		{frame.Extension, "0.3", `{"jsonrpc":"2.0","method":"bus/event","params":{}}`, "", "not open"},
		{frame.Extension, "0.3", `{"jsonrpc":"2.0","method":"no/such","params":{}}`, "", "not open"},
		{frame.Extension, "0.4", `nonsense`, parse4, "EXT04-FRAME-011"},
		{frame.Extension, "0.4", `[1]`, null4, "a message is"},
		{frame.Extension, "0.4", `{"id":7,"jsonrpc":"1.0","method":"tool/call"}`, invalid4, "jsonrpc"},
		{frame.Extension, "0.4", `{"id":7,"jsonrpc":"2.0","method":7}`, invalid4, "a method is"},
		{frame.Extension, "0.4", `{"jsonrpc":"2.0","method":"no/such"}`, "", "not open"},
		{frame.Extension, "0.4", `{"id":7,"jsonrpc":"2.0","result":{}}`, "", "names no call"},
		{frame.Host, "0.4", `{"id":7,"jsonrpc":"2.0","result":{}}`, "", "EXT04-ENV-004"},
		{frame.Host, "0.4", `{"id":null,"jsonrpc":"2.0","result":{}}`, "", "EXT04-ENV-003"},
		{frame.Host, "0.4", `{"jsonrpc":"2.0","method":"no/such"}`, "", "EXT04-ORDER-005"},
		{frame.Host, "0.4", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, "", "names no call"},
		{frame.Host, "0.4", `{"id":7,"jsonrpc":"1.0","method":"input/request"}`, invalid4, "jsonrpc"},
	} {
		t.Run(fmt.Sprintf("%v %s %.60s", c.side, c.version, c.text), in(func(t *testing.T) {
			r := newRig(t, c.side, c.version, Options{Handle: echo})
			r.send(c.text)
			if c.want != "" {
				r.want(c.want)
			}
			r.noted("remote", c.note)
			if err := r.conn.Err(); err != nil {
				t.Fatalf("ended with %v", err)
			}
			r.quiet()
		}))
	}
}

func TestFault_malformedAnswerFailsItsCall(t *testing.T) {
	for _, version := range featureVersions {
		for _, text := range []string{
			`{"id":@,"jsonrpc":"2.0","result":{},"error":{"code":1,"message":"x"}}`,
			`{"id":@,"jsonrpc":"1.0","result":{}}`,
			`{"id":@,"jsonrpc":"2.0","error":"boo"}`,
			`{"id":@,"jsonrpc":"2.0","error":{"code":"1","message":"x"}}`,
			`{"id":@,"result":{}}`,
		} {
			t.Run("EXT04-ENV-017 "+version+" "+text, in(func(t *testing.T) {
				r := newRig(t, frame.Host, version, Options{})
				a, b := r.call(t.Context(), toolCall), r.call(t.Context(), toolCall)
				r.want(firstCall, secondCall)
				for _, nobody := range []string{"3", "null", `"1"`, "1.5"} {
					r.send(strings.Replace(text, "@", nobody, 1))
				}
				r.noted("invalid message", "remote")
				r.diagnosed(4)
				r.send(strings.Replace(text, "@", "1", 1))
				<-a.done
				var e *ProtocolError
				if !errors.As(a.err, &e) || e.Blame != Remote || e.Rule == "" {
					t.Errorf("the call gives %v, want a remote fault", a.err)
				}
				r.diagnosed(5)
				r.send(`{"id":2,"jsonrpc":"2.0","result":{}}`)
				b.gives(`{}`)
				r.quiet()
			}))
		}
	}
}

func TestFault_messageThatMayBeAnAnswerFailsTheCallItNames(t *testing.T) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"method":"notification","result":{}}`} {
		t.Run("EXT04-ENV-017 "+text, in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.4", Options{})
			p := r.call(t.Context(), toolCall)
			r.want(firstCall)
			r.send(text)
			<-p.done
			var e *ProtocolError
			if !errors.As(p.err, &e) || e.Blame != Remote || e.Rule == "" {
				t.Errorf("the call gives %v, want a remote fault", p.err)
			}
			r.send(text)
			r.want(`{"error":{"code":-32600,"message":"Invalid Request"},"id":1,"jsonrpc":"2.0"}`)
			r.quiet()
		}))
	}
}

func TestFault_nothingBehindARefusedFrameIsLookedAt(t *testing.T) {
	for name, side := range map[string]frame.Side{"EXT03-READ-031": frame.Host, "extension": frame.Extension} {
		for _, refused := range []string{`{"a": 1}`, "{}\r", "", strings.Repeat("x", 1<<10)} {
			t.Run(fmt.Sprintf("%s %.10q", name, refused), in(func(t *testing.T) {
				served := 0
				r := newRig(t, side, "0.3", Options{Handle: func(context.Context, *Request) (Value, error) {
					served++
					return Raw(`{}`), nil
				}})
				r.conn.Install(Session{MaxFrameBytes: 500})
				r.send(refused, request, `{"id":8,"jsonrpc":"2.0","method":"theme/select","params":{}}`)
				if err := r.ended(); err == nil {
					t.Error("ended well")
				}
				if served != 0 {
					t.Errorf("%d requests behind a refused frame were served", served)
				}
			}))
		}
	}
}

func TestShutdown_hostIgnoresWhatFollows(t *testing.T) {
	for version, rule := range map[string]string{"0.3": "EXT03-SHUT-011", "0.4": "EXT04-SHUT-007"} {
		t.Run(version, in(func(t *testing.T) {
			notices := 0
			r := newRig(t, frame.Host, version, Options{Handle: echo, Notice: func(*Notice) { notices++ }})
			first := r.call(t.Context(), toolCall)
			r.want(firstCall)
			down := r.call(t.Context(), Call{Method: "shutdown", Params: Raw(`{}`)})
			r.want(`{"id":2,"jsonrpc":"2.0","method":"shutdown","params":{}}`)
			r.send(`{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`)
			r.send(`{"jsonrpc":"2.0","method":"notification","params":{}}`)
			r.send(`{"id":1,"jsonrpc":"2.0","result":1}`, `{"id":2,"jsonrpc":"2.0","result":{}}`)
			first.gives("1")
			down.gives(`{}`)
			r.noted(rule, "behind shutdown")
			if notices != 0 {
				t.Errorf("%d notices were delivered behind shutdown", notices)
			}
			r.quiet()
		}))
	}
}

// EXT03-LIMIT-007: the bounds of the profiles, and what they do, with lower ones in their place.
func TestServe_hostBoundsWhatOneExtensionAsks(t *testing.T) {
	for _, version := range []string{"0.1", "0.2", "0.3", "0.4"} {
		if p := profile(t, frame.Host, version); p.MaxServed != 128 || p.MaxIDs != 65536 {
			t.Errorf("API %s: %d requests at once and %d ids, want 128 and 65536", version, p.MaxServed, p.MaxIDs)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{Handle: func(context.Context, *Request) (Value, error) { return Raw(`{}`), nil }})
		p := *r.conn.profile
		p.MaxIDs = 2
		r.conn.Install(Session{Profile: &p, Open: []string{"theme/select"}})
		ask := func(id string) { r.send(`{"id":"` + id + `","jsonrpc":"2.0","method":"theme/select","params":{}}`) }
		ask("a")
		r.want(`{"id":"a","jsonrpc":"2.0","result":{}}`)
		ask("a")
		r.want(`{"error":{"code":-32600,"message":"invalid request"},"id":"a","jsonrpc":"2.0"}`)
		r.noted("EXT03-ENV-025")
		ask("b")
		r.want(`{"id":"b","jsonrpc":"2.0","result":{}}`)
		ask("c")
		if f, err := r.in.Next(); err != nil || !strings.Contains(string(f), "resource exhausted") {
			t.Errorf("a third id: %s, %v", f, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newOpeningRig(t, frame.Host, "0.4", Options{Handle: func(context.Context, *Request) (Value, error) {
			<-release
			return Raw(`{}`), nil
		}})
		p := *r.conn.profile
		p.MaxServed = 2
		p.methods = map[string]*wirejson.Method{"input/request": {Name: "input/request", Direction: wirejson.ExtensionToHost}}
		r.conn.Install(Session{Profile: &p, Open: []string{"input/request"}})
		for n := range 3 {
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c-%d","method":"input/request"}`, n))
		}
		r.want(`{"error":{"code":-32602,"message":"bounds_exceeded too many requests"},"id":"c-2","jsonrpc":"2.0"}`)
		close(release)
		synctest.Wait()
		p.MaxIDs = 3
		r.send(`{"jsonrpc":"2.0","id":"c-3","method":"input/request"}`)
		for range 2 {
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		r.want(`{"error":{"code":-32602,"message":"bounds_exceeded too many requests"},"id":"c-3","jsonrpc":"2.0"}`)
		r.quiet()
	})
}

func TestProtocolError_namesBlameCauseAndRule(t *testing.T) {
	e := &ProtocolError{Rule: "EXT03-ENV-002", Blame: Remote, Text: "malformed frame", Err: errors.New("because")}
	if got, want := e.Error(), "remote protocol error: malformed frame: because (EXT03-ENV-002)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := (&ProtocolError{Blame: Local, Text: "x"}).Error(), "local protocol error: x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A side that floods and never reads is cut off, in bounded memory.
func TestFault_floodOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Extension, "0.4", Options{})
		ended := make(chan error, 1)
		go func() { ended <- r.conn.Wait() }()
		for range 10000 {
			if _, err := r.bytes.Write([]byte(`{"id":1,"jsonrpc":"2.0","method":"no/such"}` + "\n")); err != nil {
				break
			}
		}
		select {
		case err := <-ended:
			var e *ProtocolError
			if !errors.As(err, &e) || e.Blame != Remote {
				t.Errorf("ended with %v, want a remote fault", err)
			}
		case <-time.After(time.Minute):
			t.Error("ten thousand unread refusals, and the connection lives")
		}
	})
}
