package steps

import (
	"encoding/json"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/services"
)

// Question is one sound request to a handler of an extension.
type Question struct {
	Method string
	Params dialect.Object
}

// Traffic is what a host may send to an extension besides what every extension understands.
type Traffic struct {
	Calls     []profile.Call // that are safe to make
	Slow      *profile.Call  // that runs until it is cancelled; nil if none is known
	Questions []Question
	Events    []dialect.Event
	Names     []string // of tools and commands that were announced
	Selected  []string // methods of the canonical wire
}

// Traffic finds out what may be sent to an extension with a certain result of initialize.
func (s *Setup) Traffic(result json.RawMessage) Traffic {
	w := NewWorld(s, "", nil)
	w.result = result
	w.mon = monitor.New(monitor.Setup{Dialect: s.Dialect, Extension: s.Extension})
	w.host = services.New(s.Dialect, s.Extension, w.mon)
	var t Traffic
	// Calls that cannot be made are none.
	t.Calls, _ = w.known()
	if slow, err := w.slow(); err == nil {
		t.Slow = &slow
	}
	t.Names, t.Selected = announced(result)
	if s.Dialect.Canonical() {
		return t
	}
	for _, kind := range order {
		questions, _ := handlers[kind](w)
		for _, q := range questions {
			t.Questions = append(t.Questions, Question{Method: q.method, Params: q.params})
		}
	}
	for _, e := range s.Dialect.Events(w.selected, nil) {
		if w.subscribed(e.Method) {
			t.Events = append(t.Events, e)
		}
	}
	return t
}

// announced are the names of tools and commands in a result of initialize, and the methods that it selects. A
// result that cannot be read has none.
func announced(result json.RawMessage) (names, methods []string) {
	type named struct {
		Name string `json:"name"`
	}
	var r struct {
		Tools    []named `json:"tools"`
		Commands []named `json:"commands"`
		Contract struct {
			Methods []string `json:"methods"`
		} `json:"contract"`
	}
	_ = json.Unmarshal(result, &r)
	for _, n := range append(r.Tools, r.Commands...) {
		names = append(names, n.Name)
	}
	return names, r.Contract.Methods
}
