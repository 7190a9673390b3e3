package subject

import "sync"

// replies writes the answers to what the subject asks on a goroutine of its own, in the order in which they are
// given, so that a subject that does not read holds nobody up. It never writes into the middle of a line.
type replies struct {
	write func(frame []byte)

	mu      sync.Mutex    // guards the fields below
	blocked bool          // somebody else writes bytes that are no whole lines yet
	queue   [][]byte      // answers to be written
	writing chan struct{} // closed when the goroutine that takes from the queue ends; nil while there is none
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
	if !r.blocked && r.writing == nil && len(r.queue) > 0 {
		r.writing = make(chan struct{})
		go r.drain()
	}
}

// drain writes until the queue is empty or somebody else writes.
func (r *replies) drain() {
	for {
		r.mu.Lock()
		if r.blocked || len(r.queue) == 0 {
			close(r.writing)
			r.writing = nil
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
	r.wait()
}

// wait returns once none is being written.
func (r *replies) wait() {
	r.mu.Lock()
	writing := r.writing
	r.mu.Unlock()
	if writing != nil {
		<-writing
	}
}

// release lets answers through again.
func (r *replies) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = false
	r.start()
}
