package peer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/frame"
)

// tally is a stream that counts the writes. In Options.Sink it asks the rig for one.
type tally struct {
	Sink
	stream  *stream
	mu      sync.Mutex
	writes  int
	drained int // those of a goroutine that does nothing else
}

func (c *tally) Write(p []byte) (int, error) {
	stack := make([]byte, 4<<10)
	stack = stack[:runtime.Stack(stack, false)]
	c.mu.Lock()
	c.writes++
	if strings.Contains(string(stack), ").drain(") {
		c.drained++
	}
	c.mu.Unlock()
	return c.stream.Write(p)
}

// since returns the writes since it was asked last.
func (c *tally) since() int {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.writes
	c.writes = 0
	return n
}

func requestOf(id, name string) string {
	return `{"id":` + id + `,"jsonrpc":"2.0","method":"tool/call","params":{"name":"` + name + `"}}`
}

func resultOf(id, name string) string {
	return `{"id":` + id + `,"jsonrpc":"2.0","result":{"name":"` + name + `"}}`
}

// newHoldRig is a running extension that serves what it reads on the goroutine that has read it. It echoes, unless the
// name of the tool says otherwise.
func newHoldRig(t *testing.T, version string, special map[string]Handler) (*rig, *tally) {
	t.Helper()
	counts := &tally{}
	r := newRig(t, frame.Extension, version, Options{
		Sink: counts,
		Handle: func(ctx context.Context, q *Request) (Value, error) {
			for name, handle := range special {
				if strings.Contains(string(q.Params), name) {
					return handle(context.WithValue(ctx, requestKey{}, q))
				}
			}
			return echo(ctx, q)
		},
	})
	r.warm()
	counts.since()
	return r, counts
}

type requestKey struct{}

func requestIn(ctx context.Context) *Request { return ctx.Value(requestKey{}).(*Request) }

func TestHold_answersThatAreReadyTogetherShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, counts := newHoldRig(t, "0.4", nil)
		var asked, answered []string
		for n := range 2*holdAnswers + 1 {
			asked = append(asked, requestOf(fmt.Sprint(n), "t"))
			answered = append(answered, resultOf(fmt.Sprint(n), "t"))
		}
		start := time.Now()
		r.send(asked...)
		r.want(answered...)
		if n := counts.since(); n != 3 {
			t.Errorf("%d answers left in %d writes, want at most %d in each", len(answered), n, holdAnswers)
		}
		r.send(asked[0])
		r.want(answered[0])
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the answers took %v", waited)
		}
		if synctest.Wait(); counts.drained > 0 {
			t.Errorf("%d writes were handed to another goroutine", counts.drained)
		}
		r.quiet()
	})
}

func TestHold_largeAnswersAreWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, counts := newHoldRig(t, "0.4", nil)
		large := strings.Repeat("x", holdBytes)
		r.send(requestOf("6", large), requestOf("7", large), requestOf("8", "t"))
		r.want(resultOf("6", large), resultOf("7", large), resultOf("8", "t"))
		if n := counts.since(); n != 3 || counts.drained > 0 {
			t.Errorf("%d writes, %d of them handed to another goroutine, want one for each answer", n, counts.drained)
		}
		r.quiet()
	})
}

