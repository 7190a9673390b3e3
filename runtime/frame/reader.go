package frame

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

const (
	firstBuffer = 4 << 10  // a call and its answer fit, so most connections never grow
	keepBuffer  = 64 << 10 // a larger buffer is given back after shrinkAfter frames that did not need it
	shrinkAfter = 32

	blanks = " \t\r" // what the feature wire takes around a payload
)

// ErrInterrupted is what Next returns after Interrupt. Nothing is lost: the next call of Next goes on where this
// one stopped.
var ErrInterrupted = errors.New("frame: the reading was interrupted")

// Slack is what the feature wire's reader had to put up with: no fault, but a writer should not
// (EXT04-FRAME-008, EXT04-FRAME-009).
type Slack uint8

// The kinds of slack.
const (
	SlackCR    Slack = 1 << iota // a CR in front of the LF
	SlackBlank                   // a blank line in front of the frame
	SlackSpace                   // other white space around the payload
)

// Reader cuts frames from a stream. Use it from one goroutine at a time; SetBound and Interrupt alone may be
// called from any.
//
// The buffer holds buf[from:to], bytes that arrived and were not handed out, of which the first
// scanned hold no LF.
type Reader struct {
	src   io.Reader
	wire  Wire
	side  Side
	bound atomic.Int64

	buf      []byte
	from, to int
	scanned  int
	small    int // frames in a row that needed no large buffer
	slack    Slack
	err      error

	clock   deadline // nil: Interrupt does nothing
	resumes bool     // Next goes on in the middle of a frame
}

// deadline is a source whose blocked Read can be ended: a pipe, but no file.
type deadline interface{ SetReadDeadline(t time.Time) error }

// NewReader returns a reader of what side writes to src, with at most bound payload bytes a frame.
// The buffer grows with the data that arrives, never with the bound. It panics on a bound below 1.
func NewReader(src io.Reader, wire Wire, side Side, bound int) *Reader {
	r := &Reader{src: src, wire: wire, side: side}
	r.SetBound(bound)
	return r
}

// SetBound replaces the bound for every frame that Next has not returned yet, also where its bytes
// have already arrived. It panics on a bound below 1: a bound is negotiated, and checked there.
func (r *Reader) SetBound(bound int) {
	if bound < 1 {
		panic("frame: a bound is at least 1 byte")
	}
	r.bound.Store(int64(bound))
}

// Bound returns the bound in force.
func (r *Reader) Bound() int { return int(r.bound.Load()) }

// Buffered reports whether bytes behind the last frame have arrived already.
func (r *Reader) Buffered() bool { return r.from < r.to }

// Ready reports, behind a frame, whether Next has another one without reading.
func (r *Reader) Ready() bool {
	for rest := r.buf[r.from:r.to]; ; {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			return false
		}
		if r.wire == Canonical || len(bytes.Trim(rest[:n], blanks)) > 0 {
			return true
		}
		rest = rest[n+1:]
	}
}

// Slack reports what was tolerated around the last frame that Next returned, or in front of the end.
func (r *Reader) Slack() Slack { return r.slack }

// Interruptible reports whether Interrupt works on this source. From then on the read deadline of the source
// belongs to the Reader. Call it before the first Next.
func (r *Reader) Interruptible() bool {
	if source, ok := r.src.(deadline); ok && source.SetReadDeadline(time.Time{}) == nil {
		r.clock = source
	}
	return r.clock != nil
}

// Interrupt makes a Next that waits for bytes return ErrInterrupted, or else a later one that does. It may come
// late, when others read already, who just call Next again.
func (r *Reader) Interrupt() {
	if r.clock != nil {
		_ = r.clock.SetReadDeadline(time.Unix(1, 0)) // a closed source needs no interruption
	}
}

