package subject

import "sync"

// replies writes the answers to what the subject asks on a goroutine of its own, in the order in which they are
// given, so that a subject that does not read holds nobody up. It never writes into the middle of a line.
type replies struct {
	write func(frame []byte)

	running sync.WaitGroup // the goroutine that writes, if there is one

	mu      sync.Mutex // guards the fields below
	blocked bool       // somebody else writes bytes that are no whole lines yet
	writing bool       // a goroutine takes from the queue
	queue   [][]byte   // answers to be written
}

// send writes answers, now or once they may be written.
func (r *replies) send(frames ...[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, frames...)
	r.start()
}

// start sees to it that the queue is written. The caller holds the lock.
func (r *replies) start() {
	if !r.blocked && !r.writing && len(r.queue) > 0 {
		r.writing = true
		r.running.Go(r.drain)
	}
}

// drain writes until the queue is empty or somebody else writes.
func (r *replies) drain() {
	for {
		r.mu.Lock()
		if r.blocked || len(r.queue) == 0 {
			r.writing = false
			r.mu.Unlock()
			return
		}
		frame := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		r.write(frame)
	}
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
	r.start()
}
