package supervise

import "sync"

// steps passes the changes of a fleet on, in order and away from whoever made them.
type steps struct {
	tell func(Change)
	done chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond // its lock is mu
	queue   []Change
	over    bool
}

func (q *steps) start(tell func(Change)) {
	q.tell, q.done = tell, make(chan struct{})
	q.changed.L = &q.mu
	if tell == nil {
		q.over = true
		close(q.done)
		return
	}
	go q.run()
}

func (q *steps) run() {
	defer close(q.done)
	for {
		next, more := q.next()
		if !more {
			return
		}
		q.tell(next)
	}
}

func (q *steps) next() (next Change, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 && !q.over {
		q.changed.Wait()
	}
	if len(q.queue) == 0 {
		return Change{}, false
	}
	next = q.queue[0]
	q.queue = q.queue[1:]
	return next, true
}

func (q *steps) post(c Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.queue = append(q.queue, c)
		q.changed.Signal()
	}
}

// stop passes on what is queued and returns behind the last one.
func (q *steps) stop() {
	q.mu.Lock()
	q.over = true
	q.changed.Signal()
	q.mu.Unlock()
	<-q.done
}