// Next returns the payload of the next frame, without its LF. The bytes belong to the Reader and stay
// valid until the next call of Next; the caller may read, not change them.
//
// The ordinary end of the stream is io.EOF. A framing fault is an *Error. A fault of the stream
// itself is what its Read returned. After any of them Next returns the same error again, but not after
// ErrInterrupted.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	if !r.resumes {
		r.slack = 0
	}
	r.resumes = false
	for {
		line, err := r.line()
		if err == ErrInterrupted {
			r.resumes = true
			return nil, err
		}
		if err != nil {
			r.err = err
			r.buf, r.from, r.to = nil, 0, 0
			return nil, err
		}
		if r.wire == Canonical {
			return line, nil
		}
		if line = r.trim(line); len(line) > 0 {
			return line, nil
		}
		r.slack |= SlackBlank
	}
}

// line returns the bytes in front of the next LF.
func (r *Reader) line() ([]byte, error) {
	for {
		if n := bytes.IndexByte(r.buf[r.from+r.scanned:r.to], '\n'); n >= 0 {
			line := r.buf[r.from : r.from+r.scanned+n]
			r.from += len(line) + 1
			r.scanned = 0
			return line, r.judge(line)
		}
		r.scanned = r.to - r.from
		if r.scanned > r.Bound() {
			return nil, r.fault(TooLong)
		}
		if err := r.fill(); err != nil {
			if err != io.EOF {
				return nil, err
			}
			if rest := r.buf[r.from:r.to]; len(rest) > 0 && (r.wire == Canonical || len(r.trim(rest)) > 0) {
				return nil, r.fault(Cut)
			}
			return nil, io.EOF
		}
	}
}

func (r *Reader) judge(line []byte) error {
	switch {
	case len(line) > r.Bound():
		return r.fault(TooLong)
	case r.wire == Feature:
	case len(line) == 0:
		return r.fault(Empty)
	case line[len(line)-1] == '\r':
		return r.fault(EndsCR)
	}
	return nil
}

func (r *Reader) fault(f Fault) error {
	return &Error{Fault: f, Wire: r.wire, From: r.side, Bound: r.Bound()}
}

// trim takes the white space of JSON off both ends and notes it.
func (r *Reader) trim(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		r.slack |= SlackCR
		line = line[:n-1]
	}
	trimmed := bytes.Trim(line, blanks)
	if len(trimmed) < len(line) && len(trimmed) > 0 {
		r.slack |= SlackSpace
	}
	return trimmed
}

// fill reads once behind the buffered bytes, after making room.
func (r *Reader) fill() error {
	r.room()
	for empty := 0; ; {
		n, err := r.src.Read(r.buf[r.to:])
		if n < 0 || n > len(r.buf)-r.to {
			panic("frame: the source returned an impossible count")
		}
		r.to += n
		switch {
		case n > 0:
			// An error that came along is met again by the next read, behind the bytes.
			return nil
		case r.clock != nil && errors.Is(err, os.ErrDeadlineExceeded):
			_ = r.clock.SetReadDeadline(time.Time{}) // a source that was closed meanwhile says so when it is read
			return ErrInterrupted
		case err != nil:
			return err
		}
		if empty++; empty == 100 {
			return io.ErrNoProgress
		}
	}
}

// room sees to free space behind the buffered bytes: it starts over in an empty buffer, moves the
// bytes to the front, or doubles. A frame over the bound is refused before it can double again.
func (r *Reader) room() {
	if r.from == r.to {
		r.shrink()
		r.from, r.to = 0, 0
	}
	if r.to < len(r.buf) {
		return
	}
	if r.from > 0 {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
		return
	}
	grown := make([]byte, min(max(2*len(r.buf), firstBuffer), max(r.Bound()+1, len(r.buf)+1, firstBuffer)))
	r.to = copy(grown, r.buf[:r.to])
	r.buf = grown
}

// shrink drops a large buffer that a run of small frames has not needed.
func (r *Reader) shrink() {
	if len(r.buf) <= keepBuffer {
		return
	}
	if r.to > keepBuffer {
		r.small = 0
		return
	}
	if r.small++; r.small >= shrinkAfter {
		r.small, r.buf = 0, nil
	}
}
