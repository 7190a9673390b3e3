package peer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/runtime/frame"
)

// history is what a test saw, in order.
type history struct {
	mu   sync.Mutex
	seen []string
}

func (h *history) add(event string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, event)
}

func (h *history) want(t *testing.T, events ...string) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got, want := strings.Join(h.seen, ", "), strings.Join(events, ", "); got != want {
		t.Errorf("seen %s\nwant %s", got, want)
	}
}

// Frames that arrive together have their effects one after the other, of whatever kind they are.
func TestHostOrder_framesAreHandledAsTheyArrive(t *testing.T) {
	for _, version := range featureVersions {
		t.Run("EXT04-ORDER-010 "+version, in(func(t *testing.T) {
			var h history
			r := newRig(t, frame.Host, version, Options{
				Notice:   func(n *Notice) { h.add(string(n.Params)) },
				Diagnose: func(d Diagnostic) { h.add(d.Text) },
			})
			// An answer is taken in where it is installed, before anybody is woken.
			call := toolCall
			call.Install = func(result []byte) error { h.add("answer " + string(result)); return nil }
			a, b := r.call(t.Context(), call), r.call(t.Context(), call)
			r.want(callFrame(1), callFrame(2))
			r.send(
				`{"jsonrpc":"2.0","method":"notification","params":{"m":"first"}}`,
				answerFrame(2),
				`{"jsonrpc":"2.0","id":"c-1","method":"no/such"}`,
				`{"jsonrpc":"2.0","method":"notification","params":{"m":"second"}}`,
				answerFrame(7),
				`{"jsonrpc":"2.0","id":"c-2","method":"no/such"}`,
				`{"jsonrpc":"2.0","method":"notification","params":{"m":"third"}}`,
				answerFrame(1),
				`{"jsonrpc":"2.0","method":"notification","params":{"m":"last"}}`,
			)
			b.gives("2")
			a.gives("1")
			h.want(t,
				`{"m":"first"}`, "answer 2", "request refused: unsupported_feature no/such",
				`{"m":"second"}`, "response that names no call in flight ignored", "request refused: unsupported_feature no/such",
				`{"m":"third"}`, "answer 1", `{"m":"last"}`,
			)
			r.want(
				`{"error":{"code":-32601,"message":"unsupported_feature no/such"},"id":"c-1","jsonrpc":"2.0"}`,
				`{"error":{"code":-32601,"message":"unsupported_feature no/such"},"id":"c-2","jsonrpc":"2.0"}`,
			)
			r.quiet()
		}))
	}
}

// What stands behind the initialize answer is read under the contract that this answer made, or never.
func TestHostOrder_contractStandsBeforeTheNextFrame(t *testing.T) {
	const behind = `{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{}}`
	start := func(t *testing.T, h *history, contract func(r *rig) error) *rig {
		r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: func(ctx context.Context, q *Request) (Value, error) {
			h.add("serve " + q.Method)
			return echo(ctx, q)
		}})
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func([]byte) error {
			h.add("check")
			err := contract(r)
			h.add("done")
			return err
		}})
		r.want(initCall)
		r.send(initAnswer, behind) // in one piece
		<-k.done
		return r
	}
	t.Run("EXT03-INIT-034 accepted", in(func(t *testing.T) {
		var h history
		r := start(t, &h, func(r *rig) error {
			r.conn.Install(Session{Open: []string{"theme/select"}})
			return nil
		})
		r.want(`{"id":"c-1","jsonrpc":"2.0","result":{}}`)
		h.want(t, "check", "done", "serve theme/select")
		r.quiet()
	}))
	t.Run("EXT03-INIT-034 refused", in(func(t *testing.T) {
		var h history
		no := errors.New("no common ground")
		r := start(t, &h, func(*rig) error { return no })
		if err := r.ended(); err != no {
			t.Errorf("ended with %v, want %v", err, no)
		}
		h.want(t, "check", "done")
	}))
}

// Answers come in any order, and each finds its request.
func TestHostOrder_answersInAnyOrder(t *testing.T) {
	t.Run("EXT03-ORDER-011", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{})
		var calls []*pending
		for id := 1; id <= 5; id++ {
			calls = append(calls, r.call(t.Context(), toolCall))
			r.want(callFrame(id))
		}
		for _, id := range []int{4, 1, 5, 3, 2} {
			r.send(answerFrame(id))
			calls[id-1].gives(string(rune('0' + id)))
		}
		r.quiet()
	}))
}
