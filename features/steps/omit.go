package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/wire"
)

// errOmitted ends a step whose frame is left out: nothing can be expected of it. It is no failure.
var errOmitted = errors.New("the frame is left out")

// sent numbers what the host writes in a scenario. The origin of a frame is the step that wrote it and its place
// among the frames of that step; that of an answer is the method that was asked for and how often it was.
// Frames that are left out are counted as well, so that a frame keeps its name whatever else is left out.
type sent struct {
	step, frames int             // belong to the goroutine of the scenario
	unsent       map[string]bool // ids of requests that were left out

	mu      sync.Mutex // guards the fields below
	answers map[string]int
	written []wire.Frame // of each the bytes and the origin
}

// begin begins the next step.
func (s *sent) begin() { s.step, s.frames = s.step+1, 0 }

func (s *sent) next() string {
	s.frames++
	return fmt.Sprintf("%d.%d", s.step, s.frames)
}

// name gives recorded frames their origins.
func (s *sent) name(frames []wire.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := make([]bool, len(s.written))
	for i := range frames {
		if frames[i].Lane != wire.ToSubject {
			continue
		}
		for k, w := range s.written {
			if !taken[k] && bytes.Equal(w.Bytes, frames[i].Bytes) {
				taken[k], frames[i].Origin = true, w.Origin
				break
			}
		}
	}
}

// goesOut reports whether a frame is written, and remembers it.
func (w *World) goesOut(origin string, frame []byte) bool {
	if w.leavesOut(origin) {
		var members map[string]json.RawMessage
		if json.Unmarshal(frame, &members) == nil && members["method"] != nil && members["id"] != nil {
			if w.sent.unsent == nil {
				w.sent.unsent = map[string]bool{}
			}
			id := string(members["id"])
			w.sent.unsent[id] = true
			w.settle(id)
		}
		return false
	}
	if w.setup.Wrote != nil {
		w.setup.Wrote(origin)
	}
	w.sent.mu.Lock()
	defer w.sent.mu.Unlock()
	w.sent.written = append(w.sent.written, wire.Frame{Bytes: frame, Origin: origin})
	return true
}

func (w *World) leavesOut(origin string) bool { return w.setup.Omit != nil && w.setup.Omit(origin) }

// orOmitted turns an error that may come of a frame left out earlier into the end of the step.
func (w *World) orOmitted(err error) error {
	if len(w.sent.unsent) > 0 {
		return errOmitted
	}
	return err
}

// unlessOmitted lets a step go on behind a frame that is left out, to what has nothing to do with it.
func unlessOmitted(err error) error {
	if errors.Is(err, errOmitted) {
		return nil
	}
	return err
}

// omitted reports whether the last request was left out.
func (w *World) omitted() bool { return w.sent.unsent[w.last] }

// sendBytes writes bytes in one write, without the lines that are left out.
func (w *World) sendBytes(b []byte, what string) error {
	var out []byte
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		if w.goesOut(w.sent.next(), line) {
			out = append(out, line...)
			if ended {
				out = append(out, '\n')
			}
		}
		b = rest
	}
	if len(out) == 0 {
		return errOmitted
	}
	w.written = len(out)
	if err := w.conv.SendBytes(out, w.setup.Patience.Answer); err != nil {
		return w.wait(what, err)
	}
	return nil
}

// reply answers what the extension asks for, unless that is left out.
func (w *World) reply(m subject.Message) [][]byte { return w.kept(m.Method, w.host.Answer(m)) }

// kept are the frames of an answer that are not left out. Nothing but the host's own lane is touched: it runs on
// the goroutine that reads.
func (w *World) kept(method string, frames [][]byte) [][]byte {
	w.sent.mu.Lock()
	defer w.sent.mu.Unlock()
	if w.sent.answers == nil {
		w.sent.answers = map[string]int{}
	}
	var out [][]byte
	for _, frame := range frames {
		w.sent.answers[method]++
		origin := fmt.Sprintf("%s.%d", method, w.sent.answers[method])
		if !w.leavesOut(origin) {
			w.sent.written = append(w.sent.written, wire.Frame{Bytes: frame, Origin: origin})
			out = append(out, frame)
		}
	}
	return out
}
