package subject

import "sync"

// replies writes the answers to what the subject asks, each on its own goroutine, so that a subject that
// does not read holds nobody up. It never writes into the middle of a line.
type replies struct {
	write func(frame []byte)

	running sync.WaitGroup // answers that are being written

	mu      sync.Mutex // guards the fields below
	blocked bool       // somebody else writes bytes that are no whole lines yet
	held    [][]byte   // answers that wait for the end of it
}

// send writes an answer, now or once it may.
func (r *replies) send(frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked {
		r.held = append(r.held, frame)
		return
	}
	r.running.Go(func() { r.write(frame) })
}

// hold keeps answers back and returns once none is being written.
func (r *replies) hold() {
	r.mu.Lock()
	r.blocked = true
	r.mu.Unlock()
	r.running.Wait()
}

// release lets answers through again.
func (r *replies) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = false
	for _, frame := range r.held {
		r.running.Go(func() { r.write(frame) })
	}
	r.held = nil
}
