package transport

import (
	"io"
	"net"
	"sync"
)

// memoryFrames is how many frames wait in each direction of a connection in memory.
const memoryFrames = 16

// Memory is one end of a connection inside the process, for programs that embed the server.
type Memory struct {
	info     Info
	out, in  chan []byte
	own, far *ending
	once     sync.Once
}

// ending is the end of one side.
type ending struct {
	done   chan struct{}
	reason Reason
}

var _ Conn = (*Memory)(nil)

// Pipe returns both ends of a connection in memory. The server's end tells info.
func Pipe(info Info) (server, client *Memory) {
	up, down := make(chan []byte, memoryFrames), make(chan []byte, memoryFrames)
	s, c := &ending{done: make(chan struct{})}, &ending{done: make(chan struct{})}
	return &Memory{info: info, in: up, out: down, own: s, far: c}, &Memory{info: info, in: down, out: up, own: c, far: s}
}

// Info tells what the connection was made with.
func (m *Memory) Info() Info { return m.info }

// Read returns the next frame; what the other end wrote before it closed is still read.
func (m *Memory) Read() ([]byte, error) {
	select {
	case <-m.own.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case frame := <-m.in:
		return received(frame)
	case <-m.own.done:
		return nil, net.ErrClosed
	case <-m.far.done:
	}
	select {
	case frame := <-m.in:
		return received(frame)
	default:
		return nil, io.EOF
	}
}

func received(frame []byte) ([]byte, error) {
	if frame == nil {
		return nil, &TooLargeError{Limit: bound}
	}
	return frame, nil
}

// Write hands a copy of the frame over; it waits while the other end does not read.
func (m *Memory) Write(frame []byte) error {
	if err := mayWrite(frame); err != nil {
		return err
	}
	return m.put(append([]byte{}, frame...))
}

// Send hands over bytes of a client as they are: one over the bound arrives as a *TooLargeError.
func (m *Memory) Send(frame []byte) error {
	if len(frame) > bound {
		return m.put(nil)
	}
	return m.put(append([]byte{}, frame...))
}

func (m *Memory) put(frame []byte) error {
	select {
	case <-m.own.done:
		return net.ErrClosed
	case <-m.far.done:
		return io.ErrClosedPipe
	default:
	}
	select {
	case m.out <- frame:
		return nil
	case <-m.own.done:
		return net.ErrClosed
	case <-m.far.done:
		return io.ErrClosedPipe
	}
}

// Close ends this end. The other one reads what was written and then io.EOF, and learns the reason.
func (m *Memory) Close(reason Reason) error {
	m.once.Do(func() {
		m.own.reason = reason
		close(m.own.done)
	})
	return nil
}

// Closed returns the reason with which the other end closed, and whether it did.
func (m *Memory) Closed() (Reason, bool) {
	select {
	case <-m.far.done:
		return m.far.reason, true
	default:
		return Ended, false
	}
}
