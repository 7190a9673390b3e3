package peer

import (
	"io"
	"sync"

	"github.com/octet-dev/octet/runtime/frame"
)

// Link is one end of a Pipe: what Options need of an outside world.
type Link struct {
	Source Source
	Sink   Sink
	Hangup func()
}

// Pipe returns the two ends of a connection in memory, under the frame bound of the profile. It holds
// as many bytes as the pipe of an operating system, and works inside a testing/synctest bubble.
func Pipe(host, extension *Profile) (hostEnd, extensionEnd Link) {
	down, up := newStream(), newStream()
	return newLink(host, up, down), newLink(extension, down, up)
}

// newLink returns the end that reads in and writes out.
func newLink(p *Profile, in, out *stream) Link {
	return Link{
		Source: frame.NewReader(in, p.Wire, p.Side.Other(), p.MaxFrameBytes),
		Sink:   frame.NewWriter(out, p.Wire, p.Side, p.MaxFrameBytes),
		Hangup: func() {
			in.close()
			out.close()
		},
	}
}

// streamMost is what a stream holds, as a pipe of Linux does.
const streamMost = 64 << 10

// stream is one direction: bytes in, the same bytes out.
type stream struct {
	mu     sync.Mutex
	change sync.Cond
	b      []byte
	closed bool
}

func newStream() *stream {
	s := new(stream)
	s.change.L = &s.mu
	return s
}

// Read blocks until there are bytes or the stream is closed.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.b) == 0 && !s.closed {
		s.change.Wait()
	}
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b)
	s.b = s.b[:copy(s.b, s.b[n:])]
	s.change.Broadcast()
	return n, nil
}

// Write blocks until all of p has found room.
func (s *stream) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		if s.closed {
			return n, io.ErrClosedPipe
		}
		room := min(streamMost-len(s.b), len(p)-n)
		if room == 0 {
			s.change.Wait()
			continue
		}
		s.b = append(s.b, p[n:n+room]...)
		n += room
		s.change.Broadcast()
	}
	return n, nil
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.change.Broadcast()
}
