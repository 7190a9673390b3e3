package peer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
)

// newServingRig is newRig of a host on the feature wire that takes input/request and answers it with its
// params: the core has no request from an extension to a host there.
func newServingRig(t *testing.T, version string, o Options) *rig {
	t.Helper()
	if o.Handle == nil {
		o.Handle = echo
	}
	r := newOpeningRig(t, frame.Host, version, o)
	p := *r.conn.profile
	p.methods = maps.Clone(p.methods)
	p.methods["input/request"] = &wirejson.Method{Name: "input/request", Direction: wirejson.ExtensionToHost}
	r.conn.Install(Session{Profile: &p, Open: []string{"input/request", "tool/call", "shutdown", "$/cancelRequest", "notification"}})
	return r
}

// diagnosed waits for quiet and wants so many diagnostics in all.
func (r *rig) diagnosed(n int) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.notes) != n {
		r.t.Errorf("%d diagnostics, want %d: %q", len(r.notes), n, r.notes)
	}
}

func TestHostAnswers_eachRequestOnceUnderItsID(t *testing.T) {
	for _, version := range featureVersions {
		t.Run("EXT04-ENV-015 "+version, in(func(t *testing.T) {
			r := newServingRig(t, version, Options{})
			for _, id := range [][2]string{ // as sent, as answered
				{"0", "0"},
				{`"0"`, `"0"`},
				{"18446744073709551615", "18446744073709551615"},
				{`"c-1"`, `"c-1"`},
				{`"\u0063-2\/\n\u00e9"`, `"c-2/\né"`},
				{`"` + strings.Repeat("x", 256) + `"`, `"` + strings.Repeat("x", 256) + `"`},
			} {
				r.send(`{"jsonrpc":"2.0","method":"input/request","params":{"a":1},"id":` + id[0] + `}`)
				r.want(`{"id":` + id[1] + `,"jsonrpc":"2.0","result":{"a":1}}`)
			}
			r.send(`{"jsonrpc":"2.0","method":"no/such","id":"no"}`)
			r.want(`{"error":{"code":-32601,"message":"unsupported_feature no/such"},"id":"no","jsonrpc":"2.0"}`)
			r.send(`{"jsonrpc":"2.0","method":7,"id":"bad"}`)
			r.want(`{"error":{"code":-32600,"message":"Invalid Request"},"id":"bad","jsonrpc":"2.0"}`)
			r.send( // none of the following is a request
				`{"jsonrpc":"2.0","method":"notification","params":{"message":"hi"}}`,
				`{"jsonrpc":"2.0","method":"notification","params":7}`,
				`{"jsonrpc":"2.0","method":"no/such","params":{}}`,
				`{"jsonrpc":"2.0","method":"input/request","params":{}}`,
				`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-1"}}`,
				`{"jsonrpc":"2.0","method":7}`,
			)
			synctest.Wait()
			if err := r.conn.Err(); err != nil {
				t.Errorf("the connection ended with %v", err)
			}
			r.quiet()
		}))
	}
}

func TestHostAnswers_strayResponsesAreIgnored(t *testing.T) {
	for _, version := range featureVersions {
		t.Run("EXT04-ENV-016 "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			a, b := r.call(t.Context(), toolCall), r.call(t.Context(), toolCall)
			r.want(firstCall, secondCall)
			r.send(
				`{"id":3,"jsonrpc":"2.0","result":"never issued"}`,
				`{"id":"1","jsonrpc":"2.0","result":"the id of the call is no string"}`,
				`{"error":{"code":-32603,"message":"never issued"},"id":0,"jsonrpc":"2.0"}`,
			)
			r.noted("EXT04-ENV-004 remote response that names no call in flight ignored")
			r.diagnosed(3)
			r.send(`{"id":1,"jsonrpc":"2.0","result":"a"}`)
			a.gives(`"a"`)
			r.send(`{"id":1,"jsonrpc":"2.0","result":"settled"}`, `{"error":{"code":-32603,"message":"settled"},"id":1,"jsonrpc":"2.0"}`)
			r.diagnosed(5)
			r.send(`{"id":2,"jsonrpc":"2.0","result":"b"}`)
			b.gives(`"b"`)
			r.quiet()
		}))
	}
}

// A response to an id that is free again, or was never taken, ends the stream, unless the call was
// abandoned: see TestTombstone.
func TestHostAnswers_strayResponsesEndTheCanonicalStream(t *testing.T) {
	for name, text := range map[string]string{
		"never issued": `{"id":2,"jsonrpc":"2.0","result":{}}`,
		"settled":      `{"id":1,"jsonrpc":"2.0","result":{}}`,
		"of that text": `{"error":{"code":-32603,"message":"internal error"},"id":"1","jsonrpc":"2.0"}`,
	} {
		t.Run("EXT03-ENV-021 "+name, in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.3", Options{})
			k := r.call(t.Context(), toolCall)
			r.want(firstCall)
			r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`, text)
			k.gives(`{}`)
			r.endedBy("EXT03-ORDER-007", Remote)
		}))
	}
}

func TestHostAnswers_usedIDsAreRefused(t *testing.T) {
	for _, version := range featureVersions {
		t.Run("EXT04-ENV-018 "+version, in(func(t *testing.T) {
			release := make(chan struct{})
			r := newServingRig(t, version, Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
				if q.ID.String() == `"slow"` {
					<-release
				}
				return echo(ctx, q)
			}})
			ask := func(id string) { r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"input/request","params":{}}`) }
			refused := func(id string) {
				t.Helper()
				r.want(`{"error":{"code":-32600,"message":"Invalid Request"},"id":` + id + `,"jsonrpc":"2.0"}`)
			}
			ask(`"slow"`)
			ask(`"slow"`) // outstanding
			refused(`"slow"`)
			ask(`5`)
			r.want(`{"id":5,"jsonrpc":"2.0","result":{}}`)
			ask(`5`) // answered with a result
			refused(`5`)
			r.send(`{"jsonrpc":"2.0","id":6,"method":"no/such"}`)
			r.want(`{"error":{"code":-32601,"message":"unsupported_feature no/such"},"id":6,"jsonrpc":"2.0"}`)
			ask(`6`) // refused before
			refused(`6`)
			ask(`"6"`) // another id
			r.want(`{"id":"6","jsonrpc":"2.0","result":{}}`)
			close(release)
			r.want(`{"id":"slow","jsonrpc":"2.0","result":{}}`)
			ask(`"slow"`)
			refused(`"slow"`)
			r.noted("EXT04-ENV-010", "remote")
			r.quiet()
		}))
	}
}

