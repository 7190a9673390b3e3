package wire

import (
	"bytes"
	"io"
)

// Splitter cuts a stream into lines. A line that grows over the bound is handed out in pieces of the bound,
// as they come: no stream can make the referee allocate more, and a line without end is seen.
type Splitter struct {
	r     io.Reader
	bound int
	buf   []byte
	have  []byte // bytes read and not yet handed out
	err   error
}

// NewSplitter reads from r and hands out at most bound bytes at a time.
func NewSplitter(r io.Reader, bound int) *Splitter {
	return &Splitter{r: r, bound: bound, buf: make([]byte, 32<<10)}
}

// Waiting reports whether a whole line has been read and not been handed out, so that Next will not block.
func (s *Splitter) Waiting() bool { return bytes.IndexByte(s.have, '\n') >= 0 }

// Next returns the payload of the next line without its line feed, and whether a line feed ended it. A
// piece of a line over the bound and what EOF leaves behind have none. The payload is the caller's. At the
// end of the stream Next returns the reader's error, io.EOF included.
func (s *Splitter) Next() (payload []byte, ended bool, err error) {
	for {
		line, rest, found := bytes.Cut(s.have, []byte{'\n'})
		if room := s.bound - len(payload); len(line) > room {
			payload = append(payload, line[:room]...)
			s.have = s.have[room:]
			return payload, false, nil
		}
		payload = append(payload, line...)
		s.have = rest
		if found {
			return payload, true, nil
		}
		if s.err != nil {
			if len(payload) > 0 {
				return payload, false, nil
			}
			return nil, false, s.err
		}
		n, err := s.r.Read(s.buf)
		s.have, s.err = s.buf[:n], err
	}
}
