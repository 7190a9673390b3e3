package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// Both sides call, cancel and notify at once, over a pipe that is often full; every call settles once
// with its own answer, and Close leaves nothing behind.
func TestConn_everyCallSettlesOnce(t *testing.T) {
	for _, version := range []string{"0.3", "0.4"} {
		t.Run(version, func(t *testing.T) { stress(t, version) })
	}
}

func stress(t *testing.T, version string) {
	hp, ep := profile(t, frame.Host, version), profile(t, frame.Extension, version)
	hostEnd, extEnd := Pipe(hp, ep)
	open := []string{"tool/call", "shutdown", "$/cancelRequest", "notification", "theme/select", "session/create"}
	options := func(p *Profile, l Link) Options {
		return Options{
			Profile: p, Source: l.Source, Sink: l.Sink, Hangup: l.Hangup,
			Handle: func(ctx context.Context, r *Request) (Value, error) {
				for range rand.IntN(4) * rand.IntN(500) {
					runtime.Gosched()
					if ctx.Err() != nil {
						return nil, ctx.Err()
					}
				}
				return Raw(string(r.Params)), nil
			},
			Diagnose: func(d Diagnostic) {
				if d.Blame == Local {
					t.Error(d)
				}
			},
		}
	}
	host, ext := New(options(hp, hostEnd)), New(options(ep, extEnd))
	for _, c := range []*Conn{host, ext} {
		c.Start()
		c.Install(Session{Open: open, MaxConcurrent: 16})
	}
	type side struct {
		conn   *Conn
		method string
	}
	sides := []side{{host, "tool/call"}}
	if version == "0.3" {
		sides = append(sides, side{ext, "theme/select"})
	}
	var answered, cancelled atomic.Int64
	var wg sync.WaitGroup
	for _, s := range sides {
		for worker := range 24 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := range 60 {
					body := fmt.Sprintf(`{"n":%d,"w":%d,"x":"%s"}`, n, worker, strings.Repeat("x", rand.IntN(3)*rand.IntN(5000)))
					ctx, stop := context.WithTimeout(t.Context(), time.Duration(rand.IntN(5000)+100)*time.Microsecond)
					if rand.IntN(3) > 0 {
						stop()
						ctx, stop = context.WithCancel(t.Context())
					}
					got, err := s.conn.Call(ctx, s.method, Raw(body))
					stop()
					switch {
					case err == nil && string(got) == body:
						answered.Add(1)
					case err == nil:
						t.Errorf("sent %s, got the answer %s", body, got)
					case IsCancelled(err), errors.Is(err, ErrNotSent), errors.Is(err, ErrUnsettled):
						cancelled.Add(1)
					default:
						t.Errorf("%s: %v", body, err)
					}
				}
			}()
		}
	}
	wg.Wait()
	if answered.Load() == 0 || cancelled.Load() == 0 {
		t.Errorf("%d calls answered and %d cancelled: both must occur", answered.Load(), cancelled.Load())
	}
	for _, c := range []*Conn{host, ext} {
		if err := c.Err(); err != nil {
			t.Errorf("the connection ended: %v", err)
		}
		// What was given up may still be served: its answer is late on a busy machine.
		for late := time.Now().Add(time.Minute); serving(c) && time.Now().Before(late); {
			runtime.Gosched()
		}
		c.mu.Lock()
		if n := len(c.calls.live) + len(c.served.live) + len(c.calls.waiting); n != 0 || c.calls.taken != len(c.calls.graves.list) {
			t.Errorf("%d calls and requests are left, %d permits taken for %d graves", n, c.calls.taken, len(c.calls.graves.list))
		}
		c.mu.Unlock()
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
	if err := ext.Wait(); err != nil && err != io.EOF {
		t.Error(err)
	}
}

func serving(c *Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.served.live) > 0
}

// Closing at any moment settles every call and returns.
func TestClose_atAnyMoment(t *testing.T) {
	for round := range 50 {
		hp, ep := CanonicalProfile(frame.Host), CanonicalProfile(frame.Extension)
		hostEnd, extEnd := Pipe(hp, ep)
		host := New(Options{Profile: hp, Source: hostEnd.Source, Sink: hostEnd.Sink, Hangup: hostEnd.Hangup})
		ext := New(Options{Profile: ep, Source: extEnd.Source, Sink: extEnd.Sink, Hangup: extEnd.Hangup, Handle: echo})
		for _, c := range []*Conn{host, ext} {
			c.Start()
			c.Install(Session{Open: []string{"tool/call"}, MaxConcurrent: 4})
		}
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for {
					if got, err := host.Call(t.Context(), "tool/call", Raw(strconv.Itoa(n))); err != nil {
						return
					} else if string(got) != strconv.Itoa(n) {
						t.Errorf("sent %d, got %s", n, got)
					}
				}
			}()
		}
		for range rand.IntN(2000) {
			runtime.Gosched()
		}
		closing := []*Conn{host, ext}
		if err := closing[round%2].Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		_ = closing[1-round%2].Wait()
	}
}

// Whatever bytes arrive: no panic, the connection ends, Close returns.
func FuzzConn(f *testing.F) {
	for _, text := range []string{
		initCall + "\n" + request + "\n" + cancel7 + "\n",
		request + "\n" + request + "\n" + shutdown + "\n",
		answer7 + "\n", "nonsense\n", "{}\n[]\n", "\n\n", `{"id":1`,
		`{"error":{"code":-32603,"message":"internal error"},"id":1,"jsonrpc":"2.0"}` + "\n",
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}` + "\n" + request + "\n",
	} {
		for mode := range uint8(8) {
			f.Add([]byte(text), mode)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, mode uint8) {
		side, version := frame.Host, "0.3"
		if mode&1 != 0 {
			side = frame.Extension
		}
		if mode&2 != 0 {
			version = "0.4"
		}
		p := profile(t, side, version)
		in, out := newStream(), newStream()
		l := newLink(p, in, out)
		c := New(Options{
			Profile: p, Source: l.Source, Sink: l.Sink, Hangup: l.Hangup, Grace: time.Millisecond,
			Notice: func(*Notice) {},
			Handle: func(ctx context.Context, r *Request) (Value, error) {
				if r.Method == p.Shutdown {
					r.Final()
					r.Drain(ctx, "shutdown")
				}
				return echo(ctx, r)
			},
		})
		c.Start()
		if mode&4 != 0 {
			c.Install(Session{Open: []string{"tool/call", "shutdown", "$/cancelRequest", "theme/select", "notification", "provider/event"}})
		}
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer stop()
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = c.Call(ctx, "tool/call", Raw(`{}`))
		}()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			_, _ = io.Copy(io.Discard, out)
		}()
		_, _ = in.Write(text)
		in.mu.Lock()
		in.closed = true // an end of file behind the bytes
		in.change.Broadcast()
		in.mu.Unlock()
		_ = c.Wait()
		if err := c.Close(); errors.Is(err, ErrClosed) {
			t.Errorf("Close = %v", err)
		}
		<-called
		<-drained
	})
}
