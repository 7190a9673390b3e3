package extension

// Draining reports whether the extension is being shut down: it is asked nothing new, and services begin
// nothing new on its behalf.
func (x *Extension) Draining() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closing
}