// TestHostAnswers_unsupportedFeature: EXT04-ORDER-009, and EXT04-BUS-001: a method of the event bus is as
// unknown on this wire as no/such.
func TestHostAnswers_unsupportedFeature(t *testing.T) {
	methods := []string{"input/request", "artifact/publish", "tool/call", "initialize", "no/such"}
	for _, version := range featureVersions {
		t.Run("EXT04-ORDER-009 "+version, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Host, version, Options{Handle: echo})
			n := 0
			ask := func() {
				t.Helper()
				for _, method := range methods {
					n++
					r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c-%d","method":%q,"params":{}}`, n, method))
					r.want(fmt.Sprintf(`{"error":{"code":-32601,"message":"unsupported_feature %s"},"id":"c-%d","jsonrpc":"2.0"}`, method, n))
				}
			}
			ask() // before initialize is sent
			k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func([]byte) error {
				r.conn.Install(Session{Open: []string{"tool/call", "notification"}})
				return nil
			}})
			r.want(initCall)
			ask() // before it is answered
			r.send(initAnswer)
			k.gives(`{"ok":1}`)
			ask() // what was not negotiated
			k = r.call(t.Context(), toolCall)
			r.want(secondCall)
			r.send(`{"id":2,"jsonrpc":"2.0","result":{}}`)
			k.gives(`{}`)
			r.quiet()
		}))
	}
}

// TestHostAnswers_unknownMethod: EXT03-ERR-011 by the data, EXT03-METHOD-012 by the deferred one.
func TestHostAnswers_unknownMethod(t *testing.T) {
	t.Run("EXT03-METHOD-006", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{Handle: echo})
		for n, method := range []string{
			"no/such",        // unknown
			"tool/call",      // of the other direction
			"bus/publish",    // not selected
			"tools/register", // deferred
			"initialize", "shutdown",
		} {
			r.send(fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":%q,"params":{}}`, n, method))
			r.want(fmt.Sprintf(`{"error":{"code":-32601,"data":{"method":%q},"message":"unknown or unnegotiated method"},"id":%d,"jsonrpc":"2.0"}`, method, n))
		}
		r.send(`{"id":"open","jsonrpc":"2.0","method":"theme/select","params":{"a":1}}`)
		r.want(`{"id":"open","jsonrpc":"2.0","result":{"a":1}}`)
		k := r.call(t.Context(), toolCall)
		r.want(firstCall)
		r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
		k.gives(`{}`)
		r.quiet()
	}))
}

// The one table of errors, and what comes along with one.
func TestHostAnswers_errorData(t *testing.T) {
	for _, c := range []struct {
		binds, code, data string // data as a member, or empty
		want              string // of Error.Data; "-" is absent
	}{
		{"EXT03-ERR-009", `-32603`, ``, "-"},
		{"EXT03-ERR-009", `-32603`, `"data":null,`, "null"},
		{"EXT03-ERR-010", `-32800`, ``, "-"},
		{"EXT03-ERR-010", `-32800`, `"data":null,`, "null"},
		{"EXT03-ERR-010", `-32800`, `"data":7,`, "7"},
		{"EXT03-ERR-010", `-32800`, `"data":"user",`, `"user"`},
		{"EXT03-ERR-010", `-32800`, `"data":[],`, "[]"},
		{"EXT03-ERR-010", `-32800`, `"data":{"reason":7,"terminal":"done","x":[null]},`, `{"reason":7,"terminal":"done","x":[null]}`},
	} {
		t.Run(c.binds+" "+c.data, in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.3", Options{})
			ctx, stop := context.WithCancelCause(t.Context())
			k := r.call(ctx, toolCall)
			r.want(firstCall)
			message := "internal error"
			if c.code == "-32800" {
				message = "request cancelled"
				stop(Reason("user"))
				r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"user"}}`)
			}
			r.send(`{"error":{"code":` + c.code + `,` + c.data + `"message":"` + message + `"},"id":1,"jsonrpc":"2.0"}`)
			<-k.done
			var e *Error
			if !errors.As(k.err, &e) || fmt.Sprint(e.Code) != c.code || IsCancelled(k.err) != (c.code == "-32800") {
				t.Fatalf("the call gives %v", k.err)
			}
			if got := string(e.Data); e.Data == nil && c.want != "-" || e.Data != nil && got != c.want {
				t.Errorf("data %q (absent: %v), want %s", got, e.Data == nil, c.want)
			}
			k = r.call(t.Context(), toolCall)
			r.want(secondCall)
			r.send(`{"id":2,"jsonrpc":"2.0","result":{}}`)
			k.gives(`{}`)
			r.quiet()
			stop(nil)
		}))
	}
}
