package oup

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// asking runs a request while the test answers it.
func asking(call func() error) chan error {
	got := make(chan error, 1)
	go func() { got <- call() }()
	return got
}

func TestHello_asksForEverythingKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, dials: make(chan *peer)}
		made := asking(func() (err error) {
			s.client, err = connect(t.Context(), Options{Name: "lab"}, oupwire.TransportWebsocket, s.dial)
			return err
		})
		p := <-s.dials
		var hello struct {
			ID     string
			Params struct {
				Transport string
				Client    struct{ Name string }
				Features  []string `json:"supported_features"`
			}
		}
		if err := json.Unmarshal(<-p.up, &hello); err != nil {
			t.Fatal(err)
		}
		asked := hello.Params
		if asked.Transport != "websocket" || asked.Client.Name != "lab" || !slices.Contains(asked.Features, oupwire.FeatureProjectionEnvelopeV2) || len(asked.Features) < 20 {
			t.Errorf("asked for %+v", asked)
		}
		p.answer(request{ID: hello.ID}, `{"type":"server_hello","transport":"websocket","client_transport":null,"client":null,"capabilities":`+caps+`}`)
		if err := <-made; err != nil {
			t.Fatal(err)
		}
		if c := s.client.Capabilities(); c.Version.Protocol != "octos-ui/v1alpha1" {
			t.Errorf("capabilities %+v", c)
		}
		_ = s.client.Close()
	})
}

func TestHello_refusesAnotherProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*peer, request)
		fits   func(error) bool
	}{
		"another protocol": {
			func(p *peer, r request) {
				p.answer(r, `{"type":"server_hello","transport":"stdio","client_transport":null,"client":null,"capabilities":`+strings.Replace(caps, "octos-ui/v1alpha1", "octos-ui/v9", 1)+`}`)
			},
			func(err error) bool { return isProtocol(err) && strings.Contains(err.Error(), `"octos-ui/v9"`) },
		},
		"an older schema": {
			func(p *peer, r request) {
				p.answer(r, `{"type":"server_hello","transport":"stdio","client_transport":null,"client":null,"capabilities":`+strings.Replace(caps, `"schema_version":1`, `"schema_version":0`, 1)+`}`)
			},
			func(err error) bool { return isProtocol(err) && strings.Contains(err.Error(), "schema_version is 0") },
		},
		"no result": {func(p *peer, r request) { p.answer(r, `{"capabilities":7}`) }, isProtocol},
		"a refusal": {func(p *peer, r request) { p.refuse(r, -32603, `null`) }, func(err error) bool { var refused *ServerError; return errors.As(err, &refused) }},
		"no answer": {func(*peer, request) {}, func(err error) bool {
			return errors.Is(err, context.DeadlineExceeded) && err.Error() == "client_hello: no answer within 10s; name a command or an address that serves OUP"
		}},
		"the end": {func(p *peer, _ request) { p.end(errCut) }, func(err error) bool { var lost *Disconnected; return errors.As(err, &lost) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{t: t, dials: make(chan *peer)}
				made := asking(func() error {
					_, err := connect(t.Context(), Options{}, oupwire.TransportWebsocket, s.dial)
					return err
				})
				p := <-s.dials
				c.answer(p, p.request(oupwire.MethodClientHello))
				if err := <-made; err == nil || !c.fits(err) {
					t.Errorf("got %v", err)
				}
				<-p.closed
			})
		})
	}
}

func isProtocol(err error) bool { var broken *ProtocolError; return errors.As(err, &broken) }

func TestCall_errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		list := func() error {
			_, err := s.client.Methods.SessionStatusGet(t.Context(), oupwire.SessionStatusGetParams{SessionID: key})
			return err
		}
		got := asking(list)
		p.refuse(p.request(oupwire.MethodSessionStatusGet), oupwire.CodeUnknownSession, `{"kind":"unknown_session","session_id":"local:lab"}`)
		var refused *ServerError
		if err := <-got; !errors.As(err, &refused) || refused.Name != "unknown_session" || refused.Kind != "unknown_session" || refused.Method != oupwire.MethodSessionStatusGet {
			t.Errorf("got %v", err)
		} else if _, typed := refused.Detail.(oupwire.UnknownSessionErrorData); !typed || errors.Is(err, ErrUnsupported) {
			t.Errorf("detail %#v", refused.Detail)
		}
		for _, code := range []int{oupwire.CodeMethodNotFound, oupwire.CodeMethodNotSupported} {
			got = asking(list)
			p.refuse(p.request(oupwire.MethodSessionStatusGet), code, `{"method":"x","reason":"y"}`)
			if err := <-got; !errors.Is(err, ErrUnsupported) {
				t.Errorf("%d: %v", code, err)
			}
		}
		got = asking(list)
		p.answer(p.request(oupwire.MethodSessionStatusGet), `{"unsupported":{"method":"x","reason":"not here"}}`)
		if err := <-got; !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "not here") {
			t.Errorf("got %v", err)
		}
		got = asking(list)
		p.answer(p.request(oupwire.MethodSessionStatusGet), `{"active":3}`)
		if err := <-got; !isProtocol(err) || !strings.Contains(err.Error(), oupwire.MethodSessionStatusGet) {
			t.Errorf("got %v", err)
		}
		got = asking(list)
		p.refuse(p.request(oupwire.MethodSessionStatusGet), -31999, `"odd"`)
		if err := <-got; err == nil || !strings.Contains(err.Error(), "-31999") {
			t.Errorf("got %v", err)
		}
		var broken *wirejson.Violation
		if _, err := s.client.Methods.SessionStatusGet(t.Context(), oupwire.SessionStatusGetParams{}); !errors.As(err, &broken) {
			t.Errorf("params that break their model: %v", err)
		}
		big := map[string]string{"text": strings.Repeat("x", oupwire.MaxTextFrameBytes)}
		if _, err := s.client.Call(t.Context(), "brand/new", big); !errors.Is(err, errTooLarge) {
			t.Errorf("a frame over the bound: %v", err)
		}
		raw := make(chan json.RawMessage, 1)
		got = asking(func() error {
			result, err := s.client.Call(t.Context(), "brand/new", map[string]int{"x": 1})
			raw <- result
			return err
		})
		p.answer(p.request("brand/new"), `{"y":2}`)
		if err := <-got; err != nil || string(<-raw) != `{"y":2}` {
			t.Errorf("a raw call: %v", err)
		}
	})
}

