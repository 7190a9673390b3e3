package peer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/runtime/frame"
)

// slowSink writes a frame only when it is let.
type slowSink struct {
	Sink
	begun chan struct{}
	let   chan struct{}
}

func (s *slowSink) WriteFrame(payload []byte) error {
	s.begun <- struct{}{}
	<-s.let
	return s.Sink.WriteFrame(payload)
}

const deliveredEvent = `{"jsonrpc":"2.0","method":"bus/event","params":{}}`

// newSlowRig is a host's connection on the canonical wire whose frames are written one by one.
func newSlowRig(t *testing.T) (*rig, *slowSink) {
	t.Helper()
	p := profile(t, frame.Host, "0.3")
	to, from := newStream(), newStream()
	mine := newLink(p, to, from)
	sink := &slowSink{Sink: mine.Sink, begun: make(chan struct{}), let: make(chan struct{})}
	r := &rig{t: t, in: frame.NewReader(from, p.Wire, frame.Host, p.MaxFrameBytes), bytes: to, out: from, hang: mine.Hangup}
	r.conn = New(Options{Profile: p, Source: mine.Source, Sink: sink, Hangup: mine.Hangup})
	r.conn.Start()
	t.Cleanup(func() { r.conn.Close() })
	r.conn.Install(Session{Open: []string{"bus/event"}})
	return r, sink
}

func TestDeliver_returnsWhenTheFrameIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sink := newSlowRig(t)
		done := make(chan error, 1)
		go func() { done <- r.conn.Deliver(context.Background(), "bus/event", Raw("{}"), nil) }()
		<-sink.begun
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("returned %v in the middle of the frame", err)
		default:
		}
		sink.let <- struct{}{}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r.want(deliveredEvent)
	})
}

func TestDeliver_unwantedFrameIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sink := newSlowRig(t)
		err := r.conn.Deliver(context.Background(), "bus/event", Raw("{}"), func() bool { return false })
		if !errors.Is(err, ErrNotSent) {
			t.Fatalf("got %v, want ErrNotSent", err)
		}
		go func() { <-sink.begun; sink.let <- struct{}{} }()
		if err := r.conn.Deliver(context.Background(), "bus/event", Raw("{}"), func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		r.want(deliveredEvent)
	})
}

func TestDeliver_contextTakesAQueuedFrameBackAndNoBegunOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sink := newSlowRig(t)
		ctx, cancel := context.WithCancel(context.Background())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- r.conn.Deliver(ctx, "bus/event", Raw("{}"), nil) }()
		<-sink.begun
		go func() { second <- r.conn.Deliver(ctx, "bus/event", Raw("{}"), nil) }()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, ErrTorn) {
			t.Errorf("the begun frame: got %v, want ErrTorn", err)
		}
		if err := <-second; !errors.Is(err, ErrNotSent) || !errors.Is(err, context.Canceled) {
			t.Errorf("the queued frame: got %v, want ErrNotSent and the cause", err)
		}
		sink.let <- struct{}{}
		r.want(deliveredEvent)
	})
}

func TestDeliver_endsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sink := newSlowRig(t)
		done := make(chan error, 1)
		go func() { done <- r.conn.Deliver(context.Background(), "bus/event", Raw("{}"), nil) }()
		<-sink.begun
		go r.conn.Close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		sink.let <- struct{}{}
	})
}
