package frame

import (
	"bytes"
	"io"
	"sync/atomic"
)

// Writer writes frames, each or several together with one call of the destination's Write. Use it from one goroutine at a
// time; SetBound alone may be called from any.
type Writer struct {
	dst   io.Writer
	wire  Wire
	side  Side
	bound atomic.Int64
	buf   []byte
	err   error
}

// NewWriter returns a writer of frames that side sends to dst, with at most bound payload bytes a
// frame. It panics on a bound below 1.
func NewWriter(dst io.Writer, wire Wire, side Side, bound int) *Writer {
	w := &Writer{dst: dst, wire: wire, side: side}
	w.SetBound(bound)
	return w
}

// SetBound replaces the bound for the frames to come. It panics on a bound below 1.
func (w *Writer) SetBound(bound int) {
	if bound < 1 {
		panic("frame: a bound is at least 1 byte")
	}
	w.bound.Store(int64(bound))
}

// Bound returns the bound in force.
func (w *Writer) Bound() int { return int(w.bound.Load()) }

// Check reports whether payload may be written as one frame: an *Error if it is empty, holds an LF,
// ends in CR or exceeds the bound. That it is JSON is the caller's matter.
func (w *Writer) Check(payload []byte) error {
	var f Fault
	switch bound := w.Bound(); {
	case len(payload) > bound:
		f = TooLong
	case len(payload) == 0:
		f = Empty
	case payload[len(payload)-1] == '\r':
		f = EndsCR
	case bytes.IndexByte(payload, '\n') >= 0:
		f = Inner
	default:
		return nil
	}
	return &Error{Fault: f, Wire: w.wire, From: w.side, Bound: w.Bound()}
}

// WriteFrame writes payload and an LF in one call of Write. It neither keeps nor changes payload. A
// payload that Check refuses is not written and harms nothing. After an error of the destination,
// which may have taken half a frame, every later call returns that error and writes nothing.
func (w *Writer) WriteFrame(payload []byte) error {
	if w.err != nil {
		return w.err
	}
	if err := w.Check(payload); err != nil {
		return err
	}
	w.buf = append(append(w.buf[:0], payload...), '\n')
	return w.flush()
}

// WriteFrames is WriteFrame for several frames, in one call of Write as well. Where Check refuses one, none is
// written.
func (w *Writer) WriteFrames(payloads [][]byte) error {
	if w.err != nil {
		return w.err
	}
	w.buf = w.buf[:0]
	for _, payload := range payloads {
		if err := w.Check(payload); err != nil {
			return err
		}
		w.buf = append(append(w.buf, payload...), '\n')
	}
	return w.flush()
}

// flush writes what is in the buffer.
func (w *Writer) flush() error {
	n, err := w.dst.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.err = err
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	return err
}
