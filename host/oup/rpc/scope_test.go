package rpc_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// TestHandle_saysInTheKindWhichMemberIsWrong: rows of service_param_refusals.
func TestHandle_saysInTheKindWhichMemberIsWrong(t *testing.T) {
	handlers := map[string]rpc.Handler{
		oupwire.MethodOnboardingWorkspaceProbe: rpc.Handle(oupwire.DecodeOnboardingWorkspaceProbeParams, nothing[oupwire.OnboardingWorkspaceProbeParams]),
		oupwire.MethodPeerToolsRegister:        rpc.Handle(oupwire.DecodePeerToolsRegisterParams, nothing[oupwire.PeerToolsRegisterParams]),
	}
	c := connect(t, options(handlers), nil)
	for params, want := range map[string]string{
		oupwire.MethodOnboardingWorkspaceProbe + ` {"path":" "}`:                                                   `"kind":"workspace_probe_invalid_path","method":"onboarding/workspace_probe","pointer":"/path","reason":"empty"`,
		oupwire.MethodPeerToolsRegister + ` {"session_id":"s","host_token":"t","if_version":0,"tools":7}`:          `"kind":"peer_tools_invalid"`,
		oupwire.MethodPeerToolsRegister + ` {"session_id":"s","host_token":"t","if_version":0,"tools":[7]}`:        `"kind":"peer_tools_invalid"`,
		oupwire.MethodPeerToolsRegister + ` {"session_id":7,"tools":[]}`:                                           `{"method":"peer/tools/register","pointer":"/session_id"`,
		oupwire.MethodPeerToolsRegister + ` {"session_id":"s","host_token":"t","if_version":0,"tools":[{"a":[]}]}`: `"pointer":"/tools/0`,
	} {
		method, params, _ := strings.Cut(params, " ")
		c.send(`{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`)
		if _, failure := c.failure(); !strings.Contains(string(failure.Data.Or(nil)), want) {
			t.Errorf("%s %s gives %s, want %s", method, params, failure.Data.Or(nil), want)
		}
	}
}

func nothing[P any](context.Context, *rpc.Call, P) (wirejson.Encoder, error) {
	return wirejson.Raw("{}"), nil
}

// TestOptions_closeAndAdmit: a closed request is refused as it says, and listed; an admitted one has its scope.
func TestOptions_closeAndAdmit(t *testing.T) {
	o := options(handler(func(_ context.Context, call *rpc.Call, _ oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		return wirejson.Raw(`"` + call.Scope.Profile + `"`), nil
	}))
	o.Closed = func(transport.Info) map[string]negotiation.Refusal {
		return map[string]negotiation.Refusal{oupwire.MethodSessionOpen: {Error: oupwire.ErrInvalidRequest, Reason: "is closed today"}}
	}
	refused := rpc.Fail(oupwire.ErrInvalidParams, "not admitted")
	o.Admit = func(_ context.Context, call *rpc.Call, params []byte) error {
		call.Scope.Profile = "somebody"
		if strings.Contains(string(params), "forbidden") {
			return refused
		}
		return nil
	}
	c := connect(t, o, nil)
	c.send(titleSet("1", "t"))
	c.want(`{"id":"1","jsonrpc":"2.0","result":"somebody"}`)
	c.send(titleSet("2", "forbidden"))
	if _, failure := c.failure(); failure.Message != "not admitted" {
		t.Errorf("refused with %+v", failure)
	}
	c.send(`{"jsonrpc":"2.0","id":"3","method":"session/open","params":7}`)
	if _, failure := c.failure(); failure.Code != oupwire.CodeInvalidRequest || !failure.Data.IsAbsent() {
		t.Errorf("a closed request gives %+v", failure)
	}
	c.send(`{"jsonrpc":"2.0","id":"4","method":"config/capabilities/list","params":{}}`)
	if text, err := c.Read(); err != nil || !strings.Contains(string(text), `{"method":"session/open","reason":"is closed today"}`) {
		t.Errorf("listed is %s, %v", text, err)
	}
}

// TestServe_asksWhetherACredentialHolds: OUP-INGRESS-004.
func TestServe_asksWhetherACredentialHolds(t *testing.T) {
	d, err := rpc.New(options(handler(echo)))
	if err != nil {
		t.Fatal(err)
	}
	holds := true
	near, far := transport.Pipe(transport.Info{Transport: oupwire.TransportWebsocket, Features: []string{oupwire.FeatureAuxiliaryRestToWsV1}, Identity: transport.Identity{Name: "x", Holds: func() bool { return holds }}})
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(t.Context(), near, nil) }()
	c := &client{t: t, Memory: far}
	c.send(titleSet("1", "t"))
	c.want(`{"id":"1","jsonrpc":"2.0","result":"t"}`)
	holds = false
	c.send(titleSet("2", "t"))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if reason, closed := far.Closed(); !closed || reason != transport.AuthExpired {
		t.Errorf("closed %v with %v", closed, reason)
	}
}

