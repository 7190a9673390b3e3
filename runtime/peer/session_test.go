package peer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/runtime/frame"
)

const (
	initCall   = `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{}}`
	initAnswer = `{"id":1,"jsonrpc":"2.0","result":{"ok":1}}`
)

func TestInstall_appliesToBufferedBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.3", Options{})
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func(result []byte) error {
			if string(result) != `{"ok":1}` {
				t.Errorf("installing %s", result)
			}
			r.conn.Install(Session{Open: []string{"theme/select"}, MaxFrameBytes: 50})
			return nil
		}})
		r.want(initCall)
		// One write, so that the second frame lies in the buffer when the bound changes.
		r.sendRaw(initAnswer + "\n" + `{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}` + "\n")
		k.gives(`{"ok":1}`)
		r.endedBy("EXT03-FRAME-005", Remote)
	})
}

func TestInstall_errorEndsTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: echo})
		no := errors.New("no common ground")
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func([]byte) error { return no }})
		r.want(initCall)
		r.send(initAnswer, `{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`)
		k.fails(no)
		if err := r.ended(); err != no {
			t.Errorf("ended with %v, want %v", err, no)
		}
	})
}

func TestInstall_otherWirePanics(t *testing.T) {
	c := New(Options{Profile: CanonicalProfile(frame.Host), Source: nopSource{}, Sink: nopSink{}})
	defer func() {
		if recover() == nil {
			t.Error("a session of another side must panic")
		}
	}()
	c.Install(Session{Profile: CanonicalProfile(frame.Extension)})
}

type (
	nopSource struct{}
	nopSink   struct{}
)

func (nopSource) Next() ([]byte, error)   { return nil, errors.New("nothing") }
func (nopSource) SetBound(int)            {}
func (nopSink) Check([]byte) error        { return nil }
func (nopSink) WriteFrame(p []byte) error { return nil }
func (nopSink) SetBound(int)              {}

func TestNew_wantsItsParts(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New without a source must panic")
		}
	}()
	New(Options{Profile: CanonicalProfile(frame.Host), Sink: nopSink{}})
}

func TestOpening_hostAcceptsNothingButTheAnswer(t *testing.T) {
	for _, text := range []string{
		`{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`,
		`{"jsonrpc":"2.0","method":"provider/event","params":{}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`,
		`{"id":"c-1","jsonrpc":"2.0","method":"no/such","params":{}}`,
		`{"jsonrpc":"2.0","method":"no/such","params":{}}`,
	} {
		t.Run("EXT03-ORDER-009 "+text, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: echo})
			k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`)})
			r.want(initCall)
			r.send(text, initAnswer)
			r.endedBy("EXT03-ORDER-002", Remote)
			<-k.done
			if k.err == nil {
				t.Error("initialize succeeded")
			}
		}))
		t.Run("EXT03-ORDER-009 before initialize "+text, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: echo})
			r.send(text)
			r.endedBy("EXT03-ORDER-002", Remote)
		}))
	}
	t.Run("feature wire", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.4", Options{Handle: echo})
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`)})
		r.want(initCall)
		r.send(`{"id":"c-1","jsonrpc":"2.0","method":"input/request","params":{}}`, `{"jsonrpc":"2.0","method":"notification","params":{"message":"x"}}`)
		r.want(`{"error":{"code":-32601,"message":"unsupported_feature input/request"},"id":"c-1","jsonrpc":"2.0"}`)
		r.noted("EXT04-ORDER-001")
		r.send(initAnswer)
		k.gives(`{"ok":1}`)
		r.quiet()
	}))
}

