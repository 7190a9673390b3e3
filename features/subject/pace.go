package subject

import (
	"io"
	"sync"
	"time"
)

// Cutter cuts what is written into pieces; nil leaves it whole.
type Cutter func([]byte) [][]byte

// pen writes for a conversation, at the pace it is told. Frames never mix.
type pen struct {
	turn    chan struct{} // holds a value while somebody writes or changes the fields below
	cut     Cutter        // pieces are written one by one, each once the subject has taken the one before
	gathers bool          // frames are kept until somebody waits
	kept    []byte
}

func newPen() pen { return pen{turn: make(chan struct{}, 1)} }

// lock waits for the turn, at most as long as the limit says.
func (p *pen) lock(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case p.turn <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}

func (p *pen) unlock() { <-p.turn }

// PieceBudget bounds how long the pieces of one frame wait to be taken. A subject that is still starting
// needs some of it, and one that does not read is no reason to wait for ever.
const PieceBudget = 500 * time.Millisecond

// turnLimit bounds the wait for a frame that is being written to be over; only one that is stuck takes longer.
const turnLimit = 2 * PieceBudget

// put writes a frame or bytes, or keeps them. A broken pipe is the subject's doing and visible elsewhere.
func (p *pen) put(w io.Writer, b []byte) {
	p.turn <- struct{}{}
	defer p.unlock()
	switch {
	case p.gathers:
		p.kept = append(p.kept, b...)
	case p.cut == nil:
		_, _ = w.Write(b)
	default:
		until := time.Now().Add(PieceBudget)
		for _, piece := range p.cut(b) {
			if _, err := w.Write(piece); err != nil {
				return
			}
			AwaitTaken(w, until)
		}
	}
}

// set changes how the pen writes.
func (p *pen) set(change func()) {
	if p.lock(turnLimit) {
		defer p.unlock()
		change()
	}
}

// take returns what is kept, and keeps nothing from then on.
func (p *pen) take() (kept []byte) {
	p.set(func() {
		kept = p.kept
		p.kept, p.gathers = nil, false
	})
	return kept
}

// gate holds back what a subject has written until somebody looks.
type gate struct {
	from io.Reader

	mu      sync.Mutex
	open    chan struct{} // closed while nothing is held back
	arrived chan struct{} // closed once something is held back
	begun   bool          // the first frame since then was sent
}

func newGate(from io.Reader) *gate {
	g := &gate{from: from, open: make(chan struct{}), arrived: make(chan struct{})}
	close(g.open)
	return g
}

// Read implements io.Reader.
func (g *gate) Read(b []byte) (int, error) {
	n, err := g.from.Read(b)
	g.mu.Lock()
	open := g.open
	select {
	case <-open:
	default:
		select {
		case <-g.arrived:
		default:
			close(g.arrived)
		}
	}
	g.mu.Unlock()
	<-open
	return n, err
}

// shut holds back everything from now on, until release.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
		g.open, g.arrived, g.begun = make(chan struct{}), make(chan struct{}), false
	default:
	}
}

// release lets everything through again.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// held waits in front of a frame behind the first until something is held back, or a while.
func (g *gate) held(limit time.Duration) {
	g.mu.Lock()
	open, arrived, begun := g.open, g.arrived, g.begun
	g.begun = true
	g.mu.Unlock()
	if !begun {
		return
	}
	select {
	case <-open:
		return
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-arrived:
	case <-timer.C:
	}
}

// Cut makes the conversation write in pieces from now on.
func (c *Conversation) Cut(cut Cutter) { c.pen.set(func() { c.pen.cut = cut }) }

// Gather keeps frames until somebody waits for the subject, and then writes all of them at once.
func (c *Conversation) Gather() { c.pen.set(func() { c.pen.gathers = true }) }

// ReadLate looks at nothing that the subject writes until somebody waits for it. A frame behind the first is sent
// once the subject has begun to write something, or after a moment.
func (c *Conversation) ReadLate(moment time.Duration) {
	c.moment = moment
	c.gate.shut()
}

// flush writes what was kept. It is what every wait begins with.
func (c *Conversation) flush(limit time.Duration) error {
	kept := c.pen.take()
	if len(kept) == 0 {
		return nil
	}
	return c.write(limit, len(kept), func() { c.pen.put(c.run.Stdin(), kept) })
}
