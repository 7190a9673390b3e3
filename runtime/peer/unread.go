package peer

import "time"

// WrittenWithin has late called where the answer, once it is given, is not written d later, because the other
// side does not read or what was given before it is stuck. It is called on a goroutine of its own, and not
// behind the end of the connection. Call WrittenWithin from the handler.
func (r *Request) WrittenWithin(d time.Duration, late func()) {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	r.within, r.unread = d, late
}

// watchLocked starts the time of an answer that is about to be queued; nil where there is no bound.
func (c *Conn) watchLocked(r *Request) *time.Timer {
	if r.unread == nil {
		return nil
	}
	late := r.unread
	return time.AfterFunc(r.within, func() {
		select {
		case <-c.done:
		default:
			late()
		}
	})
}

// written ends the time of a frame that was bounded.
func (o *outgoing) written() {
	if o.overdue != nil {
		o.overdue.Stop()
	}
}