func TestOpening_hostSendsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.4", Options{})
		var e *ProtocolError
		for range 2 {
			k := r.call(t.Context(), toolCall)
			<-k.done
			if !errors.As(k.err, &e) || e.Blame != Local {
				t.Errorf("a call before initialize gives %v", k.err)
			}
			r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`)})
		}
		r.want(initCall)
		r.quiet()
	})
}

// initializer serves initialize as an SDK does, and everything else as echo.
func initializer(ctx context.Context, q *Request) (Value, error) {
	if q.Method != "initialize" {
		return echo(ctx, q)
	}
	if string(q.Params) == `{"bad":1}` {
		q.Final()
		return nil, &Error{Code: -32602}
	}
	q.BeforeAnswer(func() {
		q.Conn().Install(Session{Open: []string{"tool/call", "$/cancelRequest"}, MaxFrameBytes: 100, MaxConcurrent: 2})
	})
	return Raw(`{"ok":1}`), nil
}

func TestOpening_extension(t *testing.T) {
	for _, version := range []string{"0.3", "0.4"} {
		t.Run(version, in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Extension, version, Options{Handle: initializer})
			r.send(initCall)
			r.want(initAnswer)
			r.send(request)
			r.want(`{"id":7,"jsonrpc":"2.0","result":{"name":"t"}}`)
			r.send(`{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"name":"` + strings.Repeat("x", 100) + `"}}`)
			if err := r.ended(); err == nil || !strings.Contains(err.Error(), "bound of 100 bytes") {
				t.Errorf("ended with %v, want the installed bound to hold", err)
			}
		}))
		t.Run(version+" refused", in(func(t *testing.T) {
			r := newOpeningRig(t, frame.Extension, version, Options{Handle: initializer})
			r.send(`{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"bad":1}}`, request)
			got, err := r.in.Next()
			if err != nil || !strings.Contains(string(got), "-32602") {
				t.Errorf("got %s, %v", got, err)
			}
			if err := r.ended(); err != nil {
				t.Errorf("ended with %v, want nil behind a final answer", err)
			}
		}))
	}
}

func TestOpening_extensionRefusesOtherRequests(t *testing.T) {
	t.Run("0.3", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.3", Options{Handle: initializer})
		r.send(request, initCall)
		r.want(`{"error":{"code":-32601,"data":{"method":"tool/call"},"message":"unknown or unnegotiated method"},"id":7,"jsonrpc":"2.0"}`)
		r.endedBy("EXT03-METHOD-008", Remote)
	}))
	t.Run("0.3 invalid", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.3", Options{Handle: initializer})
		r.send(`{"id":7,"jsonrpc":"2.0","method":"initialize"}`, initCall)
		r.want(`{"error":{"code":-32600,"message":"invalid request"},"id":7,"jsonrpc":"2.0"}`)
		r.endedBy("EXT03-FRAME-009", Remote)
	}))
	t.Run("0.4", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.4", Options{Handle: initializer})
		r.send(request)
		r.want(`{"error":{"code":-32600,"message":"initialize must be the first request"},"id":7,"jsonrpc":"2.0"}`)
		r.send(initCall)
		r.want(initAnswer)
		r.quiet()
	}))
}

func TestOpening_secondInitialize(t *testing.T) {
	t.Run("0.3", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.3", Options{Handle: initializer})
		r.send(initCall)
		r.want(initAnswer)
		r.send(strings.Replace(initCall, "1", "2", 1))
		r.want(`{"error":{"code":-32600,"message":"invalid request"},"id":2,"jsonrpc":"2.0"}`)
		if err := r.ended(); err == nil {
			t.Error("ended well, want the refusal")
		}
	}))
	t.Run("0.4", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Extension, "0.4", Options{Handle: initializer})
		r.send(initCall)
		r.want(initAnswer)
		r.send(strings.Replace(initCall, "1", "2", 1))
		r.want(`{"error":{"code":-32600,"message":"initialize must be the first request"},"id":2,"jsonrpc":"2.0"}`)
		r.send(request)
		r.want(`{"id":7,"jsonrpc":"2.0","result":{"name":"t"}}`)
		r.quiet()
	}))
}

// What an extension sends right behind its initialize answer is open already, and so is what the host
// sends when it has seen the answer.
func TestOpening_installPrecedesTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		r = newOpeningRig(t, frame.Extension, "0.4", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			q.BeforeAnswer(func() {
				q.Conn().Install(Session{Open: []string{"notification"}})
				go func() { _ = r.conn.Notify(context.Background(), "notification", Raw(`{"message":"hi"}`)) }()
			})
			return Raw(`{"ok":1}`), nil
		}})
		r.send(initCall)
		got := map[string]bool{}
		for range 2 {
			f, err := r.in.Next()
			if err != nil {
				t.Fatal(err)
			}
			got[string(f)] = true
		}
		if !got[initAnswer] || !got[`{"jsonrpc":"2.0","method":"notification","params":{"message":"hi"}}`] {
			t.Errorf("got %v", got)
		}
	})
}

func TestProfile_tables(t *testing.T) {
	if tokenUnsupported != "unsupported_feature" || tokenBounds != "bounds_exceeded" {
		t.Errorf("message tokens %q, %q", tokenUnsupported, tokenBounds)
	}
	if p := CanonicalProfile(frame.Host); p.Grace.String() != "2s" || p.TombstoneLife.String() != "30s" || p.MaxTombstones != 512 {
		t.Errorf("canonical deadlines %v, %v, %d", p.Grace, p.TombstoneLife, p.MaxTombstones)
	}
	if _, err := FeatureProfile(frame.Host, "0.3"); err == nil {
		t.Error("0.3 is no version of the feature wire")
	}
	p, err := FeatureProfile(frame.Host, "0.1")
	if err != nil || p.Cancel != "" || p.Method("$/cancelRequest") != nil || p.Method("tool/call") == nil {
		t.Errorf("0.1: %+v, %v", p, err)
	}
}
