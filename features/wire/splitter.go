package wire

import (
	"bytes"
	"errors"
	"io"
)

// Splitter cuts a stream into lines. A line longer than the bound is reported with its full size, and
// only its beginning is kept, so that no stream can make the referee allocate more than the bound.
type Splitter struct {
	r     io.Reader
	bound int
	buf   []byte
	have  []byte // bytes read and not yet handed out
	err   error
}

// NewSplitter reads from r and keeps at most bound bytes of one line.
func NewSplitter(r io.Reader, bound int) *Splitter {
	return &Splitter{r: r, bound: bound, buf: make([]byte, 32<<10)}
}

// Next returns the payload of the next line without its line feed, its size on the wire, and whether a
// line feed ended it. The payload is the caller's. At the end of the stream it returns what is left with
// ended false if there is something, and io.EOF afterwards. Errors of the reader other than io.EOF are
// passed through in the same way.
func (s *Splitter) Next() (payload []byte, size int, ended bool, err error) {
	for {
		line, rest, found := bytes.Cut(s.have, []byte{'\n'})
		size += len(line)
		if room := s.bound - len(payload); room > 0 {
			payload = append(payload, line[:min(room, len(line))]...)
		}
		s.have = rest
		if found {
			return payload, size, true, nil
		}
		if s.err != nil {
			if size > 0 {
				return payload, size, false, nil
			}
			return nil, 0, false, s.err
		}
		n, err := s.r.Read(s.buf)
		s.have = s.buf[:n]
		s.err = err
		if err != nil && !errors.Is(err, io.EOF) && n == 0 && size == 0 {
			return nil, 0, false, err
		}
	}
}
