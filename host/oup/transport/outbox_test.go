package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/oupwire"
)

// stalled is a connection whose writes wait for tickets.
type stalled struct {
	Conn
	tickets chan struct{}
	closed  chan struct{}
	written []string
	reason  Reason
	deaf    bool // closing does not end a write
}

func newStalled() *stalled {
	return &stalled{tickets: make(chan struct{}, 1<<20), closed: make(chan struct{})}
}

func (s *stalled) Write(frame []byte) error {
	if s.deaf {
		<-s.tickets
	}
	select {
	case <-s.tickets:
	case <-s.closed:
		return net.ErrClosed
	}
	s.written = append(s.written, string(frame))
	return nil
}

func (s *stalled) Close(reason Reason) error {
	select {
	case <-s.closed:
	default:
		s.reason = reason
		close(s.closed)
	}
	return nil
}

func (s *stalled) allow(n int) {
	for range n {
		s.tickets <- struct{}{}
	}
}

func lossy(l Loss) []byte {
	return fmt.Appendf(nil, "lost %d of %s behind %d", l.Dropped, l.Stream, l.Before)
}

// TestOutbox_announcesALossWhereItHappened: OUP-QUEUE-001 the queue is bounded, OUP-QUEUE-003 what is kept is dropped
// and counted, OUP-QUEUE-006 the count comes before what was sent later.
func TestOutbox_announcesALossWhereItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newStalled()
		o := NewOutbox(conn, OutboxOptions{Frames: 2, Lossy: lossy})
		send := func(name string, class Class, seq uint64, want Outcome) {
			t.Helper()
			synctest.Wait()
			if got := o.Send(Frame{Data: []byte(name), Class: class, Stream: "s", Seq: seq}); got != want {
				t.Errorf("%s: outcome %d, want %d", name, got, want)
			}
		}
		send("1", Durable, 1, Queued) // the writer holds it
		send("2", Durable, 2, Queued)
		send("3", Durable, 3, Queued)
		send("4", Durable, 4, Dropped)
		send("delta", Ephemeral, 0, Dropped)
		send("5", Durable, 5, Dropped)
		conn.allow(3)
		synctest.Wait()
		send("end", Lifecycle, 0, Queued)
		conn.allow(2)
		if err := o.Close(Restart); err != nil {
			t.Fatal(err)
		}
		want := []string{"1", "2", "3", "lost 2 of s behind 3", "end"}
		if !slices.Equal(conn.written, want) || conn.reason != Restart {
			t.Errorf("wrote %q and closed with %d, want %q and %d", conn.written, conn.reason, want, Restart)
		}
		send("late", Lifecycle, 0, Gone)
	})
}

// TestOutbox_givesUpAConnectionThatCannotBeAnswered: OUP-QUEUE-007 and OUP-QUEUE-008.
func TestOutbox_givesUpAConnectionThatCannotBeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newStalled()
		o := NewOutbox(conn, OutboxOptions{Frames: 1})
		for _, want := range []Outcome{Queued, Queued, Gone, Gone} {
			synctest.Wait()
			if got := o.Send(Frame{Data: []byte("answer"), Class: Lifecycle}); got != want {
				t.Errorf("outcome %d, want %d", got, want)
			}
		}
		<-o.Ended()
		if !errors.Is(o.Err(), ErrGivenUp) || conn.reason != GivenUp {
			t.Errorf("ended with %v and %d", o.Err(), conn.reason)
		}
		if err := o.Ready(t.Context()); !errors.Is(err, ErrGivenUp) {
			t.Errorf("ready behind the end: %v", err)
		}
		if err := o.Close(Ended); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func TestOutbox_boundsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newStalled()
		o := NewOutbox(conn, OutboxOptions{Bytes: 10})
		for i, want := range []Outcome{Queued, Queued, Queued, Dropped} {
			synctest.Wait()
			if got := o.Send(Frame{Data: make([]byte, 5), Class: Ephemeral}); got != want {
				t.Errorf("frame %d: outcome %d, want %d", i, got, want)
			}
		}
		conn.allow(3)
		synctest.Wait()
		if got := o.Send(Frame{Data: make([]byte, 50), Class: Ephemeral}); got != Queued {
			t.Errorf("a frame over the bound of bytes in an empty queue: outcome %d, want it queued", got)
		}
		conn.allow(1)
		if err := o.Close(Ended); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOutbox_readyWaitsForHalfOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newStalled()
		o := NewOutbox(conn, OutboxOptions{Frames: 4})
		for range 5 {
			synctest.Wait()
			o.Send(Frame{Data: []byte("x"), Class: Lifecycle})
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := o.Ready(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("ready with an ended context: %v", err)
		}
		ready := make(chan error, 1)
		go func() { ready <- o.Ready(t.Context()) }()
		conn.allow(1)
		synctest.Wait()
		select {
		case err := <-ready:
			t.Errorf("ready with three of four waiting: %v", err)
		default:
		}
		conn.allow(1)
		if err := <-ready; err != nil {
			t.Error(err)
		}
		conn.allow(3)
		if err := o.Close(Ended); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOutbox_closeDoesNotWaitForEver: a client that does not read is given up after the grace, and a transport that
// does not let go of a write is told of.
func TestOutbox_closeDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newStalled()
		o := NewOutbox(conn, OutboxOptions{})
		o.Send(Frame{Data: []byte("x"), Class: Lifecycle})
		if err := o.Close(Ended); err != nil || conn.reason != GivenUp {
			t.Errorf("close: %v, reason %d, want it given up", err, conn.reason)
		}
		conn = newStalled()
		conn.deaf = true
		o = NewOutbox(conn, OutboxOptions{})
		o.Send(Frame{Data: []byte("x"), Class: Lifecycle})
		if err := o.Close(Ended); !errors.Is(err, ErrStuck) {
			t.Errorf("close of a stuck write: %v, want ErrStuck", err)
		}
		conn.allow(2)
		<-o.Ended()
	})
}

