package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Stdio is a connection over standard streams: one frame a line. The client is the local program that started
// the server, so it has no credential.
type Stdio struct {
	in  io.ReadCloser
	out io.WriteCloser
	buf *bufio.Reader

	once   sync.Once
	closed chan struct{}
	line   []byte // of Write, reused
}

var _ Conn = (*Stdio)(nil)

// firstLine is the size of the reading buffer, in bytes. Longer lines grow with what arrives.
const firstLine = 8 << 10

// keptLine is how much of the writing buffer is kept between two frames, in bytes.
const keptLine = 64 << 10

// NewStdio returns the connection over in and out. Close closes both; a Read or Write that is under way ends then
// where closing interrupts it, as with pipes, and otherwise with the process.
func NewStdio(in io.ReadCloser, out io.WriteCloser) *Stdio {
	return &Stdio{in: in, out: out, buf: bufio.NewReaderSize(in, firstLine), closed: make(chan struct{})}
}

// Info tells the transport.
func (s *Stdio) Info() Info { return Info{Transport: oupwire.TransportStdio, Loopback: true} }

// Read returns the next line without its LF and the CR before it. A last line without LF counts.
func (s *Stdio) Read() ([]byte, error) {
	var line []byte
	tooLarge := false
	for {
		part, err := s.buf.ReadSlice('\n')
		if !tooLarge {
			line = append(line, part...)
			// The line end may stand behind a frame of exactly the bound.
			if len(trimEnd(line)) > bound && !(len(line) == bound+1 && line[bound] == '\r') {
				line, tooLarge = nil, true
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLarge:
			return nil, &TooLargeError{Limit: bound}
		case err == nil:
			return trimEnd(line), nil
		case s.isClosed():
			return nil, net.ErrClosed
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		}
		return nil, err
	}
}

// trimEnd takes off the line end, an LF with or without a CR.
func trimEnd(line []byte) []byte {
	if text, ended := bytes.CutSuffix(line, []byte{'\n'}); ended {
		return bytes.TrimSuffix(text, []byte{'\r'})
	}
	return line
}

// Write sends one line, in one write.
func (s *Stdio) Write(frame []byte) error {
	if err := mayWrite(frame); err != nil {
		return err
	}
	if s.isClosed() {
		return net.ErrClosed
	}
	s.line = append(append(s.line[:0], frame...), '\n')
	_, err := s.out.Write(s.line)
	if cap(s.line) > keptLine {
		s.line = nil
	}
	if err != nil && s.isClosed() {
		return net.ErrClosed
	}
	return err
}

// Close closes both streams; there is no way to give a reason here.
func (s *Stdio) Close(Reason) error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		err = errors.Join(s.out.Close(), s.in.Close())
	})
	return err
}

func (s *Stdio) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}
