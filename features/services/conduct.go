package services

import "github.com/octet-dev/octet/features/subject"

// Everything stands for every method where a host is told to deviate from its habit.
const Everything = "everything"

// Refuse makes the host refuse every further request of a method with an error of the wire.
func (h *Host) Refuse(method, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusing[method] = name
}

// Wait makes the host leave every further request of a method unanswered until Resume.
func (h *Host) Wait(method string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[method] = true
}

// Waiting is what the extension has asked and waits for, oldest first.
func (h *Host) Waiting() []subject.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]subject.Message(nil), h.held...)
}

// Resume makes the host answer as usual again, and returns the answers to all that waited.
func (h *Host) Resume() [][]byte {
	h.mu.Lock()
	held := h.held
	h.held = nil
	clear(h.waiting)
	clear(h.refusing)
	clear(h.handed)
	h.mu.Unlock()
	var out [][]byte
	for _, m := range held {
		out = append(out, h.Answer(m)...)
	}
	return out
}

// Asked reports whether a request of a method has come.
func (h *Host) Asked(method string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[method]
}
