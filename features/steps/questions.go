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