func TestHold_doesNotOutlastSlowRequests(t *testing.T) {
	const takes = 10 * watchTick
	slow := map[string]Handler{
		"returns":               func(context.Context) (Value, error) { time.Sleep(takes); return Raw(`{"name":"slow"}`), nil },
		"ends its goroutine":    func(context.Context) (Value, error) { time.Sleep(takes); runtime.Goexit(); return nil, nil },
		"ends it without delay": func(context.Context) (Value, error) { runtime.Goexit(); return nil, nil },
	}
	for name, handler := range slow {
		for _, more := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, others behind it %v", name, more), in(func(t *testing.T) {
				r, _ := newHoldRig(t, "0.4", map[string]Handler{"slow": handler})
				start := time.Now()
				within := func(most time.Duration) {
					t.Helper()
					if waited := time.Since(start); waited > most {
						t.Errorf("an answer came behind %v, want at most %v", waited, most)
					}
				}
				frames := []string{requestOf("6", "t"), requestOf("7", "slow")}
				if more {
					frames = append(frames, requestOf("8", "t"))
				}
				r.send(frames...)
				r.want(resultOf("6", "t"))
				within(2 * watchTick)
				answer := resultOf("7", "slow")
				if name != "returns" {
					answer = `{"error":{"code":-32603,"message":"Internal error"},"id":7,"jsonrpc":"2.0"}`
				}
				if name == "ends it without delay" {
					r.want(answer)
					within(0)
				}
				if more {
					r.want(resultOf("8", "t"))
					within(2 * watchTick)
				}
				if name != "ends it without delay" {
					r.want(answer)
					within(takes)
				}
				r.quiet()
			}))
		}
	}
}

func TestHold_endsWithRequestsThatTakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, counts := newHoldRig(t, "0.4", map[string]Handler{"some": func(context.Context) (Value, error) {
			time.Sleep(holdTime)
			return Raw(`{}`), nil
		}})
		r.send(requestOf("6", "some"), requestOf("7", "some"), requestOf("8", "t"), requestOf("9", "t"))
		for range 4 {
			if _, err := r.in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if n := counts.since(); n != 2 {
			t.Errorf("%d writes, want one behind two requests, and one at the end", n)
		}
		r.quiet()
	})
}

func TestHold_whatIsNoRequestDoesNotKeepIt(t *testing.T) {
	const ignored = `{"jsonrpc":"2.0","method":"unheard/of","params":{}}`
	for name, behind := range map[string]string{
		"notification": ignored + "\n",
		"response":     `{"id":99,"jsonrpc":"2.0","result":{}}` + "\n",
		"begun frame":  ignored + "\n" + `{"id":5,`,
		"blank line":   "\n",
	} {
		t.Run(name, in(func(t *testing.T) {
			r, _ := newHoldRig(t, "0.4", nil)
			start := time.Now()
			r.sendRaw(requestOf("6", "t") + "\n" + behind)
			r.want(resultOf("6", "t"))
			if waited := time.Since(start); waited != 0 {
				t.Errorf("the answer waited %v", waited)
			}
			r.quiet()
		}))
	}
}

func TestHold_isWrittenInFrontOfTheEnd(t *testing.T) {
	for name, c := range map[string]struct{ behind, rule string }{
		"no JSON":        {"{\n", rules.EXT03Canon013},
		"over the bound": {strings.Repeat("x", 500) + "\n", rules.EXT03Limit006},
	} {
		t.Run(name, in(func(t *testing.T) {
			r, _ := newHoldRig(t, "0.3", nil)
			r.conn.Install(Session{MaxFrameBytes: 400})
			r.sendRaw(requestOf("6", "t") + "\n" + c.behind)
			r.want(resultOf("6", "t"))
			r.endedBy(c.rule, Remote)
		}))
	}
	t.Run("last answer", in(func(t *testing.T) {
		r, _ := newHoldRig(t, "0.4", map[string]Handler{"last": func(ctx context.Context) (Value, error) {
			requestIn(ctx).Final()
			return Raw(`{}`), nil
		}})
		r.send(requestOf("6", "t"), requestOf("7", "last"), requestOf("8", "t"))
		r.want(resultOf("6", "t"), `{"id":7,"jsonrpc":"2.0","result":{}}`)
		if err := r.ended(); err != nil {
			t.Errorf("ended with %v", err)
		}
	}))
}

