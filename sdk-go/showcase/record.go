package main

import (
	"encoding/json"
	"sync"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// record is what came from the host without being asked for, for the tool seen.
type record struct {
	mu   sync.Mutex
	list [][2]json.RawMessage // method and params
	last *extension.Scope     // of the newest entry, where it may grow
}

// add keeps one message.
func (r *record) add(method string, params wirejson.Encoder) {
	r.addIn(nil, method, func(json.RawMessage) wirejson.Encoder { return params })
}

// addIn keeps a message that belongs to a scope: a second one of the same scope takes the place of the first,
// which it is made from.
func (r *record) addIn(scope *extension.Scope, method string, params func(before json.RawMessage) wirejson.Encoder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.list); scope != nil && r.last == scope && n > 0 {
		r.list[n-1][1] = params(r.list[n-1][1]).AppendJSON(nil)
		return
	}
	r.last = scope
	name, err := json.Marshal(method)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	r.list = append(r.list, [2]json.RawMessage{name, params(nil).AppendJSON(nil)})
}

// take returns what was kept as a JSON array, and forgets it.
func (r *record) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := []byte{'['}
	for i, entry := range r.list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '['), entry[0]...)
		text = append(append(append(text, ','), entry[1]...), ']')
	}
	r.list, r.last = nil, nil
	return string(append(text, ']'))
}

// handle keeps the scope of the session.
type handle struct {
	mu    sync.Mutex
	scope *extension.Scope
	ready chan struct{}
}

// arrived returns the channel that closes when the scope is there.
func (h *handle) arrived() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ready == nil {
		h.ready = make(chan struct{})
	}
	return h.ready
}

func (h *handle) set(scope *extension.Scope) {
	ready := h.arrived()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scope == nil {
		close(ready)
	}
	h.scope = scope
}

func (h *handle) get() *extension.Scope {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.scope
}
