package bus

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/runtime/peer"
)

// age is how long a frame may wait.
const age = canonicalwire.MaxBusMessageAgeMs * time.Millisecond

// member is an attached process. Its fields are under the lock of the bus.
type member struct {
	bus     *Bus
	process Process
	life    context.Context
	end     context.CancelFunc
	wake    chan struct{} // holds one token when there may be something to do

	interests  map[string]bool
	subscribed map[string]*subscription
	sequence   int64 // of its last publication

	queue []*outgoing // the first one may be on its way
	bytes int         // of the queue, with line ends
	held  int         // answers that are not in front yet: nothing is sent
	gone  bool
}

// outgoing is one queued frame.
type outgoing struct {
	method string
	params peer.Value
	size   int           // payload bytes of the frame
	of     *subscription // whose event it is; nil for a notice
	until  time.Time
}

func newMember(b *Bus, p Process) *member {
	m := &member{bus: b, process: p, wake: make(chan struct{}, 1), interests: map[string]bool{}, subscribed: map[string]*subscription{}}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// frameSize is the length of the payload of a frame with a notification.
func frameSize(method string, params peer.Value) int {
	const around = len(`{"jsonrpc":"2.0","method":"","params":}`)
	return around + len(method) + len(params.AppendJSON(nil))
}

func (m *member) roomLocked(size int) bool {
	return len(m.queue) < canonicalwire.MaxBusQueueMessages && m.bytes+size+1 <= canonicalwire.MaxBusQueueBytes &&
		size <= m.process.FrameBound()
}

func (m *member) queueLocked(o *outgoing) {
	o.until = time.Now().Add(age)
	m.queue = append(m.queue, o)
	m.bytes += o.size + 1
	m.wakeUp()
}

func (m *member) wakeUp() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// noticeLocked queues a notice of the bus, which is never lost: a process without room for it is ended.
func (b *Bus) noticeLocked(m *member, notice canonicalwire.BusLifecycleParams) {
	size := frameSize(canonicalwire.MethodBusLifecycle, notice)
	if size > canonicalwire.MaxBusMessageBytes || !m.roomLocked(size) {
		m.retireLocked("the event bus has no room for its notice")
		return
	}
	m.queueLocked(&outgoing{method: canonicalwire.MethodBusLifecycle, params: notice, size: size})
}

// goLocked ends the sending to a process.
func (m *member) goLocked() {
	m.gone = true
	m.end()
}

// retireLocked ends a process that cannot follow.
func (m *member) retireLocked(reason string) {
	if !m.gone {
		m.goLocked()
		m.process.Retire(reason)
	}
}

// answered notes that an answer has its place in front of everything queued since.
func (m *member) answered(delivered bool) {
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	m.held--
	if !delivered {
		m.retireLocked("an answer of the event bus could not be queued")
	}
	m.wakeUp()
}

// send writes the queue in order until the process is gone.
func (m *member) send() {
	defer m.bus.senders.Done()
	for {
		o := m.next()
		if o == nil {
			select {
			case <-m.wake:
				continue
			case <-m.life.Done():
				return
			}
		}
		ctx, cancel := context.WithDeadline(m.life, o.until)
		err := m.process.Deliver(ctx, o.method, o.params, func() bool { return m.wants(o) })
		cancel()
		m.settle(o, err)
	}
}

// next returns the frame to send, or nil if there is none now.
func (m *member) next() *outgoing {
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	for len(m.queue) > 0 && m.held == 0 && !m.gone {
		o := m.queue[0]
		if m.wantedLocked(o) {
			return o
		}
		m.dropLocked(o)
	}
	return nil
}

// wants reports whether a frame is still to be begun.
func (m *member) wants(o *outgoing) bool {
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	return !m.gone && m.wantedLocked(o)
}

func (m *member) wantedLocked(o *outgoing) bool {
	return time.Now().Before(o.until) && (o.of == nil || !o.of.over)
}

// dropLocked takes a frame out of the queue that was not written.
func (m *member) dropLocked(o *outgoing) {
	m.takeLocked(o)
	if o.of == nil {
		m.retireLocked("a notice of the event bus expired unsent")
	}
}

// takeLocked gives the credit of a frame back.
func (m *member) takeLocked(o *outgoing) {
	m.queue = m.queue[1:]
	m.bytes -= o.size + 1
}

// settle notes what became of a frame.
func (m *member) settle(o *outgoing, err error) {
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	switch {
	case err == nil:
		m.takeLocked(o)
	case m.gone:
	case errors.Is(err, peer.ErrTorn):
		m.takeLocked(o)
		m.retireLocked("a frame of the event bus expired while it was being written")
	case errors.Is(err, peer.ErrNotSent):
		m.dropLocked(o)
	default:
		// The connection fails; whoever watches it will detach the process.
		m.takeLocked(o)
		m.goLocked()
	}
}

func sortedKeys[K cmp.Ordered, V any](set map[K]V) []K { return slices.Sorted(maps.Keys(set)) }