func TestHold_keepsTheOrderOfFrames(t *testing.T) {
	for name, c := range map[string]struct {
		handler Handler
		want    []string
	}{
		"call back": {
			func(ctx context.Context) (Value, error) {
				got, err := requestIn(ctx).Conn().Call(ctx, "theme/select", Raw(`{}`))
				return Raw(got), err
			},
			[]string{`{"id":1,"jsonrpc":"2.0","method":"theme/select","params":{}}`},
		},
		"notification": {
			func(ctx context.Context) (Value, error) {
				return Raw(`{}`), requestIn(ctx).Notify(ctx, "$/progress", Raw(`{}`))
			},
			[]string{`{"jsonrpc":"2.0","method":"$/progress","params":{}}`, `{"id":7,"jsonrpc":"2.0","result":{}}`},
		},
		"delivery": {
			func(ctx context.Context) (Value, error) {
				return Raw(`{}`), requestIn(ctx).Conn().Deliver(ctx, "$/progress", Raw(`{}`), nil)
			},
			[]string{`{"jsonrpc":"2.0","method":"$/progress","params":{}}`, `{"id":7,"jsonrpc":"2.0","result":{}}`},
		},
		"panic": {
			func(context.Context) (Value, error) { panic("no") },
			[]string{`{"error":{"code":-32603,"message":"Internal error"},"id":7,"jsonrpc":"2.0"}`},
		},
	} {
		t.Run(name, in(func(t *testing.T) {
			version := "0.4"
			if name == "call back" {
				version = "0.3"
			}
			r, _ := newHoldRig(t, version, map[string]Handler{"odd": c.handler})
			start := time.Now()
			r.send(requestOf("6", "t"), requestOf("7", "odd"), requestOf("8", "t"))
			r.want(resultOf("6", "t"))
			r.want(c.want...)
			if name == "call back" {
				r.want(resultOf("8", "t"))
				r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
				r.want(`{"id":7,"jsonrpc":"2.0","result":{}}`)
			} else {
				r.want(resultOf("8", "t"))
			}
			if waited := time.Since(start); waited != 0 {
				t.Errorf("it took %v", waited)
			}
			r.quiet()
		}))
	}
}

// stuck has the writer blocked by one frame, and returns what frees it.
func (r *rig) stuck() (free func()) {
	big := `"` + strings.Repeat("x", 2*streamMost) + `"`
	done := make(chan error, 1)
	go func() { done <- r.conn.Notify(r.t.Context(), "$/progress", Raw(big)) }()
	synctest.Wait()
	return func() {
		if _, err := r.in.Next(); err != nil {
			r.t.Error(err)
		}
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	}
}

func TestOut_whatWaitsForTheWriterLeavesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, counts := newHoldRig(t, "0.4", nil)
		free := r.stuck()
		send := func(params string) {
			if err := r.conn.Notify(t.Context(), "$/progress", Raw(params)); err != nil {
				t.Error(err)
			}
		}
		for n := range batchFrames + 1 {
			send(fmt.Sprint(n))
		}
		large := `"` + strings.Repeat("y", batchBytes) + `"`
		send(large)
		counts.since()
		free()
		for n := range batchFrames + 1 {
			r.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/progress","params":%d}`, n))
		}
		r.want(`{"jsonrpc":"2.0","method":"$/progress","params":` + large + `}`)
		if n := counts.since(); n != 3 {
			t.Errorf("%d writes, want a full one, one with what was too much for it, and one for the large frame", n)
		}
		r.quiet()
	})
}

func TestOut_refusedFrameHurtsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newChildRig(t, Options{})
		r.conn.Install(Session{Open: []string{child.Method, "$/progress"}})
		free := r.stuck()
		var calls []*pending
		for _, params := range []string{`{}`, `{"x":"` + strings.Repeat("x", 200) + `"}`, `{}`} {
			calls = append(calls, r.call(t.Context(), Call{Method: child.Method, Params: Raw(params)}))
		}
		r.conn.opt.Sink.SetBound(100)
		free()
		r.want(childFrame, strings.Replace(childFrame, "c-1", "c-3", 1))
		<-calls[1].done
		var fault *frame.Error
		if !errors.As(calls[1].err, &fault) || fault.Fault != frame.TooLong {
			t.Errorf("the refused call gives %v", calls[1].err)
		}
		for n, id := range map[int]string{0: "c-1", 2: "c-3"} {
			r.send(`{"id":"` + id + `","jsonrpc":"2.0","result":1}`)
			calls[n].gives("1")
		}
		r.quiet()
	})
}
