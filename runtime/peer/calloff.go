package peer

// CallOff ends a request of the other side together with what it was made for: its handler's context is
// cancelled, the other side is told so with a $/cancelRequest that names the id, and no answer follows;
// what the handler returns later is dropped. A request that has been answered is left alone. It does not
// block. Call it from any goroutine.
//
// The feature wire has this for extension requests whose parent is settled; nothing is sent on a version
// without cancellation.
func (r *Request) CallOff(reason string) {
	if !r.claimed.CompareAndSwap(false, true) {
		return
	}
	c := r.conn
	var f *buffer
	if p := c.profileNow(); p.Cancel != "" {
		f = notificationFrame(p.Cancel, cancelParams{r.ID.String(), reason})
	}
	c.mu.Lock()
	delete(c.served.live, r.ID.String())
	c.disarmLocked(r)
	c.served.wakeLocked()
	waiting := r.giveLocked(errorGiven)
	switch {
	case f == nil:
	case c.sealedLocked() != nil || c.phase == draining && c.profile.canonical():
		f.release()
	default:
		c.queueLaterLocked(outgoing{frame: f})
	}
	c.mu.Unlock()
	r.cancel(&CancelledError{Reason: reason})
	run(waiting, errorGiven)
}
