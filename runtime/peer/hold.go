package peer

import "time"

// holding is what the holder of the reader's role knows of the answers that it has not written yet. It holds an
// answer back while the next request is there already, so that several leave in one write.
//
// An answer must not wait for a slow request behind it: where the watch takes the role away, its next holder has
// what is held written, because it hands requests over at once and then waits for bytes; and none is held while the
// holder waits for bytes.
type holding struct {
	answers int
	since   time.Duration // how long the requests took whose answers are held
}

const (
	holdAnswers = 8
	holdTime    = 50 * time.Microsecond
	holdBytes   = batchBytes / holdAnswers // of one answer: for a larger one the system call matters little
)

// mayHold reports whether the answer of the request that was just read may wait for others.
func (c *Conn) mayHold() bool {
	h := &c.role.holding
	return h.answers < holdAnswers-1 && h.since < holdTime && c.frameArrived()
}

// noteHeld is told whether an answer was held back.
func (c *Conn) noteHeld(held bool, took time.Duration) {
	h := &c.role.holding
	if held {
		h.answers++
		h.since += took
	} else {
		*h = holding{}
	}
}

// unhold has what is held written where nothing will follow at once.
func (c *Conn) unhold() {
	if h := &c.role.holding; h.answers > 0 && !c.frameArrived() {
		*h = holding{}
		c.flushLater() // who reads must not be blocked by a full pipe
	}
}