// TestOutbox_losesNothingUnannounced: whatever is sent and read, every durable frame arrives or is counted, in order.
func TestOutbox_losesNothingUnannounced(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 200).Draw(rt, "sends and reads")
		frames := rapid.IntRange(1, 8).Draw(rt, "frames")
		synctest.Test(t, func(t *testing.T) {
			conn := newStalled()
			var lost []Loss
			o := NewOutbox(conn, OutboxOptions{Frames: frames, Lossy: func(l Loss) []byte {
				lost = append(lost, l)
				return fmt.Appendf(nil, "lost %d", l.Dropped)
			}})
			seq := uint64(0)
			for _, step := range steps {
				for ; step > 0; step-- {
					seq++
					o.Send(Frame{Data: fmt.Append(nil, seq), Class: Durable, Stream: "s", Seq: seq})
					o.mu.Lock()
					waits := len(o.queue)
					o.mu.Unlock()
					if waits > frames+1 {
						t.Fatalf("%d frames wait, the bound is %d", waits, frames)
					}
				}
				conn.allow(-min(step, 0))
				synctest.Wait()
			}
			conn.allow(1000)
			if err := o.Close(Ended); err != nil {
				t.Fatal(err)
			}
			at := uint64(0)
			for _, text := range conn.written {
				var n uint64
				if _, err := fmt.Sscanf(text, "lost %d", &n); err == nil {
					if lost[0].Before != at {
						t.Fatalf("the loss is told behind %d, want %d", lost[0].Before, at)
					}
					at, lost = at+n, lost[1:]
					continue
				}
				at++
				if text != fmt.Sprint(at) {
					t.Fatalf("got %s, want %d: %q", text, at, conn.written)
				}
			}
			if at != seq {
				t.Fatalf("%d of %d frames arrived or were told of", at, seq)
			}
		})
	})
}

// TestOutbox_aStalledClientDelaysNobody: OUP-QUEUE-002.
func TestOutbox_aStalledClientDelaysNobody(t *testing.T) {
	slowServer, slowClient := Pipe(Info{})
	server, client := Pipe(Info{Transport: oupwire.TransportStdio})
	slow, quick := NewOutbox(slowServer, OutboxOptions{Frames: 8}), NewOutbox(server, OutboxOptions{})
	frame := []byte(`{"n":1}`)
	read := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			if _, err := client.Read(); err != nil {
				break
			}
		}
		read <- n
	}()
	sent := 0
	for range 10000 {
		slow.Send(Frame{Data: frame, Class: Durable})
		if err := quick.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if quick.Send(Frame{Data: frame, Class: Durable}) == Queued {
			sent++
		}
	}
	if err := quick.Close(Restart); err != nil {
		t.Fatal(err)
	}
	if n := <-read; n != sent || sent != 10000 {
		t.Errorf("the quick client read %d of %d frames", n, sent)
	}
	if reason, closed := client.Closed(); !closed || reason != Restart {
		t.Errorf("the client learned %d, %v", reason, closed)
	}
	if err := slowClient.Close(Ended); err != nil {
		t.Fatal(err)
	}
	<-slow.Ended()
}

func TestMemory_carriesFramesBothWays(t *testing.T) {
	server, client := Pipe(Info{Transport: oupwire.TransportStdio, Features: []string{"f"}})
	if !slices.Equal(server.Info().Features, []string{"f"}) {
		t.Errorf("info is %+v", server.Info())
	}
	if err := client.Send(make([]byte, oupwire.MaxTextFrameBytes+1)); err != nil {
		t.Fatal(err)
	}
	if err := client.Send([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(Ended); err != nil {
		t.Fatal(err)
	}
	var tooLarge *TooLargeError
	if _, err := server.Read(); !errors.As(err, &tooLarge) {
		t.Errorf("a frame over the bound gives %v", err)
	}
	if frame, err := server.Read(); err != nil || string(frame) != "{}" {
		t.Errorf("read %q, %v", frame, err)
	}
	if _, err := server.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("the end gives %v", err)
	}
	if err := server.Write([]byte("{}")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write to a closed client gives %v", err)
	}
	if err := server.Close(Ended); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read behind Close gives %v", err)
	}
	if err := server.Write([]byte("a\nb")); err == nil {
		t.Error("a frame with a line break was written")
	}
}
