package provider

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
)

// stream is one inference that a process runs. What arrives is queued, because the connection must not wait
// for whoever reads the answer.
type stream struct {
	owner *extension.Extension
	id    string
	ready chan struct{} // holds a token where there is something to take

	mu       sync.Mutex
	next     int64 // the sequence that is expected
	terminal bool  // finished or error has come
	queue    []canonicalwire.ProviderStreamEvent
	bytes    int
	fault    string // why nothing follows
}

// endedReason is why the streams of a process that is gone break.
const endedReason = "the extension has ended"

func newStream(owner *extension.Extension, id string) *stream {
	return &stream{owner: owner, id: id, ready: make(chan struct{}, 1)}
}

func (r *Registry) forget(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.streams, s.id)
}

// event takes an event on the reading goroutine of its connection.
func (r *Registry) event(in *extension.Incoming) {
	e, err := canonicalwire.DecodeProviderStreamEvent(in.Params)
	if err != nil {
		r.malformed(in, err)
		return
	}
	if s := r.find(in.Extension, e.StreamID); s != nil {
		s.put(e)
	}
}

// find is a stream that a process runs. Streams that are unknown, given up or another's are none.
func (r *Registry) find(x *extension.Extension, id string) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.streams[id]; s != nil && s.owner == x {
		return s
	}
	return nil
}

// malformed fails the stream that an event names, or ends the process if none can be read.
func (r *Registry) malformed(in *extension.Incoming, err error) {
	var named struct {
		StreamID *string `json:"stream_id"`
	}
	if json.Unmarshal(in.Params, &named) != nil || named.StreamID == nil || *named.StreamID == "" || len(*named.StreamID) > canonicalwire.MaxJSONRPCIDBytes {
		in.Extension.Terminate(in.Method + ": " + err.Error())
		return
	}
	if s := r.find(in.Extension, *named.StreamID); s != nil {
		s.fail("a malformed event: " + err.Error())
	}
	in.Extension.Diagnose(in.Method + " is malformed: " + err.Error())
}

// put queues an event and judges its place.
func (s *stream) put(e canonicalwire.ProviderStreamEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch size := len(e.Payload); {
	case s.fault != "":
		return
	case s.terminal:
		s.faultLocked(fmt.Sprintf("event %d comes behind the last one", e.Sequence))
	case e.Sequence != s.next:
		s.faultLocked(fmt.Sprintf("event %d comes where %d is due", e.Sequence, s.next))
	case e.Sequence == 0 && e.Kind != canonicalwire.ProviderStreamEventKindStarted:
		s.faultLocked(fmt.Sprintf("the first event is %s; %s comes first", e.Kind, canonicalwire.ProviderStreamEventKindStarted))
	case e.Sequence >= canonicalwire.MaxProviderStreamEvents:
		s.faultLocked(fmt.Sprintf("it has more than %d events", canonicalwire.MaxProviderStreamEvents))
	case len(s.queue) >= maxQueuedEvents || s.bytes+size > maxQueuedBytes:
		s.faultLocked("its events come faster than they are taken")
	default:
		s.next++
		s.terminal = e.Kind == canonicalwire.ProviderStreamEventKindFinished || e.Kind == canonicalwire.ProviderStreamEventKindError
		s.queue = append(s.queue, e)
		s.bytes += size
		s.wake()
	}
}

// fail ends a stream.
func (s *stream) fail(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultLocked(why)
}

func (s *stream) faultLocked(why string) {
	if s.fault == "" {
		s.fault = why
		s.wake()
	}
}

func (s *stream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take returns what was queued, and why nothing follows, if so.
func (s *stream) take() (events []canonicalwire.ProviderStreamEvent, fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.queue, s.bytes = s.queue, nil, 0
	return events, s.fault
}
