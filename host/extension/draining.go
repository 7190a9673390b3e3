package extension

// Drain says that the extension is about to be shut down: services begin nothing new on its behalf. Requests
// to it are still sent, for whoever drains it decides which; Close ends that.
func (x *Extension) Drain() { x.draining.Store(true) }

// Draining reports whether the extension is being shut down: it is asked nothing new, and services begin
// nothing new on its behalf.
func (x *Extension) Draining() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closing || x.draining.Load()
}