// TestDeliver_waitsForAReaderAndNotForEver: OUP-QUEUE-001 to OUP-QUEUE-003; behind the patience nobody waits until the
// client reads again.
func TestDeliver_waitsForAReaderAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(nil)
		o.Outbox.Frames, o.Patience = 2, time.Minute
		d, err := rpc.New(o)
		if err != nil {
			t.Fatal(err)
		}
		near, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
		opened := make(chan *rpc.Connection, 1)
		go func() { _ = d.Serve(t.Context(), near, func(c *rpc.Connection) { opened <- c }) }()
		connection := <-opened
		deliver := func(ctx context.Context) (transport.Outcome, time.Duration) {
			begun := time.Now()
			outcome := connection.Deliver(ctx, rpc.Notice{
				Method: oupwire.MethodWarning, Class: transport.Durable, Stream: "s", Seq: 1,
				Params: func(negotiation.Set) wirejson.Encoder { return wirejson.Raw("{}") },
			})
			synctest.Wait()
			return outcome, time.Since(begun)
		}
		queued := 0
		for {
			outcome, waited := deliver(t.Context())
			if waited > 0 {
				if waited != time.Minute || outcome == transport.Gone {
					t.Errorf("waited %s for %v", waited, outcome)
				}
				break
			}
			queued++
		}
		for {
			outcome, waited := deliver(t.Context())
			if waited != 0 {
				t.Fatalf("waited %s for a client that does not read", waited)
			}
			if outcome == transport.Dropped {
				break
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range queued {
			if _, err := far.Read(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if outcome, waited := deliver(t.Context()); outcome != transport.Queued || waited != 0 {
			t.Errorf("to a client that reads again: %v behind %s", outcome, waited)
		}
		for {
			outcome, waited := deliver(t.Context())
			if waited == time.Minute {
				break
			}
			if waited != 0 || outcome != transport.Queued {
				t.Fatalf("a client that has read again is given up on at once: %v behind %s", outcome, waited)
			}
		}
		if outcome, waited := deliver(ended); outcome == transport.Queued || waited != 0 {
			t.Errorf("with a context that has ended: %v behind %s", outcome, waited)
		}
		_ = far.Close(transport.Ended)
		synctest.Wait()
		if outcome, _ := deliver(t.Context()); outcome != transport.Gone {
			t.Errorf("to a client that is gone: %v", outcome)
		}
	})
}

// TestServe_readsOnBesideRequestsThatWait: what they wait for can come on the same connection, however many they are.
func TestServe_readsOnBesideRequestsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		o := options(handler(func(_ context.Context, call *rpc.Call, p oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
			if p.Title == "release" {
				close(release)
				return wirejson.Raw(`"released"`), nil
			}
			call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
				select {
				case <-release:
					return wirejson.Raw(`"done"`), nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			})
			return nil, nil
		}))
		o.Later = 2
		c := connect(t, o, nil)
		begun := time.Now()
		for _, id := range []string{"a", "b", "c", "d"} {
			c.send(titleSet(id, "wait"))
		}
		for _, want := range []string{"c", "d"} {
			if id, failure := c.failure(); id.Or("") != want || failure.Code != oupwire.CodeRuntimeNotReady {
				t.Errorf("%q gets %d, want %q refused", id.Or(""), failure.Code, want)
			}
		}
		if waited := time.Since(begun); waited != 2*time.Second {
			t.Errorf("waited %s", waited)
		}
		c.send(titleSet("e", "release"))
		answers := ""
		for range 3 {
			answer, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			answers += string(answer)
		}
		if strings.Count(answers, `"done"`) != 2 || !strings.Contains(answers, `"released"`) {
			t.Errorf("answered %s", answers)
		}
		synctest.Wait()
		c.send(titleSet("f", "wait"))
		if answer, err := c.Read(); err != nil || !strings.Contains(string(answer), `"done"`) {
			t.Errorf("answered %s, %v", answer, err)
		}
		_ = c.Memory.Close(transport.Ended)
		<-c.ended
	})
}

// silent is a client that asks without end and reads nothing.
type silent struct {
	once sync.Once
	gone chan struct{}
}

func (s *silent) Info() transport.Info { return transport.Info{Transport: oupwire.TransportStdio} }

func (s *silent) Read() ([]byte, error) { return []byte(titleSet("1", "a")), nil }

func (s *silent) Write([]byte) error {
	<-s.gone
	return net.ErrClosed
}

func (s *silent) Close(transport.Reason) error {
	s.once.Do(func() { close(s.gone) })
	return nil
}

// TestServe_givesUpWhoTakesNothing: a client whose answers nobody reads is not waited for without end (OUP-QUEUE-007).
func TestServe_givesUpWhoTakesNothing(t *testing.T) {
	o := options(handler(echo))
	o.Patience, o.Outbox.Frames = time.Millisecond, 4
	d, err := rpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(t.Context(), &silent{gone: make(chan struct{})}, nil) }()
	select {
	case err := <-ended:
		if !errors.Is(err, transport.ErrGivenUp) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is waited for")
	}
}