// TestFrames_thatAreNone end the client: what comes behind them cannot be trusted.
func TestFrames_thatAreNone(t *testing.T) {
	for name, frame := range map[string]string{
		"torn":           `{"jsonrpc":"2.0","id":"1","res`,
		"duplicate":      `{"jsonrpc":"2.0","method":"a","method":"b"}`,
		"array":          `[]`,
		"version":        `{"jsonrpc":"1.0","method":"a"}`,
		"empty object":   `{"jsonrpc":"2.0"}`,
		"both":           `{"jsonrpc":"2.0","id":"1","result":{},"error":{"code":1,"message":"m"}}`,
		"method number":  `{"jsonrpc":"2.0","method":1}`,
		"method empty":   `{"jsonrpc":"2.0","method":""}`,
		"id number":      `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"id truth value": `{"jsonrpc":"2.0","id":true,"result":{}}`,
		"id list":        `{"jsonrpc":"2.0","id":["1"],"result":{}}`,
		"id object":      `{"jsonrpc":"2.0","id":{},"result":{}}`,
		"no id":          `{"jsonrpc":"2.0","result":{}}`,
		"error number":   `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`,
		"error no id":    `{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}`,
		"result of null": `{"jsonrpc":"2.0","id":null,"result":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := play(t, Options{})
				got := asking(func() error {
					_, err := s.client.Call(t.Context(), "x", nil)
					return err
				})
				p.request("x")
				p.send(frame)
				var lost *Disconnected
				if err := <-got; !errors.As(err, &lost) || !isProtocol(err) {
					t.Errorf("what waits: %v", err)
				}
				<-s.client.Done()
				if !isProtocol(s.client.Err()) {
					t.Errorf("the end: %v", s.client.Err())
				}
			})
		})
	}
}

// TestFrames_thatBelongToNothing are let go: faults about a frame, answers to what was given up.
func TestFrames_thatBelongToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`)
		p.send(`{"jsonrpc":"2.0","id":"none","result":{}}`)
		for _, id := range []string{`"1"`, `"of the server"`, `7`, `null`} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"client/answers","params":{}}`)
		}
		for _, fault := range []string{`"no"`, `{}`, `{"code":"7","message":7}`, `{"code":1e99,"message":"m"}`, `null`} {
			p.send(`{"jsonrpc":"2.0","id":"none","error":` + fault + `}`)
			p.send(`{"jsonrpc":"2.0","id":null,"error":` + fault + `}`)
			got := asking(func() error {
				_, err := s.client.Call(t.Context(), "failing", nil)
				return err
			})
			p.send(`{"jsonrpc":"2.0","id":"` + p.request("failing").ID + `","error":` + fault + `}`)
			var broken *ProtocolError
			if err := <-got; !errors.As(err, &broken) || broken.Method != "failing" || errors.As(err, new(*Disconnected)) {
				t.Errorf("an answer with the error %s: %v", fault, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := asking(func() error {
			_, err := s.client.Call(ctx, "x", nil)
			return err
		})
		late := p.request("x")
		if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no answer in time: %v", err)
		}
		p.answer(late, `{}`)
		got = asking(func() error {
			_, err := s.client.Call(t.Context(), "x", nil) // without a bound of its own
			return err
		})
		p.request("x")
		if err := <-got; !errors.Is(err, context.DeadlineExceeded) || err.Error() != "x: no answer within 30s; give the context a later deadline, or set Options.Timeout" {
			t.Errorf("no answer in time: %v", err)
		}
		got = asking(func() error {
			_, err := s.client.Call(t.Context(), "y", nil)
			return err
		})
		p.answer(p.request("y"), `{}`)
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// TestBackPressure: what nobody reads waits, and then nothing more is taken off the connection; nothing is dropped.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{Queue: 4})
		session := s.open(p, 1, OpenOptions{Listen: true})
		sent := 0
		go func() {
			for n := range int64(100) {
				p.delta(2+n, 1+n, "x")
				sent++
			}
		}()
		synctest.Wait()
		if sent > 10 {
			t.Errorf("%d events are taken while nobody reads, the queue has room for 4", sent)
		}
		events := s.read(session.Events(t.Context()))
		synctest.Wait()
		if count := strings.Count(events.text(), "+x"); count != 100 {
			t.Errorf("%d events came, want 100", count)
		}
	})
}

func TestOpen_twice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		s.open(p, 1, OpenOptions{})
		got := asking(func() error {
			_, err := s.client.Open(t.Context(), key, OpenOptions{})
			return err
		})
		p.opened(2)
		p.opened(3) // the first one again, whose events the second opening has led away
		if err := <-got; err == nil || !strings.Contains(err.Error(), "open already") {
			t.Errorf("got %v", err)
		}
	})
}

func TestPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := play(t, Options{})
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if frame := string(<-p.up); !strings.Contains(frame, `"method":"ping"`) || strings.Contains(frame, `"id"`) {
			t.Errorf("after 30 s it says %s", frame)
		}
	})
}
